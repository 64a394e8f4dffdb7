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
    BOLD,
    BRACKET,
    CATEGORIES,
    FALLBACK,
    FRAMES,
    HEADING,
    HIDDEN,
    LEAD,
    LINE,
    LINKS,
    LOOKED,
    NEWLINE,
    PROSE,
    ROW,
    ROWS_SEEN,
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
    TEMPLATE,
    TO_CATEGORY,
    TO_FILE,
    TO_LANGUAGE,
    TO_MAIN,
    Dialect,
    entity,
    find_name,
    hash_name,
)
from wikilda.mediawiki.wikitext.templates import (
    AFTER_COLON,
    BLANK,
    FIRST,
    GLOSS,
    HIDE,
    LAST,
    PAIR,
    SECOND,
    SECOND_OR_FIRST,
    count_positional,
    positional,
)
from wikilda.text.tokens import Bytes, decode

_PLAIN = np.ones(256, np.bool_)
_PLAIN[np.frombuffer(b"[]{'&=_:", np.uint8)] = False
_PLAIN[:32] = False
TEMPLATE_MARK, CATEGORY_MARK, MAGIC_MARK = 0, 1, 2
TARGET_START, TARGET_END, ANCHOR_START, ANCHOR_END, IN_ASIDE = range(5)  # the rows of `links`

STOP, RESUME, LINK = range(3)  # the rows of `frames`

# Frames that are not links: what is set aside, what is shown as it is, and what is shown with something after it.
_SET_ASIDE, _SHOWN, _THEN_SPACE, _THEN_OPEN, _THEN_CLOSE = -1, -2, -3, -4, -5
_SHORT = 3  # bytes, of a line that describes nothing
_FAR = 20_000  # bytes, within which a table ends whose beginning is in a template


@inner
def render(
    source: Bytes, size: int, partner: Partners, dialect: Dialect, frames: NDArray[np.int64], out: Rendered
) -> None:
    """Render one page from stripped wikitext; positions and counts live in `out.state`.

    `frames` has three rows: where what is shown of each open pair ends, where the text goes on after it, and which link
    it is or what it is instead.
    """
    state = out.state
    state[HIDDEN] = state[FRAMES] = state[HEADING] = state[BRACKET] = state[TRAIL] = state[PROSE] = 0
    state[ROW] = state[ROWS_SEEN] = state[LOOKED] = 0
    state[APOSTROPHE] = UNKNOWN
    state[LEAD] = state[FALLBACK] = -1
    state[LINE], state[BOLD] = state[AT_TEXT], 0
    at = int64(0)
    line_start = True
    while at < size:
        stop = size
        if state[FRAMES] > 0:
            stop = frames[STOP, state[FRAMES] - 1]
            if at >= stop:
                at = _leave_frame(source, at, size, dialect, frames, out)
                continue
        if line_start:
            line_start = False
            after = _begin_line(source, at, size, partner, frames, out)
            if after > at:
                at = after
                continue
        if state[HIDDEN]:
            at, state[AT_ASIDE] = _copy_plain(source, at, stop, out.aside, state[AT_ASIDE])
        else:
            at, state[AT_TEXT] = _copy_plain(source, at, stop, out.text, state[AT_TEXT])
        if at < stop and source[at] == NEWLINE:
            line_start = True
            _end_line(at, out)
            at += 1
        elif at < stop:
            at = _markup(source, at, size, partner, dialect, frames, out)
    _lead(out)
    if state[LEAD] < 0:
        state[LEAD] = state[FALLBACK]


@inner
def _end_line(at: int, out: Rendered) -> None:
    state = out.state
    state[HEADING] = state[BRACKET] = 0
    if state[ROW] and not state[FRAMES]:
        state[ROW] = 0
        state[HIDDEN] = max(0, state[HIDDEN] - 1)
    if not state[HIDDEN] and not state[FRAMES] and at >= state[LOOKED]:
        state[APOSTROPHE] = UNKNOWN
    if state[HIDDEN]:
        put(out, NEWLINE)
        return
    _lead(out)
    put(out, NEWLINE)
    state[LINE], state[BOLD], state[PROSE] = state[AT_TEXT], 0, 0


