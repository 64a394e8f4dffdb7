"""What all shards of an iteration share, computed once and memory-mapped by every worker."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.special import alias_table, digammas
from wikilda.inference.svi import Prior
from wikilda.inference.weights import Dense
from wikilda.model import Model
from wikilda.model.model import MENTIONS, WORDS
from wikilda.store import Artifact, Writer
from wikilda.training.shard import Globals

KIND, FORMAT = "smoothing", 1
_PARTS = ("factors", "shares", "others")


def write_shared(model: Model, target: Path) -> None:
    """Compute the smoothing over all topics (the dense bucket of Eq. 5) for a model."""
    with Writer(target, KIND, FORMAT, overwrite=True) as writer:
        about = {}
        for kind in (WORDS, MENTIONS):
            prior, sums = _prior(model, kind)
            norms = digammas(sums, prior.mass)
            least = float(norms.min(initial=np.inf))
            factors = np.exp(least - norms)
            dense = factors * model.popularity.astype(np.float64) if model.settings.asymmetric else factors
            shares, others = alias_table(dense)
            for part, values in zip(_PARTS, (factors.astype(np.float32), shares, others), strict=True):
                writer.array(f"{kind}/{part}", values)
            about[kind] = {"least": least, "total": float(dense.sum())}
        writer.finish({"model": model.identity, "kinds": about})


def open_shared(model: Model, path: Path) -> Globals:
    """Open what `write_shared` has left."""
    artifact = Artifact.open(path, KIND, FORMAT)
    about = artifact.manifest["kinds"]
    dense: list[list[Any]] = [
        [*(artifact.array(f"{kind}/{part}") for part in _PARTS), float(about[kind]["total"])]
        for kind in (WORDS, MENTIONS)
    ]
    words, mentions = (_prior(model, kind)[0]._replace(least=about[kind]["least"]) for kind in (WORDS, MENTIONS))
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


def _prior(model: Model, kind: str) -> tuple[Prior, NDArray[np.float64]]:
    words = kind == WORDS
    beta = model.settings.beta_words if words else model.settings.beta_mentions
    symbols = (model.words if words else model.mentions).symbols
    return Prior(beta, beta * max(symbols, 1), 0.0), model.word_sums if words else model.mention_sums
