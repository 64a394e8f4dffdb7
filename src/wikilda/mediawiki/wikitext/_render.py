"""Third pass: the text that a reader sees, its links, and the marks that identify the kind of page.

The content of templates, tables, references and captions is written to a second buffer, the aside: its
words do not count as the article's, its links do.
"""

import numpy as np

from wikilda._core.jit import bare, inlined, int64
from wikilda.mediawiki.wikitext._characters import (
    AMPERSAND,
    CLOSE_BRACKET,
    CLOSE_PAREN,
    COLON,
    EQUALS,
    NEWLINE,
    OPEN_BRACE,
    OPEN_BRACKET,
    OPEN_PAREN,
    SINGLE_QUOTE,
    SPACE,
    UNDERSCORE,
    UPPER_A,
    UPPER_Z,
)
from wikilda.mediawiki.wikitext._inline_templates import open_template
from wikilda.mediawiki.wikitext._lines import begin_line, end_line, heading_end, note_lead
from wikilda.mediawiki.wikitext._links import address, open_external, open_link
from wikilda.mediawiki.wikitext._output import (
    ANCHOR_END,
    APOSTROPHE,
    AT_ASIDE,
    AT_TEXT,
    BOLD,
    BRACKET,
    FALLBACK,
    FILE_BYTES,
    FRAMES,
    HEADING,
    HIDDEN,
    HIDING,
    IN_ASIDE,
    LEAD,
    LINE,
    LINK,
    LOOKED,
    MAGIC_MARK,
    PROSE,
    REFERENCE_BYTES,
    RESUME,
    ROW,
    ROWS_SEEN,
    SET_ASIDE,
    STOP,
    TABLE_BYTES,
    TEMPLATE_BYTES,
    THEN_CLOSE,
    THEN_OPEN,
    THEN_SPACE,
    TRAIL,
    TYPE_END,
    Frames,
    Rendered,
    mark,
    put,
    put_point,
)
from wikilda.mediawiki.wikitext._pairs import Partners
from wikilda.mediawiki.wikitext._quotes import UNKNOWN, quotes
from wikilda.mediawiki.wikitext._strip import ASIDE_BEGIN, ASIDE_END, IS_TABLE, LITERAL_BASE, LITERALS, NOTHING
from wikilda.mediawiki.wikitext.dialect import MARK, Dialect, entity, hash_name
from wikilda.text.tokens import Bytes, decode

_PLAIN = np.ones(256, np.bool_)
_PLAIN[np.frombuffer(b"[]{'&=_:", np.uint8)] = False
_PLAIN[:32] = False


@bare
def render(source: Bytes, size: int, partner: Partners, dialect: Dialect, frames: Frames, out: Rendered) -> None:
    """Render one page from stripped wikitext; positions and counts live in `out.state`.

    `frames` has three rows: the end of each open pair's shown part, where the text goes on after it, and its link or
    kind.
    """
    state = out.state
    state[HIDDEN] = state[FRAMES] = state[HEADING] = state[BRACKET] = state[TRAIL] = state[PROSE] = 0
    state[ROW] = state[ROWS_SEEN] = state[LOOKED] = state[TYPE_END] = 0
    state[APOSTROPHE] = UNKNOWN
    state[LEAD] = state[FALLBACK] = -1
    state[LINE], state[BOLD] = state[AT_TEXT], 0
    at = int64(0)
    line_start = True
    while at < size:
        stop, hidden = size, state[HIDDEN]
        if state[FRAMES] > 0:
            stop = frames[STOP, state[FRAMES] - 1]
            if at >= stop:
                after = _leave_frame(source, at, size, dialect, frames, out)
                _account(source, at, after, size, hidden, out)
                at = after
                continue
        if line_start:
            line_start = False
            after = begin_line(source, at, size, partner, frames, out)
            if after > at:
                _account(source, at, after, size, hidden, out)
                at = after
                continue
        begin = at
        if state[HIDDEN]:
            at, state[AT_ASIDE] = _copy_plain(source, at, stop, out.aside, state[AT_ASIDE])
        else:
            at, state[AT_TEXT] = _copy_plain(source, at, stop, out.text, state[AT_TEXT])
        _account(source, begin, at, size, hidden, out)
        begin = at
        if at < stop and source[at] == NEWLINE:
            line_start = True
            end_line(at, out)
            at += 1
        elif at < stop:
            at = _markup(source, at, size, partner, dialect, frames, out)
        _account(source, begin, at, size, hidden, out)
    note_lead(out)
    if state[LEAD] < 0:
        state[LEAD] = state[FALLBACK]


@inlined
def _account(source: Bytes, begin: int, end: int, size: int, hidden: int, out: Rendered) -> None:
    """Account bytes to the markup that hides them. Bytes of shown text are divided at the end of the page."""
    state = out.state
    if not hidden:
        if not state[HIDDEN]:
            return
        state[HIDING] = _hides(source, begin, size)
    out.account[state[HIDING]] += end - begin


