"""The evidence of a mention's context for types of topics.

The type of a topic is its type words D_k, those of its title and of the beginning of its article. The context C_i of a
mention are the tokens on either side, each with its side, and whether it is adjacent to the mention. With n_cd the
count of c in contexts of topics with type word d, and e_cd its expected count if strings meant what they mean
elsewhere, by P(k|v), the evidence for a topic is

    S_ik = Σ_{c ∈ C_i} 1/|D_k| · Σ_{d ∈ D_k} log((n_cd + s) / √((n_c · n_d / n + s) · (e_cd + s))),    s = 0.3

where s shrinks the ratio towards 1 for small counts. Comparing with chance only, n_c · n_d / n, would take the context
of some strings for that of a type: *French* is next to nouns as a language and as a country, but countries also have
other names. The counts are those of the wiki's own links, and of texts that the model was trained on.

For documents that were counted, n_cd, n_c and e_cd are those of the other documents: the own counts of a document are
subtracted when a row is read. n_d and n stay those of all documents: one document changes little there.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, find, find_slot, lookup
from wikilda._core.jit import Real, Whole, bare, inner, njit
from wikilda.knowledge.context_counts import UNIT, ContextCounts, TopicTypes
from wikilda.text.contexts import Contexts
from wikilda.urn._candidates import Candidates
from wikilda.urn.statistics import Taught

_SHRINKAGE = 0.3  # s
_SEARCH = 16  # entries of a row that can be read in the time of a search
_LEAST_PART = 16  # a row that has less than this part of all type words is short
_MOST_DENSE = 1 << 20  # values of dense rows: 8 MB

_NOTHING = np.empty(0, np.uint32)
NOTHING_TAUGHT = Taught(np.zeros(1, np.int64), *[_NOTHING] * 5)


class Dense(NamedTuple):
    """The rows of the most frequent context symbols with a value for each type word: counts and expected counts."""

    numbers: NDArray[np.int32]  # by context symbol: its row among these, or −1
    values: NDArray[np.float32]


NOT_DENSE = Dense(np.empty(0, np.int32), np.empty((0, 0, 2), np.float32))


def dense_rows(known: ContextCounts) -> Dense:
    """Return the rows of the most frequent context symbols, within a limit of memory."""
    words, lengths = len(known.totals), np.diff(known.offsets)
    most = np.argsort(-known.sums[: len(lengths)], kind="stable")[: _MOST_DENSE // max(words, 1)]
    chosen = np.sort(most[lengths[most] * _LEAST_PART >= words])
    numbers = np.full(len(lengths), -1, np.int32)
    numbers[chosen] = np.arange(len(chosen))
    values = np.zeros((len(chosen), words, 2), np.float32)
    for number, row in enumerate(chosen.tolist()):
        entries = slice(known.offsets[row], known.offsets[row + 1])
        values[number, known.words[entries], 0] = known.counts[entries]
        values[number, known.words[entries], 1] = known.expected[entries]
    return Dense(numbers, values)


def context_evidence(
    contexts: Contexts, chosen: NDArray[np.int64], rows: NDArray[np.int64], found: Candidates, known: ContextCounts,
    total: float, own: Taught = NOTHING_TAUGHT, dense: Dense = NOT_DENSE,
) -> NDArray[np.float64]:  # fmt: skip
    """Return S of the candidates of chosen mentions, concatenated.

    `rows` has the string of each, by which candidates were found, `own` what the document has counted itself, and
    `dense` are frequent rows, which are read faster. Of a caller's own entities nothing was learned.
    """
    return _evidence(contexts, chosen, rows, found, known, total, own, dense)


class Words(NamedTuple):
    """The distinct type words of a string's candidates, from slot 1 on, and scratch by slot."""

    slots: NDArray[np.int32]  # by type word; 0 if no candidate has it
    words: NDArray[np.int64]
    shares: NDArray[np.float64]  # n_d / n
    counts: NDArray[np.float64]  # n_cd
    expected: NDArray[np.float64]  # e_cd
    own_counts: NDArray[np.float64]
    own_expected: NDArray[np.float64]
    ratios: NDArray[np.float64]  # the product of squared ratios, and then its logarithm


class Repeats(NamedTuple):
    """The entries of contexts by symbol: the first of each, and the next of the same symbol (−1: none)."""

    table: HashTable
    nexts: NDArray[np.int64]
    mentions: NDArray[np.int64]  # by entry


