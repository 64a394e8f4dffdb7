"""What each Unicode character is to us, as tables that kernels can index by code point."""

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SPACE, WORD_PART, LONE, PUNCTUATION, MARK = 0, 1, 2, 3, 4

# Assigned characters end here but for variation selectors and private use; the tables stop with them.
TABLE_SIZE = 0x32400
_BLOCK = 256
_POINTS = ("utf-32-le", "surrogatepass")

# Scripts written without spaces between words, and Hangul, where particles are attached to names: every character is a
# token of its own.
_LONE_RANGES = [
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # CJK radicals
    (0x3005, 0x3007),
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),  # Hangul
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
]
_NO_CAPITALS = slice(0x10D0, 0x1100)  # Georgian: Unicode has capitals for headlines; names do not begin with them
_JOINERS = [0x200C, 0x200D]  # stand inside words in Persian and Indic scripts


class Characters(NamedTuple):
    """Tables by code point: the kind of a character, its lower case, its upper case."""

    kind: NDArray[np.uint8]
    lower: NDArray[np.uint32]
    upper: NDArray[np.uint32]


def lower(text: str) -> str:
    """Lower case, one character for one character, so that offsets stay what they were.

    Python's own rule differs in two places: İ becomes two characters, and Σ depends on its neighbours.
    """
    return text.replace("İ", "i").replace("Σ", "σ").lower()


@cache
def characters() -> Characters:
    """The tables; made once a process."""
    everything = np.arange(TABLE_SIZE, dtype="<u4").tobytes().decode(*_POINTS)
    lowered = np.frombuffer(lower(everything).encode(*_POINTS), np.uint32)
    return Characters(_kinds(everything), lowered.copy(), _upper(everything))


def _blocks(everything: str) -> Iterator[tuple[int, str]]:
    """Most blocks are alike throughout, which Python tells at once; only the others need a look at each character."""
    return ((first, everything[first : first + _BLOCK]) for first in range(0, TABLE_SIZE, _BLOCK))


def _upper(everything: str) -> NDArray[np.uint32]:
    upper = np.arange(TABLE_SIZE, dtype=np.uint32)
    for first, block in _blocks(everything):
        if block.upper() != block:
            raised = (each if len(each) == 1 else character for character in block for each in (character.upper(),))
            upper[first : first + _BLOCK] = list(map(ord, raised))
    upper[_NO_CAPITALS] = np.arange(TABLE_SIZE, dtype=np.uint32)[_NO_CAPITALS]
    return upper


def _kinds(everything: str) -> NDArray[np.uint8]:
    categories = np.full(TABLE_SIZE, WORD_PART, np.uint8)
    for first, block in _blocks(everything):
        if not block.isalpha():
            kinds = bytes(map(_KIND.__getitem__, map(unicodedata.category, block)))
            categories[first : first + _BLOCK] = np.frombuffer(kinds, np.uint8)
    for first, last in _LONE_RANGES:
        part = categories[first : last + 1]
        part[part == WORD_PART] = LONE
    categories[_JOINERS] = MARK
    return categories


def _kind_of(category: str) -> int:
    if category[0] == "M":
        return MARK
    if category[0] in "LN":
        return WORD_PART
    return SPACE if category[0] in "ZC" else PUNCTUATION


_KIND = {
    category: _kind_of(category)
    for categories in ("Lu Ll Lt Lm Lo", "Mn Mc Me", "Nd Nl No", "Pc Pd Ps Pe Pi Pf Po", "Sm Sc Sk So", "Zs Zl Zp")
    for category in categories.split()
} | dict.fromkeys(["Cc", "Cf", "Cs", "Co", "Cn"], SPACE)
