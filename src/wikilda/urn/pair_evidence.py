"""Topics that occur together in texts: the link graph, refined by what a model has learned.

A document has a topic by the largest share that the topic has of the posterior of a mention. With n_kl the number of
documents that have both k and l, n_k those that have k, and n all, the relatedness of two topics gains

    weight · max(0, log((n_kl + 1) / (n_k · n_l / n + 1)))

which is their pointwise mutual information, shrunk towards 0 where little was counted.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import find
from wikilda._core.jit import Real, inner, njit
from wikilda.knowledge.context_counts import UNIT
from wikilda.model.model import Parameters
from wikilda.urn._relatedness import Gains
from wikilda.urn.statistics import Taught

_LEAST = 3 * UNIT // 10  # share of a mention's posterior from which on a document has a topic
_MOST = 64  # most topics of a document: pairs grow with their square

Pairs = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]  # topics, topics, counts


class Presence(NamedTuple):
    """The topics of a document, sorted, each with its share in parts of UNIT."""

    topics: NDArray[np.uint32]
    shares: NDArray[np.int64]


ABSENT = Presence(np.empty(0, np.uint32), np.empty(0, np.int64))


def presence(taught: Taught) -> Presence:
    """Return the topics of a document's mentions; of very many the most probable."""
    order = np.lexsort((-taught.shares.astype(np.int64), taught.topics))
    topics, first = np.unique(taught.topics[order], return_index=True)
    shares = taught.shares[order][first].astype(np.int64)
    chosen = np.lexsort((topics, -shares))[:_MOST]
    chosen = np.sort(chosen[shares[chosen] >= _LEAST])
    return Presence(topics[chosen], shares[chosen])


def pairs_of(documents: list[Presence]) -> Pairs:
    """The pairs of topics of each document, either way; a topic with itself counts by its own share."""
    firsts, seconds, counts = [np.empty(0, np.int64)], [np.empty(0, np.uint32)], [np.empty(0, np.int64)]
    for topics, shares in documents:
        both = np.outer(shares, shares) // UNIT
        np.fill_diagonal(both, shares)
        firsts.append(np.repeat(topics.astype(np.int64), len(topics)))
        seconds.append(np.tile(topics, len(topics)))
        counts.append(both.ravel())
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(counts)


@njit
def pair_gains(topics: NDArray[np.uint32], pairs: Parameters, documents: Real, own: Presence, weight: Real) -> Gains:
    """Return the gains of relatedness of topics (sorted) by other documents than `own`."""
    counts, mine = np.zeros(len(topics), np.float64), np.zeros(len(topics), np.int64)
    most = np.int64(0)
    for i in range(len(topics)):
        at = find(own.topics, 0, len(own.topics), topics[i])
        mine[i] = own.shares[at] if at >= 0 else 0
        start, end = pairs.offsets[topics[i]], pairs.offsets[topics[i] + 1]
        at = find(pairs.topics, start, end, topics[i])
        counts[i] = (np.float64(pairs.values[at]) if at >= 0 else 0.0) - mine[i] / UNIT
        most += min(end - start, np.int64(len(topics)))
    offsets, members = np.zeros(len(topics) + 1, np.int64), np.empty(most, np.int32)
    values, size = np.empty(most, np.float32), np.int64(0)
    for i in range(len(topics)):
        start, end = pairs.offsets[topics[i]], pairs.offsets[topics[i] + 1]
        few = end - start < len(topics)  # iterate over the shorter list, and search the longer
        for step in range(end - start if few else len(topics)):
            j = find(topics, 0, len(topics), pairs.topics[start + step]) if few else np.int64(step)
            at = start + step if few else find(pairs.topics, start, end, topics[step])
            if at >= 0 and j >= 0 and j != i:
                others = np.float64(pairs.values[at]) - (mine[i] * mine[j] // UNIT) / UNIT
                gain = _gain(others, counts[i], counts[j], documents)
                if gain > 0.0:
                    members[size], values[size] = j, weight * gain
                    size += 1
        offsets[i + 1] = size
    return Gains(offsets, members[:size], values[:size])


@inner
def _gain(together: Real, first: Real, second: Real, documents: Real) -> Real:
    if together <= 0.0:
        return 0.0
    return np.log((together + 1.0) / (max(first, 0.0) * max(second, 0.0) / documents + 1.0))
