"""Names of one document that belong together: a short form after, or before, the full name.

A mention has parents: longer names that begin or end with its words (`Yeltsin`, `Boris Yeltsin`), or whose initials it
is. Up to three count, the latest before it most; if none is before it, the next after it. A parent passes its meaning
on, or that it is unknown (`wikilda.urn._gibbs`).
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.jit import njit
from wikilda.text.characters import Characters, characters
from wikilda.text.folding import Folds, fold_words, folds
from wikilda.text.tokens import Hashes, Offsets, Strings

Words = tuple[int, ...]

_MOST = 3  # parents of a mention
_FAR = 1 << 20  # tokens between mentions whose places are not given
_INITIALS = (2, 8)  # letters of initials


class Parents(NamedTuple):
    """The parents of token i from offsets[i] on, and how much each counts: together 1."""

    offsets: NDArray[np.int64]
    tokens: NDArray[np.int64]
    weights: NDArray[np.float64]
    surnames: NDArray[np.bool_]  # whether the parent ends with the name, or has it as initials


def folded(string: str) -> Words:
    """The folded words of a string."""
    return fold_all(Strings.of([string]))[0]


def fold_all(strings: Strings) -> list[Words]:
    """The folded words of strings."""
    words, offsets = _fold_all(strings, characters(), folds())
    bounds, whole = offsets.tolist(), words.tolist()
    return [tuple(whole[start:end]) for start, end in pairwise(bounds)]


@njit
def _fold_all(strings: Strings, table: Characters, fold: Folds) -> tuple[Hashes, Offsets]:
    words, offsets = np.empty(len(strings.data) + 1, np.uint64), np.zeros(len(strings.offsets), np.int64)
    for row in range(len(offsets) - 1):
        start, end = strings.offsets[row], strings.offsets[row + 1]
        offsets[row + 1] = offsets[row] + fold_words(strings.data, start, end, table, fold, words[offsets[row] :])
    return words[: offsets[-1]], offsets


class Name(NamedTuple):
    """A distinct string: its words, the initials of its words, and itself if it may be initials."""

    words: Words
    initials: str
    letters: str
    joined: bool  # whether a word of it begins with a small letter: `Bank of America`
    size: int  # about how many tokens it has

    @classmethod
    def of(cls, string: str) -> "Name":
        """A name as it is compared with others."""
        return cls.all_of([string], Strings.of([string]))[0]

    @classmethod
    def all_of(cls, strings: list[str], data: Strings) -> list["Name"]:
        """Names as they are compared with others."""
        return [cls._of(string, words) for string, words in zip(strings, fold_all(data), strict=True)]

    @classmethod
    def _of(cls, string: str, words: Words) -> "Name":
        parts, letters = string.split(), string.replace(".", "")
        capitals = "".join(part[0] for part in parts if part[0].isupper()) if len(parts) > 1 else ""
        plain = "".join(parts).isalnum()  # most are
        marks = 0 if plain else sum(not each.isalnum() and not each.isspace() for each in string)
        is_initials = _INITIALS[0] <= len(letters) <= _INITIALS[1] and letters.isupper() and letters.isalpha()
        return cls(words, capitals if len(capitals) > 1 else "", letters if is_initials else "",
                   any(part[0].islower() for part in parts), len(words) + marks)  # fmt: skip

    def keys(self, initials: str) -> set[int | str]:
        """What it is looked for by: the words at its ends, and initials."""
        return {*self.words[:1], *self.words[-1:], *([initials] if initials else ())}

    def is_short_for(self, other: "Name") -> bool:
        """Whether the other name is longer and begins or ends with this, or this is its initials."""
        size = len(self.words)
        if self.letters and self.letters == other.initials and size == 1 < len(other.words):
            return True
        ends = other.words[:size], other.words[len(other.words) - size :]
        return 0 < size < len(other.words) and self.words in ends


def parents_of(names: Sequence[Name], rows: Sequence[int], places: Sequence[int] | None = None) -> Parents:
    """The parents of tokens in the order of the text; `rows` has the name of each. Linear in the tokens.

    A name that a mention is itself a part of, by their places, is not its parent.
    """
    places = places if places is not None else [_FAR * at for at in range(len(rows))]
    short = _short(names)
    if not short:
        none = np.empty(0, np.int64)
        return Parents(np.zeros(len(rows) + 1, np.int64), none, none.astype(np.float64), none.astype(np.bool_))
    found = _latest(names, enumerate(rows), places, short)
    missing = [token for token, row in enumerate(rows) if row in short and not found[token]]
    if missing:
        after = _latest(names, reversed(list(enumerate(rows))), places, short)
        found |= {token: after[token][:1] for token in missing}
    lists = [found.get(token, []) for token in range(len(rows))]
    weights = [[0.5**rank for rank in range(len(each))] for each in lists]
    return Parents(
        offsets_of([len(each) for each in lists]),
        np.array([token for each in lists for token in each], np.int64),
        np.array([weight / sum(each) for each in weights for weight in each], np.float64),
        np.array([_is_surname(names[rows[token]], names[rows[parent]])
                  for token, each in enumerate(lists) for parent in each], np.bool_),
    )  # fmt: skip


def _is_surname(name: Name, parent: Name) -> bool:
    """Whether a parent that is unknown makes the name unknown: `John Andrews` does `Andrews`.

    What an unknown name begins with, or has after `of`, need not be unknown: `Sydney Newsroom`, `Friends of Sydney`.
    """
    return name.words != parent.words[: len(name.words)] and not parent.joined


def _short(names: Sequence[Name]) -> set[int]:
    """Names that may be short for others: some longer name begins or ends like them, or has their initials."""
    first: dict[int, int] = {}  # by word, how long names are that begin with it, and that end with it
    last: dict[int, int] = {}
    for name in names:
        if len(name.words) > 1:
            first[name.words[0]] = max(first.get(name.words[0], 0), len(name.words))
            last[name.words[-1]] = max(last.get(name.words[-1], 0), len(name.words))
    initials = {name.initials for name in names} - {""}
    return {
        row
        for row, name in enumerate(names)
        if name.words
        and (
            first.get(name.words[0], 0) > len(name.words)
            or last.get(name.words[-1], 0) > len(name.words)
            or name.letters in initials
        )
    }


def _latest(
    names: Sequence[Name], tokens: Iterable[tuple[int, int]], places: Sequence[int], short: set[int]
) -> dict[int, list[int]]:
    """By token whose name may be `short` the parents that were met before it, the last first; each name once."""
    asked = {key for row in short for key in names[row].keys(names[row].letters)}
    met: dict[int | str, deque[tuple[int, int]]] = defaultdict(lambda: deque(maxlen=_MOST))
    found: dict[int, list[int]] = {}
    for token, row in tokens:
        name = names[row]
        if row in short:
            others = {each for key in name.keys(name.letters) for each in met.get(key, ())}
            near = sorted(others, key=_second, reverse=True)
            latest = {
                other: at
                for other, at in reversed(near)
                if name.is_short_for(names[other]) and not 0 <= places[token] - places[at] < names[other].size
            }
            found[token] = sorted(latest.values(), key=lambda at: abs(at - token))[:_MOST]
        if len(name.words) > 1:
            for key in name.keys(name.initials) & asked:
                met[key] = deque((each for each in met[key] if each[0] != row), maxlen=_MOST)
                met[key].append((row, token))
    return found


def _second(pair: tuple[int, int]) -> int:
    return pair[1]
