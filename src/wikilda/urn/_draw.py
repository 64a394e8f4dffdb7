"""The last pass over the mentions of a document: titles, scores, relatedness, and the posterior."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, inner, njit
from wikilda.knowledge.graph import Graph
from wikilda.knowledge.knowledge import WordCases
from wikilda.text.characters import Characters
from wikilda.text.tokens import Strings
from wikilda.urn._candidates import Candidates
from wikilda.urn._coreference import Parents
from wikilda.urn._mean_field import Mentions, Posterior, Rules, mean_field
from wikilda.urn._relatedness import Neighbours, Relations, relations
from wikilda.urn._title_match import PART, SAME, UNLIKE, Kinds, capital_chance, name_kinds

Numbers = NDArray[np.int64]
Vector = NDArray[np.float64]

WORDS_SCALE = 10.0  # of the words' evidence, so that its weight is near 1
LINK, SHARED_NEIGHBOUR = 1.0, 0.8  # the parts of R
_TINY = 1e-300  # a prior is 0 if all that was counted for it is the document's own
_SPACE = ord(" ")


class Ranking(NamedTuple):
    """Weights of the evidence for candidates, as the kernel takes them."""

    naming: float
    popularity: float
    words: float
    title: float
    mismatch: float
    nil_title: float
    nil_full_title: float
    nil_part: float
    nil_mismatch: float


class TitleTables(NamedTuple):
    """The knowledge, as far as this pass reads it."""

    titles: Strings
    graph: Graph
    characters: Characters
    cases: WordCases
    capitals: NDArray[np.uint8]  # by topic, filled when it is first needed


class Logs(NamedTuple):
    """The log weights of a string's candidates, by kind of evidence."""

    prior: Vector  # the logarithm of the prior, which sums to 1 over the candidates
    words: Vector
    names: Vector


class Drawing(NamedTuple):
    """Mentions, with their posterior and its terms."""

    mentions: Mentions
    logs: Logs
    kinds: Kinds  # by candidate of a string: the kind of title match
    capitals: Vector  # by candidate of a mention: log probability of the mention's capital
    relations: Relations
    found: Posterior


@njit
def draw(
    tables: TitleTables, ranking: Ranking, rules: Rules, names: Strings, rows: Numbers, places: Numbers,
    shown: NDArray[np.bool_], parents: Parents, found: Candidates, fame: Vector, evidence: Vector, near: Neighbours,
    nil: Vector, exact: Kinds, contexts: Vector, tolerance: Real,
) -> Drawing:  # fmt: skip
    """Decide mentions.

    Inputs by distinct string: its candidates, the log odds of NIL, and optionally whether it is `exact`ly a name of the
    caller's own entities. By topic: log P(k), the evidence of words, and neighbours. By mention: its
    string, its place, whether its capital is informative, and optionally the evidence of its context.
    """
    topics = np.empty(len(found.numbers), np.uint32)
    for at in range(len(topics)):
        topics[at] = found.topics[found.numbers[at]]
    kinds = _kinds(tables, names, found.offsets, topics, exact)
    logs = _logs(ranking, found, kinds, fame, evidence)
    against = _against(ranking, names, found.offsets, kinds)
    capitals = _capitals(tables, found, rows, shown)
    mentions = _mentions(found, logs, against, nil, rows, places, parents, contexts, capitals)
    related = relations(tables.graph, found.topics, near, LINK, SHARED_NEIGHBOUR)
    return Drawing(
        mentions=mentions,
        logs=logs,
        kinds=kinds,
        capitals=capitals,
        relations=related,
        found=mean_field(mentions, related, rules, tolerance),
    )


@inner
def _kinds(tables: TitleTables, names: Strings, offsets: Numbers, topics: NDArray[np.uint32], exact: Kinds) -> Kinds:
    """Return the kinds of title matches. An own entity has the string as a name, or is not compared."""
    kinds = name_kinds(names, offsets, topics, tables.titles, tables.characters)
    for row in range(len(exact)):
        for at in range(offsets[row], offsets[row + 1]):
            if topics[at] + 1 >= len(tables.titles.offsets) and exact[row]:
                kinds[at] |= np.uint8(SAME)
    return kinds


