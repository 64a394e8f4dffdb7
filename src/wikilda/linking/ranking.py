"""The best candidates of many mentions at once: compiled, for in Python it would be a fifth of linking."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.jit import inner, int64, njit
from wikilda.knowledge.knowledge import Table

Topics = NDArray[np.uint32]
Numbers = NDArray[np.int64]


class Rows(NamedTuple):
    """How many sweeps each symbol had each topic: those of row r from offsets[r] on."""

    offsets: Numbers
    topics: Topics
    sweeps: Numbers


class Best(NamedTuple):
    """Candidates by mention, best first: topic (−1: no more), posterior probability, prior P(k|v)."""

    topics: Numbers
    probabilities: NDArray[np.float64]
    priors: NDArray[np.float64]


@njit
def best_candidates(table: Table, sampled: Rows, symbols: Numbers, rows: Numbers, most: int) -> Best:
    """Rank what mentions may mean: what was sampled most often, then what has the higher prior, then by number.

    `symbols` are the mentions in the knowledge (−1: not there), `rows` their rows among the samples.
    """
    shape = (len(symbols), most)
    best = Best(np.full(shape, -1, np.int64), np.zeros(shape), np.zeros(shape))
    for mention in range(len(symbols)):
        if symbols[mention] < 0:
            continue
        first, last = table.offsets[symbols[mention]], table.offsets[symbols[mention] + 1]
        begin, end = sampled.offsets[rows[mention]], sampled.offsets[rows[mention] + 1]
        total = max(table.counts[first:last].astype(np.int64).sum(), 1)
        sweeps = max(sampled.sweeps[begin:end].sum(), 1)
        for at in range(begin, end):
            place = first + np.searchsorted(table.topics[first:last], sampled.topics[at])
            listed = place < last and table.topics[place] == sampled.topics[at]
            prior = table.counts[place] / total if listed else 0.0
            _enter(best, mention, int64(sampled.topics[at]), sampled.sweeps[at] / sweeps, prior)
        if end - begin < most:
            for at in range(first, last):
                if not _contains(sampled.topics, begin, end, table.topics[at]):
                    _enter(best, mention, int64(table.topics[at]), 0.0, table.counts[at] / total)
    return best


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
