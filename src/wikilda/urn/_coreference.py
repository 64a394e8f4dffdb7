"""Names of one document that belong together: a short form after, or before, the full name.

A mention has parents: longer names that begin or end with its words (`Yeltsin`, `Boris Yeltsin`), or whose initials it
is. Up to three count, the latest before it most; if none is before it, the next after it. A parent passes its meaning
on, or that it is unknown (`wikilda.urn._gibbs`).
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda.text.characters import characters
from wikilda.text.folding import fold_words, folds
from wikilda.text.tokens import as_bytes

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
    data = as_bytes(string)
    words = np.empty(len(data) + 1, np.uint64)
    return tuple(words[: fold_words(data, 0, len(data), characters(), folds(), words)].tolist())


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
        capitals = "".join(word[0] for word in string.split() if word[:1].isupper())
        letters = string.replace(".", "")
        is_initials = letters.isupper() and letters.isalpha() and _INITIALS[0] <= len(letters) <= _INITIALS[1]
        words = folded(string)
        marks = sum(not each.isalnum() and not each.isspace() for each in string)
        return cls(words, capitals if len(capitals) > 1 else "", letters if is_initials else "",
                   any(word[:1].islower() for word in string.split()), len(words) + marks)  # fmt: skip

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
    found = _latest(names, enumerate(rows), places)
    missing = {token for token, parents in found.items() if not parents}
    if missing:
        after = _latest(names, reversed(list(enumerate(rows))), places)
        found |= {token: after[token][:1] for token in missing}
    lists = [found[token] for token in range(len(rows))]
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


def _latest(names: Sequence[Name], tokens: Iterable[tuple[int, int]], places: Sequence[int]) -> dict[int, list[int]]:
    """By token the parents that were met before it, the last first; each name once."""
    met: dict[int | str, deque[tuple[int, int]]] = defaultdict(lambda: deque(maxlen=_MOST))
    found: dict[int, list[int]] = {}
    for token, row in tokens:
        name = names[row]
        keys: set[int | str] = {*name.words[:1], *name.words[-1:]}
        near = sorted({each for key in {*keys, name.letters} for each in met.get(key, ())}, key=_second, reverse=True)
        latest = {
            other: at
            for other, at in reversed(near)
            if name.is_short_for(names[other]) and not 0 <= places[token] - places[at] < names[other].size
        }
        found[token] = sorted(latest.values(), key=lambda at: abs(at - token))[:_MOST]
        if len(name.words) > 1:
            for key in {*keys, name.initials} - {""}:
                met[key] = deque((each for each in met[key] if each[0] != row), maxlen=_MOST)
                met[key].append((row, token))
    return found


def _second(pair: tuple[int, int]) -> int:
    return pair[1]
