"""How a title matches a string: equal, initials, part, or nothing in common."""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import lookup
from wikilda._core.jit import Whole, bare, inner, njit
from wikilda.knowledge.knowledge import WordCases
from wikilda.text.characters import WORD_PART, Characters
from wikilda.text.tokens import (
    AFTER_SPACE,
    FLAGS,
    WORD,
    Bytes,
    Hashes,
    Offsets,
    Strings,
    add_point,
    decode,
    is_small,
    kind_of,
    lower_of,
    tokenize,
)

# Of a title: it is the string, but for initials (J. F. Kennedy), with or without "(…)"; the string is its initials;
# neither, nor alike; it begins or ends with the string, "(…)" not counted; it has "(…)".
SAME, INITIALS, UNLIKE, PART, NOTED = 1, 2, 4, 8, 16

_STEM = 4  # words with this many initial letters in common are similar: Russian, Russia
_ALWAYS, _LEAST_CAPITAL = np.uint8(255), np.uint8(13)
_SEED = np.uint64(0x9E3779B97F4A7C15)
_OPEN, _CLOSE, _SPACE = ord("("), ord(")"), ord(" ")

Kinds = NDArray[np.uint8]


@njit
def name_kinds(
    strings: Strings, rows: Offsets, topics: NDArray[np.uint32], titles: Strings, table: Characters
) -> Kinds:
    """Return the kinds of title matches of candidates, those of string i from rows[i] on; 0 without a title."""
    data, offsets = titles
    kinds = np.zeros(len(topics), np.uint8)
    longest = np.int64(0)
    for topic in topics:
        if topic + 1 < len(offsets):
            longest = max(longest, offsets[topic + 1] - offsets[topic])
    own, spots = np.empty(longest + 1, np.uint64), np.empty((2, longest + 1), np.int64)
    for row in range(len(rows) - 1):
        string = strings.data[strings.offsets[row] : strings.offsets[row + 1]]
        tokens, places = np.empty(len(string) + 1, np.uint64), np.empty((2, len(string) + 1), np.int64)
        count = tokenize(string, 0, len(string), table, tokens, places[0], places[1])
        letters, one_word = _letters(string, tokens[:count], table)
        for at in range(rows[row], rows[row + 1]):
            if topics[at] + 1 >= len(offsets):  # a caller's own entity
                continue
            title = data[offsets[topics[at]] : offsets[topics[at] + 1]]
            size = tokenize(title, 0, len(title), table, own, spots[0], spots[1])
            kinds[at] = _kind(string, tokens[:count], places, letters, one_word, title, own[:size], spots, table)
    return kinds


@bare
def _kind(
    string: Bytes, tokens: Hashes, places: Offsets, letters: Offsets, one_word: bool, title: Bytes, own: Hashes,
    spots: Offsets, table: Characters,
) -> np.uint8:  # fmt: skip
    """Return the kind of match of a title and a string."""
    kind, count = np.uint8(0), len(tokens)
    plain = len(own) - _tokens_from(spots[0, : len(own)], _without_note(title))
    is_same = _same(tokens, own[:plain]) or _same(tokens, own)
    if is_same or _abbreviates(string, tokens, places, title, own[:plain], spots, table):
        kind |= np.uint8(SAME)
    if one_word and _initials(letters, title, own[:plain], spots[0], table):
        kind |= np.uint8(INITIALS)
    if not kind and not _alike(string, tokens, places, title, own, spots, table):
        kind = np.uint8(UNLIKE)
    if _same(tokens, own[: min(count, plain - 1)]) or _same(tokens, own[max(plain - count, 1) : plain]):
        kind |= np.uint8(PART)
    if plain < len(own):
        kind |= np.uint8(NOTED)
    return kind


@bare
def _abbreviates(
    string: Bytes, tokens: Hashes, places: Offsets, title: Bytes, own: Hashes, spots: Offsets, table: Characters
) -> bool:  # fmt: skip
    """Whether a string has the words of a title, of which some are initials, but not the last: J. F. Kennedy."""
    at, place, initials = 0, 0, 0
    last: bool = False  # whether the last pair of words was the same
    while True:
        while at < len(tokens) and not tokens[at] & WORD:
            at += 1
        while place < len(own) and not own[place] & WORD:
            place += 1
        if at == len(tokens) or place == len(own):
            return at == len(tokens) and place == len(own) and initials > 0 and last
        last = tokens[at] | FLAGS == own[place] | FLAGS
        if not last:
            point, length = decode(string, places[0, at])
            first, _ = decode(title, spots[0, place])
            if places[0, at] + length < places[1, at] or lower_of(point, table) != lower_of(first, table):
                return False
            initials += 1
        at, place = at + 1, place + 1


@inner
def capital_chance(
    topic: Whole, known: NDArray[np.uint8], titles: Strings, cases: WordCases, table: Characters
) -> np.uint8:
    """Return the share of capitals for a topic in texts, in 255ths: 1 for names, less for common nouns.

    `known` remembers it.
    """
    chance = np.uint8(known[topic])
    if chance == 0:
        title = titles.data[titles.offsets[topic] : titles.offsets[topic + 1]]
        chance = _capital_chance(title[: _without_note(title)], cases, table)
        known[topic] = chance
    return chance