@inner
def _lead(out: Rendered) -> None:
    """The paragraph that describes: before the first heading, the first with bold type near its beginning, or else the
    first.
    """
    state = out.state
    if state[LEAD] < 0 and state[PROSE] and state[AT_TEXT] - state[LINE] > _SHORT:
        if state[BOLD]:
            state[LEAD] = state[LINE]
        elif state[FALLBACK] < 0:
            state[FALLBACK] = state[LINE]


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
        return _open_template(source, at, size, partner, dialect, frames, out)
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
def _begin_line(source: Bytes, at: int, size: int, partner: Partners, frames: NDArray[np.int64], out: Rendered) -> int:
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
    if not state[HIDDEN] and not state[FRAMES] and _is_row(source, at, size, partner):
        return _open_rows(source, at, size, partner, frames, out)
    at = begin
    if source[at] == 61:  # =
        if state[LEAD] < 0 and not state[HIDDEN]:
            state[LEAD] = state[FALLBACK]
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
    if not state[HIDDEN] and not state[FRAMES]:
        state[PROSE] = at == begin and source[at] != SPACE and not _is_italic_line(source, at, size)
    return at


@inner
def _is_row(source: Bytes, at: int, size: int, partner: Partners) -> bool:
    """Whether a line belongs to a table whose beginning or end is missing here: a template's, or nobody's."""
    return (
        source[at] == 124
        or source[at] == 33
        or (source[at] == 123 and at + 1 < size and source[at + 1] == 124 and partner[at] <= 0)
    )


@inner
def _open_rows(source: Bytes, at: int, size: int, partner: Partners, frames: NDArray[np.int64], out: Rendered) -> int:
    """Set rows aside: up to the end of the table, if it ends in this section and is mostly rows, else this line."""
    state = out.state
    rows, others = 1, 0
    after = at
    while after + 1 < min(size, at + _FAR) and state[ROWS_SEEN] <= at:
        after += 1
        if source[after - 1] != NEWLINE:
            continue
        if source[after] == 61:
            break
        if source[after] == 124 and after + 1 < size and source[after + 1] == 125 and partner[after] != TABLE_END:
            if others > rows:
                break
            state[HIDDEN] += 1
            _push(frames, out, after, after + 2, _SET_ASIDE)
            return at + 1
        is_row = source[after] == 124 or source[after] == 33
        rows += is_row
        others += not is_row
    state[ROWS_SEEN] = max(state[ROWS_SEEN], after)  # nothing ends before
    state[HIDDEN] += 1
    state[ROW] = 1
    return at + 1


@inner
def _is_italic_line(source: Bytes, at: int, size: int) -> bool:
    """A line in italics from beginning to end is a note to the reader: `''For other uses, see …''`."""
    if at + 2 >= size or source[at] != 39 or source[at + 1] != 39 or source[at + 2] == 39:
        return False
    at += 2
    while at + 1 < size and source[at] != NEWLINE and not (source[at] == 39 and source[at + 1] == 39):
        at += 1
    at += 2
    while at < size and (source[at] == SPACE or source[at] == 46):
        at += 1
    return at >= size or source[at] == NEWLINE


@inner
def _open_template(
    source: Bytes, at: int, size: int, partner: Partners, dialect: Dialect, frames: NDArray[np.int64], out: Rendered
) -> int:
    state = out.state
    end: int = partner[at]
    name, name_end = at + 2, at + 2
    while name_end < end - 2 and source[name_end] != 124 and source[name_end] != 123 and source[name_end] != NEWLINE:
        name_end += 1
    mark(out, TEMPLATE_MARK, hash_name(MARK, source, name, name_end, dialect.lower), name, name_end)
    if not state[HIDDEN] and source[at + 2] != 123:
        rule = _rule(source, name, name_end, dialect)
        if rule == 0 and _in_sentence(source, end, size, out):
            return _show_unknown(source, name, name_end, end, partner, frames, out)
        if rule > HIDE:
            return _show(source, name, name_end, end, partner, rule, frames, out)
    state[HIDDEN] += 1
    _push(frames, out, end - 2, end, _SET_ASIDE)
    return at + 2


