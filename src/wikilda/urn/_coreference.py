"""Coreference of names within a document: short forms and their full names.

A mention has parents: longer names that begin or end with its words (`Yeltsin`, `Boris Yeltsin`), or whose initials it
is. Up to three count, the latest before it most; if none is before it, the next after it. A parent passes its meaning
on, or that it is NIL (`wikilda.urn._mean_field`).

In clear cases a short form is read as its nearest parent's string (`antecedents`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import EMPTY, find_slot
from wikilda._core.jit import Whole, bare, inner, njit
from wikilda.text.characters import PUNCTUATION, SPACE, Characters, characters
from wikilda.text.folding import Folds, fold_words, folds
from wikilda.text.tokens import Bytes, Hashes, Offsets, Strings, add_point, decode, is_small, kind_of, lower_of, mix

Words = tuple[int, ...]

# A string has a meaning of its own: the least share of its links to the article that it is the title of; or the least
# links, and the least share of these to one article.
_OWN_TITLE = 0.3
_OWN_LINKS, _OWN_SHARE = 30, 0.5
_PERSON_WORDS = 4  # of an unknown name whose parts are its own
_HALF = 128  # in 255ths
_MOST = 3  # parents of a mention, and names that are remembered for each key
_INITIALS = (2, 8)  # letters of initials
_POINT = ord(".")
_SEED = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _LAST, _LETTERS, _CAPITALS = range(4)  # what names are looked for by: words at their ends, initials


class Parents(NamedTuple):
    """The parents of token i from offsets[i] on, and how much each counts: together 1."""

    offsets: NDArray[np.int64]
    tokens: NDArray[np.int64]
    weights: NDArray[np.float64]
    surnames: NDArray[np.bool_]  # whether the parent ends with the name, or has it as initials


class Senses(NamedTuple):
    """The most frequent meaning of each distinct string of a document."""

    topics: NDArray[np.int64]  # its most frequent topic, or −1
    shares: NDArray[np.float64]  # the share of its links that lead there
    links: NDArray[np.float64]  # how often it is a link
    is_title: NDArray[np.bool_]  # whether that topic has the string as its title


class Names(NamedTuple):
    """Strings in the form in which they are compared; the folded words of string i from offsets[i] on."""

    words: Hashes
    offsets: Offsets
    initials: Hashes  # a hash of the capitals that its words begin with, if there are several, or 0
    letters: Hashes  # a hash of itself, if it may be initials, or 0
    joined: NDArray[np.bool_]  # whether a word of it begins with a small letter: `Bank of America`
    sizes: Offsets  # about how many tokens it has


class Name(NamedTuple):
    """One of them, in Python."""

    words: Words
    initials: int
    letters: int

    @classmethod
    def of(cls, string: str) -> "Name":
        """Return a name in the form in which it is compared."""
        found = names_of(Strings.of([string]), characters(), folds())
        words = found.words[: found.offsets[1]]
        return cls(tuple(words.tolist()), int(found.initials[0]), int(found.letters[0]))

    def is_short_for(self, other: "Name") -> bool:
        """Whether the other name is longer and begins or ends with this, or this is its initials."""
        size = len(self.words)
        if not 0 < size < len(other.words):
            return False
        ends = other.words[:size], other.words[-size:]
        return self.words in ends or (size == 1 and self.letters != 0 and self.letters == other.initials)


def folded(string: str) -> Words:
    """The folded words of a string."""
    return Name.of(string).words


@njit
def names_of(strings: Strings, table: Characters, fold: Folds) -> Names:
    """Return strings in the form in which they are compared."""
    count = len(strings.offsets) - 1
    names = Names(
        words=np.empty(len(strings.data) + 1, np.uint64), offsets=np.zeros(count + 1, np.int64),
        initials=np.zeros(count, np.uint64), letters=np.zeros(count, np.uint64), joined=np.zeros(count, np.bool_),
        sizes=np.zeros(count, np.int64),
    )  # fmt: skip
    for row in range(count):
        start, end = strings.offsets[row], strings.offsets[row + 1]
        size = fold_words(strings.data, start, end, table, fold, names.words[names.offsets[row] :])
        names.offsets[row + 1] = names.offsets[row] + size
        _read_letters(names, row, strings.data[start:end], table)
        names.sizes[row] += size
    return names


@bare
def _read_letters(names: Names, row: Whole, string: Bytes, table: Characters) -> None:
    """Read the letters of a string: initials, capitals, small words."""
    at: Whole = np.int64(0)
    parts = capitals = letters = np.int64(0)
    begins, is_upper = True, True
    of_words, of_all = _SEED, _SEED
    while at < len(string):
        point, size = decode(string, at)
        at += size
        kind = kind_of(point, table)
        names.sizes[row] += kind == PUNCTUATION
        large = lower_of(point, table) != point
        if begins and kind != SPACE:
            parts += 1
            capitals += large
            of_words = add_point(of_words, point) if large else of_words
            names.joined[row] |= is_small(point, table)
        begins = kind == SPACE
        if point != _POINT:
            letters += 1
            is_upper = is_upper and large
            of_all = add_point(of_all, point)
    if parts > 1 and capitals > 1:
        names.initials[row] = mix(of_words)
    if is_upper and _INITIALS[0] <= letters <= _INITIALS[1]:
        names.letters[row] = mix(of_all)


@njit
def parents_of(names: Names, rows: Offsets, places: Offsets) -> Parents:
    """Return the parents of tokens in the order of the text; `rows` has the name of each. Takes linear time.

    A name that a mention is itself a part of, by their places, is not its parent.
    """
    size = len(rows)
    found, counts = np.empty((size, _MOST), np.int64), np.zeros(size, np.int64)
    keys, count = _keys(names)
    if len(names.joined) < 2:  # one name is short for no other
        return _parents(names, rows, found, counts)
    for backwards in (False, True):
        latest = np.full((count, _MOST), np.int64(-1))  # by key: the last tokens with it, each name once
        for step in range(size):
            token = size - 1 - step if backwards else np.int64(step)
            if not backwards or counts[token] == 0:
                counts[token] = _look(names, rows, places, keys[rows[token]], latest, token, found[token])
                if backwards:
                    counts[token] = min(counts[token], np.int64(1))
            _remember(names, rows, keys[rows[token]], latest, token)
    return _parents(names, rows, found, counts)


@njit
def antecedents(
    names: Names, rows: Offsets, parents: Parents, titled: NDArray[np.bool_], senses: Senses,
    persons: NDArray[np.uint8], organisations: NDArray[np.uint8],
) -> Offsets:  # fmt: skip
    """Return the string that each mention is read as: its own, or that of its full name.

    A surname after an honorific is its nearest full name. So is a short form of a person, of an organisation or of an
    unknown name, unless it has a meaning of its own: it is another article's title, or mostly linked to one. So are
    the initials of what is no person.
    """
    drawn_as, untyped = rows.copy(), len(persons) == 0  # then names of people are known by their form
    for _ in range(2):  # a full name may follow, and be short for a longer one
        for token in range(len(rows)):
            if parents.offsets[token + 1] == parents.offsets[token] or drawn_as[token] != rows[token]:
                continue
            at = parents.offsets[token]
            parent = parents.tokens[at]
            is_person = _is_of(persons, senses.topics[rows[parent]])
            is_body = _is_of(organisations, senses.topics[rows[parent]])
            ends = parents.surnames[at]
            if _is_sure(names, rows[token], rows[parent], ends, titled[token], senses, is_person, is_body, untyped):
                drawn_as[token] = drawn_as[parent]
    return drawn_as


@bare
def _is_sure(
    names: Names,
    one: Whole,
    other: Whole,
    ends: bool,
    titled: bool,
    senses: Senses,
    is_person: bool,
    is_body: bool,
    untyped: bool,
) -> bool:
    """Whether a string is clearly short for another; `ends`: the other ends with it, or has it as initials."""
    size, longer = names.offsets[one + 1] - names.offsets[one], names.offsets[other + 1] - names.offsets[other]
    begins: Whole = _begins(names, one, other, np.int64(0))
    if not begins and not _begins(names, one, other, longer - size):
        return not is_person  # initials
    if titled:
        return is_person or not is_body
    if names.letters[one] != EMPTY and names.initials[other] != EMPTY:
        return False  # US, UK and the like begin and end many names
    if senses.is_title[one] and senses.shares[one] >= _OWN_TITLE:
        return False
    few: Whole = senses.links[one] < _OWN_LINKS
    if is_person:
        return bool(few or ends or senses.shares[one] < _OWN_SHARE)
    if senses.topics[one] >= 0 and begins:
        return False  # Scottish, in a text with the Scottish Labour Party
    if is_body:
        return bool(few and not ends)
    several: Whole = names.initials[other] != EMPTY and longer <= _PERSON_WORDS and not names.joined[other]
    full: Whole = names.sizes[other] == longer  # no initials: R. Croft
    return bool(few and several and full and (senses.topics[other] < 0 or (untyped and ends)))


@bare
def _is_of(shares: NDArray[np.uint8], topic: Whole) -> bool:
    return bool(0 <= topic < len(shares) and shares[topic] >= _HALF)


@inner
def _keys(names: Names) -> tuple[NDArray[np.int32], Whole]:
    """The numbers of the keys of each name, −1 where it has none, and how many numbers there are."""
    rows = len(names.joined)
    slots = np.zeros(4 * rows * 2 + 8, np.uint64)
    numbers = np.full(len(slots), np.int32(-1))
    keys, count = np.full((rows, 4), np.int32(-1)), np.int64(0)
    for row in range(rows):
        start, end = names.offsets[row], names.offsets[row + 1]
        for kind in range(4):
            key = names.letters[row] if kind == _LETTERS else names.initials[row]
            if kind < _LETTERS:
                key = EMPTY
                if end > start and (kind == _FIRST or names.words[start] != names.words[end - 1]):
                    key = names.words[start if kind == _FIRST else end - 1]
            if key == EMPTY:
                continue
            slot = find_slot(slots, key)
            if numbers[slot] < 0:
                slots[slot] = key
                numbers[slot] = count
                count += 1
            keys[row, kind] = numbers[slot]
    return keys, count


@bare
def _look(
    names: Names, rows: Offsets, places: Offsets, keys: NDArray[np.int32], latest: Offsets, token: Whole, found: Offsets
) -> Whole:
    """Find the parents of a token, the nearest first, and return their number."""
    count = np.int64(0)
    for kind in (_FIRST, _LAST, _LETTERS):
        for rank in range(_MOST if keys[kind] >= 0 else 0):
            other = latest[keys[kind], rank]
            if other < 0 or not _is_short_for(names, rows[token], rows[other]):
                continue
            inside = 0 <= places[token] - places[other] < names.sizes[rows[other]]
            for at in range(count):
                inside = inside or found[at] == other
            if inside:
                continue
            if count == _MOST and not _nearer(token, other, found[count - 1]):
                continue
            count = min(count + 1, np.int64(_MOST))
            place = count - 1
            while place > 0 and _nearer(token, other, found[place - 1]):
                found[place] = found[place - 1]
                place -= 1
            found[place] = other
    return count


@bare
def _nearer(token: Whole, one: Whole, other: Whole) -> bool:
    return bool(abs(token - one) < abs(token - other))


@bare
def _remember(names: Names, rows: Offsets, keys: NDArray[np.int32], latest: Offsets, token: Whole) -> None:
    """Remember a name of several words as a possible parent, by each of its keys."""
    if names.offsets[rows[token] + 1] - names.offsets[rows[token]] < 2:
        return
    for kind in (_FIRST, _LAST, _CAPITALS):
        if keys[kind] < 0:
            continue
        row = latest[keys[kind]]
        at = 0
        while at < _MOST - 1 and row[at] >= 0 and rows[row[at]] != rows[token]:
            at += 1
        while at > 0:
            row[at] = row[at - 1]
            at -= 1
        row[0] = token


@bare
def _is_short_for(names: Names, one: Whole, other: Whole) -> bool:
    """Whether the other name is longer and begins or ends with this, or this is its initials."""
    size = names.offsets[one + 1] - names.offsets[one]
    longer = names.offsets[other + 1] - names.offsets[other]
    if size == 0 or size >= longer:
        return False
    if size == 1 and names.letters[one] != EMPTY and names.letters[one] == names.initials[other]:
        return True
    return _begins(names, one, other, np.int64(0)) or _begins(names, one, other, longer - size)


@bare
def _begins(names: Names, one: Whole, other: Whole, skipped: Whole) -> bool:
    """Whether the words of the other name after some are those of this one."""
    start, begin = names.offsets[one], names.offsets[other] + skipped
    same = True
    for at in range(names.offsets[one + 1] - start):
        same = same and names.words[start + at] == names.words[begin + at]
    return same


@inner
def _parents(names: Names, rows: Offsets, found: Offsets, counts: Offsets) -> Parents:
    """A parent counts twice as much as the next.

    One that is unknown makes a surname unknown: `John Andrews` does `Andrews`. What an unknown name begins with, or has
    after `of`, need not be unknown: `Sydney Newsroom`, `Friends of Sydney`.
    """
    offsets = np.zeros(len(rows) + 1, np.int64)
    for token in range(len(rows)):
        offsets[token + 1] = offsets[token] + counts[token]
    size = offsets[len(rows)]
    parents = Parents(offsets, np.empty(size, np.int64), np.empty(size, np.float64), np.empty(size, np.bool_))
    for token in range(len(rows)):
        whole = 2.0 - 0.5 ** (counts[token] - 1.0)
        for rank in range(counts[token]):
            parent, at = rows[found[token, rank]], offsets[token] + rank
            parents.tokens[at] = found[token, rank]
            parents.weights[at] = 0.5**rank / whole
            begins = _begins(names, rows[token], parent, np.int64(0))
            parents.surnames[at] = not begins and not names.joined[parent]
    return parents
