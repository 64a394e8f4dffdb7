"""First pass over wikitext: comments go, tags become marks, literal text is made safe.

XML admits no control characters but tab and line breaks, so control bytes are free to stand for what was
found: where text to be set aside begins and ends, where a tag stood that shows nothing but parts what is
around it (`[[bus]]<nowiki/>es`), and the markup characters of literal text.
"""

import numpy as np

from wikilda._core.jit import bare, int64, njit
from wikilda.mediawiki.wikitext._characters import (
    DIGIT_0,
    DIGIT_9,
    EXCLAMATION,
    GREATER,
    HASH,
    HYPHEN,
    LESS,
    LOWER_A,
    LOWER_T,
    LOWER_Z,
    NEWLINE,
    SEMICOLON,
    SLASH,
    SPACE,
    TAB,
)
from wikilda.mediawiki.wikitext._output import COMMENT_BYTES, DROPPED_BYTES
from wikilda.mediawiki.wikitext.dialect import (
    ASIDE,
    BREAKING,
    DROPPED,
    FORMATTING,
    LITERAL,
    TAG,
    VANISHING,
    Dialect,
    find_name,
    hash_name,
)
from wikilda.text.tokens import Bytes, Offsets

ASIDE_BEGIN, ASIDE_END, NOTHING, IS_TABLE = 1, 2, 3, 4  # IS_TABLE follows ASIDE_BEGIN where a table begins
LITERAL_BASE = 14  # bytes 14 to 29 stand for the characters of LITERALS
LITERALS = np.frombuffer(b"[]{}|'=*#:;<_-~!", np.uint8)
_LONGEST_TAG = 4000
_PLAIN = np.ones(256, np.bool_)
_PLAIN[60] = _PLAIN[:32] = False
_PLAIN[[9, 10]] = True


@njit
def strip(text: Bytes, start: int, end: int, dialect: Dialect, out: Bytes, account: Offsets) -> int:
    """Write `text[start:end]` without comments and tags; returns the length written.

    The bytes of comments and of what tags drop are added to the account.
    """
    closing = np.full(len(dialect.names.keys), -1, np.int64)  # for each tag, where it is next closed
    asides = np.full(2, -1, np.int64)  # where a reference and an HTML table end that are open
    at, size = start, int64(0)
    while at < end:
        while at < end and _PLAIN[text[at]]:
            out[size] = text[at]
            size += 1
            at += 1
        if at >= end:
            break
        byte = text[at]
        if byte == LESS:
            taken, size = _angle(text, at, end, dialect, closing, asides, out, size, account)
            if taken > at:
                size = _end_asides(asides, at, taken, out, size)
                at = taken
                continue
        out[size] = _printable(byte)
        size += 1
        at += 1
    return size


@bare
def _printable(byte: np.uint8) -> np.uint8:
    return np.uint8(SPACE) if byte < SPACE and byte != NEWLINE and byte != TAB else byte


@bare
def _end_asides(asides: Offsets, at: int, taken: int, out: Bytes, size: int) -> int:
    """What is set aside also ends if its end was hidden, as in a comment: the rest of the page must not be lost."""
    for which in range(len(asides)):
        if at < asides[which] < taken:
            out[size] = ASIDE_END
            size += 1
    return size


@bare
def _angle(
    text: Bytes, at: int, end: int, dialect: Dialect, closing: Offsets, asides: Offsets, out: Bytes, size: int,
    account: Offsets,
) -> tuple[int, int]:  # fmt: skip
    """Deal with what a `<` begins; returns where to go on (`at` itself: it is just a character)."""
    if at + 3 < end and text[at + 1] == EXCLAMATION and text[at + 2] == HYPHEN and text[at + 3] == HYPHEN:
        after_comment = _skip_comment(text, at, end, out, size)
        account[COMMENT_BYTES] += after_comment - at
        return after_comment, size
    ends_tag = at + 1 < end and text[at + 1] == SLASH
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
        out[size] = SPACE
        return close + 1, size + 1
    if kind == ASIDE and ends_tag:
        if at != asides[0] and at != asides[1]:
            return close + 1, size
        out[size] = ASIDE_END
        return close + 1, size + 1
    if kind == VANISHING:
        return close + 1, size
    if ends_tag or kind == FORMATTING or text[close - 1] == SLASH:
        out[size] = NOTHING
        return close + 1, size + 1
    taken, size = _enclose(text, name, after, close, end, closing[tag : tag + 1], asides, kind, out, size)
    if kind == DROPPED and taken > close + 1:
        account[DROPPED_BYTES] += taken - at
    return taken, size


@bare
def _enclose(
    text: Bytes,
    name: int,
    after: int,
    close: int,
    end: int,
    closing: Offsets,
    asides: Offsets,
    kind: int,
    out: Bytes,
    size: int,
) -> tuple[int, int]:
    """An opening tag whose content is treated otherwise; one that is never closed is as if it were not there."""
    if closing[0] <= close:
        closing[0] = _find_end_tag(text, close + 1, end, name, after - name)
    finish = closing[0]
    if finish == end or finish == asides[0] or finish == asides[1]:
        return close + 1, size
    if kind == ASIDE:
        asides[0 if asides[0] < close else 1] = finish
        out[size] = ASIDE_BEGIN
        size += 1
        if text[name] | 32 == LOWER_T:  # t, of table
            out[size] = IS_TABLE
            size += 1
        return close + 1, size
    out[size] = NOTHING
    size += 1
    if kind == LITERAL:
        size = _copy_literal(text, close + 1, finish, out, size)
    last = _find_close(text, finish + 1, end)
    return (last + 1 if last >= 0 else end), size


@bare
def _copy_literal(text: Bytes, start: int, end: int, out: Bytes, size: int) -> int:
    for at in range(start, end):
        out[size] = _literal(_printable(text[at]), at == start or text[at - 1] != NEWLINE)
        size += 1
    return size


@bare
def _literal(byte: np.uint8, within_line: bool) -> np.uint8:
    if within_line and (byte == HASH or byte == SEMICOLON):
        return byte  # they belong to entities, which are decoded even here
    for which in range(len(LITERALS)):
        if byte == LITERALS[which]:
            return np.uint8(LITERAL_BASE + which)
    return byte


@bare
def _skip_comment(text: Bytes, at: int, end: int, out: Bytes, size: int) -> int:
    after = at + 4
    while after + 2 < end and not (text[after] == HYPHEN and text[after + 1] == HYPHEN and text[after + 2] == GREATER):
        after += 1
    after = min(after + 3, end)
    # A comment that has its line to itself takes the line break with it.
    if (size == 0 or out[size - 1] == NEWLINE) and after < end and text[after] == NEWLINE:
        after += 1
    return after


@bare
def _find_close(text: Bytes, at: int, end: int) -> int:
    last = min(end, at + _LONGEST_TAG)
    while at < last:
        if text[at] == GREATER:
            return at
        if text[at] == LESS:
            return -1
        at += 1
    return -1


@bare
def _find_end_tag(text: Bytes, at: int, end: int, name: int, length: int) -> int:
    """Where `</name` stands next, or `end`."""
    while at + length + 2 < end:
        if text[at] == LESS and text[at + 1] == SLASH:
            same = 0
            while same < length and (text[at + 2 + same] | 32) == (text[name + same] | 32):
                same += 1
            if same == length and not _alphanumeric(text[at + 2 + length]):
                return at
        at += 1
    return end


@bare
def _alphanumeric(byte: int) -> bool:
    return LOWER_A <= (byte | 32) <= LOWER_Z or DIGIT_0 <= byte <= DIGIT_9
