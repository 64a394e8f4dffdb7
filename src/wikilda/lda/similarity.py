"""Similarities of the candidate topics of a document, from the link graph.

Pairs are not compared one by one. The in-links of all candidates are marked; only pages that link to two
candidates or more can add to an intersection, and for each of them the candidates it links to are listed.
Hubs, topics with more in-links than all lesser candidates together, are handled apart: their in-links become a bit
set, in which those of the others are looked up.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.seen_twice_filter import clear, log_size, mark, seen_again
from wikilda.knowledge.graph import Graph, similarity_from

# Sums of similarities are kept up to date by adding and subtracting, and must not drift. Single-precision
# numbers that are 0 or at least this large are multiples of 2⁻⁴⁰: sums of them in double precision are exact.
LEAST_SIMILARITY = 2.0**-17

_FEWEST_LINKS, _MOST_HUBS = 4096, 8  # least in-links of a hub; most hubs of a document

_MULTIPLIER = np.uint64(0x9E3779B1)
_MASK = np.uint64(0xFFFFFFFF)
_1, _6, _63 = np.uint64(1), np.uint64(6), np.uint64(63)


class Likeness(NamedTuple):
    """Similarities among topics (sorted): those of topic i with neighbours[…] from offsets[i] on; others are 0."""

    topics: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    neighbours: NDArray[np.int32]
    values: NDArray[np.float32]


class _Linkers(NamedTuple):
    """Pages that link to two topics or more, in a hash table, and the topics they link to."""

    keys: NDArray[np.int64]
    starts: NDArray[np.int64]
    members: NDArray[np.int32]


def no_likeness(topics: NDArray[np.uint32]) -> Likeness:
    """Similarities of topics without common links: all 0."""
    return Likeness(topics, np.zeros(len(topics) + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))


@njit
def likeness(graph: Graph, topics: NDArray[np.uint32]) -> Likeness:
    """The similarities of all pairs of topics."""
    hubs = _hubs(graph, topics)
    with_hubs = _with_hubs(graph, topics, hubs)
    pages, owners = _shared_links(graph, topics, hubs)
    linkers = group(pages, owners)
    most: Whole = np.int64(0)  # no more pairs than this can have a common in-link
    for at in range(len(pages)):
        slot = place_of(linkers.keys, pages[at])
        most += linkers.starts[slot + 1] - linkers.starts[slot] - 1
    most = min(most + 2 * len(hubs) * len(topics), len(topics) * (len(topics) - 1))
    offsets = np.zeros(len(topics) + 1, np.int64)
    neighbours, values = np.empty(most, np.int32), np.empty(most, np.float32)
    common, touched = np.zeros(len(topics), np.int64), np.empty(len(topics), np.int64)
    entry: Whole = np.int64(0)
    found = np.int64(0)
    for i in range(len(topics)):
        count: Whole = np.int64(0)
        while entry < len(pages) and owners[entry] == i:
            count = _add_members(linkers, pages[entry], common, touched, count)
            entry += 1
        count = _add_hubs(hubs, with_hubs, i, common, touched, count)
        for t in range(count):
            j = touched[t]
            alike = _alike(graph, topics[i], topics[j], common[j])
            common[j] = 0
            if j != i and alike >= LEAST_SIMILARITY:
                neighbours[found], values[found] = j, alike
                found += 1
        offsets[i + 1] = found
    return Likeness(topics, offsets, neighbours[:found].copy(), values[:found].copy())


@inner
def _alike(graph: Graph, first: Whole, second: Whole, common: Whole) -> Real:
    a = graph.in_offsets[first + 1] - graph.in_offsets[first]
    b = graph.in_offsets[second + 1] - graph.in_offsets[second]
    return similarity_from(a, b, common, len(graph.in_offsets) - 1)


@inner
def _hubs(graph: Graph, topics: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The topics (their numbers) that have more in-links than all lesser ones together: a few, or none."""
    sizes = np.empty(len(topics), np.int64)
    rest: Whole = np.int64(0)
    for i in range(len(topics)):
        sizes[i] = graph.in_offsets[topics[i] + 1] - graph.in_offsets[topics[i]]
        rest += sizes[i]
    largest, count = np.empty(_MOST_HUBS, np.int64), 0
    for at in range(min(_MOST_HUBS, len(topics))):
        best = 0
        for i in range(len(topics)):
            best = i if sizes[i] > sizes[best] else best
        rest -= sizes[best]
        if sizes[best] < _FEWEST_LINKS:
            break
        if sizes[best] > rest:
            count = at + 1
        largest[at], sizes[best] = best, -1
    return largest[:count].copy()


