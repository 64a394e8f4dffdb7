"""The second pass over the mentions of a document: it weighs their candidates, and draws.

It runs without the interpreter's lock from what mentions may mean (`wikilda.urn._find`) to the posterior.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, inner, njit
from wikilda._core.random import Stream
from wikilda.knowledge.graph import Graph
from wikilda.text.characters import Characters
from wikilda.text.tokens import Strings
from wikilda.urn._candidates import Candidates
from wikilda.urn._coreference import Parents
from wikilda.urn._gibbs import Mentions, Posterior, Rules, gibbs
from wikilda.urn._names import nil_odds
from wikilda.urn._relatedness import Gains, Neighbours, Relations, relations
from wikilda.urn._title_match import INITIALS, NOTED, SAME, UNLIKE, Kinds, name_kinds

Numbers = NDArray[np.int64]
Vector = NDArray[np.float64]

_TINY = 1e-300
_SPACE = ord(" ")


class TitleTables(NamedTuple):
    """The knowledge, as far as the second pass reads it."""

    titles: Strings
    graph: Graph
    persons: NDArray[np.uint8]  # by topic, in 255ths; or nothing
    organisations: NDArray[np.uint8]
    characters: Characters


class Weights(NamedTuple):
    """Settings, as the second pass takes them."""

    prior: float  # exponent
    words: float
    base: float
    acronym: float
    mismatch: float
    nil_title: float
    links: float
    shared: float
    exponent: float  # of the posterior


class Logs(NamedTuple):
    """What speaks for each candidate of each distinct string, as logarithms; their sum is that of its weight."""

    prior: Vector
    words: Vector
    names: Vector


class Drawing(NamedTuple):
    """Mentions with their candidates, what these were drawn by, and the posterior."""

    mentions: Mentions
    logs: Logs
    relations: Relations
    drawn: Posterior
    posterior: Vector  # sharpened, of a mention that means something that the knowledge has


@njit
def draw(
    tables: TitleTables, weights: Weights, rules: Rules, names: Strings, rows: Numbers, places: Numbers,
    parents: Parents, found: Candidates, evidence: Vector, near: Neighbours, gains: Gains, nil: Vector, exact: Kinds,
    contexts: Vector, stream: Stream,
) -> Drawing:  # fmt: skip
    """Draw mentions.

    By distinct string there are its candidates, the weight of NIL, and maybe whether it is `exact`ly a name of the
    caller's own entities; by topic the evidence of words, neighbours, and what pairs of them gain; by mention its
    string, its place, and maybe the evidence of its context for each candidate.
    """
    topics = np.empty(len(found.numbers), np.uint32)
    for at in range(len(topics)):
        topics[at] = found.topics[found.numbers[at]]
    kinds = _kinds(tables, weights, names, found.offsets, topics, exact)
    logs = _logs(weights, found, kinds, evidence)
    unknown = _nil_weights(tables, weights, names, found.offsets, topics, kinds, nil)
    mentions = _mentions(weights, found, logs, unknown, rows, places, parents, contexts)
    related = relations(tables.graph, found.topics, near, weights.links, weights.shared)
    if len(gains.values):
        related = Relations(
            related.scales, related.offsets, related.pages, related.starts, related.members, related.weights,
            related.links, gains,
        )  # fmt: skip
    drawn = gibbs(mentions, related, rules, stream)
    return Drawing(mentions, logs, related, drawn, _sharp(drawn.shares, mentions.offsets, weights.exponent))


@inner
def _kinds(
    tables: TitleTables, weights: Weights, names: Strings, offsets: Numbers, topics: NDArray[np.uint32], exact: Kinds
) -> Kinds:
    """What titles say of strings; an own entity has the string as a name, or is not compared."""
    if weights.acronym == 0.0 and weights.mismatch == 0.0 and weights.nil_title == 0.0:
        return np.zeros(len(topics), np.uint8)
    kinds = name_kinds(names, offsets, topics, tables.titles, tables.characters)
    for row in range(len(exact)):
        for at in range(offsets[row], offsets[row + 1]):
            if topics[at] + 1 >= len(tables.titles.offsets) and exact[row]:
                kinds[at] |= np.uint8(SAME)
    return kinds


@inner
def _logs(weights: Weights, found: Candidates, kinds: Kinds, evidence: Vector) -> Logs:
    size = len(found.numbers)
    logs = Logs(np.empty(size, np.float64), np.empty(size, np.float64), np.zeros(size, np.float64))
    for row in range(len(found.offsets) - 1):
        has_same, exact = False, 0.0  # the largest prior of an article whose title is the string
        for at in range(found.offsets[row], found.offsets[row + 1]):
            has_same |= kinds[at] & SAME > 0
            if kinds[at] & SAME and not kinds[at] & NOTED:
                exact = max(exact, found.priors[at])
        for at in range(found.offsets[row], found.offsets[row + 1]):
            logs.prior[at] = weights.prior * np.log(max(found.priors[at], _TINY))
            logs.words[at] = weights.words * evidence[found.numbers[at]]
            if kinds[at] & INITIALS and found.priors[at] > exact:
                logs.names[at] += weights.acronym
            if has_same and kinds[at] & UNLIKE:
                logs.names[at] -= weights.mismatch
    return logs


@inner
def _nil_weights(
    tables: TitleTables, weights: Weights, names: Strings, offsets: Numbers, topics: NDArray[np.uint32], kinds: Kinds,
    strings: Vector,
) -> Vector:  # fmt: skip
    """The weight of NIL against each candidate of each distinct string."""
    nil = np.empty(len(topics), np.float64)
    for row in range(len(strings)):
        is_several = False
        for byte in names.data[names.offsets[row] : names.offsets[row + 1]]:
            is_several |= byte == _SPACE
        for at in range(offsets[row], offsets[row + 1]):
            odds = nil_odds(kinds[at], is_several, np.int64(topics[at]), tables.persons, tables.organisations)
            nil[at] = strings[row] * np.exp(weights.nil_title * odds)
    return nil


@inner
def _mentions(
    weights: Weights, found: Candidates, logs: Logs, nil: Vector, rows: Numbers, places: Numbers, parents: Parents,
    contexts: Vector,
) -> Mentions:  # fmt: skip
    """The candidates of strings, for each mention that has the string."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    for token in range(len(rows)):
        offsets[token + 1] = offsets[token] + found.offsets[rows[token] + 1] - found.offsets[rows[token]]
    size = offsets[len(rows)]
    numbers, heavy = np.empty(size, np.int32), np.empty(size, np.float64)
    base, unknown = np.empty(size, np.float64), np.empty(size, np.float64)
    held = np.empty(len(found.priors), np.float64)
    for source in range(len(held)):
        held[source] = weights.base * max(found.priors[source], _TINY) ** (1.0 - weights.prior)
    for token in range(len(rows)):
        before = found.offsets[rows[token]] - offsets[token]
        for at in range(offsets[token], offsets[token + 1]):
            source = before + at
            numbers[at], unknown[at], base[at] = found.numbers[source], nil[source], held[source]
            log = logs.prior[source] + logs.words[source] + logs.names[source]
            heavy[at] = np.exp(log + contexts[at] if len(contexts) else log)
    return Mentions(offsets, numbers, heavy, base, places, unknown, rows, parents)


@inner
def _sharp(shares: Vector, offsets: Numbers, power: Real) -> Vector:
    """The posterior of candidates raised to a power, for the urn by itself is too careful. It adds up to 1."""
    posterior = np.empty(len(shares), np.float64)
    for token in range(len(offsets) - 1):
        best, total = _TINY, 0.0
        for at in range(offsets[token], offsets[token + 1]):
            best = max(best, shares[at])
        for at in range(offsets[token], offsets[token + 1]):
            posterior[at] = (shares[at] / best) ** power  # the best is 1: no underflow
            total += posterior[at]
        for at in range(offsets[token], offsets[token + 1]):
            posterior[at] /= max(total, _TINY)
    return posterior


@njit
def best_topics(offsets: Numbers, topics: NDArray[np.uint32], posterior: Vector) -> Numbers:
    """The topic with the largest posterior of every mention, of equals the first; −1 where it has no candidate."""
    found = np.full(len(offsets) - 1, np.int64(-1))
    for token in range(len(found)):
        largest = -1.0
        for at in range(offsets[token], offsets[token + 1]):
            topic = np.int64(topics[at])
            if posterior[at] > largest or (posterior[at] == largest and topic < found[token]):
                largest, found[token] = posterior[at], topic
    return found
