"""The names of a document: their numbers in the knowledge, and their candidates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import EMPTY, HashTable, find_slot, lookup
from wikilda._core.jit import Real, Whole, bare, inner, njit
from wikilda.knowledge import Knowledge
from wikilda.knowledge.name_index import cut
from wikilda.text.characters import Characters
from wikilda.text.folding import Folds, fold_words, sequence_of
from wikilda.text.tokens import Bytes, Strings, add_point, decode, lower_of, mix
from wikilda.urn._candidates import Rows
from wikilda.urn._coreference import Parents

Numbers = NDArray[np.int64]

_INHERITED = 4  # candidates that a name has from each of its parents
_SEED = np.uint64(0xCBF29CE484222325)


@njit
def resolve(
    mentions: Numbers, strings: Strings, variants: HashTable, table: Characters, fold: Folds, is_indexed: bool
) -> Numbers:
    """Return the numbers of mentions. An unknown string has that of a variant, or its own number below −1.

    A variant differs only in accents, points and endings.
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


@bare
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
    """Return chosen strings; very long ones are cut."""
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
    """Return the candidates of strings by the words of titles, and the best of their parents'."""
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


@bare
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


@bare
def _enter(more: Rows, start: Whole, size: Whole, topic: np.uint32, prior: Real) -> Whole:
    """Insert a topic into the row that begins at `start`. It counts once, by its largest prior."""
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
    """The number of links of each string of the wiki to each of its topics."""

    offsets: Numbers
    counts: NDArray[np.uint32]

    @classmethod
    def of(cls, knowledge: Knowledge) -> "LinkCounts":
        """Those of knowledge."""
        return cls(knowledge.mentions.offsets, knowledge.mentions.counts)


@njit
def read_links(symbols: Numbers, known: LinkCounts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The number of links of each string, and the probability that the next one has a new meaning.

    With n links to K topics that probability is (½ + ½K) / (½ + n), by Pitman and Yor's process: 1 for a string that
    the wiki never linked.
    """
    links, new = np.zeros(len(symbols), np.float64), np.ones(len(symbols), np.float64)
    for at in range(len(symbols)):
        if symbols[at] >= 0:
            start, end = known.offsets[symbols[at]], known.offsets[symbols[at] + 1]
            for place in range(start, end):
                links[at] += np.float64(known.counts[place])
            new[at] = min((0.5 + 0.5 * np.float64(end - start)) / (0.5 + links[at]), 1.0)
    return links, new