@njit
def _evidence(
    contexts: Contexts, chosen: NDArray[np.int64], rows: NDArray[np.int64], found: Candidates, known: ContextCounts,
    total: Real, own: Taught, dense: Dense,
) -> NDArray[np.float64]:  # fmt: skip
    begins, nexts = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    heads, size = np.full(len(found.offsets) - 1, np.int64(-1)), np.int64(0)  # heads: of the mentions of a string
    for token in range(len(rows)):
        begins[token], nexts[token] = size, heads[rows[token]]
        heads[rows[token]] = token
        size += found.offsets[rows[token] + 1] - found.offsets[rows[token]]
    made, slots, ends = _room(found, known)
    repeats = _repeats(contexts, np.int64(len(own.offsets) - 1))
    evidence = np.zeros(size, np.float64)
    for string in range(len(heads)):
        token, numbers = heads[string], found.numbers[found.offsets[string] : found.offsets[string + 1]]
        distinct = _add_words(found.topics, numbers, known, total, made, slots, ends) if token >= 0 else np.int64(1)
        while token >= 0 and distinct > 1:
            for slot in range(1, distinct):
                made.ratios[slot] = 1.0
            for entry in range(contexts.offsets[chosen[token]], contexts.offsets[chosen[token] + 1]):
                row = lookup(known.symbols, contexts.symbols[entry])
                if row < 0:
                    continue
                _read(known, dense, row, made, distinct)
                usual = known.sums[row]
                if len(own.offsets) > 1:
                    usual -= _leave_out(contexts.symbols[entry], repeats, own, known.types, made, distinct)
                _multiply(max(usual, 0.0), made, distinct)
            for slot in range(1, distinct):  # the logarithm of a product is faster than a sum of logarithms
                made.ratios[slot] = 0.5 * np.log(made.ratios[slot])
            for at in range(len(numbers)):
                mean = 0.0
                for place in range(ends[at], ends[at + 1]):
                    mean += made.ratios[slots[place]]
                if ends[at + 1] > ends[at]:
                    evidence[begins[token] + at] = mean / np.float64(ends[at + 1] - ends[at])
            token = nexts[token]
        for slot in range(1, distinct):
            made.slots[made.words[slot]] = 0
    return evidence