@bare
def _hides(source: Bytes, at: int, size: int) -> int:
    """Return the class of markup at a position from which the text is hidden."""
    following = source[at + 1] if at + 1 < size else np.uint8(0)
    if source[at] == OPEN_BRACE and following == OPEN_BRACE:
        return TEMPLATE_BYTES
    if source[at] == OPEN_BRACKET:
        return FILE_BYTES
    return REFERENCE_BYTES if source[at] == ASIDE_BEGIN and following != IS_TABLE else TABLE_BYTES


@inlined
def _copy_plain(source: Bytes, at: int, stop: int, out: Bytes, written: int) -> tuple[int, int]:
    """Copy up to the next byte that may be markup."""
    while at < stop and _PLAIN[source[at]]:
        out[written] = source[at]
        written += 1
        at += 1
    return at, written


@inlined
def _markup(
    source: Bytes, at: int, size: int, partner: Partners, dialect: Dialect, frames: Frames, out: Rendered
) -> int:
    """Read one piece of markup or one character, and return where to go on."""
    byte = source[at]
    state = out.state
    if byte == OPEN_BRACKET:
        if partner[at] > 0:
            return open_link(source, at, partner[at], dialect, frames, out)
        return open_external(source, at, size, out)
    if byte == CLOSE_BRACKET and state[BRACKET]:
        state[BRACKET] = 0
        return at + 1
    if byte == OPEN_BRACE and partner[at] > 0:
        return open_template(source, at, size, partner, dialect, frames, out)
    if byte == SINGLE_QUOTE:
        return quotes(source, at, size, partner, out)
    if byte == AMPERSAND:
        return entity(source, at, size, dialect, out)
    if byte == EQUALS and state[HEADING]:
        return heading_end(source, at, size, out)
    if byte == UNDERSCORE:
        return _magic(source, at, size, dialect, out)
    if byte == COLON:
        return address(source, at, size, out)
    if byte < SPACE:
        return _control(byte, at, out)
    put(out, byte)
    return at + 1


@bare
def _control(byte: int, at: int, out: Rendered) -> int:
    state = out.state
    if byte == ASIDE_BEGIN:
        state[HIDDEN] += 1
    elif byte == ASIDE_END:
        state[HIDDEN] = max(0, state[HIDDEN] - 1)
    elif byte >= LITERAL_BASE:
        put(out, LITERALS[byte - LITERAL_BASE])
    elif byte not in (NOTHING, IS_TABLE):
        put(out, SPACE)
    return at + 1


@inlined
def _leave_frame(source: Bytes, at: int, size: int, dialect: Dialect, frames: Frames, out: Rendered) -> int:
    """Close the innermost pair; a link takes the letters that follow it (`[[bus]]es`) into its anchor."""
    state = out.state
    state[FRAMES] -= 1
    end: int = frames[RESUME, state[FRAMES]]
    link = frames[LINK, state[FRAMES]]
    if link == SET_ASIDE:
        state[HIDDEN] = max(0, state[HIDDEN] - 1)
    elif link in (THEN_SPACE, THEN_OPEN):
        put(out, SPACE)
        if link == THEN_OPEN:
            put(out, OPEN_PAREN)
    elif link == THEN_CLOSE:
        put(out, CLOSE_PAREN)
    if link < 0:
        return max(at, end)
    while end < size:
        point, length = decode(source, end)
        if point >= len(dialect.trail) or not dialect.trail[point]:
            break
        if point == SINGLE_QUOTE and end + 1 < size and source[end + 1] == SINGLE_QUOTE:
            break  # two apostrophes are type, in languages where one is a letter
        put_point(out, point)
        end += length
    state[TRAIL] = end
    out.links[ANCHOR_END, link] = state[AT_ASIDE] if out.links[IN_ASIDE, link] else state[AT_TEXT]
    return max(at, end)


@bare
def _magic(source: Bytes, at: int, size: int, dialect: Dialect, out: Rendered) -> int:
    """Read a magic word such as `__NOTOC__`, which is not shown."""
    if at + 1 < size and source[at + 1] == UNDERSCORE:
        after = at + 2
        while after < size and after - at < 60 and _in_magic(source, after, size):
            after += 1
        if after > at + 2 and after + 1 < size and source[after] == UNDERSCORE and source[after + 1] == UNDERSCORE:
            mark(out, MAGIC_MARK, hash_name(MARK, source, at + 2, after, dialect.lower), at + 2, after)
            return after + 2
    put(out, UNDERSCORE)
    return at + 1


@bare
def _in_magic(source: Bytes, at: int, size: int) -> bool:
    """Whether a character belongs to a magic word: letters, and single underscores between them."""
    if source[at] == UNDERSCORE:
        return at + 1 < size and source[at + 1] != UNDERSCORE and source[at - 1] != UNDERSCORE
    return bool(source[at] >= 128 or UPPER_A <= (source[at] & 0xDF) <= UPPER_Z)
