"""Third pass: the text that a reader sees, the links in it, and the marks that tell what kind of page it is.

What stands in templates, tables, references and captions is written to a second buffer, the aside: its
words do not count as the article's, its links do.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import inner, int64
from wikilda.mediawiki.wikitext._external_links import address, open_external
from wikilda.mediawiki.wikitext._output import (
    APOSTROPHE,
    AT_ASIDE,
    AT_TEXT,
    BRACKET,
    CATEGORIES,
    FRAMES,
    HEADING,
    HIDDEN,
    LEAD,
    LINKS,
    LOOKED,
    NEWLINE,
    SPACE,
    TRAIL,
    Rendered,
    mark,
    put,
    put_point,
)
from wikilda.mediawiki.wikitext._pairs import TABLE_END, Partners
from wikilda.mediawiki.wikitext._quotes import UNKNOWN, quotes
from wikilda.mediawiki.wikitext._strip import ASIDE_BEGIN, ASIDE_END, LITERAL_BASE, LITERALS, NOTHING
from wikilda.mediawiki.wikitext.dialect import (
    MARK,
    PREFIX,
    TO_CATEGORY,
    TO_FILE,
    TO_LANGUAGE,
    TO_MAIN,
    Dialect,
    find_name,
    hash_name,
)
from wikilda.mediawiki.wikitext.entities import entity
from wikilda.text.tokens import Bytes, decode

_PLAIN = np.ones(256, np.bool_)
_PLAIN[np.frombuffer(b"[]{'&=_:", np.uint8)] = False
_PLAIN[:32] = False
TEMPLATE_MARK, CATEGORY_MARK, MAGIC_MARK = 0, 1, 2
TARGET_START, TARGET_END, ANCHOR_START, ANCHOR_END, IN_ASIDE = range(5)  # the rows of `links`

_SET_ASIDE, _NO_LINK = -1, -2  # pairs that are not links


@inner
def render(
    source: Bytes, size: int, partner: Partners, dialect: Dialect, frames: NDArray[np.int64], out: Rendered
) -> None:
    """Render one page from stripped wikitext; positions and counts live in `out.state`.

    `frames` has two rows: where each open pair ends, and which link it is.
    """
    state = out.state
    state[HIDDEN] = state[FRAMES] = state[HEADING] = state[BRACKET] = state[TRAIL] = state[LOOKED] = 0
    state[APOSTROPHE] = UNKNOWN
    state[LEAD] = -1
    at = int64(0)
    line_start = True
    while at < size:
        stop = size
        if state[FRAMES] > 0:
            stop = frames[0, state[FRAMES] - 1] - 2
            if at >= stop:
                at = _leave_frame(source, at, size, dialect, frames, out)
                continue
        if line_start:
            line_start = False
            after = _begin_line(source, at, size, partner, out)
            if after > at:
                at = after
                continue
        if state[HIDDEN]:
            at, state[AT_ASIDE] = _copy_plain(source, at, stop, out.aside, state[AT_ASIDE])
        else:
            at, state[AT_TEXT] = _copy_plain(source, at, stop, out.text, state[AT_TEXT])
        if at < stop and source[at] == NEWLINE:
            line_start = True
            state[HEADING] = state[BRACKET] = 0
            if not state[HIDDEN] and not state[FRAMES] and at >= state[LOOKED]:
                state[APOSTROPHE] = UNKNOWN
            put(out, NEWLINE)
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
        return open_external(source, at, size, out)
    if byte == 93 and state[BRACKET]:  # ]
        state[BRACKET] = 0
        return at + 1
    if byte == 123 and partner[at] > 0:  # {
        return _open_template(source, at, partner[at], dialect, frames, out)
    if byte == 39:  # '
        return quotes(source, at, size, partner, out)
    if byte == 38:  # &
        return entity(source, at, size, dialect, out)
    if byte == 61 and state[HEADING]:  # =
        return _heading_end(source, at, size, out)
    if byte == 95:  # _
        return _magic(source, at, size, dialect, out)
    if byte == 58:  # :
        return address(source, at, size, out)
    if byte < SPACE:
        return _control(byte, at, out)
    put(out, byte)
    return at + 1


@inner
def _control(byte: int, at: int, out: Rendered) -> int:
    state = out.state
    if byte == ASIDE_BEGIN:
        state[HIDDEN] += 1
    elif byte == ASIDE_END:
        state[HIDDEN] = max(0, state[HIDDEN] - 1)
    elif byte >= LITERAL_BASE:
        put(out, LITERALS[byte - LITERAL_BASE])
    elif byte != NOTHING:
        put(out, SPACE)
    return at + 1


@inner
def _begin_line(source: Bytes, at: int, size: int, partner: Partners, out: Rendered) -> int:
    """What only counts at the start of a line: headings, lists, rules, tables; returns where to go on."""
    state = out.state
    begin = at
    while at + 1 < size and (source[at] == 32 or source[at] == 58 or source[at] == 9):
        at += 1
    if source[at] == 123 and at + 1 < size and source[at + 1] == 124 and partner[at] > 0:
        state[HIDDEN] += 1
        return at + 2
    if partner[at] == TABLE_END:
        state[HIDDEN] = max(0, state[HIDDEN] - 1)
        return at + 2
    at = begin
    if source[at] == 61:  # =
        state[HEADING] = 1
        while at < size and source[at] == 61:
            at += 1
        return at
    if source[at] == 45 and at + 3 < size and source[at + 1] == 45 and source[at + 2] == 45 and source[at + 3] == 45:
        while at < size and source[at] == 45:
            at += 1
        return at
    while at < size and (source[at] == 42 or source[at] == 35 or source[at] == 58 or source[at] == 59):
        at += 1
    if at == begin and state[LEAD] < 0 and not state[HIDDEN]:
        while begin + 1 < size and source[begin] == NOTHING:
            begin += 1
        if _letter(source[begin]):
            state[LEAD] = state[AT_TEXT]
    return at


@inner
def _letter(byte: int) -> bool:
    # The first paragraph begins with a letter, a number, a quote, bold type, a parenthesis or a link.
    return (
        97 <= (byte | 32) <= 122
        or byte >= 128
        or 48 <= byte <= 57
        or byte == 34
        or byte == 39
        or byte == 40
        or byte == 91
    )


@inner
def _open_template(source: Bytes, at: int, end: int, dialect: Dialect, frames: NDArray[np.int64], out: Rendered) -> int:
    state = out.state
    name_end = at + 2
    while name_end < end - 2 and source[name_end] != 124 and source[name_end] != 123 and source[name_end] != 10:
        name_end += 1
    mark(out, TEMPLATE_MARK, hash_name(MARK, source, at + 2, name_end, dialect.lower))
    state[HIDDEN] += 1
    _push(frames, out, end, _SET_ASIDE)
    return at + 2


@inner
def _push(frames: NDArray[np.int64], out: Rendered, end: int, link: int) -> None:
    depth = out.state[FRAMES]
    frames[0, depth] = end
    frames[1, depth] = link
    out.state[FRAMES] = depth + 1


@inner
def _leave_frame(source: Bytes, at: int, size: int, dialect: Dialect, frames: NDArray[np.int64], out: Rendered) -> int:
    """Close the innermost pair; a link takes the letters that follow it (`[[bus]]es`) into its anchor."""
    state = out.state
    state[FRAMES] -= 1
    end: int = frames[0, state[FRAMES]]
    link = frames[1, state[FRAMES]]
    if link == _SET_ASIDE:
        state[HIDDEN] = max(0, state[HIDDEN] - 1)
    if link < 0:
        return max(at, end)
    while end < size:
        point, length = decode(source, end)
        if point >= len(dialect.trail) or not dialect.trail[point]:
            break
        if point == 39 and end + 1 < size and source[end + 1] == 39:
            break  # two apostrophes are type, in languages where one is a letter
        put_point(out, point)
        end += length
    state[TRAIL] = end
    out.links[ANCHOR_END, link] = state[AT_ASIDE] if out.links[IN_ASIDE, link] else state[AT_TEXT]
    return max(at, end)


@inner
def _open_link(source: Bytes, at: int, end: int, dialect: Dialect, frames: NDArray[np.int64], out: Rendered) -> int:
    """A `[[`: decide from its target what it is, and render what it shows."""
    state = out.state
    start = at + 2
    while start < end - 2 and source[start] == SPACE:
        start += 1
    pipe = _target_end(source, start, end - 2)
    if pipe < 0:
        put(out, 91)
        put(out, 91)
        return at + 2  # not a title: ordinary text
    shown = pipe + 1 if pipe < end - 2 else start
    colon = source[start] == 58
    kind = _target_kind(source, start + colon, pipe, dialect)
    if kind == TO_FILE and not colon:
        state[HIDDEN] += 1
        _push(frames, out, end, _SET_ASIDE)
        return min(pipe + 1, end - 2)
    if not colon and kind in (TO_CATEGORY, TO_LANGUAGE):
        if kind == TO_CATEGORY:
            _categorize(source, _after_prefix(source, start, pipe), pipe, dialect, out)
        return end
    if shown == start:
        shown += colon
    if kind != TO_MAIN or source[start] == 35 or _has_link(source, shown, end - 2):
        _push(frames, out, end, _NO_LINK)
        return shown
    link = state[LINKS]
    state[LINKS] += 1
    out.links[TARGET_START, link] = start + colon
    out.links[TARGET_END, link] = pipe
    out.links[IN_ASIDE, link] = state[HIDDEN] > 0
    out.links[ANCHOR_START, link] = state[AT_ASIDE] if state[HIDDEN] else state[AT_TEXT]
    _push(frames, out, end, link)
    return shown


@inner
def _categorize(source: Bytes, start: int, end: int, dialect: Dialect, out: Rendered) -> None:
    mark(out, CATEGORY_MARK, hash_name(MARK, source, start, end, dialect.lower))
    count = out.state[CATEGORIES]
    out.categories[0, count], out.categories[1, count] = start, end
    out.state[CATEGORIES] = count + 1


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
    for at in range(start, end - 1):  # noqa: SIM110
        if source[at] == 91 and source[at + 1] == 91:
            return True
    return False


@inner
def _heading_end(source: Bytes, at: int, size: int, out: Rendered) -> int:
    after = at
    while after < size and source[after] == 61:
        after += 1
    rest = after
    while rest < size and (source[rest] == 32 or source[rest] == 9):
        rest += 1
    if rest >= size or source[rest] == NEWLINE:
        return rest
    for _ in range(after - at):
        put(out, 61)
    return after


@inner
def _magic(source: Bytes, at: int, size: int, dialect: Dialect, out: Rendered) -> int:
    """`__NOTOC__` and its like are not shown."""
    if at + 1 < size and source[at + 1] == 95:
        after = at + 2
        while after < size and after - at < 60 and (source[after] >= 128 or 65 <= (source[after] & 0xDF) <= 90):
            after += 1
        if after > at + 2 and after + 1 < size and source[after] == 95 and source[after + 1] == 95:
            mark(out, MAGIC_MARK, hash_name(MARK, source, at + 2, after, dialect.lower))
            return after + 2
    put(out, 95)
    return at + 1
