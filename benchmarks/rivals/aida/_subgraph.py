"""The dense subgraph of mentions and entities (Hoffart et al. 2011, Section 4), greedily.

Entities with the smallest weighted degree go first, but never the last one of a mention. The subgraph kept is
the one in which the smallest degree was largest (the authors' release divides it by the number of entities, which
measured worse on train); a local search finishes it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.lda.similarity import Likeness

KEEP = 5  # entities a mention that the graph begins with
TRIES = 500  # steps of the local search


class Edges(NamedTuple):
    """Mentions and the entities they may mean, as numbers in `Likeness.topics`, with weights."""

    offsets: NDArray[np.int64]
    entities: NDArray[np.int64]
    weights: NDArray[np.float64]


@njit
def densest(edges: Edges, alike: Likeness, coherence: Real) -> NDArray[np.int64]:
    """For each mention the place in `edges` of the entity it is given, or −1 where there is none."""
    alive = _closest(edges, alike)
    best = _shrink(edges, alike, coherence, alive)
    return _settle(edges, alike, coherence, best)


@inner
def _closest(edges: Edges, alike: Likeness) -> NDArray[np.bool_]:
    """The entities that are near to the mentions, as sums of squared distances, and the best of each mention.

    A distance is 1 − weight of an edge (0 at least), to the mention or to an entity that it may mean; else 2.
    """
    mentions, size = len(edges.offsets) - 1, len(alike.topics)
    total, distance = np.zeros(size, np.float64), np.empty(size, np.float64)
    alive = np.zeros(size, np.bool_)
    for mention in range(mentions):
        distance[:] = 2.0
        best: Whole = np.int64(-1)
        for at in range(edges.offsets[mention], edges.offsets[mention + 1]):
            entity, own = edges.entities[at], max(0.0, 1.0 - edges.weights[at])
            distance[entity] = min(distance[entity], own)
            for near in range(alike.offsets[entity], alike.offsets[entity + 1]):
                other = alike.neighbours[near]
                distance[other] = min(distance[other], own + 1.0 - alike.values[near])
            if best < 0 or edges.weights[at] > edges.weights[best]:
                best = at
        total += distance * distance
        if best >= 0:
            alive[edges.entities[best]] = True
    for entity in np.argsort(total, kind="mergesort")[: KEEP * mentions]:
        alive[entity] = True
    return alive


@inner
def _degrees(edges: Edges, alike: Likeness, coherence: Real, alive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Weighted degrees of the entities that are alive."""
    degrees = np.zeros(len(alive), np.float64)
    for at in range(len(edges.entities)):
        degrees[edges.entities[at]] += (1.0 - coherence) * edges.weights[at]
    for entity in range(len(alive)):
        for near in range(alike.offsets[entity], alike.offsets[entity + 1]):
            if alive[alike.neighbours[near]]:
                degrees[entity] += coherence * alike.values[near]
    return degrees


@inner
def _shrink(edges: Edges, alike: Likeness, coherence: Real, alive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Remove the weakest entities one by one; returns what was alive when the weakest one was strongest."""
    mentions = len(edges.offsets) - 1
    degrees = _degrees(edges, alike, coherence, alive)
    left = np.zeros(mentions, np.int64)
    for mention in range(mentions):
        for at in range(edges.offsets[mention], edges.offsets[mention + 1]):
            left[mention] += alive[edges.entities[at]]
    best, density = alive.copy(), -1.0
    while True:
        taboo = _taboo(edges, alive, left)
        weakest: Whole = np.int64(-1)
        least = np.inf
        for entity in range(len(alive)):
            if alive[entity]:
                least = min(least, degrees[entity])
                if not taboo[entity] and (weakest < 0 or degrees[entity] < degrees[weakest]):
                    weakest = entity
        if least < np.inf and least > density:
            best, density = alive.copy(), least
        if weakest < 0:
            return best
        alive[weakest] = False
        for near in range(alike.offsets[weakest], alike.offsets[weakest + 1]):
            degrees[alike.neighbours[near]] -= coherence * alike.values[near]
        for mention in range(mentions):
            for at in range(edges.offsets[mention], edges.offsets[mention + 1]):
                left[mention] -= edges.entities[at] == weakest


@inner
def _taboo(edges: Edges, alive: NDArray[np.bool_], left: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Entities that are the last one of a mention."""
    taboo = np.zeros(len(alive), np.bool_)
    for mention in range(len(left)):
        if left[mention] == 1:
            for at in range(edges.offsets[mention], edges.offsets[mention + 1]):
                taboo[edges.entities[at]] |= alive[edges.entities[at]]
    return taboo


@inner
def _settle(edges: Edges, alike: Likeness, coherence: Real, alive: NDArray[np.bool_]) -> NDArray[np.int64]:
    """One entity a mention: start with the heaviest degrees, then change one mention at a time while it gains."""
    mentions = len(edges.offsets) - 1
    degrees = _degrees(edges, alike, coherence, alive)
    chosen, users = np.full(mentions, -1, np.int64), np.zeros(len(alive), np.int64)
    for mention in range(mentions):
        for at in range(edges.offsets[mention], edges.offsets[mention + 1]):
            entity = edges.entities[at]
            if alive[entity] and (chosen[mention] < 0 or degrees[entity] > degrees[edges.entities[chosen[mention]]]):
                chosen[mention] = at
        if chosen[mention] >= 0:
            users[edges.entities[chosen[mention]]] += 1
    for _ in range(TRIES):
        changed = False
        for mention in range(mentions):
            if chosen[mention] < 0:
                continue
            users[edges.entities[chosen[mention]]] -= 1
            best, most = chosen[mention], _gain(edges, alike, coherence, users, chosen[mention])
            for at in range(edges.offsets[mention], edges.offsets[mention + 1]):
                if alive[edges.entities[at]]:
                    gain = _gain(edges, alike, coherence, users, at)
                    if gain > most + 1e-12:
                        best, most = at, gain
            changed |= best != chosen[mention]
            chosen[mention] = best
            users[edges.entities[best]] += 1
        if not changed:
            break
    return chosen


@inner
def _gain(edges: Edges, alike: Likeness, coherence: Real, users: NDArray[np.int64], at: Whole) -> Real:
    """The weight of an entity for a mention: that of their edge, and those to the entities of other mentions."""
    entity = edges.entities[at]
    gain = (1.0 - coherence) * edges.weights[at]
    for near in range(alike.offsets[entity], alike.offsets[entity + 1]):
        if users[alike.neighbours[near]] > 0:
            gain += coherence * alike.values[near]
    return gain