@inner
def _logs(ranking: Ranking, found: Candidates, kinds: Kinds, fame: Vector, evidence: Vector) -> Logs:
    """The prior of a string's candidates, P(v|k)^naming · P(k)^popularity, normalised; and other evidence."""
    size = len(found.numbers)
    logs = Logs(np.empty(size, np.float64), np.empty(size, np.float64), np.zeros(size, np.float64))
    for row in range(len(found.offsets) - 1):
        start, end = found.offsets[row], found.offsets[row + 1]
        has_same: bool = False
        best: Real = -np.inf
        for at in range(start, end):
            has_same |= kinds[at] & SAME > 0
            known = fame[found.numbers[at]]
            logs.prior[at] = ranking.naming * (np.log(max(found.priors[at], _TINY)) - known)
            logs.prior[at] += ranking.popularity * known
            best = max(best, logs.prior[at])
        total: Real = 0.0
        for at in range(start, end):
            total += np.exp(logs.prior[at] - best)
        best += np.log(total)
        for at in range(start, end):
            logs.prior[at] -= best
            logs.words[at] = ranking.words * WORDS_SCALE * evidence[found.numbers[at]]
            if kinds[at] & SAME:
                logs.names[at] += ranking.title
            elif has_same and kinds[at] & UNLIKE:
                logs.names[at] += ranking.mismatch
    return logs


@inner
def _against(ranking: Ranking, names: Strings, offsets: Numbers, kinds: Kinds) -> Vector:
    """Return the contribution of each candidate of each string to the log odds of NIL."""
    against = np.zeros(len(kinds), np.float64)
    for row in range(len(offsets) - 1):
        is_several: bool = False
        for byte in names.data[names.offsets[row] : names.offsets[row + 1]]:
            is_several |= byte == _SPACE
        for at in range(offsets[row], offsets[row + 1]):
            if kinds[at] & SAME:
                against[at] += ranking.nil_title + (ranking.nil_full_title if is_several else 0.0)
            if kinds[at] & PART:
                against[at] += ranking.nil_part
            if kinds[at] & UNLIKE:
                against[at] += ranking.nil_mismatch
    return against


@inner
def _capitals(tables: TitleTables, found: Candidates, rows: Numbers, shown: NDArray[np.bool_]) -> Vector:
    """The log probability that mentions have their capitals, by candidate; an unknown name always has one."""
    size = np.int64(0)
    for row in rows:
        size += found.offsets[row + 1] - found.offsets[row]
    logs, begin = np.zeros(size, np.float64), np.int64(0)
    for token in range(len(rows)):
        start, end = found.offsets[rows[token]], found.offsets[rows[token] + 1]
        for at in range(start, end) if shown[token] else range(0):
            topic = found.topics[found.numbers[at]]
            if topic < len(tables.capitals):  # unknown for a caller's own entities
                chance = capital_chance(topic, tables.capitals, tables.titles, tables.cases, tables.characters)
                logs[begin + at - start] = np.log(np.float64(chance) / 255.0)
        begin += end - start
    return logs


@inner
def _mentions(
    found: Candidates, logs: Logs, against: Vector, nil: Vector, rows: Numbers, places: Numbers, parents: Parents,
    contexts: Vector, capitals: Vector,
) -> Mentions:  # fmt: skip
    """The candidates of strings, for each mention that has the string."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    for token in range(len(rows)):
        offsets[token + 1] = offsets[token] + found.offsets[rows[token] + 1] - found.offsets[rows[token]]
    size = offsets[len(rows)]
    numbers, scores = np.empty(size, np.int32), np.empty(size, np.float64)
    opposed, odds = np.empty(size, np.float64), np.empty(len(rows), np.float64)
    for token in range(len(rows)):
        odds[token] = nil[rows[token]]
        before = found.offsets[rows[token]] - offsets[token]
        for at in range(offsets[token], offsets[token + 1]):
            source = before + at
            numbers[at], opposed[at] = found.numbers[source], against[source] - capitals[at]
            score = logs.prior[source] + logs.words[source] + logs.names[source] + capitals[at]
            scores[at] = score + contexts[at] if len(contexts) else score
    return Mentions(
        offsets=offsets,
        numbers=numbers,
        scores=scores,
        places=places,
        strings=rows,
        nil=odds,
        against=opposed,
        parents=parents,
    )


@njit
def best_topics(offsets: Numbers, topics: NDArray[np.uint32], posterior: Vector) -> Numbers:
    """Return the topic with the largest posterior of each mention, ties by number; −1 without candidates."""
    found = np.full(len(offsets) - 1, np.int64(-1))
    for token in range(len(found)):
        largest = -1.0
        for at in range(offsets[token], offsets[token + 1]):
            topic = np.int64(topics[at])
            if posterior[at] > largest or (posterior[at] == largest and topic < found[token]):
                largest, found[token] = posterior[at], topic
    return found
