"""How topics of a document are related: they have a link, or neighbours in common.

With A the graph's matrix without directions, d_k the number of neighbours of k and d_n that of the links of n, from it
and to it,

    R(k, k') = (links · A_kk' + shared · Σ_n A_kn A_nk' / log(2 + d_n)) / √(d_k d_k')

A neighbour with many links says little, and so does a link of a topic with many links.

Sweeps read the rows of few candidates. Their inputs are prepared once per document, and rows are computed on first
use.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, inlined, inner, njit
from wikilda.knowledge.graph import Graph


class Neighbours(NamedTuple):
    """Sorted neighbours of some topics. The list of a hub is thinned evenly."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]


@njit
def neighbours_of(graph: Graph, topics: NDArray[np.uint32], hub: Whole, without: Whole) -> Neighbours:
    """The neighbours of each topic, at most about `hub` of each, and not the topic `without` (−1: none)."""
    offsets = np.zeros(len(topics) + 1, np.int64)
    for at in range(len(topics)):
        _, out_count = _stride(graph.out_offsets, topics[at], hub)
        _, in_count = _stride(graph.in_offsets, topics[at], hub)
        offsets[at + 1] = offsets[at] + out_count + in_count
    found = np.empty(offsets[-1], np.uint32)
    count = np.int64(0)
    for at in range(len(topics)):
        offsets[at] = count
        count = _merge(graph, topics[at], hub, np.int64(without), found, count)
    offsets[len(topics)] = count
    return Neighbours(offsets, found[:count])


