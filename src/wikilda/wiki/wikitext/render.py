"""Third pass: the text that a reader sees, the links in it, and the marks that tell what kind of page it is.

What stands in templates, tables, references and captions is written to a second buffer, the aside: its
words do not count as the article's, its links do.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.jit import inner
from wikilda.text.tokens import Bytes, Hashes, decode, encode
from wikilda.wiki.wikitext.dialect import (
    ENTITY,
    MARK,
    PREFIX,
    TO_CATEGORY,
    TO_FILE,
    TO_LANGUAGE,
    TO_MAIN,
    Dialect,
    find_name,
    hash_exact,
    hash_name,
)
from wikilda.wiki.wikitext.pairs import TABLE_END, Partners
from wikilda.wiki.wikitext.strip import ASIDE_BEGIN, ASIDE_END, LITERAL_BASE, LITERALS

_NEWLINE, _SPACE = 10, 32
_PLAIN = np.ones(256, np.bool_)
_PLAIN[np.frombuffer(b"[]{'&=_:", np.uint8)] = False
_PLAIN[:32] = False
TEMPLATE_MARK, CATEGORY_MARK, MAGIC_MARK = 0, 1, 2
TARGET_START, TARGET_END, ANCHOR_START, ANCHOR_END, IN_ASIDE = range(5)  # the rows of `links`

# Where things are while a page is rendered: the rows of `state`.
_TEXT, _ASIDE, _HIDDEN, _FRAMES, _LINKS, _MARKS, _HEADING, _BRACKET, _LEAD = range(9)
STATE_SIZE = 9
_SET_ASIDE, _NO_LINK = -1, -2  # pairs that are not links


class Rendered(NamedTuple):
    """What rendering fills: two texts; the links, one a column; the page's marks, one a column."""

    text: Bytes
    aside: Bytes
    links: NDArray[np.int64]
    marks: Hashes
    state: NDArray[np.int64]


@inner
def render(source: Bytes, size: int, partner: Partners, dialect: Dialect, frames: NDArray[np.int64], out: Rendered) -> None:
    """Render one page from stripped wikitext; positions and counts live in `out.state`.

    `frames` has two rows: where each open pair ends, and which link it is.
    """
    state = out.state
    state[_HIDDEN] = state[_FRAMES] = state[_HEADING] = state[_BRACKET] = 0
    state[_LEAD] = -1
    at = np.int64(0)  # a plain 0 would be a type of its own
    line_start = True
    while at < size:
        stop = size
        if state[_FRAMES] > 0:
            stop = frames[0, state[_FRAMES] - 1] - 2
            if at >= stop:
                at = _leave_frame(source, at, size, dialect, frames, out)
                continue
        if line_start:
            line_start = False
            after = _begin_line(source, at, size, partner, out)
            if after > at:
                at = after
                continue
        if state[_HIDDEN]:
            at, state[_ASIDE] = _copy_plain(source, at, stop, out.aside, state[_ASIDE])
        else:
            at, state[_TEXT] = _copy_plain(source, at, stop, out.text, state[_TEXT])
        if at < stop and source[at] == _NEWLINE:
            line_start = True
            state[_HEADING] = state[_BRACKET] = 0
            _put(out, _NEWLINE)
            at += 1
        elif at < stop:
            at = _markup(source, at, size, partner, dialect, frames, out)


@inner
def _copy_plain(source: Bytes, at: int, stop: int, out: Bytes, written: int) -> tuple[int, int]:
    """Copy up to the next byte that may be markup."""
    while at < stop and _PLAIN[source[at]]:
        out[written] = source[at]
        written += 1
        at += 1
    return at, written


@inner
def _markup(
    source: Bytes, at: int, size: int, partner: Partners, dialect: Dialect, frames: NDArray[np.int64], out: Rendered
) -> int:
    """One piece of markup, or one character; returns where to go on."""
    byte = source[at]
    state = out.state
    if byte == 91:  # [
        if partner[at] > 0:
            return _open_link(source, at, partner[at], dialect, frames, out)
        return _open_external(source, at, size, out)
    if byte == 93 and state[_BRACKET]:  # ]
        state[_BRACKET] = 0
        return at + 1
    if byte == 123 and partner[at] > 0:  # {
        return _open_template(source, at, partner[at], dialect, frames, out)
    if byte == 39:  # '
        return _quotes(source, at, size, out)
    if byte == 38:  # &
        return _entity(source, at, size, dialect, out)
    if byte == 61 and state[_HEADING]:  # =
        return _heading_end(source, at, size, out)
    if byte == 95:  # _
        return _magic(source, at, size, dialect, out)
    if byte == 58:  # :
        return _address(source, at, size, out)
    if byte < _SPACE:
        return _control(byte, at, out)
    _put(out, byte)
    return at + 1


