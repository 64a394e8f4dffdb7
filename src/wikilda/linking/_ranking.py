"""The best candidates of many mentions at once: compiled, for in Python it would be a fifth of linking."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, inner, int64, njit
from wikilda.lda.packet import number_of
from wikilda.model.model import Parameters

Topics = NDArray[np.uint32]
Numbers = NDArray[np.int64]


class Rows(NamedTuple):
    """The weights of candidates: those of row r from offsets[r] on."""

    offsets: Numbers
    topics: Topics
    weights: NDArray[np.float64]


class Best(NamedTuple):
    """Candidates by mention, best first: topic (−1: no more), posterior probability, prior P(k|v)."""

    topics: Numbers
    probabilities: NDArray[np.float64]
    priors: NDArray[np.float64]


@njit
def best_candidates(table: Parameters, sampled: Rows, symbols: Numbers, rows: Numbers, most: int) -> Best:
    """Rank candidates by posterior, then by prior P(k|v) = λ̂_vk / Σ λ̂_v, then by number.

    `table` has λ̂ of mentions, `symbols` the mentions' numbers (−1: unknown), `rows` their rows among the samples (−1:
    none).
    """
    shape = (len(symbols), most)
    best = Best(np.full(shape, -1, np.int64), np.zeros(shape), np.zeros(shape))
    for mention in range(len(symbols)):
        if rows[mention] < 0:
            continue
        first: Whole = np.int64(0)
        last: Whole = np.int64(0)
        if symbols[mention] >= 0:
            first, last = table.offsets[symbols[mention]], table.offsets[symbols[mention] + 1]
        begin, end = sampled.offsets[rows[mention]], sampled.offsets[rows[mention] + 1]
        total = max(_sum(table.values, first, last), 1e-300)
        weight = max(_sum(sampled.weights, begin, end), 1e-300)
        for at in range(begin, end):
            place = number_of(table.topics[first:last], sampled.topics[at])
            prior = np.float64(table.values[first + place]) / total if place >= 0 else 0.0
            _enter(best, mention, int64(sampled.topics[at]), sampled.weights[at] / weight, prior)
        if end - begin < most:
            for at in range(first, last):
                if not _contains(sampled.topics, begin, end, table.topics[at]):
                    _enter(best, mention, int64(table.topics[at]), 0.0, np.float64(table.values[at]) / total)
    return best


# Sums and searches by hand: NumPy's would make every process that loads this kernel import SciPy, if that is there.


@inner
def _sum(values: NDArray[Any], begin: int, end: int) -> float:
    total = 0.0
    for at in range(begin, end):
        total += np.float64(values[at])
    return total


@inner
def _contains(topics: Topics, begin: int, end: int, wanted: np.uint32) -> bool:
    found = False
    for at in range(begin, end):
        found |= topics[at] == wanted
    return found


@inner
def _enter(best: Best, mention: int, topic: int, probability: float, prior: float) -> None:
    """Put a candidate in its place; the last one falls off."""
    topics, chances, priors = best.topics[mention], best.probabilities[mention], best.priors[mention]
    at = len(topics)
    while at > 0 and _before(topic, probability, prior, topics[at - 1], chances[at - 1], priors[at - 1]):
        at -= 1
        if at + 1 < len(topics):
            topics[at + 1], chances[at + 1], priors[at + 1] = topics[at], chances[at], priors[at]
    if at < len(topics):
        topics[at], chances[at], priors[at] = topic, probability, prior


@inner
def _before(topic: int, chance: float, prior: float, other: int, other_chance: float, other_prior: float) -> bool:
    if other < 0 or chance != other_chance:
        return other < 0 or chance > other_chance
    return prior > other_prior or (prior == other_prior and topic < other)
