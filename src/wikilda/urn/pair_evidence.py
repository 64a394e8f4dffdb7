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
from wikilda.model.model import Parameters
from wikilda.urn._relatedness import Matrix
from wikilda.urn.context_evidence import UNIT, Taught

_LEAST = 3 * UNIT // 10  # share of a mention's posterior from which on a document has a topic
_MOST = 64  # topics of a document that are counted: pairs grow with their square

Pairs = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]  # topics, topics, counts


class Presence(NamedTuple):
    """The topics of a document, sorted, each with its share in parts of UNIT."""

    topics: NDArray[np.uint32]
    shares: NDArray[np.int64]


ABSENT = Presence(np.empty(0, np.uint32), np.empty(0, np.int64))


def presence(taught: Taught) -> Presence:
    """The topics that the mentions of a document mean; of very many the surest."""
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
def add_pairs(
    related: Matrix, topics: NDArray[np.uint32], pairs: Parameters, documents: Real, own: Presence, weight: Real
) -> None:
    """Add to the relatedness of topics (sorted) what was learned from other documents than `own`."""
    counts, mine = np.zeros(len(topics), np.float64), np.zeros(len(topics), np.int64)
    for i in range(len(topics)):
        at = find(own.topics, 0, len(own.topics), topics[i])
        mine[i] = own.shares[at] if at >= 0 else 0
        at = find(pairs.topics, pairs.offsets[topics[i]], pairs.offsets[topics[i] + 1], topics[i])
        counts[i] = (np.float64(pairs.values[at]) if at >= 0 else 0.0) - mine[i] / UNIT
    for i in range(len(topics)):
        start, end = pairs.offsets[topics[i]], pairs.offsets[topics[i] + 1]
        if end - start < len(topics) - i:
            for at in range(start, end):
                j = find(topics, i + 1, len(topics), pairs.topics[at])
                if j >= 0:
                    _add(related, i, j, pairs.values[at], mine, counts, documents, weight)
        else:
            for j in range(i + 1, len(topics)):
                at = find(pairs.topics, start, end, topics[j])
                if at >= 0:
                    _add(related, i, j, pairs.values[at], mine, counts, documents, weight)


@inner
def _add(
    related: Matrix, i: int, j: int, together: Real, mine: NDArray[np.int64], counts: NDArray[np.float64],
    documents: Real, weight: Real,
) -> None:  # fmt: skip
    others = np.float64(together) - (mine[i] * mine[j] // UNIT) / UNIT
    if others <= 0.0:
        return
    gain = np.log((others + 1.0) / (max(counts[i], 0.0) * max(counts[j], 0.0) / documents + 1.0))
    if gain > 0.0:
        related[i, j] += np.float32(weight * gain)
        related[j, i] = related[i, j]