@inner
def _rule(source: Bytes, name: int, name_end: int, dialect: Dialect) -> int:
    found = find_name(dialect.names, hash_name(TEMPLATE, source, name, name_end, dialect.lower))
    if found >= 0:
        return dialect.names.values[found] if dialect.names.values[found] != AFTER_COLON else HIDE
    colon = name
    while colon < name_end and source[colon] != 58:
        colon += 1
    if colon == name_end:
        return 0
    found = find_name(dialect.names, hash_name(TEMPLATE, source, name, colon, dialect.lower))
    return AFTER_COLON if found >= 0 and dialect.names.values[found] == AFTER_COLON else HIDE


@inner
def _in_sentence(source: Bytes, end: int, size: int, out: Rendered) -> bool:
    """Text goes before it on its line, and a space or a parenthesis; and text goes after it."""
    state = out.state
    written = state[AT_TEXT]
    if written - state[LINE] < 2 or end >= size or state[HEADING]:
        return False
    before, after = out.text[written - 1], source[end]
    begins, goes_on = before == SPACE or before == 40, after >= SPACE and after != 123 and after != 91 and after != 124
    return bool(begins and goes_on)


@inner
def _show_unknown(
    source: Bytes, name: int, name_end: int, end: int, partner: Partners, frames: NDArray[np.int64], out: Rendered
) -> int:
    """The only parameter, or the name of a template that has none."""
    if name_end == end - 2:
        _push(frames, out, end - 2, end, _SHOWN)
        return name
    if source[name_end] == 124 and count_positional(source, name_end, end - 2, partner) == 1:
        start, stop = positional(source, name_end, end - 2, partner, 1)
        if stop - start < 4 or source[stop - 4] != 46:  # not a file
            return _show(source, name, name_end, end, partner, FIRST, frames, out)
    out.state[HIDDEN] += 1
    _push(frames, out, end - 2, end, _SET_ASIDE)
    return name


@inner
def _show(
    source: Bytes, name: int, name_end: int, end: int, partner: Partners, rule: int, frames: NDArray[np.int64],
    out: Rendered,
) -> int:  # fmt: skip
    """Show the parameters that a rule names, one after the other; the rest of the template is left out."""
    close = end - 2
    if rule == AFTER_COLON:
        colon = name
        while source[colon] != 58:
            colon += 1
        _push(frames, out, name_end, end, _SHOWN)
        return colon + 1
    if rule == BLANK:
        put(out, SPACE)
        return end
    first, last = _which(source, name_end, close, partner, rule)
    resume, begin = end, end
    for number in range(last, first - 1, -1):
        begin, stop = positional(source, name_end, close, partner, number)
        then = _SHOWN if number == last else (_THEN_OPEN if rule == GLOSS else _THEN_SPACE)
        _push(frames, out, stop, resume, _THEN_CLOSE if rule == GLOSS and number == 2 else then)
        resume = begin
    return begin


@inner
def _which(source: Bytes, at: int, end: int, partner: Partners, rule: int) -> tuple[int, int]:
    """The numbers of the first and the last parameter that a rule shows."""
    count = count_positional(source, at, end, partner)
    start, stop = positional(source, at, end, partner, 2)
    second = start < stop
    if rule == FIRST:
        return 1, min(count, 1)
    if rule == SECOND:
        return 2, min(count, 2)
    if rule == SECOND_OR_FIRST:
        return (2, 2) if second else (1, min(count, 1))
    if rule in (PAIR, GLOSS):
        return 1, min(count, 2 if second else 1)
    return (max(count, 1) if rule == LAST else 1), count


