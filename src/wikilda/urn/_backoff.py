"""Candidates of strings that the wiki never linked: a back-off P(k|v) by the words that a string shares with titles.

A topic whose title has all words of the string gets weight in proportion to its popularity and to the string's share
of the title: `Yeltsin` may mean Boris Yeltsin. Weaker evidence are titles that begin alike (`Chechens`, `Chechnya`),
titles with most of the words, and the candidates of a part of the string (`President Obama`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import lookup
from wikilda._core.jit import Real, Whole, bare, inner, njit
from wikilda.knowledge.name_index import NameIndex, cut, initials_key, name_end, stem_key
from wikilda.model.model import Parameters
from wikilda.text.characters import TABLE_SIZE, WORD_PART, Characters
from wikilda.text.folding import Folds, fold_words, sequence_of
from wikilda.text.tokens import Bytes, Hashes, Strings, decode, kind_of, lower_of
from wikilda.urn._candidates import Rows
from wikilda.urn._coreference import Names

_MOST = 512  # topics that are looked at
INSIDE_MOST = 128  # of a mention that is a part of a string
_MOST_WORDS = 0.1  # of a title that has not all words but most
_ALIKE = 0.2  # of a title that begins like the string
_INSIDE = 0.3  # of candidates of a part of the string, if the string has all words of their title
_SURNAME = 0.03  # of candidates of a part of the string, if not: `Gary Becker` is not Boris Becker
_SHARE = 0.6  # of the words, that are most; of the letters, for words that begin alike
_INITIALS = (2, 8)  # letters
_OTHERS = np.uint32(1 << 31)
_SPACE, _A, _ZERO, _NINE = (ord(each) for each in " a09")


class Scratch(NamedTuple):
    """Topics found so far, with their weights; `size` is their number, `strength` that of the best kind of evidence."""

    topics: NDArray[np.uint32]
    weights: NDArray[np.float64]
    size: NDArray[np.int64]
    strength: NDArray[np.float64]


@njit
def back_off(
    names: Names, strings: Strings, symbols: NDArray[np.int64], most: Whole, index: NameIndex, titles: Strings,
    rows: Parameters, table: Characters, fold: Folds,
) -> Rows:  # fmt: skip
    """Return the candidates of strings by the words of titles, sorted, with P(k|v); at most `most` of each.

    P(k|v) adds up to 1 if titles have all of the string's words, and to less if the evidence is weaker. For a
    string that the wiki links (its symbol is not below 0) only titles that have all of its words count.
    """
    count = len(symbols)
    offsets = np.zeros(count + 1, np.int64)
    topics, priors = np.empty(count * most, np.uint32), np.empty(count * most, np.float64)
    found = Scratch(
        np.empty(_MOST, np.uint32), np.empty(_MOST, np.float64), np.zeros(1, np.int64), np.zeros(1, np.float64)
    )
    for row in range(count):
        found.size[0], found.strength[0] = 0, 0.0
        words = names.words[names.offsets[row] : names.offsets[row + 1]]
        string = strings.data[strings.offsets[row] : strings.offsets[row + 1]]
        _look(found, words, string, symbols[row] >= 0, index, titles, rows, table, fold)
        offsets[row + 1] = _best(found, most, topics, priors, offsets[row])
    return Rows(offsets, topics[: offsets[count]], priors[: offsets[count]])


@inner
def _look(
    found: Scratch, words: Hashes, string: Bytes, known: bool, index: NameIndex, titles: Strings, rows: Parameters,
    table: Characters, fold: Folds,
) -> None:  # fmt: skip
    """Find the topics of a string."""
    if len(words) == 1:
        _add_row(found, index, lookup(index.table, words[0]))
        initials = initials_of(string, table, fold)
        if initials != 0:
            _add_row(found, index, lookup(index.table, initials))
        if not known and found.size[0] == 0:
            _add_alike(found, string, index, titles, table, fold)
    elif len(words) > 1:
        _add_containing(found, words, string, known, index, titles, table, fold)
        if not known:
            _add_inside(found, words, index, titles, rows, table, fold)


@bare
def _add(found: Scratch, topic: np.uint32, strength: Real, weight: Real) -> None:
    """Add a topic, which counts once, by its largest weight."""
    size = found.size[0]
    found.strength[0] = max(found.strength[0], strength)
    weight *= strength
    for at in range(size):
        if found.topics[at] == topic:
            found.weights[at] = max(found.weights[at], weight)
            return
    if size < len(found.topics):
        found.topics[size], found.weights[size] = topic, weight
        found.size[0] = size + 1


@bare
def _fame(index: NameIndex, topic: np.uint32) -> Real:
    return np.sqrt(1.0 + np.float64(index.popularity[topic]))


@bare
def _add_row(found: Scratch, index: NameIndex, row: Whole) -> None:
    if row < 0:
        return
    start, end = index.offsets[row], index.offsets[row + 1]
    if found.size[0] == 0:  # a row has a topic once
        end = min(end, start + len(found.topics))
        found.size[0], found.strength[0] = end - start, 1.0 if end > start else 0.0
        for at in range(start, end):
            topic = index.topics[at]
            found.topics[at - start] = topic
            found.weights[at - start] = _fame(index, topic) / max(np.float64(index.sizes[at]), 1.0)
        return
    for at in range(start, end):
        topic = index.topics[at]
        _add(found, topic, 1.0, _fame(index, topic) / max(np.float64(index.sizes[at]), 1.0))


@inner
def initials_of(string: Bytes, table: Characters, fold: Folds) -> np.uint64:
    """Return the key of titles whose initials are the letters of a string in capitals; 0 of other strings."""
    letters = np.empty(len(string), np.uint8)
    size = count = np.int64(0)
    at: Whole = np.int64(0)
    while at < len(string):
        point, length = decode(string, at)
        if kind_of(point, table) == WORD_PART:
            if lower_of(point, table) == point:
                return np.uint64(0)
            for byte in range(length):
                letters[size] = string[at + byte]
                size += 1
            count += 1
        at += length
    if not _INITIALS[0] <= count <= _INITIALS[1]:
        return np.uint64(0)
    return initials_key(letters[:size], table, fold)


@bare
def _add_alike(
    found: Scratch, string: Bytes, index: NameIndex, titles: Strings, table: Characters, fold: Folds
) -> None:
    """Add titles of one word that begin with most of the string's letters."""
    row = lookup(index.table, stem_key(string, np.int64(0), np.int64(len(string)), table, fold))
    if row < 0:
        return
    for at in range(index.offsets[row], index.offsets[row + 1]):
        topic = index.topics[at]
        start, end = titles.offsets[topic], titles.offsets[topic + 1]
        share = _common(string, titles.data[start : name_end(titles.data, start, end)], table, fold)
        if share >= _SHARE - 0.05:
            _add(found, topic, _ALIKE, share * share * _fame(index, topic))


