"""Lines: headings, lists, rows of tables without a beginning, and the line that describes the page's topic."""

from wikilda._core.jit import bare, inlined
from wikilda.mediawiki.wikitext._characters import (
    CLOSE_BRACE,
    COLON,
    DOT,
    EQUALS,
    EXCLAMATION,
    HASH,
    HYPHEN,
    NEWLINE,
    OPEN_BRACE,
    PIPE,
    SEMICOLON,
    SINGLE_QUOTE,
    SPACE,
    STAR,
    TAB,
)
from wikilda.mediawiki.wikitext._output import (
    APOSTROPHE,
    AT_TEXT,
    BOLD,
    BRACKET,
    FALLBACK,
    FRAMES,
    HEADING,
    HIDDEN,
    LEAD,
    LINE,
    LOOKED,
    PROSE,
    ROW,
    ROWS_SEEN,
    SET_ASIDE,
    TYPE_END,
    Frames,
    Rendered,
    push,
    put,
)
from wikilda.mediawiki.wikitext._pairs import TABLE_END, Partners
from wikilda.mediawiki.wikitext._quotes import UNKNOWN
from wikilda.text.tokens import Bytes

_SHORT = 3  # bytes of a line that is too short for a description
_FAR = 20_000  # bytes, within which a table ends whose beginning is in a template


@inlined
def end_line(at: int, out: Rendered) -> None:
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
    note_lead(out)
    put(out, NEWLINE)
    state[LINE], state[BOLD], state[PROSE] = state[AT_TEXT], 0, 0


@bare
def note_lead(out: Rendered) -> None:
    """Note the describing paragraph: before the first heading, the first with bold type near its beginning, else the
    first.
    """
    state = out.state
    if state[LEAD] < 0 and state[PROSE] and state[AT_TEXT] - state[LINE] > _SHORT and not _is_label(out):
        if state[BOLD]:
            state[LEAD] = state[LINE]
        elif state[FALLBACK] < 0:
            state[FALLBACK] = state[LINE]


@bare
def _is_label(out: Rendered) -> bool:
    """Whether a line is a label, bold and with a colon at its end: `Disputes - international:`."""
    state, end = out.state, out.state[AT_TEXT]
    while end > state[LINE] and out.text[end - 1] == SPACE:
        end -= 1
    return bool(out.text[end - 1] == COLON and state[TYPE_END] >= end - 1 and state[TYPE_END] > state[LINE])


@inlined
def begin_line(source: Bytes, at: int, size: int, partner: Partners, frames: Frames, out: Rendered) -> int:
    """Read markup at the start of a line (headings, lists, rules, tables), and return where to go on."""
    state = out.state
    begin = at
    while at + 1 < size and (source[at] == SPACE or source[at] == COLON or source[at] == TAB):
        at += 1
    if source[at] == OPEN_BRACE and at + 1 < size and source[at + 1] == PIPE and partner[at] > 0:
        state[HIDDEN] += 1
        return at + 2
    if partner[at] == TABLE_END:
        state[HIDDEN] = max(0, state[HIDDEN] - 1)
        return at + 2
    if not state[HIDDEN] and not state[FRAMES] and _is_row(source, at, size, partner):
        return _open_rows(source, at, size, partner, frames, out)
    at = begin
    if source[at] == EQUALS:
        if state[LEAD] < 0 and not state[HIDDEN]:
            state[LEAD] = state[FALLBACK]
        state[HEADING] = 1
        while at < size and source[at] == EQUALS:
            at += 1
        return at
    if (
        source[at] == HYPHEN
        and at + 3 < size
        and source[at + 1] == HYPHEN
        and source[at + 2] == HYPHEN
        and source[at + 3] == HYPHEN
    ):
        while at < size and source[at] == HYPHEN:
            at += 1
        return at
    while at < size and (source[at] == STAR or source[at] == HASH or source[at] == COLON or source[at] == SEMICOLON):
        at += 1
    if not state[HIDDEN] and not state[FRAMES]:
        state[PROSE] = at == begin and source[at] != SPACE and not _is_italic_line(source, at, size)
    return at


@bare
def _is_row(source: Bytes, at: int, size: int, partner: Partners) -> bool:
    """Whether a line belongs to a table whose beginning or end is missing, such as in a template."""
    return (
        source[at] == PIPE
        or source[at] == EXCLAMATION
        or (source[at] == OPEN_BRACE and at + 1 < size and source[at + 1] == PIPE and partner[at] <= 0)
    )


@bare
def _open_rows(source: Bytes, at: int, size: int, partner: Partners, frames: Frames, out: Rendered) -> int:
    """Set rows aside: up to the end of the table if it ends in this section and is mostly rows, else this line."""
    state = out.state
    rows, others = 1, 0
    after = at
    while after + 1 < min(size, at + _FAR) and state[ROWS_SEEN] <= at:
        after += 1
        if source[after - 1] != NEWLINE:
            continue
        if source[after] == EQUALS:
            break
        if (
            source[after] == PIPE
            and after + 1 < size
            and source[after + 1] == CLOSE_BRACE
            and partner[after] != TABLE_END
        ):
            if others > rows:
                break
            state[HIDDEN] += 1
            push(frames, out, after, after + 2, SET_ASIDE)
            return at + 1
        is_row = source[after] == PIPE or source[after] == EXCLAMATION
        rows += is_row
        others += not is_row
    state[ROWS_SEEN] = max(state[ROWS_SEEN], after)  # nothing ends before
    state[HIDDEN] += 1
    state[ROW] = 1
    return at + 1


@bare
def _is_italic_line(source: Bytes, at: int, size: int) -> bool:
    """Whether a line is entirely in italics, a note to the reader: `''For other uses, see …''`."""
    if at + 2 >= size or source[at] != SINGLE_QUOTE or source[at + 1] != SINGLE_QUOTE or source[at + 2] == SINGLE_QUOTE:
        return False
    at += 2
    while (
        at + 1 < size and source[at] != NEWLINE and not (source[at] == SINGLE_QUOTE and source[at + 1] == SINGLE_QUOTE)
    ):
        at += 1
    at += 2
    while at < size and (source[at] == SPACE or source[at] == DOT):
        at += 1
    return at >= size or source[at] == NEWLINE


@bare
def heading_end(source: Bytes, at: int, size: int, out: Rendered) -> int:
    after = at
    while after < size and source[after] == EQUALS:
        after += 1
    rest = after
    while rest < size and (source[rest] == SPACE or source[rest] == TAB):
        rest += 1
    if rest >= size or source[rest] == NEWLINE:
        return rest
    for _ in range(after - at):
        put(out, EQUALS)
    return after
