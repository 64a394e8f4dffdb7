"""Capitals of a text: the shape of every token, sentence starts, and lines of capitals."""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import find_slot
from wikilda._core.jit import bare, inner
from wikilda.text.characters import TABLE_SIZE, Characters
from wikilda.text.tokens import AFTER_SPACE, BREAK, FLAGS, WORD, Bytes, Hashes, Offsets, decode

# Shapes of tokens; the first two have no letters with a case.
OTHER, UNCASED, LOWER, CAPITAL, UPPER = 0, 1, 2, 3, 4
SHAPE = 7
FIRST, SHOUTED = 8, 16  # flags: the first word of a sentence; in a line that is mostly capitals
INITIAL = 128  # flag: a single capital letter
NAME, COMMON = (
    32,
    64,
)  # flags by the rest of the text: the word mostly has a capital where capitals are informative, or mostly not

Shapes = NDArray[np.uint8]

_TAB, _COLON = 0x09, 0x3A
_DIGIT_ZERO, _DIGIT_NINE = 0x30, 0x39
_INITIAL = 3  # a capitalised word of at most this many letters before a full stop is an abbreviation: Mr., Jan., U.S.


@bare
def shape_of(text: Bytes, start: int, end: int, table: Characters) -> int:
    """Return the shape of a word: capital if any letter is a capital (iPhone), upper if all of several are."""
    letters = capitals = small = 0
    at = start
    while at < end:
        point, size = decode(text, at)
        at += size
        if point >= TABLE_SIZE or _DIGIT_ZERO <= point <= _DIGIT_NINE:
            continue
        letters += 1
        if table.lower[point] != point:
            capitals += 1
        elif table.upper[point] != point:
            small += 1
    if letters == 0:
        return OTHER
    if capitals + small == 0:
        return UNCASED
    if capitals == 0:
        return LOWER
    return UPPER if small == 0 and letters > 1 else CAPITAL


@inner
def shape_all(text: Bytes, hashes: Hashes, starts: Offsets, ends: Offsets, count: int, table: Characters) -> Shapes:
    """Return the shapes of all tokens with their flags."""
    shapes = np.zeros(count, np.uint8)
    shape_sentences(text, hashes, starts, ends, count, table, shapes)
    _mark_elsewhere(hashes, shapes, count)
    return shapes


@bare
def shape_sentences(
    text: Bytes, hashes: Hashes, starts: Offsets, ends: Offsets, count: int, table: Characters, shapes: Shapes
) -> None:
    """Write the shapes of tokens with the flags of their sentences."""
    first, begin = True, 0
    for token in range(count):
        if hashes[token] & WORD:
            shape = shape_of(text, starts[token], ends[token], table)
            if shape >= CAPITAL and ends[token] - starts[token] == 1:
                shape |= INITIAL
            shapes[token] = shape | FIRST if first or _begins(text, hashes, starts, ends, token) else shape
            first = False
        elif _ends_sentence(text, hashes, starts, ends, shapes, token, count):
            _mark_shouting(shapes, begin, token)
            first, begin = True, token + 1
    _mark_shouting(shapes, begin, count)


@bare
def _begins(text: Bytes, hashes: Hashes, starts: Offsets, ends: Offsets, token: int) -> bool:
    """Whether a capital is uninformative although no sentence begins: after a colon, in a quotation, in a cell."""
    if token == 0 or is_apart(text, hashes, starts, ends, token):
        return True
    if hashes[token - 1] & WORD or hashes[token - 1] == BREAK:
        return False
    mark = text[starts[token - 1]]
    if mark == _COLON:
        return bool(hashes[token] & AFTER_SPACE > 0)
    opens = hashes[token - 1] & AFTER_SPACE > 0 or token == 1 or hashes[token - 2] == BREAK
    return bool(opens and mark in (0x22, 0x27, 0xC2, 0xE2))  # " ' « “ ‘ „


@bare
def is_apart(text: Bytes, hashes: Hashes, starts: Offsets, ends: Offsets, token: int) -> bool:
    """Whether a tab or several spaces come before a token, as between cells of a table."""
    if token == 0 or not hashes[token] & AFTER_SPACE:
        return False
    first, last = ends[token - 1], starts[token]
    apart = last - first > 2
    for byte in range(first, last):
        apart |= text[byte] == _TAB
    return bool(apart)


@bare
def _ends_sentence(
    text: Bytes, hashes: Hashes, starts: Offsets, ends: Offsets, shapes: Shapes, token: int, count: int
) -> bool:
    if hashes[token] == BREAK:
        return True
    point, _ = decode(text, starts[token])
    if point in (0x21, 0x3F, 0x3002, 0xFF01, 0xFF1F, 0x061F, 0x0964):  # ! ? 。！？ ؟ ।
        return True
    if point != 0x2E:
        return False
    after = token + 1
    if after < count and not hashes[after] & (AFTER_SPACE | WORD) and _is_quote(text, starts[after]):
        after += 1  # "…to work." One of
    if after < count and not hashes[after] & AFTER_SPACE and hashes[after] != BREAK:
        return False
    before = shapes[token - 1] & SHAPE if token > 0 else OTHER
    return not (before >= CAPITAL and ends[token - 1] - starts[token - 1] <= _INITIAL)


@bare
def _is_quote(text: Bytes, place: int) -> bool:
    """Whether a quotation mark or a closing bracket begins at a place."""
    mark = text[place]
    return bool(mark in (0x22, 0x27, 0x29, 0x5D) or (mark == 0xC2 and text[place + 1] == 0xBB)
                or (mark == 0xE2 and text[place + 1] == 0x80 and text[place + 2] in (0x99, 0x9D)))  # fmt: skip


@bare
def _mark_shouting(shapes: Shapes, begin: int, end: int) -> None:
    """Flag the words of a sentence that is mostly in capitals."""
    upper = cased = 0
    for token in range(begin, end):
        shape = shapes[token] & SHAPE
        upper += shape == UPPER
        cased += shape >= LOWER
    if 2 * upper > cased:
        for token in range(begin, end):
            shapes[token] |= SHOUTED


@inner
def _mark_elsewhere(hashes: Hashes, shapes: Shapes, count: int) -> None:
    """Flag words at uninformative positions by their usual spelling elsewhere in the text."""
    keys, small, capital = np.zeros(2 * count + 8, np.uint64), np.zeros(2 * count + 8), np.zeros(2 * count + 8)
    for token in range(count):
        shape = shapes[token] & SHAPE
        if shape == LOWER or (shape > LOWER and not shapes[token] & (FIRST | SHOUTED)):
            slot = find_slot(keys, hashes[token] | FLAGS)
            keys[slot] = hashes[token] | FLAGS
            small[slot] += shape == LOWER
            capital[slot] += shape != LOWER
    for token in range(count):
        if shapes[token] & (FIRST | SHOUTED):
            slot = find_slot(keys, hashes[token] | FLAGS)
            if small[slot] > capital[slot]:
                shapes[token] |= COMMON
            elif capital[slot] > 0:
                shapes[token] |= NAME