@inner
def _put(out: Rendered, byte: int) -> None:
    state = out.state
    if state[_HIDDEN]:
        out.aside[state[_ASIDE]] = byte
        state[_ASIDE] += 1
    else:
        out.text[state[_TEXT]] = byte
        state[_TEXT] += 1


@inner
def _put_point(out: Rendered, point: int) -> None:
    state = out.state
    if state[_HIDDEN]:
        state[_ASIDE] = encode(point, out.aside, state[_ASIDE])
    else:
        state[_TEXT] = encode(point, out.text, state[_TEXT])


@inner
def _control(byte: int, at: int, out: Rendered) -> int:
    state = out.state
    if byte == ASIDE_BEGIN:
        state[_HIDDEN] += 1
    elif byte == ASIDE_END:
        state[_HIDDEN] = max(0, state[_HIDDEN] - 1)
    elif byte >= LITERAL_BASE:
        _put(out, LITERALS[byte - LITERAL_BASE])
    else:
        _put(out, _SPACE)
    return at + 1


@inner
def _begin_line(source: Bytes, at: int, size: int, partner: Partners, out: Rendered) -> int:
    """What only counts at the start of a line: headings, lists, rules, tables; returns where to go on."""
    state = out.state
    begin = at
    while at + 1 < size and (source[at] == 32 or source[at] == 58 or source[at] == 9):
        at += 1
    if source[at] == 123 and at + 1 < size and source[at + 1] == 124 and partner[at] > 0:
        state[_HIDDEN] += 1
        return at + 2
    if partner[at] == TABLE_END:
        state[_HIDDEN] = max(0, state[_HIDDEN] - 1)
        return at + 2
    at = begin
    if source[at] == 61:  # =
        state[_HEADING] = 1
        while at < size and source[at] == 61:
            at += 1
        return at
    if source[at] == 45 and at + 3 < size and source[at + 1] == 45 and source[at + 2] == 45 and source[at + 3] == 45:
        while at < size and source[at] == 45:
            at += 1
        return at
    while at < size and (source[at] == 42 or source[at] == 35 or source[at] == 58 or source[at] == 59):
        at += 1
    if at == begin and state[_LEAD] < 0 and not state[_HIDDEN] and _letter(source[at]):
        state[_LEAD] = state[_TEXT]
    return at


@inner
def _letter(byte: int) -> bool:
    # The first paragraph begins with a letter, a number, a quote, bold type, a parenthesis or a link.
    return 97 <= (byte | 32) <= 122 or byte >= 128 or 48 <= byte <= 57 or byte == 34 or byte == 39 or byte == 40 or byte == 91


@inner
def _open_template(
    source: Bytes, at: int, end: int, dialect: Dialect, frames: NDArray[np.int64], out: Rendered
) -> int:
    state = out.state
    name_end = at + 2
    while name_end < end - 2 and source[name_end] != 124 and source[name_end] != 123 and source[name_end] != 10:
        name_end += 1
    _mark(out, TEMPLATE_MARK, hash_name(MARK, source, at + 2, name_end, dialect.lower))
    state[_HIDDEN] += 1
    _push(frames, out, end, _SET_ASIDE)
    return at + 2


@inner
def _mark(out: Rendered, kind: int, name: np.uint64) -> None:
    count = out.state[_MARKS]
    out.marks[0, count] = kind
    out.marks[1, count] = name
    out.state[_MARKS] = count + 1


@inner
def _push(frames: NDArray[np.int64], out: Rendered, end: int, link: int) -> None:
    depth = out.state[_FRAMES]
    frames[0, depth] = end
    frames[1, depth] = link
    out.state[_FRAMES] = depth + 1


