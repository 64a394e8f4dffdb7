"""Templates while a page is rendered: set aside, or shown by the rules of `templates.py`."""

from wikilda._core.jit import bare, inlined
from wikilda.mediawiki.wikitext._characters import (
    COLON,
    DOT,
    NEWLINE,
    OPEN_BRACE,
    OPEN_BRACKET,
    OPEN_PAREN,
    PIPE,
    SPACE,
)
from wikilda.mediawiki.wikitext._output import (
    AT_TEXT,
    HEADING,
    HIDDEN,
    LINE,
    SET_ASIDE,
    SHOWN,
    TEMPLATE_MARK,
    THEN_CLOSE,
    THEN_OPEN,
    THEN_SPACE,
    Frames,
    Rendered,
    mark,
    push,
    put,
)
from wikilda.mediawiki.wikitext._pairs import Partners
from wikilda.mediawiki.wikitext.dialect import MARK, TEMPLATE, Dialect, find_name, hash_name
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
from wikilda.text.tokens import Bytes


@inlined
def open_template(
    source: Bytes, at: int, size: int, partner: Partners, dialect: Dialect, frames: Frames, out: Rendered
) -> int:
    state = out.state
    end: int = partner[at]
    name, name_end = at + 2, at + 2
    while (
        name_end < end - 2
        and source[name_end] != PIPE
        and source[name_end] != OPEN_BRACE
        and source[name_end] != NEWLINE
    ):
        name_end += 1
    mark(out, TEMPLATE_MARK, hash_name(MARK, source, name, name_end, dialect.lower), name, name_end)
    if not state[HIDDEN] and source[at + 2] != OPEN_BRACE:
        rule = _rule(source, name, name_end, dialect)
        if rule == 0 and _in_sentence(source, end, size, out):
            return _show_unknown(source, name, name_end, end, partner, frames, out)
        if rule > HIDE:
            return _show(source, name, name_end, end, partner, rule, frames, out)
    state[HIDDEN] += 1
    push(frames, out, end - 2, end, SET_ASIDE)
    return at + 2


@bare
def _rule(source: Bytes, name: int, name_end: int, dialect: Dialect) -> int:
    found = find_name(dialect.names, hash_name(TEMPLATE, source, name, name_end, dialect.lower))
    if found >= 0:
        return dialect.names.values[found] if dialect.names.values[found] != AFTER_COLON else HIDE
    colon = name
    while colon < name_end and source[colon] != COLON:
        colon += 1
    if colon == name_end:
        return 0
    found = find_name(dialect.names, hash_name(TEMPLATE, source, name, colon, dialect.lower))
    return AFTER_COLON if found >= 0 and dialect.names.values[found] == AFTER_COLON else HIDE


@bare
def _in_sentence(source: Bytes, end: int, size: int, out: Rendered) -> bool:
    """Whether text and a space or parenthesis precede it on its line, and text follows it."""
    state = out.state
    written = state[AT_TEXT]
    if written - state[LINE] < 2 or end >= size or state[HEADING]:
        return False
    before, after = out.text[written - 1], source[end]
    begins, goes_on = (
        before == SPACE or before == OPEN_PAREN,
        after >= SPACE and after != OPEN_BRACE and after != OPEN_BRACKET and after != PIPE,
    )
    return bool(begins and goes_on)


@bare
def _show_unknown(
    source: Bytes, name: int, name_end: int, end: int, partner: Partners, frames: Frames, out: Rendered
) -> int:
    """The only parameter, or the name of a template that has none."""
    if name_end == end - 2:
        push(frames, out, end - 2, end, SHOWN)
        return name
    if source[name_end] == PIPE and count_positional(source, name_end, end - 2, partner) == 1:
        start, stop = positional(source, name_end, end - 2, partner, 1)
        if stop - start < 4 or source[stop - 4] != DOT:  # not a file
            return _show(source, name, name_end, end, partner, FIRST, frames, out)
    out.state[HIDDEN] += 1
    push(frames, out, end - 2, end, SET_ASIDE)
    return name


@bare
def _show(
    source: Bytes, name: int, name_end: int, end: int, partner: Partners, rule: int, frames: Frames,
    out: Rendered,
) -> int:  # fmt: skip
    """Show the parameters that a rule names, and drop the rest of the template."""
    close = end - 2
    if rule == AFTER_COLON:
        colon = name
        while source[colon] != COLON:
            colon += 1
        push(frames, out, name_end, end, SHOWN)
        return colon + 1
    if rule == BLANK:
        put(out, SPACE)
        return end
    first, last = _which(source, name_end, close, partner, rule)
    resume, begin = end, end
    for number in range(last, first - 1, -1):
        begin, stop = positional(source, name_end, close, partner, number)
        then = SHOWN if number == last else (THEN_OPEN if rule == GLOSS else THEN_SPACE)
        push(frames, out, stop, resume, THEN_CLOSE if rule == GLOSS and number == 2 else then)
        resume = begin
    return begin


@bare
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
