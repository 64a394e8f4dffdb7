"""How topics of a document are related: they have a link, or neighbours in common.

With A the graph's matrix without directions, d_k the number of neighbours of k and d_n that of the links of n, from it
and to it,

    R(k, k') = (links · A_kk' + shared · Σ_n A_kn A_nk' / log(2 + d_n)) / √(d_k d_k')

A neighbour that everything is linked to says little, and so does a link of a topic that has very many.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.seen_twice_filter import clear, log_size, mark, seen_again
from wikilda.knowledge.graph import Graph
from wikilda.lda.packet import number_of
from wikilda.lda.similarity import group, place_of


class Neighbours(NamedTuple):
    """Sorted neighbours of some topics; of a hub only so many, evenly spread over its list."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]


@njit
def neighbours_of(graph: Graph, topics: NDArray[np.uint32], hub: Whole) -> Neighbours:
    """The neighbours of each topic, at most about `hub` of each."""
    offsets = np.zeros(len(topics) + 1, np.int64)
    for at in range(len(topics)):
        _, out_count = _stride(graph.out_offsets, topics[at], hub)
        _, in_count = _stride(graph.in_offsets, topics[at], hub)
        offsets[at + 1] = offsets[at] + out_count + in_count
    found = np.empty(offsets[-1], np.uint32)
    count = np.int64(0)
    for at in range(len(topics)):
        offsets[at] = count
        count = _merge(graph, topics[at], hub, found, count)
    offsets[len(topics)] = count
    return Neighbours(offsets, found[:count])


@inner
def _stride(offsets: NDArray[np.int64], topic: Whole, hub: Whole) -> tuple[Whole, Whole]:
    """Which step takes a list down to `hub` entries, and how many it leaves."""
    length = offsets[topic + 1] - offsets[topic]
    step = max((length + hub - 1) // hub, np.int64(1))
    return step, (length + step - 1) // step


@inner
def _merge(graph: Graph, topic: Whole, hub: Whole, found: NDArray[np.uint32], count: Whole) -> Whole:
    """Add the union of a topic's two sorted lists."""
    i, i_end = graph.out_offsets[topic], graph.out_offsets[topic + 1]
    j, j_end = graph.in_offsets[topic], graph.in_offsets[topic + 1]
    i_step, _ = _stride(graph.out_offsets, topic, hub)
    j_step, _ = _stride(graph.in_offsets, topic, hub)
    while i < i_end or j < j_end:
        from_out = i < i_end and (j >= j_end or graph.out_topics[i] <= graph.in_topics[j])
        from_in = j < j_end and (i >= i_end or graph.in_topics[j] <= graph.out_topics[i])
        found[count] = graph.out_topics[i] if from_out else graph.in_topics[j]
        count += 1
        if from_out:
            i += i_step
        if from_in:
            j += j_step
    return count


Matrix = NDArray[np.float32]


@njit
def relatedness(graph: Graph, topics: NDArray[np.uint32], neighbours: Neighbours, links: Real, shared: Real) -> Matrix:
    """R of all pairs of topics; 0 on the diagonal."""
    related = np.zeros((len(topics), len(topics)), np.float32)
    sums = np.zeros(len(topics), np.float64)
    pages, owners = _shared(neighbours)
    linkers = group(pages, owners)
    entry: Whole = np.int64(0)
    for i in range(len(topics)):
        sums[:] = 0.0
        while entry < len(pages) and owners[entry] == i:
            slot = place_of(linkers.keys, pages[entry])
            weight = shared / np.log(2.0 + _degree(graph, pages[entry]))
            for at in range(linkers.starts[slot], linkers.starts[slot + 1]):
                sums[linkers.members[at]] += weight
            entry += 1
        for at in range(neighbours.offsets[i], neighbours.offsets[i + 1]):
            j = number_of(topics, neighbours.topics[at])
            if j >= 0:
                sums[j] += links
        for j in range(len(topics)):
            if sums[j] > 0.0 and j != i:
                related[i, j] = sums[j] / np.sqrt(np.float64(_size(neighbours, i)) * np.float64(_size(neighbours, j)))
    _both_ways(related)
    return related


@inner
def _both_ways(related: Matrix) -> None:
    """Of a hub's list a link may be left out that the other topic's list has: it counts for both."""
    for i in range(len(related)):
        for j in range(i):
            related[i, j] = related[j, i] = max(related[i, j], related[j, i])


@inner
def _size(neighbours: Neighbours, at: Whole) -> Whole:
    return max(neighbours.offsets[at + 1] - neighbours.offsets[at], np.int64(1))


@inner
def _degree(graph: Graph, topic: Whole) -> Real:
    out = graph.out_offsets[topic + 1] - graph.out_offsets[topic]
    return np.float64(out + graph.in_offsets[topic + 1] - graph.in_offsets[topic])


@inner
def _shared(neighbours: Neighbours) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Neighbours that more than one topic has, as far as marks tell: (page, number of the topic)."""
    log = log_size(len(neighbours.topics))
    marks = np.empty(np.int64(1) << (log - 5), np.uint64)
    shift = clear(marks, log)
    for topic in neighbours.topics:
        mark(marks, shift, np.uint64(topic))
    pages, owners = np.empty(len(neighbours.topics), np.int64), np.empty(len(neighbours.topics), np.int32)
    count = np.int64(0)
    for i in range(len(neighbours.offsets) - 1):
        for at in range(neighbours.offsets[i], neighbours.offsets[i + 1]):
            if seen_again(marks, shift, np.uint64(neighbours.topics[at])):
                pages[count], owners[count] = neighbours.topics[at], i
                count += 1
    return pages[:count], owners[:count]