@njit
def of_other_mentions(
    evidence: NDArray[np.float64], rows: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:  # fmt: skip
    """Return, by candidate of each mention, the sum of S over the n other mentions of its string, divided by √n.

    A string mostly means the same in all of a document (Gale, Church & Yarowsky 1992), but the contexts of a document
    are not independent, so that their sum would say too much.
    """
    sums, found, begin = np.zeros(offsets[len(offsets) - 1], np.float64), np.empty(len(evidence), np.float64), 0
    times = np.zeros(len(offsets) - 1, np.int64)
    for row in rows:
        times[row] += 1
        for at in range(offsets[row], offsets[row + 1]):
            sums[at] += evidence[begin + at - offsets[row]]
        begin += offsets[row + 1] - offsets[row]
    begin = 0
    for row in rows:
        for at in range(offsets[row], offsets[row + 1]):
            rest: Real = sums[at] - evidence[begin + at - offsets[row]]
            found[begin + at - offsets[row]] = rest / np.sqrt(np.float64(max(times[row] - 1, 1)))
        begin += offsets[row + 1] - offsets[row]
    return found


@inner
def _room(found: Candidates, known: ContextCounts) -> tuple[Words, NDArray[np.int32], NDArray[np.int64]]:
    """Return room for the type words of any string; the slots of its candidates, and where those of each end."""
    candidates, most = np.int64(0), np.int64(1)
    for string in range(len(found.offsets) - 1):
        count = np.int64(1)
        for at in range(found.offsets[string], found.offsets[string + 1]):
            start, end = _span(found.topics[found.numbers[at]], known.types)
            count += end - start
        candidates, most = max(candidates, found.offsets[string + 1] - found.offsets[string]), max(most, count)
    made = Words(
        slots=np.zeros(len(known.totals), np.int32), words=np.empty(most, np.int64), shares=np.empty(most, np.float64),
        counts=np.empty(most, np.float64), expected=np.empty(most, np.float64), own_counts=np.empty(most, np.float64),
        own_expected=np.empty(most, np.float64), ratios=np.empty(most, np.float64),
    )  # fmt: skip
    return made, np.empty(most, np.int32), np.zeros(candidates + 1, np.int64)


@bare
def _span(topic: Whole, types: TopicTypes) -> tuple[Whole, Whole]:
    """Return where the type words of a topic begin and end; a caller's own entity has none."""
    last: Whole = np.int64(len(types.offsets) - 1)
    return types.offsets[min(np.int64(topic), last)], types.offsets[min(np.int64(topic) + 1, last)]


@bare
def _add_words(
    topics: NDArray[np.uint32], numbers: NDArray[np.int32], known: ContextCounts, total: Real, made: Words,
    slots: NDArray[np.int32], ends: NDArray[np.int64],
) -> Whole:  # fmt: skip
    """Number the type words of some topics. Return the first free slot."""
    free, count = np.int64(1), np.int64(0)
    for at in range(len(numbers)):
        start, end = _span(topics[numbers[at]], known.types)
        for word in known.types.words[start:end]:
            if made.slots[word] == 0:
                made.slots[word], made.words[free] = free, word
                made.shares[free] = known.totals[word] / max(total, 1e-300)
                free += 1
            slots[count] = made.slots[word]
            count += 1
        ends[at + 1] = count
    return free


@bare
def _read(known: ContextCounts, dense: Dense, row: Whole, made: Words, free: Whole) -> None:
    """Read the counts of a context symbol with type words."""
    counts, expected, words = made.counts, made.expected, made.words
    if len(dense.numbers) and dense.numbers[row] >= 0:
        number = np.int64(dense.numbers[row])
        for slot in range(1, free):
            counts[slot] = np.float64(dense.values[number, words[slot], 0])
            expected[slot] = np.float64(dense.values[number, words[slot], 1])
        return
    for slot in range(free):
        counts[slot] = 0.0
        expected[slot] = 0.0
    start, end = known.offsets[row], known.offsets[row + 1]
    if end - start < _SEARCH * free:  # words that no candidate has go to slot 0
        for entry in range(start, end):
            counts[made.slots[known.words[entry]]] = np.float64(known.counts[entry])
            expected[made.slots[known.words[entry]]] = np.float64(known.expected[entry])
    else:
        for slot in range(1, free):
            found: Whole = find(known.words, start, end, words[slot])
            if found >= 0:
                counts[slot] = np.float64(known.counts[found])
                expected[slot] = np.float64(known.expected[found])


@bare
def _multiply(usual: Real, made: Words, free: Whole) -> None:
    """Multiply the squared ratios with those of a context symbol; `usual` is its n_c."""
    for slot in range(1, free):
        count = made.counts[slot] + _SHRINKAGE
        chance = (usual * made.shares[slot] + _SHRINKAGE) * (made.expected[slot] + _SHRINKAGE)
        made.ratios[slot] *= count * count / chance


@inner
def _repeats(contexts: Contexts, mentions: Whole) -> Repeats:
    """Find the entries of the first mentions' contexts that have the same symbol."""
    size = contexts.offsets[mentions]
    table = HashTable(np.zeros(2 * size + 1, np.uint64), np.full(2 * size + 1, np.int32(-1)))
    nexts, owners = np.empty(size, np.int64), np.empty(size, np.int64)
    for mention in range(mentions):
        for entry in range(contexts.offsets[mention], contexts.offsets[mention + 1]):
            slot = find_slot(table.keys, contexts.symbols[entry])
            nexts[entry], owners[entry] = table.values[slot], mention
            table.keys[slot], table.values[slot] = contexts.symbols[entry], entry
    return Repeats(table, nexts, owners)


@bare
def _leave_out(symbol: np.uint64, repeats: Repeats, own: Taught, types: TopicTypes, made: Words, free: Whole) -> Real:
    """Subtract what a document has counted itself of a context symbol. Return its part of n_c."""
    for slot in range(1, free):
        made.own_counts[slot] = 0.0
        made.own_expected[slot] = 0.0
    counted = 0.0
    entry = np.int64(lookup(repeats.table, symbol))
    while entry >= 0:
        mention = repeats.mentions[entry]
        for at in range(own.offsets[mention], own.offsets[mention + 1]):
            start, end = _span(own.topics[at], types)
            share, prior = np.float64(own.shares[at]) / UNIT, np.float64(own.prior[at]) / UNIT
            if end > start:
                counted += share
            for word in types.words[start:end]:
                slot = made.slots[word]
                if slot > 0:
                    made.own_counts[slot] += share / np.float64(end - start)
                    made.own_expected[slot] += prior / np.float64(end - start)
        entry = repeats.nexts[entry]
    for slot in range(1, free):
        made.counts[slot] = max(made.counts[slot] - made.own_counts[slot], 0.0)
        made.expected[slot] = max(made.expected[slot] - made.own_expected[slot], 0.0)
    return counted


def subtracted(known: ContextCounts, taken: Iterable[tuple[Contexts, Taught]]) -> ContextCounts:
    """Return all counts without those of some documents; n_d and n stay as they are."""
    found = known._replace(counts=known.counts.copy(), expected=known.expected.copy(), sums=known.sums.copy())
    for contexts, own in taken:
        _subtract(found, contexts, own)
    return found


@njit
def _subtract(known: ContextCounts, contexts: Contexts, own: Taught) -> None:
    for mention in range(len(own.offsets) - 1):
        for entry in range(contexts.offsets[mention], contexts.offsets[mention + 1]):
            row = lookup(known.symbols, contexts.symbols[entry])
            for at in range(own.offsets[mention], own.offsets[mention + 1]) if row >= 0 else range(0):
                start, end = _span(own.topics[at], known.types)
                parts = UNIT * np.float64(end - start)
                for word in known.types.words[start:end]:
                    place: Whole = find(known.words, known.offsets[row], known.offsets[row + 1], word)
                    if place >= 0:
                        count, prior = np.float64(own.shares[at]) / parts, np.float64(own.prior[at]) / parts
                        known.counts[place] = np.float32(max(np.float64(known.counts[place]) - count, 0.0))
                        known.expected[place] = np.float32(max(np.float64(known.expected[place]) - prior, 0.0))
                        known.sums[row] = max(known.sums[row] - count, 0.0)
