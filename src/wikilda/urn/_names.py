"""The names of a document: how the knowledge numbers them, their candidates, and the odds of NIL."""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import EMPTY, HashTable, find_slot, lookup
from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.knowledge import Knowledge
from wikilda.knowledge.name_index import cut
from wikilda.text.characters import Characters, characters
from wikilda.text.folding import Folds, fold_words, sequence_of
from wikilda.text.tokens import FLAGS, Bytes, Strings, add_point, decode, lower_of, mix, tokenize
from wikilda.urn._candidates import Rows
from wikilda.urn._coreference import Parents
from wikilda.urn._title_match import NOTED, PART, SAME, UNLIKE

Numbers = NDArray[np.int64]

# Log odds of NIL against a candidate, by what its title is to the string and by its type: a logistic regression on
# AIDA's train and `aida-kb` without a tenth of the gold topics, another tenth than the one that NIL is measured with.
_NIL_EXACT, _NIL_PART, _NIL_UNLIKE = -0.9, 0.8, 0.5
_NIL_FULL = -4.0  # in place of the first for a title of several words: chosen, on the same data
_NIL_PERSON, _NIL_ORGANISATION = -1.7, -0.75
NEVER_LINKED = 4000.0  # the chance of a new meaning, to what is typical, of a string that the wiki never linked
_SAMPLED = 1 << 20  # strings by which the typical chance of a new meaning is judged
_SAMPLED_LINKS = 1024  # links by which it is judged how often articles have a word for each link
_MOST_EXCESS = 1.2  # as a logarithm: counts that come from several sources have ratios that say nothing
_INHERITED = 4  # candidates that a name has from each of its parents
_SEED = np.uint64(0xCBF29CE484222325)


@njit
def resolve(
    mentions: Numbers, strings: Strings, variants: HashTable, table: Characters, fold: Folds, is_indexed: bool
) -> Numbers:
    """The numbers of mentions; a string that is none is that of a variant, or has a number below −1 of its own.

    A variant differs in accents, points and endings alone.
    """
    resolved = mentions.copy()
    count = np.int64(0)
    for number in mentions:
        count += number < 0
    keys = np.zeros(2 * count + 8, np.uint64)
    numbers, seen = np.zeros(len(keys), np.int64), np.int64(0)
    for at in range(len(mentions)) if count else range(0):
        if mentions[at] >= 0:
            continue
        string = strings.data[strings.offsets[at] : strings.offsets[at + 1]]
        key = _lower_hash(string, table)
        slot = find_slot(keys, key)
        if keys[slot] == EMPTY:
            keys[slot] = key
            seen += 1
            variant = _variant(string, variants, table, fold) if is_indexed else np.int64(-1)
            numbers[slot] = variant if variant >= 0 else -2 - seen
        resolved[at] = numbers[slot]
    return resolved


@inner
def _lower_hash(string: Bytes, table: Characters) -> np.uint64:
    value = _SEED
    at: Whole = np.int64(0)
    while at < len(string):
        point, size = decode(string, at)
        value = add_point(value, lower_of(point, table))
        at += size
    return max(mix(value), np.uint64(1))


@inner
def _variant(string: Bytes, variants: HashTable, table: Characters, fold: Folds) -> Whole:
    words = np.empty(len(string) + 1, np.uint64)
    count = fold_words(string, np.int64(0), np.int64(len(string)), table, fold, words)
    return lookup(variants, sequence_of(words, count)) if count else np.int64(-1)


@inner
def strings_of(strings: Strings, chosen: Numbers) -> Strings:
    """Some of many strings; very long ones are cut."""
    offsets = np.zeros(len(chosen) + 1, np.int64)
    for at in range(len(chosen)):
        start, end = strings.offsets[chosen[at]], strings.offsets[chosen[at] + 1]
        offsets[at + 1] = offsets[at] + cut(strings.data, start, end) - start
    data = np.empty(offsets[-1], np.uint8)
    for at in range(len(chosen)):
        start = strings.offsets[chosen[at]]
        for byte in range(offsets[at + 1] - offsets[at]):
            data[offsets[at] + byte] = strings.data[start + byte]
    return Strings(data, offsets)


