"""Bootstrap over documents: how far a figure would move on other documents of the same kind, and whether a
difference between two methods would stay."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLES, SEED = 1000, 2013

Reals = NDArray[np.float64]


class Difference(NamedTuple):
    """A difference, its 95 % interval, and how probable one as far from 0 is if there is none (two-sided)."""

    value: float
    low: float
    high: float
    p: float


def draws(documents: int, samples: int = SAMPLES, seed: int = SEED) -> Reals:
    """How often each document is drawn in each sample: the same for all methods, so that they can be paired."""
    generator = np.random.default_rng(seed)
    return generator.multinomial(documents, np.full(documents, 1.0 / documents), size=samples).astype(np.float64)


def micro(right: Reals, total: Reals, drawn: Reals) -> Reals:
    """Share of mentions, by sample."""
    return np.asarray(drawn @ right / np.maximum(drawn @ total, 1.0))


def macro(right: Reals, total: Reals, drawn: Reals) -> Reals:
    """Mean over documents of their shares, by sample; documents without mentions do not count."""
    there = total > 0
    shares = np.where(there, right / np.maximum(total, 1.0), 0.0)
    return np.asarray(drawn @ shares / np.maximum(drawn @ there, 1.0))


def deviation(sampled: Reals) -> float:
    """The standard deviation over samples."""
    return float(sampled.std(ddof=1)) if len(sampled) > 1 else 0.0


def difference(value: float, sampled: Reals) -> Difference:
    """A difference that was measured, with what the samples say of it."""
    low, high = np.percentile(sampled, [2.5, 97.5])
    against = min(np.sum(sampled <= 0.0), np.sum(sampled >= 0.0))
    return Difference(value, float(low), float(high), min(1.0, 2.0 * (int(against) + 1) / (len(sampled) + 1)))
