"""Fold words for comparing names: without case, accents, plural endings and the points of initials.

`Münchner`, `Muenchner` and `MUNCHNER` fold to one hash, and so do `Giants` and `Giant's`, `U.S.` and `US`. Both sides
of a comparison are folded, so it does not matter that `Samuel` loses its `e` as `Müller`'s other spelling does.
"""

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, bare, njit
from wikilda.text.characters import MARK, TABLE_SIZE, Characters
from wikilda.text.tokens import AFTER_SPACE, WORD, Bytes, Hashes, add_point, decode, kind_of, lower_of, mix, tokenize

Folds = NDArray[np.uint32]

_SEED = np.uint64(0x84222325CBF29CE4)
_FOLDED = 0x2000  # the alphabets with accents end here
_SPECIAL = {"ß": "s", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "a", "œ": "o", "ı": "i", "þ": "t", "ħ": "h"}
_A, _E, _O, _S, _U, _POINT = (ord(each) for each in "aeosu.")
_APOSTROPHES = (0x27, 0x2019, 0x60, 0x2BC)
_SIGNS = (0x23, 0x2B)  # number sign and plus, which are part of a name: C is neither C# nor C++
_PLURAL = 4  # number of letters from which on a plural ending is removed


@cache
def folds() -> Folds:
    """Return a table by code point: the lower-case letter without accents."""
    table = np.arange(TABLE_SIZE, dtype=np.uint32)
    for point in range(0x80, _FOLDED):
        character = chr(point)
        table[point] = ord(_SPECIAL.get(character, unicodedata.normalize("NFKD", character)[:1] or character))
    return table


@bare
def fold_word(text: Bytes, start: Whole, end: Whole, table: Characters, fold: Folds, value: np.uint64) -> np.uint64:
    """Add a folded word to a hash, without a final plural `s`."""
    count, before, last = np.int64(0), value, np.int64(0)
    at = start
    while at < end:
        point, size = decode(text, at)
        at += size
        if kind_of(point, table) == MARK:
            continue
        low = lower_of(point, table)
        letter: Whole = np.int64(fold[low]) if low < TABLE_SIZE else np.int64(low)
        if letter == _E and last in (_A, _O, _U):
            last = letter
            continue
        before = value
        value = add_point(value, letter)
        count += 1
        last = letter
    return before if last == _S and count >= _PLURAL else value


@njit
def fold_words(text: Bytes, start: Whole, end: Whole, table: Characters, fold: Folds, words: Hashes) -> Whole:
    """Write the hashes of a name's folded words, and return their number. `words` must hold `end - start`."""
    size = end - start + 1
    hashes, starts, ends = np.empty(size, np.uint64), np.empty(size, np.int64), np.empty(size, np.int64)
    tokens = tokenize(text, start, end, table, hashes, starts, ends)
    count = np.int64(0)
    initials = False  # whether the last word so far is a letter, or letters with points between them
    raw = _SEED
    for token in range(tokens):
        point, length = decode(text, starts[token])
        if not hashes[token] & WORD:
            if count > 0 and point in _SIGNS and not hashes[token] & AFTER_SPACE:
                words[count] = mix(add_point(_SEED, point)) | np.uint64(1)
                count += 1
                initials = False
            continue
        single = starts[token] + length >= ends[token]
        joined = token > 0 and not hashes[token] & AFTER_SPACE and ends[token - 1] == starts[token]
        mark = np.int64(text[starts[token - 1]]) if joined else np.int64(0)
        if joined and single and lower_of(point, table) == _S and _is_apostrophe(text, starts[token - 1]):
            continue
        goes_on = initials and single and joined and mark == _POINT
        raw = fold_word(text, starts[token], ends[token], table, fold, raw if goes_on else _SEED)
        if not goes_on:
            count += 1
        words[count - 1] = mix(raw) | np.uint64(1)
        initials = single
    return count


@bare
def _is_apostrophe(text: Bytes, at: Whole) -> bool:
    point, _ = decode(text, at)
    return point in _APOSTROPHES


@bare
def sequence_of(words: Hashes, count: Whole) -> np.uint64:
    """The hash of a sequence of folded words; 0 of none."""
    value = np.uint64(0)
    for at in range(count):
        value = mix((value * np.uint64(0x100000001B3)) ^ words[at])
    return value