@bare
def _common(string: Bytes, title: Bytes, table: Characters, fold: Folds) -> Real:
    """The share of a string's letters that a title begins with."""
    at: Whole = np.int64(0)
    other, same, letters = at, at, at
    equal: Whole = True
    while at < len(string):
        point, size = decode(string, at)
        at += size
        letters += 1
        if equal and other < len(title):
            opposite, length = decode(title, other)
            other += length
            one, two = lower_of(point, table), lower_of(opposite, table)
            equal = one < TABLE_SIZE and two < TABLE_SIZE and fold[one] == fold[two]
            same += equal
        else:
            equal = False
    return same / max(letters, 1)


@inner
def _add_containing(
    found: Scratch, words: Hashes, string: Bytes, known: bool, index: NameIndex, titles: Strings, table: Characters,
    fold: Folds,
) -> None:  # fmt: skip
    """Add titles that have all or most words, found by the rarest word."""
    best: Whole = np.int64(-1)
    for word in words:
        row = lookup(index.table, word)
        if row >= 0 and (best < 0 or _length(index, row) < _length(index, best)):
            best = row
    if best < 0:
        return
    needed = np.float64(len(words)) if known else _SHARE * len(words)
    initials = _initial_letters(string, np.int64(0), np.int64(len(string)), True)
    for at in range(index.offsets[best], index.offsets[best + 1]):
        topic = index.topics[at]
        if len(words) - _absent(initials, titles, topic) < needed:  # most titles, which need not be folded
            continue
        own = _title_words(titles, topic, table, fold)
        shared, size = _shared(words, own), len(own)
        if shared == len(words):
            _add(found, topic, 1.0, shared / max(size, 1) * _fame(index, topic))
        elif not known and shared >= _SHARE * len(words):
            _add(found, topic, _MOST_WORDS, shared / max(size, 1) * _fame(index, topic))