@inner
def _leave_frame(
    source: Bytes, at: int, size: int, dialect: Dialect, frames: NDArray[np.int64], out: Rendered
) -> int:
    """Close the innermost pair; a link takes the letters that follow it (`[[bus]]es`) into its anchor."""
    state = out.state
    state[_FRAMES] -= 1
    end, link = frames[0, state[_FRAMES]], frames[1, state[_FRAMES]]
    if link == _SET_ASIDE:
        state[_HIDDEN] = max(0, state[_HIDDEN] - 1)
    if link < 0:
        return max(at, end)
    while end < size:
        point, length = decode(source, end)
        if point >= len(dialect.trail) or not dialect.trail[point]:
            break
        _put_point(out, point)
        end += length
    out.links[ANCHOR_END, link] = state[_ASIDE] if out.links[IN_ASIDE, link] else state[_TEXT]
    return max(at, end)


@inner
def _open_link(
    source: Bytes, at: int, end: int, dialect: Dialect, frames: NDArray[np.int64], out: Rendered
) -> int:
    """A `[[`: decide from its target what it is, and render what it shows."""
    state = out.state
    start = at + 2
    pipe = _target_end(source, start, end - 2)
    if pipe < 0:
        _put(out, 91)
        _put(out, 91)
        return start  # not a title: ordinary text
    shown = pipe + 1 if pipe < end - 2 else start
    colon = source[start] == 58
    kind = _target_kind(source, start + colon, pipe, dialect)
    if kind == TO_FILE and not colon:
        state[_HIDDEN] += 1
        _push(frames, out, end, _SET_ASIDE)
        return min(pipe + 1, end - 2)
    if not colon and (kind == TO_CATEGORY or kind == TO_LANGUAGE):
        if kind == TO_CATEGORY:
            _mark(out, CATEGORY_MARK, hash_name(MARK, source, _after_prefix(source, start, pipe), pipe, dialect.lower))
        return end
    if shown == start:
        shown += colon
    if kind != TO_MAIN or source[start] == 35 or _has_link(source, shown, end - 2):
        _push(frames, out, end, _NO_LINK)
        return shown
    link = state[_LINKS]
    state[_LINKS] += 1
    out.links[TARGET_START, link] = start + colon
    out.links[TARGET_END, link] = pipe
    out.links[IN_ASIDE, link] = state[_HIDDEN] > 0
    out.links[ANCHOR_START, link] = state[_ASIDE] if state[_HIDDEN] else state[_TEXT]
    _push(frames, out, end, link)
    return shown


@inner
def _target_end(source: Bytes, start: int, end: int) -> int:
    """Where a link's target ends (its pipe, or the whole), or -1 when it cannot be a title."""
    for at in range(start, end):
        byte = source[at]
        if byte == 124:
            return at if at > start and at + 1 < end else -1
        if byte == 91 or byte == 93 or byte == 123 or byte == 125 or byte == 60 or byte == 62 or byte < 32:
            return -1
    return end if end > start else -1


@inner
def _after_prefix(source: Bytes, start: int, end: int) -> int:
    while start < end and source[start] != 58:
        start += 1
    return start + 1


@inner
def _target_kind(source: Bytes, start: int, end: int, dialect: Dialect) -> int:
    colon = _after_prefix(source, start, end) - 1
    if colon >= end:
        return TO_MAIN
    found = find_name(dialect.names, hash_name(PREFIX, source, start, colon, dialect.lower))
    return dialect.names.values[found] if found >= 0 else TO_MAIN


@inner
def _has_link(source: Bytes, start: int, end: int) -> bool:
    """Whether another link stands inside; then the inner one is the link, as in MediaWiki."""
    for at in range(start, end - 1):
        if source[at] == 91 and source[at + 1] == 91:
            return True
    return False


@inner
def _open_external(source: Bytes, at: int, size: int, out: Rendered) -> int:
    """`[http://… label]` shows its label alone; any other `[` is a character."""
    colon = at + 1
    while colon < size and colon - at < 8 and 97 <= (source[colon] | 32) <= 122:
        colon += 1
    slashes = colon + 1 if colon < size and source[colon] == 58 and colon > at + 1 else at + 1
    if not _slashes(source, slashes, size):
        _put(out, 91)
        return at + 1
    out.state[_BRACKET] = 1
    after = _address_end(source, slashes, size)
    while after < size and source[after] == _SPACE:
        after += 1
    return after