@inner
def _with_hubs(graph: Graph, topics: NDArray[np.uint32], hubs: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many in-links each hub has in common with each topic; 0 with itself."""
    common = np.zeros((len(hubs), len(topics)), np.int64)
    bits = np.empty((len(graph.in_offsets) >> 6) + 1, np.uint64)
    done = np.zeros(len(topics), np.bool_)
    for h in range(len(hubs)):
        bits[:] = np.uint64(0)
        done[hubs[h]] = True
        for page in _linkers_of(graph, topics[hubs[h]]):
            bits[page >> _6] |= _1 << (np.uint64(page) & _63)
        for i in range(len(topics)):
            if not done[i]:
                common[h, i] = _count(bits, _linkers_of(graph, topics[i]))
        for larger in range(h):
            common[h, hubs[larger]] = common[larger, hubs[h]]
    return common


@inner
def _count(bits: NDArray[np.uint64], pages: NDArray[np.uint32]) -> Whole:
    found = np.uint64(0)
    for page in pages:
        found += (bits[page >> _6] >> (np.uint64(page) & _63)) & _1
    return np.int64(found)


@inner
def _linkers_of(graph: Graph, topic: Whole) -> NDArray[np.uint32]:
    return graph.in_topics[graph.in_offsets[topic] : graph.in_offsets[topic + 1]]


@inner
def _add_hubs(
    hubs: NDArray[np.int64], with_hubs: NDArray[np.int64], i: Whole, common: NDArray[np.int64],
    touched: NDArray[np.int64], count: Whole,
) -> Whole:  # fmt: skip
    """Count what a topic has in common with hubs, and a hub with all."""
    for h in range(len(hubs)):
        first, last = (0, len(common)) if hubs[h] == i else (hubs[h], hubs[h] + 1)
        for j in range(first, last):
            found = with_hubs[h, j if hubs[h] == i else i]
            if found > 0 and common[j] == 0:
                touched[count], common[j] = j, found
                count += 1
    return count


@inner
def _shared_links(
    graph: Graph, topics: NDArray[np.uint32], hubs: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """In-links that more than one topic has but for the hubs, as far as the marks tell: (page, number of the topic)."""
    total = np.int64(0)
    listed = np.ones(len(topics), np.bool_)
    for hub in hubs:
        listed[hub] = False
    for i in range(len(topics)):
        if listed[i]:
            total += graph.in_offsets[topics[i] + 1] - graph.in_offsets[topics[i]]
    log = log_size(total)
    marks = np.empty(np.int64(1) << (log - 5), np.uint64)
    shift = clear(marks, log)
    for i in range(len(topics)):
        if listed[i]:
            for page in _linkers_of(graph, topics[i]):
                mark(marks, shift, np.uint64(page))
    pages, owners = np.empty(total, np.int64), np.empty(total, np.int32)
    count = np.int64(0)
    for i in range(len(topics)):
        if listed[i]:
            for page in _linkers_of(graph, topics[i]):
                if seen_again(marks, shift, np.uint64(page)):
                    pages[count], owners[count] = page, i
                    count += 1
    return pages[:count], owners[:count]


@inner
def group(pages: NDArray[np.int64], owners: NDArray[np.int32]) -> _Linkers:
    """Group the topics by the page that links to them."""
    size = np.int64(16)
    while size < 2 * len(pages):
        size *= 2
    keys, starts = np.full(size, -1, np.int64), np.zeros(size + 2, np.int64)
    for page in pages:
        slot = place_of(keys, page)
        keys[slot] = page
        starts[slot + 2] += 1
    for slot in range(1, size + 2):
        starts[slot] += starts[slot - 1]
    members = np.empty(len(pages), np.int32)
    for at in range(len(pages)):
        slot = place_of(keys, pages[at])
        members[starts[slot + 1]] = owners[at]
        starts[slot + 1] += 1
    return _Linkers(keys, starts, members)


@inner
def place_of(keys: NDArray[np.int64], page: Whole) -> Whole:
    """Where a page is in the hash table, or the free place where it would be."""
    mask = len(keys) - 1
    slot = np.int64(((np.uint64(page) * _MULTIPLIER) & _MASK) >> np.uint64(4)) & mask
    while keys[slot] != page and keys[slot] != -1:
        slot = (slot + 1) & mask
    return slot


@inner
def _add_members(
    linkers: _Linkers, page: Whole, common: NDArray[np.int64], touched: NDArray[np.int64], count: Whole
) -> Whole:
    slot = place_of(linkers.keys, page)
    for at in range(linkers.starts[slot], linkers.starts[slot + 1]):
        j = linkers.members[at]
        if common[j] == 0:
            touched[count] = j
            count += 1
        common[j] += 1
    return count
