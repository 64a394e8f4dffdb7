"""The best candidates of many mentions at once: compiled, as in Python it would take a fifth of linking."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, bare, int64, njit

Topics = NDArray[np.uint32]
Numbers = NDArray[np.int64]
Vector = NDArray[np.float64]


class Rows(NamedTuple):
    """The candidates of mentions: those of mention i from offsets[i] on, with their posterior and prior as used."""

    offsets: Numbers
    topics: Topics
    posterior: Vector
    priors: Vector

    def some(self, allowed: NDArray[np.bool_]) -> "Rows":
        """Return the candidates that are allowed."""
        before = np.append(0, np.cumsum(allowed)).astype(np.int64)
        return Rows(
            offsets=before[self.offsets],
            topics=self.topics[allowed],
            posterior=self.posterior[allowed],
            priors=self.priors[allowed],
        )


class Best(NamedTuple):
    """Candidates by mention, best first: topic (−1: no more), posterior probability, prior."""

    topics: Numbers
    probabilities: Vector
    priors: Vector


@njit
def best_candidates(rows: Rows, most: int) -> Best:
    """Rank candidates by posterior, then by prior, then by number. Probabilities are normalised."""
    mentions: Whole = len(rows.offsets) - 1
    shape = (mentions, most)
    best = Best(np.full(shape, -1, np.int64), np.zeros(shape), np.zeros(shape))
    for mention in range(mentions):
        begin, end = rows.offsets[mention], rows.offsets[mention + 1]
        total = 0.0
        for at in range(begin, end):
            total += rows.posterior[at]
        total = max(total, 1e-300)
        for at in range(begin, end):
            _enter(best, mention, int64(rows.topics[at]), rows.posterior[at] / total, rows.priors[at])
    return best


@bare
def _enter(best: Best, mention: int, topic: int, probability: float, prior: float) -> None:
    """Insert a candidate by rank; the last one is dropped."""
    topics, chances, priors = best.topics[mention], best.probabilities[mention], best.priors[mention]
    at = len(topics)
    while at > 0 and _before(topic, probability, prior, topics[at - 1], chances[at - 1], priors[at - 1]):
        at -= 1
        if at + 1 < len(topics):
            topics[at + 1], chances[at + 1], priors[at + 1] = topics[at], chances[at], priors[at]
    if at < len(topics):
        topics[at], chances[at], priors[at] = topic, probability, prior


@bare
def _before(topic: int, chance: float, prior: float, other: int, other_chance: float, other_prior: float) -> bool:
    if other < 0 or chance != other_chance:
        return other < 0 or chance > other_chance
    return prior > other_prior or (prior == other_prior and topic < other)
