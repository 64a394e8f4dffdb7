"""The evidence of a mention's context for types of topics.

The type of a topic is its type words D_k, those of its title and of the beginning of its article. The context C_i of a
mention are the tokens on either side, each with its side, and whether it is adjacent to the mention. With n_cd the
count of c in contexts of topics with type word d, and e_cd its expected count if strings meant what they mean
elsewhere, by P(k|v), the evidence for a topic is

    S_ik = Σ_{c ∈ C_i} 1/|D_k| · Σ_{d ∈ D_k} log((n_cd + s) / √((n_c · n_d / n + s) · (e_cd + s))),    s = 0.3

where s shrinks the ratio towards 1 for small counts. Comparing with chance only, n_c · n_d / n, would take the context
of some strings for that of a type: *French* is next to nouns as a language and as a country, but countries also have
other names. The counts are those of the wiki's own links, and of texts that the model was trained on.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, find, lookup, offsets_of, table_of
from wikilda._core.jit import Real, Whole, inner, int64, njit
from wikilda.knowledge.context_counts import UNIT, ContextCounts, TopicTypes
from wikilda.text.contexts import Contexts
from wikilda.urn._candidates import Candidates
from wikilda.urn.statistics import Taught

_SHRINKAGE = 0.3  # s
_SEARCH = 8  # entries of a row that can be read in the time of a search
# Context symbols, type words, counts, and expected counts.
Rows = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]


@njit
def context_evidence(
    contexts: Contexts, chosen: NDArray[np.int64], rows: NDArray[np.int64], found: Candidates, known: ContextCounts,
    total: Real, weight: Real,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the weighted S of the candidates of chosen mentions, concatenated.

    `rows` has the string of each, by which candidates were found. Of a caller's own entities nothing was learned.
    """
    size = np.int64(0)
    for row in rows:
        size += found.offsets[row + 1] - found.offsets[row]
    evidence, begin = np.zeros(size, np.float64), np.int64(0)
    slots = np.full(len(known.totals), np.int32(-1))  # of type words that were met at this mention
    for token in range(len(chosen)):
        start, end = found.offsets[rows[token]], found.offsets[rows[token] + 1]
        symbols = _rows(contexts, chosen[token], known.symbols)
        if len(symbols):
            numbers = found.numbers[start:end]
            words = _type_words(found.topics, numbers, known.types, slots)
            ratios = _ratios(symbols, words, slots, known, total)
            for at in range(end - start):
                evidence[begin + at] = weight * _of_topic(found.topics[numbers[at]], known.types, slots, ratios)
            for word in words:
                slots[word] = -1
        begin += end - start
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
def _type_words(
    topics: NDArray[np.uint32], numbers: NDArray[np.int32], types: TopicTypes, slots: NDArray[np.int32]
) -> NDArray[np.uint32]:
    """The distinct type words of some topics; `slots` then has their places."""
    most = np.int64(0)
    for number in numbers:
        most += _end(topics[number], types) - _begin(topics[number], types)
    words = np.empty(most, np.uint32)
    count = np.int32(0)
    for number in numbers:
        for word in types.words[_begin(topics[number], types) : _end(topics[number], types)]:
            if slots[word] < 0:
                slots[word] = count
                words[count] = word
                count += np.int32(1)
    return words[:count]


@inner
def _begin(topic: Whole, types: TopicTypes) -> Whole:
    """Return the first type word of a topic; a caller's own entity has none."""
    return types.offsets[min(int64(topic), len(types.offsets) - 1)]


@inner
def _end(topic: Whole, types: TopicTypes) -> Whole:
    return types.offsets[min(int64(topic) + 1, len(types.offsets) - 1)]


@inner
def _of_topic(topic: np.uint32, types: TopicTypes, slots: NDArray[np.int32], ratios: NDArray[np.float64]) -> Real:
    """Return S of a topic."""
    start, end = _begin(topic, types), _end(topic, types)
    if start == end:
        return 0.0
    total = 0.0
    for word in types.words[start:end]:
        total += ratios[slots[word]]
    return total / np.float64(end - start)


@inner
def _rows(contexts: Contexts, mention: int, symbols: HashTable) -> NDArray[np.int64]:
    """The numbers of the context symbols of a mention that were seen in training."""
    rows = np.empty(contexts.offsets[mention + 1] - contexts.offsets[mention], np.int64)
    count = 0
    for at in range(contexts.offsets[mention], contexts.offsets[mention + 1]):
        row = lookup(symbols, contexts.symbols[at])
        if row >= 0:
            rows[count] = row
            count += 1
    return rows[:count]