@inner
def inherited(found: Rows, by_words: Rows, parents: Parents, rows: Numbers) -> Rows:
    """The candidates of strings by the words of titles, and the best of those that their parents have."""
    if len(parents.tokens) == 0:
        return by_words
    count = len(found.offsets) - 1
    heads, following = np.full(count, np.int64(-1)), np.empty(len(parents.tokens), np.int64)
    for token in range(len(rows)):
        for at in range(parents.offsets[token], parents.offsets[token + 1]):
            following[at] = heads[rows[token]]
            heads[rows[token]] = at
    most = len(by_words.topics) + _INHERITED * len(parents.tokens)
    more = Rows(np.zeros(count + 1, np.int64), np.empty(most, np.uint32), np.empty(most, np.float64))
    for row in range(count):
        start = size = more.offsets[row]
        for at in range(by_words.offsets[row], by_words.offsets[row + 1]):
            size = _enter(more, start, size, by_words.topics[at], by_words.priors[at])
        entry = heads[row]
        while entry >= 0:
            size = _add_best(more, start, size, found, by_words, rows[parents.tokens[entry]])
            entry = following[entry]
        more.offsets[row + 1] = size
    size = more.offsets[count]
    return Rows(more.offsets, more.topics[:size], more.priors[:size])


@inner
def _add_best(more: Rows, start: Whole, size: Whole, found: Rows, by_words: Rows, row: Whole) -> Whole:
    """Add the best candidates of a string to those of another, of equals the first."""
    source = found if found.offsets[row + 1] > found.offsets[row] else by_words
    first, last = source.offsets[row], source.offsets[row + 1]
    above, after = np.inf, np.int64(-1)
    for _ in range(min(np.int64(_INHERITED), last - first)):
        best = np.int64(-1)
        for at in range(first, last):
            prior = source.priors[at]
            later = prior < above or (prior == above and at > after)
            if later and (best < 0 or prior > source.priors[best]):
                best = np.int64(at)
        size = _enter(more, start, size, source.topics[best], source.priors[best])
        above, after = source.priors[best], best
    return size


@inner
def _enter(more: Rows, start: Whole, size: Whole, topic: np.uint32, prior: Real) -> Whole:
    """Put a topic in its place in the row that begins at `start`; it counts once, by its largest prior."""
    at = size
    while at > start and more.topics[at - 1] > topic:
        at -= 1
    if at > start and more.topics[at - 1] == topic:
        more.priors[at - 1] = max(more.priors[at - 1], prior)
        return size
    for to in range(size, at, -1):
        more.topics[to], more.priors[to] = more.topics[to - 1], more.priors[to - 1]
    more.topics[at], more.priors[at] = topic, prior
    return size + 1


class LinkCounts(NamedTuple):
    """How often the strings of the wiki are links, to each topic and in all, and how often articles have a word."""

    offsets: Numbers
    counts: NDArray[np.uint32]
    linked: NDArray[np.uint32]
    strings: Strings
    words: HashTable
    frequencies: NDArray[np.uint32]

    @classmethod
    def of(cls, knowledge: Knowledge) -> "LinkCounts":
        """Those of knowledge."""
        table, strings = knowledge.mentions, knowledge.mention_strings
        return cls(
            table.offsets, table.counts, knowledge.linked, Strings(strings.data, strings.offsets),
            knowledge.word_table, knowledge.word_frequencies,
        )  # fmt: skip


