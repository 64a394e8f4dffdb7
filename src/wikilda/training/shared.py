"""What all shards of an iteration share, computed once and memory-mapped by every worker."""

from pathlib import Path
from typing import Any

import numpy as np

from wikilda.inference.svi import Prior
from wikilda.inference.weights import Dense, smoothing_of
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
            smooth = smoothing_of(model, kind)
            for part in _PARTS:
                writer.array(f"{kind}/{part}", getattr(smooth, part))
            about[kind] = {"least": smooth.least, "total": smooth.total}
        writer.finish({"model": model.identity, "kinds": about})


def open_shared(model: Model, path: Path) -> Globals:
    """Open what `write_shared` has left."""
    artifact = Artifact.open(path, KIND, FORMAT)
    about = artifact.manifest["kinds"]
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
