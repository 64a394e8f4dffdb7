"""Which documents are trained on, and which are held out: by their keys, whatever the number of shards."""

import numpy as np
from numpy.typing import NDArray

from wikilda.model import Model
from wikilda.training.corpus import Corpus, Documents
from wikilda.training.settings import TrainingSettings

_STEP = 0x9E3779B97F4A7C15


def is_held_out(keys: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Whether documents are held out. Keys are hashed again: shards, which are ranges of keys, have a share each."""
    state = np.asarray(keys, np.uint64) + np.uint64(_STEP)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (state ^ (state >> np.uint64(31))) >> np.uint64(11) < np.uint64(share * 2**53)


def of_shard(corpus: Corpus, number: int, shards: int, held_out: float) -> Documents:
    """The documents of a shard that are trained on."""
    documents = corpus.shard(number, shards)
    return documents.chosen(~is_held_out(documents.keys, held_out))


def new_to(model: Model, documents: Documents) -> Documents:
    """Those of some documents that a model has not learned from before: no text counts twice."""
    known = model.contexts
    return documents if known is None else documents.chosen(~known.among(documents.digests))


def trained_on(corpus: Corpus, held_out: float) -> NDArray[np.uint64]:
    """The digests of the documents that are trained on."""
    found, stretches = [np.empty(0, np.uint64)], max(corpus.documents // 100_000, 1)
    for number in range(stretches):
        some = corpus.shard(number, stretches)
        found.append(some.digests[~is_held_out(some.keys, held_out)])
    return np.concatenate(found)


def to_evaluate(corpus: Corpus, settings: TrainingSettings, *, held_out: bool) -> Documents:
    """The first documents by key, held out or not: a fair sample, since keys are hashes."""
    share = settings.held_out if held_out else 1.0 - settings.held_out
    wanted = settings.evaluated
    part = min(1.0, (wanted + 10 * wanted**0.5 + 50) / max(share * corpus.documents, 1e-9))
    documents = corpus.between(0, min(int(part * 2**64), 2**64))
    which = is_held_out(documents.keys, settings.held_out) == held_out
    which &= np.cumsum(which) <= wanted
    return documents.chosen(which)