@inner
def _push(frames: NDArray[np.int64], out: Rendered, stop: int, resume: int, link: int) -> None:
    depth = out.state[FRAMES]
    frames[STOP, depth] = stop
    frames[RESUME, depth] = resume
    frames[LINK, depth] = link
    out.state[FRAMES] = depth + 1


@inner
def _leave_frame(source: Bytes, at: int, size: int, dialect: Dialect, frames: NDArray[np.int64], out: Rendered) -> int:
    """Close the innermost pair; a link takes the letters that follow it (`[[bus]]es`) into its anchor."""
    state = out.state
    state[FRAMES] -= 1
    end: int = frames[RESUME, state[FRAMES]]
    link = frames[LINK, state[FRAMES]]
    if link == _SET_ASIDE:
        state[HIDDEN] = max(0, state[HIDDEN] - 1)
    elif link in (_THEN_SPACE, _THEN_OPEN):
        put(out, SPACE)
        if link == _THEN_OPEN:
            put(out, 40)
    elif link == _THEN_CLOSE:
        put(out, 41)
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
    if pipe < 0 and _has_template(source, start, end - 2):
        state[HIDDEN] += 1  # a title that only the wiki could work out
        _push(frames, out, end - 2, end, _SET_ASIDE)
        return start
    if pipe < 0:
        put(out, 91)
        put(out, 91)
        return at + 2  # not a title: ordinary text
    shown = pipe + 1 if pipe < end - 2 else start
    colon = source[start] == 58
    kind = _target_kind(source, start + colon, pipe, dialect)
    if kind == TO_FILE and not colon:
        state[HIDDEN] += 1
        _push(frames, out, end - 2, end, _SET_ASIDE)
        return min(pipe + 1, end - 2)
    if not colon and kind in (TO_CATEGORY, TO_LANGUAGE):
        if kind == TO_CATEGORY:
            _categorize(source, _after_prefix(source, start, pipe), pipe, dialect, out)
        return end
    if shown == start:
        shown += colon
    if kind != TO_MAIN or source[start] == 35 or _has_link(source, shown, end - 2):
        _push(frames, out, end - 2, end, _SHOWN)
        return shown
    link = state[LINKS]
    state[LINKS] += 1
    out.links[TARGET_START, link] = start + colon
    out.links[TARGET_END, link] = pipe
    out.links[IN_ASIDE, link] = state[HIDDEN] > 0
    out.links[ANCHOR_START, link] = state[AT_ASIDE] if state[HIDDEN] else state[AT_TEXT]
    _push(frames, out, end - 2, end, link)
    return shown


@inner
def _categorize(source: Bytes, start: int, end: int, dialect: Dialect, out: Rendered) -> None:
    mark(out, CATEGORY_MARK, hash_name(MARK, source, start, end, dialect.lower), start, end)
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
def _has_template(source: Bytes, at: int, end: int) -> bool:
    """Whether a link's target has a template in it."""
    while at + 1 < end and source[at] != 124 and source[at] != NEWLINE:
        if source[at] == 123 and source[at + 1] == 123:
            return True
        at += 1
    return False


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
        while after < size and after - at < 60 and _in_magic(source, after, size):
            after += 1
        if after > at + 2 and after + 1 < size and source[after] == 95 and source[after + 1] == 95:
            mark(out, MAGIC_MARK, hash_name(MARK, source, at + 2, after, dialect.lower), at + 2, after)
            return after + 2
    put(out, 95)
    return at + 1


@inner
def _in_magic(source: Bytes, at: int, size: int) -> bool:
    """Letters, and single underscores between them (`__KEIN_INHALTSVERZEICHNIS__`)."""
    if source[at] == 95:
        return at + 1 < size and source[at + 1] != 95 and source[at - 1] != 95
    return bool(source[at] >= 128 or 65 <= (source[at] & 0xDF) <= 90)