class TypicalLinks:
    """What is typical of the links of a wiki: the strings of a document are compared with it."""

    def __init__(self, counts: LinkCounts, known: tuple[float, float, float] | None = None) -> None:
        self._counts, self._known = counts, known

    @cached_property
    def new_meaning(self) -> float:
        """The chance of a new meaning."""
        if self._known is not None:
            return self._known[0]
        return typical_new_meaning(self._counts.offsets, self._counts.counts)

    def excess(self, ratios: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much more often than of a typical string articles have one of one word for a link; as a logarithm."""
        excess: NDArray[np.float64] = np.clip(ratios - self.ratio, -_MOST_EXCESS, _MOST_EXCESS)
        return np.where(np.isnan(ratios), 0.0, excess)

    @cached_property
    def ratio(self) -> float:
        """The mean over the links of the wiki, or over an even sample of them."""
        if self._known is not None:
            return self._known[1]
        ratios = unlinked_ratios(_linked_strings(self._counts.linked, _SAMPLED_LINKS), self._counts, characters())
        return float(np.nanmean(ratios)) if not np.isnan(ratios).all() else 0.0


def _linked_strings(linked: NDArray[np.uint32], most: int) -> Numbers:
    """The strings of links that are evenly spread over all links, which lie in the order of the strings."""
    ends = np.cumsum(linked, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    found: Numbers = np.searchsorted(ends, (np.arange(most if total else 0) + 0.5) / most * total)
    return found


@njit
def unlinked_ratios(symbols: Numbers, counts: LinkCounts, table: Characters) -> NDArray[np.float64]:
    """How often articles have a string for each link of it, as a logarithm.

    It is not a number for a string that is not one word, or that the wiki never linked.
    """
    ratios = np.full(len(symbols), np.nan)
    for at in range(len(symbols)):
        if symbols[at] < 0:
            continue
        start, end = counts.strings.offsets[symbols[at]], counts.strings.offsets[symbols[at] + 1]
        hashes, places = np.empty(end - start + 1, np.uint64), np.empty((2, end - start + 1), np.int64)
        if tokenize(counts.strings.data, start, end, table, hashes, places[0], places[1]) != 1:
            continue
        word = lookup(counts.words, hashes[0] & ~FLAGS)
        if word >= 0:
            often = np.float64(counts.frequencies[word])
            ratios[at] = np.log((1.0 + often) / (1.0 + np.float64(counts.linked[symbols[at]])))
    return ratios


@inner
def nil_odds(
    kind: np.uint8, is_several: bool, topic: Whole, persons: NDArray[np.uint8], organisations: NDArray[np.uint8]
) -> Real:
    """What the title and the type of a candidate add to the log odds of NIL against it, for one word or several.

    Names of places, works and products are rather given to other things, too.
    """
    odds: Real = 0.0
    if kind & SAME and not kind & NOTED:
        odds += _NIL_FULL if is_several else _NIL_EXACT
    if kind & PART:
        odds += _NIL_PART
    if kind & UNLIKE:
        odds += _NIL_UNLIKE
    if topic < len(persons):
        odds += _NIL_PERSON / 255 * persons[topic] + _NIL_ORGANISATION / 255 * organisations[topic]
    return odds


@njit
def new_meaning(symbols: Numbers, offsets: Numbers, counts: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The probability that a string's next mention has a meaning that it never had, by Pitman and Yor's process.

    With n links of the string to K topics it is (½ + ½K) / (½ + n): 1 for a string that the wiki never linked.
    """
    found = np.ones(len(symbols), np.float64)
    for at in range(len(symbols)):
        if symbols[at] >= 0:
            found[at] = _chance(symbols[at], offsets, counts)[0]
    return found


def typical_new_meaning(offsets: Numbers, counts: NDArray[np.uint32]) -> float:
    """The geometric mean of that probability over the links of a wiki: how much its counts are worth.

    Of many strings, an even sample is taken. It is not a kernel: interpreted, it would take seconds for a large wiki.
    """
    symbols = np.arange(0, len(offsets) - 1, (len(offsets) - 1) // _SAMPLED + 1)
    lengths = offsets[symbols + 1] - offsets[symbols]
    ends = np.concatenate(([0], np.cumsum(lengths)))
    sums = np.cumsum(counts[np.repeat(offsets[symbols] - ends[:-1], lengths) + np.arange(ends[-1])], dtype=np.int64)
    totals = np.diff(np.concatenate(([0], sums))[ends]).astype(np.float64)
    chances = np.minimum((0.5 + 0.5 * lengths) / (0.5 + totals), 1.0)
    logs = totals * np.array([math.log(each) for each in chances.tolist()])
    return math.exp(float(np.cumsum(logs)[-1]) / max(float(totals.sum()), 1.0)) if len(logs) else 1.0


@inner
def _chance(symbol: Whole, offsets: Numbers, counts: NDArray[np.uint32]) -> tuple[Real, Real]:
    """The probability of a new meaning, and the links of the string."""
    start, end = offsets[symbol], offsets[symbol + 1]
    total = 0.0
    for place in range(start, end):
        total += np.float64(counts[place])
    return min((0.5 + 0.5 * np.float64(end - start)) / (0.5 + total), 1.0), total
