"""The link graph, and similarities of topics by common in-links.

Similarity is the Google distance of Cilibrasi & Vitányi on sets of in-links, as Milne & Witten use it:
`1 − (log max(|A|, |B|) − log |A ∩ B|) / (log W − log min(|A|, |B|))`, and 0 where it would be negative.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import lower_bound
from wikilda._core.jit import inner, njit

Topics = NDArray[np.uint32]
Offsets = NDArray[np.int64]
_GALLOP = 16  # lists this many times as long as the other are searched, not walked


class Graph(NamedTuple):
    """Sorted lists of links by topic, from it and to it."""

    out_offsets: Offsets
    out_topics: Topics
    in_offsets: Offsets
    in_topics: Topics


@njit
def similarity(graph: Graph, first: int, second: int) -> float:
    """Return the similarity of two topics, from 0 to 1 (a topic and itself)."""
    if first == second:
        return 1.0
    a = graph.in_topics[graph.in_offsets[first] : graph.in_offsets[first + 1]]
    b = graph.in_topics[graph.in_offsets[second] : graph.in_offsets[second + 1]]
    return similarity_from(len(a), len(b), count_common(a, b), len(graph.in_offsets) - 1)


@inner
def similarity_from(first: int, second: int, common: int, topics: int) -> float:
    """Return the similarity by the sizes of two sets, of their intersection, and of the whole."""
    if common == 0:
        return 0.0
    larger, smaller = max(first, second), min(first, second)
    if smaller >= topics:
        return 1.0
    distance = (np.log(larger) - np.log(common)) / (np.log(topics) - np.log(smaller))
    return float(max(0.0, 1.0 - distance))


@njit
def count_common(a: Topics, b: Topics) -> int:
    """The size of the intersection of two sorted lists: merged, or galloped through if one is much longer."""
    if len(a) > len(b):
        a, b = b, a
    if len(b) > _GALLOP * len(a):
        return _gallop(a, b)
    common = i = j = 0
    while i < len(a) and j < len(b):
        x, y = a[i], b[j]
        common += x == y
        i += x <= y
        j += y <= x
    return common


@inner
def _gallop(short: Topics, long: Topics) -> int:
    common = low = 0
    for wanted in short:
        step = 1
        high = low
        while high < len(long) and long[high] < wanted:
            low = high + 1
            high += step
            step *= 2
        low = lower_bound(long, low, min(high, len(long)), wanted)
        if low == len(long):
            break
        common += long[low] == wanted
    return common


def nearest(graph: Graph, topic: int, most: int) -> list[tuple[int, float]]:
    """The topics most like one, best first."""
    found, scores = _nearest(graph, topic)
    order = np.lexsort((found, -scores))[:most]
    return [(int(found[at]), float(scores[at])) for at in order]


@njit
def _nearest(graph: Graph, topic: int) -> tuple[Topics, NDArray[np.float64]]:
    """Return all topics that share an in-link with one."""
    topics = len(graph.in_offsets) - 1
    common = np.zeros(topics, np.int32)
    linkers = graph.in_topics[graph.in_offsets[topic] : graph.in_offsets[topic + 1]]
    for linker in linkers:
        for at in range(graph.out_offsets[linker], graph.out_offsets[linker + 1]):
            common[graph.out_topics[at]] += 1
    common[topic] = 0
    found = np.flatnonzero(common)
    scores = np.empty(len(found), np.float64)
    for at in range(len(found)):
        other = found[at]
        size = graph.in_offsets[other + 1] - graph.in_offsets[other]
        scores[at] = similarity_from(len(linkers), size, common[other], topics)
    return found.astype(np.uint32), scores
