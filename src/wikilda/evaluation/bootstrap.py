"""Bootstrap over documents: deviations of figures, and the significance of differences between methods."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLES, SEED = 1000, 2013
_BLOCK = 1 << 22  # numbers held at a time

Reals = NDArray[np.float64]


class Difference(NamedTuple):
    """A difference, its 95 % interval, and its two-sided p value."""

    value: float
    low: float
    high: float
    p: float


class Shares(NamedTuple):
    """Micro (share of mentions) and macro (mean over documents of their shares): measured, and by sample."""

    micro: float
    macro: float
    micros: Reals
    macros: Reals


def shares(right: Reals, total: Reals, samples: int = SAMPLES, seed: int = SEED) -> Shares:
    """Shares of mentions that are right, from counts by document; documents without mentions do not count."""
    there = (total > 0).astype(np.float64)
    columns = np.stack((right, total, right / np.maximum(total, 1.0), there), axis=1)
    sums = np.concatenate((columns.sum(axis=0, keepdims=True), _resampled(columns, samples, seed)))
    micros, macros = sums[:, 0] / np.maximum(sums[:, 1], 1.0), sums[:, 2] / np.maximum(sums[:, 3], 1.0)
    return Shares(micro=float(micros[0]), macro=float(macros[0]), micros=micros[1:], macros=macros[1:])


def _resampled(columns: Reals, samples: int, seed: int) -> Reals:
    """Return sums of columns over documents drawn with replacement. Equal seeds make methods paired."""
    generator = np.random.default_rng(seed)
    documents = len(columns)
    chances = np.full(documents, 1.0 / max(documents, 1))
    step = max(1, _BLOCK // max(documents, 1))
    blocks = [
        generator.multinomial(documents, chances, size=min(step, samples - done)) @ columns
        for done in range(0, samples, step)
    ]
    return np.concatenate(blocks)


def deviation(sampled: Reals) -> float:
    """The standard deviation over samples."""
    return float(sampled.std(ddof=1)) if len(sampled) > 1 else 0.0


def differences(first: Shares, second: Shares) -> dict[str, Difference]:
    """Return the difference between two methods, in points."""
    return {
        "micro": _difference(first.micro - second.micro, first.micros - second.micros),
        "macro": _difference(first.macro - second.macro, first.macros - second.macros),
    }


def _difference(value: float, sampled: Reals) -> Difference:
    low, high = np.percentile(sampled, [2.5, 97.5])
    against = min(np.sum(sampled <= 0.0), np.sum(sampled >= 0.0))
    p = min(1.0, 2.0 * (int(against) + 1) / (len(sampled) + 1))
    return Difference(value=100 * value, low=100 * float(low), high=100 * float(high), p=p)