@bare
def _stride(offsets: NDArray[np.int64], topic: Whole, hub: Whole) -> tuple[Whole, Whole]:
    """Return the step that thins a list to `hub` entries, and their number."""
    length = offsets[topic + 1] - offsets[topic]
    step = max((length + hub - 1) // hub, np.int64(1))
    return step, (length + step - 1) // step


@bare
def _merge(graph: Graph, topic: Whole, hub: Whole, without: Whole, found: NDArray[np.uint32], count: Whole) -> Whole:
    """Add the union of a topic's two sorted lists."""
    i, i_end = graph.out_offsets[topic], graph.out_offsets[topic + 1]
    j, j_end = graph.in_offsets[topic], graph.in_offsets[topic + 1]
    i_step, _ = _stride(graph.out_offsets, topic, hub)
    j_step, _ = _stride(graph.in_offsets, topic, hub)
    while i < i_end or j < j_end:
        from_out = i < i_end and (j >= j_end or graph.out_topics[i] <= graph.in_topics[j])
        from_in = j < j_end and (i >= i_end or graph.in_topics[j] <= graph.out_topics[i])
        found[count] = graph.out_topics[i] if from_out else graph.in_topics[j]
        count += np.int64(found[count]) != without
        if from_out:
            i += i_step
        if from_in:
            j += j_step
    return count


Matrix = NDArray[np.float32]

_MULTIPLIER, _MASK = np.uint64(0x9E3779B1), np.uint64(0xFFFFFFFF)


class Relations(NamedTuple):
    """Inputs of the rows of R. A page is a neighbour of a topic; the first pages are the topics themselves."""

    scales: NDArray[np.float64]  # by topic: 1/√d_k
    offsets: NDArray[np.int64]  # by topic: its neighbours that are topics or that others have, too
    pages: NDArray[np.int32]
    starts: NDArray[np.int64]  # by page: the topics that have it as a neighbour
    members: NDArray[np.int32]
    weights: NDArray[np.float64]  # by page: shared / log(2 + d_n), or 0 if only one topic has it
    links: NDArray[np.float64]  # one number


@njit
def relations(graph: Graph, topics: NDArray[np.uint32], neighbours: Neighbours, links: Real, shared: Real) -> Relations:
    """Prepare R of some topics."""
    pages, keys, count = number_pages(topics, neighbours.topics)
    starts = np.zeros(count + 1, np.int64)
    for page in pages:
        starts[page + 1] += 1
    weights = np.zeros(count, np.float64)
    for page in range(count):
        if starts[page + 1] > 1:
            weights[page] = shared / np.log(2.0 + degree(graph, keys[page]))
        starts[page + 1] += starts[page]
    ends, members = starts[:count].copy(), np.empty(len(pages), np.int32)
    offsets, scales = np.zeros(len(topics) + 1, np.int64), np.empty(len(topics), np.float64)
    kept = np.int64(0)
    for k in range(len(topics)):
        for at in range(neighbours.offsets[k], neighbours.offsets[k + 1]):
            page = pages[at]
            members[ends[page]] = k
            ends[page] += 1
            if page < len(topics) or weights[page] > 0.0:
                pages[kept] = page
                kept += 1
        offsets[k + 1] = kept
        scales[k] = 1.0 / np.sqrt(max(np.float64(neighbours.offsets[k + 1] - neighbours.offsets[k]), 1.0))
    return Relations(
        scales=scales,
        offsets=offsets,
        pages=pages[:kept],
        starts=starts,
        members=members,
        weights=weights,
        links=np.full(1, np.float64(links)),
    )


@inner
def number_pages(
    topics: NDArray[np.uint32], neighbours: NDArray[np.uint32]
) -> tuple[NDArray[np.int32], NDArray[np.uint32], Whole]:
    """Number the pages: those of all neighbours, the pages by number, and how many there are."""
    log = np.int64(4)
    while (np.int64(1) << log) < 2 * (len(topics) + len(neighbours)):
        log += 1
    table, shift = np.full(np.int64(1) << log, np.int32(-1)), np.uint64(32 - log)
    keys, pages = np.empty(len(topics) + len(neighbours), np.uint32), np.empty(len(neighbours), np.int32)
    for k in range(len(topics)):
        keys[k] = topics[k]
        table[_slot(table, keys, topics[k], shift)] = k
    count = np.int64(len(topics))
    for at in range(len(neighbours)):
        slot = _slot(table, keys, neighbours[at], shift)
        if table[slot] < 0:
            keys[count] = neighbours[at]
            table[slot] = count
            count += 1
        pages[at] = table[slot]
    return pages, keys, count


@inlined
def _slot(table: NDArray[np.int32], keys: NDArray[np.uint32], key: np.uint32, shift: np.uint64) -> Whole:
    """Where the number of a page is in the hash table, or the free place where it would be."""
    slot = np.int64((np.uint64(key) * _MULTIPLIER & _MASK) >> shift)
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@bare
def degree(graph: Graph, topic: Whole) -> Real:
    """The number of links of a topic, from it and to it."""
    out = graph.out_offsets[topic + 1] - graph.out_offsets[topic]
    return np.float64(out + graph.in_offsets[topic + 1] - graph.in_offsets[topic])


@bare
def fill_row(made: Relations, k: Whole, sums: NDArray[np.float64], row: NDArray[np.float32]) -> None:
    """R of a topic and all others; 0 with itself. A link counts if either of two lists has it: hubs' are thinned."""
    size = len(made.scales)
    for j in range(size):
        sums[j] = 0.0
    for at in range(made.starts[k], made.starts[k + 1]):
        sums[made.members[at]] = made.links[0]
    for at in range(made.offsets[k], made.offsets[k + 1]):
        if made.pages[at] < size:
            sums[made.pages[at]] = made.links[0]
    for at in range(made.offsets[k], made.offsets[k + 1]):
        page = made.pages[at]
        weight = made.weights[page]
        if weight > 0.0:
            for member in range(made.starts[page], made.starts[page + 1]):
                sums[made.members[member]] += weight
    sums[k] = 0.0
    for j in range(size):
        row[j] = sums[j] * made.scales[k] * made.scales[j]


@njit
def rows_of(made: Relations, chosen: NDArray[np.int64]) -> Matrix:
    """The rows of R of some of the topics."""
    related = np.empty((len(chosen), len(made.scales)), np.float32)
    sums = np.empty(len(made.scales), np.float64)
    for number in range(len(chosen)):
        fill_row(made, chosen[number], sums, related[number])
    return related