@inner
def _ratios(
    rows: NDArray[np.int64], words: NDArray[np.uint32], slots: NDArray[np.int32], known: ContextCounts, total: Real
) -> NDArray[np.float64]:
    """The log of how much likelier context symbols are with type words than by chance and by what strings mean."""
    size = len(words)
    ratios, shares = np.zeros(size, np.float64), np.empty(size, np.float64)
    counts, expected = np.empty(size, np.float64), np.empty(size, np.float64)
    for slot in range(size):
        shares[slot] = known.totals[words[slot]] / max(total, 1e-300)
    for number in range(len(rows)):
        start, end = known.offsets[rows[number]], known.offsets[rows[number] + 1]
        for slot in range(size):
            counts[slot] = 0.0
            expected[slot] = 0.0
        few = end - start < _SEARCH * size  # a short row is gone through, a long one searched
        for step in range(end - start if few else size):
            place: Whole = np.int64(slots[known.words[start + step]]) if few else np.int64(step)
            at = start + step if few else find(known.words, start, end, words[step])
            if place >= 0 and at >= 0:
                counts[place] = np.float64(known.counts[at])
                expected[place] = np.float64(known.expected[at])
        usual = known.sums[rows[number]]
        for slot in range(size):
            chance = (usual * shares[slot] + _SHRINKAGE) * (expected[slot] + _SHRINKAGE)
            ratios[slot] += np.log((counts[slot] + _SHRINKAGE) / np.sqrt(chance))
    return ratios


def spread(contexts: Contexts, taught: Taught, types: TopicTypes) -> Rows:
    """Return all pairs of each mention's context symbols and its topics' type words, which share its weight."""
    return _spread(contexts, taught.offsets, taught.topics, taught.shares / UNIT, taught.prior / UNIT, types)


@njit
def _spread(
    contexts: Contexts,
    offsets: NDArray[np.int64],
    topics: NDArray[np.uint32],
    posterior: NDArray[np.float64],
    prior: NDArray[np.float64],
    types: TopicTypes,
) -> Rows:
    size = np.int64(0)
    for write in range(2):
        if write:
            symbols, words = np.empty(size, np.uint64), np.empty(size, np.uint32)
            counts, expected = np.empty(size, np.float64), np.empty(size, np.float64)
            size = np.int64(0)
        for mention in range(len(offsets) - 1):
            for at in range(offsets[mention], offsets[mention + 1]):
                start, end = types.offsets[topics[at]], types.offsets[topics[at] + 1]
                if posterior[at] + prior[at] == 0.0:
                    continue
                for symbol in range(contexts.offsets[mention], contexts.offsets[mention + 1]):
                    for word in range(start, end):
                        if write:
                            symbols[size], words[size] = contexts.symbols[symbol], types.words[word]
                            counts[size] = posterior[at] / (end - start)
                            expected[size] = prior[at] / (end - start)
                        size += 1
    return symbols, words, counts, expected


def subtracted(known: ContextCounts, own: Rows) -> ContextCounts:
    """Return all counts without some; n_d and n stay as they are."""
    counts, expected, sums = known.counts.copy(), known.expected.copy(), known.sums.copy()
    _subtract(known.symbols, known.offsets, known.words, counts, expected, sums, own)
    return known._replace(counts=counts, expected=expected, sums=sums)


def without(known: ContextCounts, contexts: Contexts, own: Rows) -> ContextCounts:
    """Return the counts of a document's context symbols without its own counts.

    n_d and n stay those of all: one document changes little there.
    """
    symbols = np.unique(contexts.symbols)
    numbers = _lookup_all(known.symbols, symbols)
    symbols, numbers = symbols[numbers >= 0], numbers[numbers >= 0]
    lengths = known.offsets[numbers + 1] - known.offsets[numbers]
    offsets = offsets_of(lengths)
    source = np.arange(offsets[-1]) + np.repeat(known.offsets[numbers] - offsets[:-1], lengths)
    words, counts, expected = known.words[source], known.counts[source], known.expected[source]
    sums, table = known.sums[numbers], table_of(symbols)
    _subtract(table, offsets, words, counts, expected, sums, own)
    return known._replace(
        symbols=table, offsets=offsets, words=words, counts=counts, expected=expected, sums=sums
    )  # fmt: skip


@njit
def _lookup_all(table: HashTable, symbols: NDArray[np.uint64]) -> NDArray[np.int64]:
    numbers = np.empty(len(symbols), np.int64)
    for at in range(len(symbols)):
        numbers[at] = lookup(table, symbols[at])
    return numbers


@njit
def _subtract(
    table: HashTable,
    offsets: NDArray[np.int64],
    words: NDArray[np.uint32],
    counts: NDArray[np.float32],
    expected: NDArray[np.float32],
    sums: NDArray[np.float64],
    own: Rows,
) -> None:
    symbols, own_words, own_counts, own_expected = own
    for entry in range(len(symbols)):
        row = lookup(table, symbols[entry])
        if row < 0:
            continue
        at = find(words, offsets[row], offsets[row + 1], own_words[entry])
        if at >= 0:
            counts[at] = np.float32(max(np.float64(counts[at]) - own_counts[entry], 0.0))
            expected[at] = np.float32(max(np.float64(expected[at]) - own_expected[entry], 0.0))
            sums[row] = max(sums[row] - own_counts[entry], 0.0)
