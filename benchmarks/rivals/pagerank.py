"""Personalised PageRank among the candidates of a document (after Pershina et al. 2015, PPRforNED).

Nodes are candidates of strings; an edge joins candidates of two strings if one article links to the other, or if they
are the same. PPR(s → e) is where walks from s end that jump back with probability `jump`. Of each other string the
candidate that says most for e counts:

    coherence(e) = Σ_strings max_s PPR(s → e) · P(s)      score(e) = coherence(e) + popularity · mean PPR · P(e)

Walks are not simulated (2,000 a source in the paper) but pushed until what is left anywhere is below `tolerance`. P is
the prior P(k|v), where the paper has the popularity of Freebase.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.settings import Settings, setting
from wikilda.evaluation.methods.base import Answer, Method
from wikilda.knowledge.graph import Graph
from wikilda.linking import Document

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]


@dataclass(frozen=True)
class PageRankSettings(Settings):
    """The paper's jump probability; the weight of popularity is 1 there."""

    jump: float = setting(0.2, "probability that a walk jumps back to its source", above=0, below=1)
    popularity: float = setting(1.0, "weight of the candidate's own prior P(k|v)", minimum=0)
    tolerance: float = setting(1e-3, "probability that is not followed any more", above=0, below=1)


class PageRank(Method):
    """Links to the candidates that walks from the others reach."""

    name = "pagerank"
    settings_type = PageRankSettings
    settings: PageRankSettings

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        found, s = self.candidates(document), self.settings
        starts, neighbours = edges(self.knowledge.graph, found.topics, found.owners)
        coherence, mean = walks(starts, neighbours, found.offsets, found.priors, s.jump, s.tolerance)
        return found.answers(coherence + s.popularity * mean * found.priors)


@njit
def edges(graph: Graph, topics: NDArray[np.uint32], owners: Numbers) -> tuple[Numbers, Numbers]:
    """The neighbours of each node, from starts[node] on."""
    order = np.argsort(topics, kind="mergesort")
    ranked = topics[order]
    found, count = np.empty(1024, np.int64), np.int64(0)
    starts = np.zeros(len(topics) + 1, np.int64)
    for node in range(len(topics)):
        topic = topics[node]
        for way in range(3):
            if way == 0:
                links = graph.out_topics[graph.out_offsets[topic] : graph.out_offsets[topic + 1]]
            elif way == 1:
                links = graph.in_topics[graph.in_offsets[topic] : graph.in_offsets[topic + 1]]
            else:
                links = topics[node : node + 1]
            if len(links) <= len(ranked):
                for link in links:
                    found, count = _add(ranked, order, owners, node, link, found, count, starts[node])
            else:
                for at in range(len(ranked)):
                    if at == 0 or ranked[at] != ranked[at - 1]:
                        place = np.searchsorted(links, ranked[at])
                        if place < len(links) and links[place] == ranked[at]:
                            found, count = _add(ranked, order, owners, node, ranked[at], found, count, starts[node])
        starts[node + 1] = count
    return starts, found[:count].copy()


@inner
def _add(
    ranked: NDArray[np.uint32], order: Numbers, owners: Numbers, node: Whole, link: Whole, found: Numbers, count: Whole,
    start: Whole,
) -> tuple[Numbers, Whole]:  # fmt: skip
    """Add the nodes of a topic that belong to other strings, each once."""
    at = np.searchsorted(ranked, link)
    while at < len(ranked) and ranked[at] == link:
        other = order[at]
        fresh = owners[other] != owners[node]
        for before in range(start, count):
            fresh = fresh and found[before] != other
        if fresh:
            if count == len(found):
                found = np.concatenate((found, np.empty(len(found), np.int64)))
            found[count] = other
            count += 1
        at += 1
    return found, count


@njit
def walks(
    starts: Numbers, neighbours: Numbers, offsets: Numbers, priors: Reals, jump: Real, tolerance: Real
) -> tuple[Reals, float]:
    """The coherence of each node, and the mean of PPR over the pairs that have any."""
    size = len(priors)
    coherence, best = np.zeros(size, np.float64), np.zeros(size, np.float64)
    reached, left = np.zeros(size, np.float64), np.zeros(size, np.float64)
    queue, waiting = np.empty(size + 1, np.int64), np.zeros(size, np.bool_)
    total, pairs = 0.0, 0
    for string in range(len(offsets) - 1):
        best[:] = 0.0
        for source in range(offsets[string], offsets[string + 1]):
            if starts[source] == starts[source + 1]:
                continue
            reached[:] = 0.0
            _push(starts, neighbours, source, jump, tolerance, reached, left, queue, waiting)
            for node in range(size):
                if reached[node] > 0.0 and not offsets[string] <= node < offsets[string + 1]:
                    best[node] = max(best[node], reached[node] * priors[source])
                    total += reached[node]
                    pairs += 1
        coherence += best
    return coherence, total / max(pairs, 1)


@inner
def _push(
    starts: Numbers, neighbours: Numbers, source: Whole, jump: Real, tolerance: Real, reached: Reals, left: Reals,
    queue: Numbers, waiting: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Where walks from a source are: follow what is left at each node until it is too little (Andersen et al. 2006)."""
    head, tail = 0, 1
    left[:] = 0.0
    left[source], queue[0], waiting[source] = 1.0, source, True
    while head != tail:
        node = queue[head]
        head = (head + 1) % len(queue)
        waiting[node] = False
        mass = left[node]
        left[node] = 0.0
        reached[node] += jump * mass
        share = (1.0 - jump) * mass / (starts[node + 1] - starts[node])  # edges go both ways: none is a dead end
        for at in range(starts[node], starts[node + 1]):
            other = neighbours[at]
            left[other] += share
            if left[other] > tolerance and not waiting[other]:
                queue[tail], waiting[other] = other, True
                tail = (tail + 1) % len(queue)
