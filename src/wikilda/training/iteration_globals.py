"""What all shards of an iteration share, computed once and memory-mapped by every worker."""

from pathlib import Path
from typing import Any

import numpy as np

from wikilda._core.array_checks import Array
from wikilda._core.artifact import Artifact
from wikilda.lda.expected_phi import Dense, smoothing_of
from wikilda.lda.svi import Prior
from wikilda.model import Model
from wikilda.model.model import MENTIONS, WORDS
from wikilda.training.shard import Globals

_PARTS = ("factors", "shares", "others")
_SHARES = Array(np.float32, "topics")


class _Smoothing(Artifact):
    """The smoothing over all topics, for words and mentions."""

    kind = "smoothing"
    format = 1
    fields = {"kinds": dict}
    arrays = {
        f"{kind}/{part}": Array(np.uint32, "topics", below="topics") if part == "others" else _SHARES
        for kind in (WORDS, MENTIONS)
        for part in _PARTS
    }


def write_shared(model: Model, target: Path) -> None:
    """Compute the smoothing over all topics (the dense bucket of Eq. 5) for a model."""
    with _Smoothing.writer(target, overwrite=True) as writer:
        about = {}
        for kind in (WORDS, MENTIONS):
            smooth = smoothing_of(model, kind)
            for part in _PARTS:
                writer.array(f"{kind}/{part}", getattr(smooth, part))
            about[kind] = {"least": smooth.least, "total": smooth.total}
        writer.finish({"model": model.identity, "kinds": about})


def open_shared(model: Model, path: Path) -> Globals:
    """Open what `write_shared` has left."""
    artifact = _Smoothing.open(path)
    artifact.check_fits(model, "topics")
    about = artifact.field("kinds", dict)
    dense: list[list[Any]] = [
        [*(artifact.array(f"{kind}/{part}") for part in _PARTS), float(about[kind]["total"])]
        for kind in (WORDS, MENTIONS)
    ]
    words, mentions = (
        Prior(model.beta(kind), model.beta_sum(kind), about[kind]["least"]) for kind in (WORDS, MENTIONS)
    )
    popularity = model.popularity if model.settings.asymmetric else np.empty(0, np.float32)
    return Globals(
        model.settings.alpha,
        words,
        mentions,
        model.word_sums,
        model.mention_sums,
        popularity,
        Dense(*dense[0], *dense[1]),
    )