@inner
def _address(source: Bytes, at: int, size: int, out: Rendered) -> int:
    """A `:` that belongs to a web address: takes its scheme back and skips the rest."""
    letters = 0
    while letters < at and letters < 7 and 97 <= (source[at - letters - 1] | 32) <= 122:
        letters += 1
    if not 3 <= letters <= 6 or not _slashes(source, at + 1, size):
        _put(out, 58)
        return at + 1
    out.state[_ASIDE if out.state[_HIDDEN] else _TEXT] -= letters
    return _address_end(source, at + 1, size)


@inner
def _slashes(source: Bytes, at: int, size: int) -> bool:
    return at + 1 < size and source[at] == 47 and source[at + 1] == 47


@inner
def _address_end(source: Bytes, at: int, size: int) -> int:
    while at < size and source[at] > 32 and not _ends_address(source[at]):
        at += 1
    return at


@inner
def _ends_address(byte: int) -> bool:
    return byte == 91 or byte == 93 or byte == 60 or byte == 62 or byte == 34 or byte == 124 or byte == 123 or byte == 125


@inner
def _quotes(source: Bytes, at: int, size: int, out: Rendered) -> int:
    """Two, three and five apostrophes are type; others are, beyond those, characters."""
    after = at
    while after < size and source[after] == 39:
        after += 1
    run = after - at
    shown = run if run == 1 else (1 if run == 4 else max(0, run - 5))
    for _ in range(shown):
        _put(out, 39)
    return after


@inner
def _entity(source: Bytes, at: int, size: int, dialect: Dialect, out: Rendered) -> int:
    point, after = entity_at(source, at, size, dialect)
    if after == at:
        _put(out, 38)
        return at + 1
    if point < 32 or 0xD800 <= point < 0xE000 or point == 0xA0:
        point = _SPACE
    _put_point(out, point)
    return after


@inner
def entity_at(source: Bytes, at: int, size: int, dialect: Dialect) -> tuple[int, int]:
    """The character of an HTML entity (`&ndash;`, `&#8211;`), and where it ends; (0, at) when it is none."""
    after = at + 1
    while after < size and after - at < 12 and source[after] != 59:
        after += 1
    if after >= size or source[after] != 59 or after < at + 3:
        return 0, at
    if source[at + 1] == 35:
        point = _number(source, at + 2, after)
        return (point, after + 1) if 0 < point < 0x110000 else (0, at)
    found = find_name(dialect.names, hash_exact(ENTITY, source, at + 1, after))
    return (dialect.names.values[found], after + 1) if found >= 0 else (0, at)


@inner
def _number(source: Bytes, start: int, end: int) -> int:
    base = 10
    if start < end and (source[start] | 32) == 120:
        base = 16
        start += 1
    value = 0 if start < end else -1
    for at in range(start, end):
        digit = _digit(source[at])
        if digit >= base:
            return -1
        value = value * base + digit
    return value


@inner
def _digit(byte: int) -> int:
    if 48 <= byte <= 57:
        return np.int64(byte) - 48
    if 97 <= (byte | 32) <= 102:
        return (np.int64(byte) | 32) - 87
    return 99


@inner
def _heading_end(source: Bytes, at: int, size: int, out: Rendered) -> int:
    after = at
    while after < size and source[after] == 61:
        after += 1
    rest = after
    while rest < size and (source[rest] == 32 or source[rest] == 9):
        rest += 1
    if rest >= size or source[rest] == _NEWLINE:
        return rest
    for _ in range(after - at):
        _put(out, 61)
    return after


@inner
def _magic(source: Bytes, at: int, size: int, dialect: Dialect, out: Rendered) -> int:
    """`__NOTOC__` and its like are not shown."""
    if at + 1 < size and source[at + 1] == 95:
        after = at + 2
        while after < size and after - at < 60 and (source[after] >= 128 or 65 <= (source[after] & 0xDF) <= 90):
            after += 1
        if after > at + 2 and after + 1 < size and source[after] == 95 and source[after + 1] == 95:
            _mark(out, MAGIC_MARK, hash_name(MARK, source, at + 2, after, dialect.lower))
            return after + 2
    _put(out, 95)
    return at + 1
