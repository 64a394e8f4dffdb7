"""First pass over wikitext: comments go, tags become marks, literal text is made safe.

XML admits no control characters but tab and line breaks, so control bytes are free to stand for what was
found: where text to be set aside begins and ends, and the markup characters of literal text.
"""

import numpy as np

from wikilda.jit import inner, njit
from wikilda.text.tokens import Bytes, Offsets
from wikilda.wiki.wikitext.dialect import (
    ASIDE,
    BREAKING,
    FORMATTING,
    LITERAL,
    TAG,
    Dialect,
    find_name,
    hash_name,
)

ASIDE_BEGIN, ASIDE_END = 1, 2
LITERAL_BASE = 14  # bytes 14 to 29 stand for the characters of LITERALS
LITERALS = np.frombuffer(b"[]{}|'=*#:;<_-~!", np.uint8)
_LONGEST_TAG = 4000


@njit
def strip(text: Bytes, start: int, end: int, dialect: Dialect, out: Bytes) -> int:
    """Write `text[start:end]` without comments and tags; returns the length written."""
    # For each tag: where it is next closed, and which closing ends what is being set aside.
    closing = np.full((2, len(dialect.names.keys)), -1, np.int64)
    at, size = start, np.int64(0)
    while at < end:
        byte = text[at]
        if byte == 60:  # <
            taken, size = _angle(text, at, end, dialect, closing, out, size)
            if taken > at:
                at = taken
                continue
        if byte < 32 and byte != 10 and byte != 9:
            byte = np.uint8(32)
        out[size] = byte
        size += 1
        at += 1
    return size


@inner
def _angle(
    text: Bytes, at: int, end: int, dialect: Dialect, closing: Offsets, out: Bytes, size: int
) -> tuple[int, int]:
    """Deal with what a `<` begins; returns where to go on (`at` itself: it is just a character)."""
    if at + 3 < end and text[at + 1] == 33 and text[at + 2] == 45 and text[at + 3] == 45:
        return _skip_comment(text, at, end, out, size), size
    ends_tag = at + 1 < end and text[at + 1] == 47
    name = at + 2 if ends_tag else at + 1
    after = name
    while after < end and _alphanumeric(text[after]) and after - name < 20:
        after += 1
    if after == name:
        return at, size
    tag = find_name(dialect.names, hash_name(TAG, text, name, after, dialect.lower))
    close = _find_close(text, after, end)
    if tag < 0 or close < 0:
        return at, size
    kind = dialect.names.values[tag]
    if kind == BREAKING:
        out[size] = 32
        return close + 1, size + 1
    if ends_tag and closing[1, tag] == at:
        out[size] = ASIDE_END
        return close + 1, size + 1
    if ends_tag or kind == FORMATTING or text[close - 1] == 47:
        return close + 1, size
    return _enclose(text, name, after, close, end, closing[:, tag], kind, out, size)


@inner
def _enclose(
    text: Bytes, name: int, after: int, close: int, end: int, closing: Offsets, kind: int, out: Bytes, size: int
) -> tuple[int, int]:
    """An opening tag whose content is treated otherwise; one that is never closed is as if it were not there."""
    if closing[0] <= close:
        closing[0] = _find_end_tag(text, close + 1, end, name, after - name)
    finish = closing[0]
    if finish == end or (kind == ASIDE and closing[1] == finish):
        return close + 1, size
    if kind == ASIDE:
        closing[1] = finish
        out[size] = ASIDE_BEGIN
        return close + 1, size + 1
    if kind == LITERAL:
        size = _copy_literal(text, close + 1, finish, out, size)
    last = _find_close(text, finish + 1, end)
    return (last + 1 if last >= 0 else end), size


@inner
def _copy_literal(text: Bytes, start: int, end: int, out: Bytes, size: int) -> int:
    for at in range(start, end):
        byte = text[at]
        for which in range(len(LITERALS)):
            if byte == LITERALS[which]:
                byte = np.uint8(LITERAL_BASE + which)
                break
        out[size] = byte
        size += 1
    return size


@inner
def _skip_comment(text: Bytes, at: int, end: int, out: Bytes, size: int) -> int:
    after = at + 4
    while after + 2 < end and not (text[after] == 45 and text[after + 1] == 45 and text[after + 2] == 62):
        after += 1
    after = min(after + 3, end)
    # A comment that has its line to itself takes the line break with it.
    if (size == 0 or out[size - 1] == 10) and after < end and text[after] == 10:
        after += 1
    return after


@inner
def _find_close(text: Bytes, at: int, end: int) -> int:
    last = min(end, at + _LONGEST_TAG)
    while at < last:
        if text[at] == 62:
            return at
        if text[at] == 60:
            return -1
        at += 1
    return -1


@inner
def _find_end_tag(text: Bytes, at: int, end: int, name: int, length: int) -> int:
    """Where `</name` stands next, or `end`."""
    while at + length + 2 < end:
        if text[at] == 60 and text[at + 1] == 47:
            same = 0
            while same < length and (text[at + 2 + same] | 32) == (text[name + same] | 32):
                same += 1
            if same == length and not _alphanumeric(text[at + 2 + length]):
                return at
        at += 1
    return end


@inner
def _alphanumeric(byte: int) -> bool:
    return 97 <= (byte | 32) <= 122 or 48 <= byte <= 57
