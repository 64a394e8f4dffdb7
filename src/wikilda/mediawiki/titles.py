"""Titles in MediaWiki's normal form, and the hashes that connect links with pages."""

import numpy as np

from wikilda._core.jit import inner, int64, njit
from wikilda.mediawiki.wikitext.dialect import Dialect, entity_at, hex_digit
from wikilda.text.characters import TABLE_SIZE
from wikilda.text.tokens import BREAK, Bytes, add_point, decode, encode, mix

LONGEST_TITLE = 255  # bytes, as in MediaWiki

_SPACE, _HASH, _PERCENT, _AMPERSAND, _COLON = 32, 35, 37, 38, 58


@njit
def normalize_title(source: Bytes, start: int, end: int, dialect: Dialect, out: Bytes, at: int) -> int:
    """Write the title of a link's target, and return the position after it (`at`: no title).

    `out` needs room for three bytes for each two of the source.
    """
    begin = at
    pending = False
    while start < end:
        byte = source[start]
        if byte < 0x80 and byte != _AMPERSAND and byte != _PERCENT:
            point, start = int64(byte), start + 1
        else:
            point, start = _next_point(source, start, end, dialect)
        if point == _HASH:
            break
        if _is_space(point):
            pending = at > begin
            continue
        if point < 32 or _is_direction_mark(point) or (point == _COLON and at == begin):
            continue
        if pending:
            out[at] = _SPACE
            at += 1
            pending = False
        if at == begin and dialect.first_letter_case and point < TABLE_SIZE:
            point = int64(dialect.upper[point])
        at = encode(point, out, at)
    return at


@inner
def _next_point(source: Bytes, at: int, end: int, dialect: Dialect) -> tuple[int, int]:
    """Return one character of a target, with `%20` and `&amp;` decoded."""
    byte = source[at]
    if byte == _AMPERSAND:
        point, after = entity_at(source, at, end, dialect)
        if after > at:
            return point, after
    if byte == _PERCENT and at + 2 < end:
        high, low = hex_digit(source[at + 1]), hex_digit(source[at + 2])
        if high >= 0 and low >= 0 and high * 16 + low < 128:
            return high * 16 + low, at + 3
        point, after = _percent_point(source, at, end)
        if after > at:
            return point, after
    point, size = decode(source, at)
    return point, at + size


@inner
def _percent_point(source: Bytes, at: int, end: int) -> tuple[int, int]:
    """A character beyond ASCII written as percent-coded UTF-8; (0, at) when it is not valid."""
    raw = np.zeros(4, np.uint8)
    count = 0
    after = at
    wanted = 1
    while count < wanted and after + 2 < end and source[after] == _PERCENT:
        high, low = hex_digit(source[after + 1]), hex_digit(source[after + 2])
        if high < 0 or low < 0:
            return 0, at
        byte = high * 16 + low
        if count == 0:
            wanted = 2 if 0xC2 <= byte < 0xE0 else (3 if 0xE0 <= byte < 0xF0 else (4 if 0xF0 <= byte < 0xF5 else 0))
        elif not 0x80 <= byte < 0xC0:
            return 0, at
        if wanted == 0:
            return 0, at
        raw[count] = byte
        count += 1
        after += 3
    if count < wanted or wanted < 2:
        return 0, at
    point, _ = decode(raw, 0)
    return (point, after) if point < 0xD800 or 0xE000 <= point < 0x110000 else (0, at)


@inner
def _is_space(point: int) -> bool:
    return (
        point == _SPACE or point == 0x5F or point == 0xA0 or point == 0x1680 or point == 0x180E
        or 0x2000 <= point <= 0x200A or point == 0x2028 or point == 0x2029
        or point == 0x202F or point == 0x205F or point == 0x3000
    )  # fmt: skip


@inner
def _is_direction_mark(point: int) -> bool:
    return point == 0x200E or point == 0x200F or 0x202A <= point <= 0x202E


@njit
def hash_title(title: Bytes, start: int, end: int) -> np.uint64:
    """Return the hash of a normalised title; BREAK if it is invalid (empty or too long)."""
    if end <= start or end - start > LONGEST_TITLE:
        return BREAK
    value = np.uint64(0x2545F4914F6CDD1D)
    for at in range(start, end):
        value = add_point(value, int64(title[at]))
    return mix(value)