@inner
def _capital_chance(title: Bytes, cases: WordCases, table: Characters) -> np.uint8:
    """Compute the share of capitals: a title with a capital after its first word is a name, else this word decides.

    Titles show the case of all words but the first: *England cricket team* has the capital of *England*.
    """
    hashes, spots = np.empty(len(title) + 1, np.uint64), np.empty((2, len(title) + 1), np.int64)
    size = tokenize(title, 0, len(title), table, hashes, spots[0], spots[1])
    chance, is_first = _ALWAYS, True
    for at in range(size):
        if not hashes[at] & WORD:
            continue
        point, _ = decode(title, spots[0, at])
        if not is_first and not is_small(point, table):
            return _ALWAYS
        if is_first:
            number = lookup(cases.table, hashes[at] & ~FLAGS)
            chance = cases.capital[number] if number >= 0 else _ALWAYS
        is_first = False
    return max(chance, _LEAST_CAPITAL)


@njit
def capital_chances(
    topics: Offsets, known: NDArray[np.uint8], titles: Strings, cases: WordCases, table: Characters
) -> NDArray[np.uint8]:
    """Return the share of capitals for some topics."""
    found = np.empty(len(topics), np.uint8)
    for at in range(len(topics)):
        found[at] = capital_chance(topics[at], known, titles, cases, table)
    return found


@bare
def _without_note(title: Bytes) -> Whole:
    """Return the end of a title without a parenthesis: `Mercury (planet)`."""
    end = len(title)
    if end == 0 or title[end - 1] != _CLOSE:
        return end
    at = end - 1
    while at > 0 and title[at] != _OPEN:
        at -= 1
    return at - 1 if at > 1 and title[at - 1] == _SPACE else end


@bare
def is_title(string: Bytes, title: Bytes, table: Characters) -> bool:
    """Whether a string is a title, or would be without its note; case does not matter."""
    end = _without_note(title)
    at: Whole = np.int64(0)
    other: Whole = np.int64(0)
    while at < len(string) and other < end:
        point, size = decode(string, at)
        opposite, length = decode(title, other)
        if lower_of(point, table) != lower_of(opposite, table):
            return False
        at += size
        other += length
    return bool(at == len(string) and other == end)


@bare
def _tokens_from(starts: NDArray[np.int64], place: Whole) -> Whole:
    """How many tokens start at a place or after it."""
    count = np.int64(0)
    for start in starts:
        count += start >= place
    return count


@inner
def _letters(string: Bytes, tokens: NDArray[np.uint64], table: Characters) -> tuple[NDArray[np.int64], bool]:
    """The letters of a string in lower case without points, and whether it is one word."""
    found = np.empty(len(string), np.int64)
    count = np.int64(0)
    at: Whole = np.int64(0)
    while at < len(string):
        point, size = decode(string, at)
        if kind_of(point, table) == WORD_PART:
            found[count] = lower_of(point, table)
            count += 1
        at += size
    one_word = True
    for number in range(1, len(tokens)):
        one_word &= not tokens[number] & AFTER_SPACE
    return found[:count], one_word


@bare
def _same(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> bool:
    if len(first) != len(second):
        return False
    for at in range(len(first)):
        if (first[at] | FLAGS) != (second[at] | FLAGS):
            return False
    return len(first) > 0


@bare
def _initials(
    letters: NDArray[np.int64], title: Bytes, tokens: NDArray[np.uint64], starts: NDArray[np.int64], table: Characters
) -> bool:
    """Whether letters are the initials of a title's words, of all or of those that do not begin in lower case."""
    if len(letters) < 2:
        return False
    every, large = np.int64(0), np.int64(0)
    every_fits: Whole = True
    large_fits: Whole = True
    for at in range(len(tokens)):
        if not tokens[at] & WORD:
            continue
        point, _ = decode(title, starts[at])
        low = lower_of(point, table)
        every_fits = every_fits and every < len(letters) and letters[every] == low
        every += 1
        if is_small(point, table):
            continue
        large_fits = large_fits and large < len(letters) and letters[large] == low
        large += 1
    return bool((every_fits and every == len(letters)) or (large_fits and large == len(letters)))


@bare
def _alike(
    string: Bytes, tokens: NDArray[np.uint64], places: NDArray[np.int64], title: Bytes, own: NDArray[np.uint64],
    spots: NDArray[np.int64], table: Characters,
) -> bool:  # fmt: skip
    """Whether a word of the string is one of the title, or begins like one."""
    for i in range(len(tokens)):
        if not tokens[i] & WORD:
            continue
        stem = _stem(string, places[0, i], places[1, i], table)
        for j in range(len(own)):
            if (tokens[i] | FLAGS) == (own[j] | FLAGS):
                return True
            if stem != 0 and own[j] & WORD and stem == _stem(title, spots[0, j], spots[1, j], table):
                return True
    return False


@bare
def _stem(text: Bytes, start: Whole, end: Whole, table: Characters) -> np.uint64:
    """A hash of the first letters of a word; 0 if it is shorter."""
    value = _SEED
    at, count = start, 0
    while at < end and count < _STEM:
        point, size = decode(text, at)
        value = add_point(value, lower_of(point, table))
        at += size
        count += 1
    return value if count == _STEM else np.uint64(0)
