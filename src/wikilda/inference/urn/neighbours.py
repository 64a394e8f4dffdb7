"""The neighbours of topics in the link graph, whichever way the link goes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.types import Whole
from wikilda.jit import inner, njit
from wikilda.knowledge.graph import Graph


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