@bare
def _initial_letters(data: Bytes, start: Whole, end: Whole, after_space: bool) -> np.uint32:
    """Return the initial letters of words as bits; `after_space`, of words at the beginning or after a space only.

    The last bit tells that there are other characters than ASCII's, whose folding this does not know.
    """
    found = np.uint32(0)
    inside: Whole = False
    for at in range(start, end):
        byte = np.int64(data[at])
        letter = (byte | 32) - _A
        if byte >= 128:
            return _OTHERS
        if not inside and 0 <= letter < 26 and (not after_space or at == start or data[at - 1] == _SPACE):
            found |= np.uint32(1) << np.uint32(letter)
        inside = 0 <= letter < 26 or _ZERO <= byte <= _NINE
    return found


@bare
def _absent(own: np.uint32, titles: Strings, topic: np.uint32) -> Whole:
    """Return a lower bound of the words of a string that a title lacks, by initial letters."""
    letters = _initial_letters(titles.data, titles.offsets[topic], titles.offsets[topic + 1], False)
    missing = own & ~letters
    if (own | letters) & _OTHERS:
        return np.int64(0)
    count = np.int64(0)
    while missing:
        missing &= missing - np.uint32(1)
        count += 1
    return count


@inner
def _title_words(titles: Strings, topic: np.uint32, table: Characters, fold: Folds) -> Hashes:
    """The folded words of a title without its note."""
    start = titles.offsets[topic]
    end = cut(titles.data, start, name_end(titles.data, start, titles.offsets[topic + 1]))
    words = np.empty(end - start + 1, np.uint64)
    return words[: fold_words(titles.data, start, end, table, fold, words)]


@bare
def _length(index: NameIndex, row: Whole) -> Whole:
    return index.offsets[row + 1] - index.offsets[row]


@bare
def _shared(words: Hashes, others: Hashes) -> Whole:
    count = np.int64(0)
    for word in words:
        for other in others:
            if word == other:
                count += 1
                break
    return count


@inner
def _add_inside(
    found: Scratch, words: Hashes, index: NameIndex, titles: Strings, rows: Parameters, table: Characters, fold: Folds
) -> None:
    """Add the candidates of the longest beginning or end of a string."""
    for size in range(len(words) - 1, 0, -1):
        any_found = False
        for start in (len(words) - size, 0):
            mention = lookup(index.variants, sequence_of(words[start : start + size], np.int64(size)))
            if mention < 0:
                continue
            any_found = True
            total = 0.0
            for at in range(rows.offsets[mention], rows.offsets[mention + 1]):
                total += np.float64(rows.values[at])
            for at in range(rows.offsets[mention], min(rows.offsets[mention + 1], rows.offsets[mention] + INSIDE_MOST)):
                topic, share = rows.topics[at], np.float64(rows.values[at]) / max(total, 1e-300)
                own = _title_words(titles, topic, table, fold)
                strength = _INSIDE if _shared(own, words) == len(own) else _SURNAME
                _add(found, topic, strength, size / len(words) * share * _fame(index, topic))
        if any_found:
            return


@bare
def _best(found: Scratch, most: Whole, topics: NDArray[np.uint32], priors: NDArray[np.float64], begin: Whole) -> Whole:
    """Write the topics with the largest weights, sorted by number, and weights as shares of the strength.

    Of equals the first are taken. Returns where they end.
    """
    end = begin + min(most, found.size[0])
    total = 0.0
    for place in range(begin, end):
        best: Whole = np.int64(0)
        for at in range(1, found.size[0]):
            if found.weights[at] > found.weights[best]:
                best = at
        topic, weight = found.topics[best], np.float64(found.weights[best])
        found.weights[best] = -1.0
        total += weight
        to = place
        while to > begin and topics[to - 1] > topic:
            topics[to], priors[to] = topics[to - 1], priors[to - 1]
            to -= 1
        topics[to], priors[to] = topic, weight
    for place in range(begin, end):
        priors[place] *= found.strength[0] / total
    return end
