"""`[[links]]` while a page is rendered: to articles, files, categories, other wikis."""

from wikilda._core.jit import bare, inlined
from wikilda.mediawiki.wikitext._characters import (
    CLOSE_BRACE,
    CLOSE_BRACKET,
    CLOSE_PAREN,
    COLON,
    COMMA,
    DOT,
    DOUBLE_QUOTE,
    EXCLAMATION,
    GREATER,
    HASH,
    LESS,
    LOWER_A,
    LOWER_Z,
    NEWLINE,
    OPEN_BRACE,
    OPEN_BRACKET,
    OPEN_PAREN,
    PIPE,
    QUESTION,
    SEMICOLON,
    SLASH,
    SPACE,
)
from wikilda.mediawiki.wikitext._output import (
    ANCHOR_START,
    ASIDE_LINKS,
    AT_ASIDE,
    AT_TEXT,
    BRACKET,
    CATEGORIES,
    CATEGORY_LINKS,
    CATEGORY_MARK,
    COMPUTED_LINKS,
    FILE_LINKS,
    HIDDEN,
    IN_ASIDE,
    LANGUAGE_LINKS,
    LINKS,
    NO_LINKS,
    OTHER_LINKS,
    OUTER_LINKS,
    SECTION_LINKS,
    SET_ASIDE,
    SHOWN,
    TARGET_END,
    TARGET_START,
    TEXT_LINKS,
    TRAIL,
    Frames,
    Rendered,
    mark,
    push,
    put,
)
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
from wikilda.text.tokens import Bytes


@inlined
def open_link(source: Bytes, at: int, end: int, dialect: Dialect, frames: Frames, out: Rendered) -> int:
    """Read a `[[`: classify it by its target, and render its text."""
    state = out.state
    start = at + 2
    while start < end - 2 and source[start] == SPACE:
        start += 1
    pipe = _target_end(source, start, end - 2)
    if pipe < 0 and _has_template(source, start, end - 2):
        out.account[COMPUTED_LINKS] += 1
        state[HIDDEN] += 1  # a title that only the wiki can compute
        push(frames, out, end - 2, end, SET_ASIDE)
        return start
    if pipe < 0:
        out.account[NO_LINKS] += 1
        put(out, OPEN_BRACKET)
        put(out, OPEN_BRACKET)
        return at + 2  # not a title: ordinary text
    shown = pipe + 1 if pipe < end - 2 else start
    colon = source[start] == COLON
    kind = _target_kind(source, start + colon, pipe, dialect)
    if kind == TO_FILE and not colon:
        out.account[FILE_LINKS] += 1
        state[HIDDEN] += 1
        push(frames, out, end - 2, end, SET_ASIDE)
        return min(pipe + 1, end - 2)
    if not colon and kind in (TO_CATEGORY, TO_LANGUAGE):
        out.account[CATEGORY_LINKS if kind == TO_CATEGORY else LANGUAGE_LINKS] += 1
        if kind == TO_CATEGORY:
            _categorize(source, _after_prefix(source, start, pipe), pipe, dialect, out)
        return end
    if shown == start:
        shown += colon
    if kind != TO_MAIN or source[start] == HASH or _has_link(source, shown, end - 2):
        section = source[start] == HASH
        out.account[OTHER_LINKS if kind != TO_MAIN else SECTION_LINKS if section else OUTER_LINKS] += 1
        push(frames, out, end - 2, end, SHOWN)
        return shown
    link = state[LINKS]
    state[LINKS] += 1
    out.account[ASIDE_LINKS if state[HIDDEN] else TEXT_LINKS] += 1
    out.links[TARGET_START, link] = start + colon
    out.links[TARGET_END, link] = pipe
    out.links[IN_ASIDE, link] = state[HIDDEN] > 0
    out.links[ANCHOR_START, link] = state[AT_ASIDE] if state[HIDDEN] else state[AT_TEXT]
    push(frames, out, end - 2, end, link)
    return shown


@bare
def _categorize(source: Bytes, start: int, end: int, dialect: Dialect, out: Rendered) -> None:
    mark(out, CATEGORY_MARK, hash_name(MARK, source, start, end, dialect.lower), start, end)
    count = out.state[CATEGORIES]
    out.categories[0, count], out.categories[1, count] = start, end
    out.state[CATEGORIES] = count + 1


@bare
def _target_end(source: Bytes, start: int, end: int) -> int:
    """Return the end of a link's target (its pipe, or the whole), or -1 if it cannot be a title."""
    for at in range(start, end):
        byte = source[at]
        if byte == PIPE:
            return at if at > start and at + 1 < end else -1
        if (
            byte == OPEN_BRACKET
            or byte == CLOSE_BRACKET
            or byte == OPEN_BRACE
            or byte == CLOSE_BRACE
            or byte == LESS
            or byte == GREATER
            or byte < SPACE
        ):
            return -1
    return end if end > start else -1


@bare
def _has_template(source: Bytes, at: int, end: int) -> bool:
    """Whether a link's target contains a template."""
    while at + 1 < end and source[at] != PIPE and source[at] != NEWLINE:
        if source[at] == OPEN_BRACE and source[at + 1] == OPEN_BRACE:
            return True
        at += 1
    return False


@bare
def _after_prefix(source: Bytes, start: int, end: int) -> int:
    while start < end and source[start] != COLON:
        start += 1
    return start + 1


@bare
def _target_kind(source: Bytes, start: int, end: int, dialect: Dialect) -> int:
    colon = _after_prefix(source, start, end) - 1
    if colon >= end:
        return TO_MAIN
    found = find_name(dialect.names, hash_name(PREFIX, source, start, colon, dialect.lower))
    return dialect.names.values[found] if found >= 0 else TO_MAIN


@bare
def _has_link(source: Bytes, start: int, end: int) -> bool:
    """Whether it contains another link; then the inner one is the link, as in MediaWiki."""
    for at in range(start, end - 1):  # noqa: SIM110
        if source[at] == OPEN_BRACKET and source[at + 1] == OPEN_BRACKET:
            return True
    return False


@bare
def open_external(source: Bytes, at: int, size: int, out: Rendered) -> int:
    """Read a single `[`: the beginning of an external link, or a character."""
    colon = at + 1
    while colon < size and colon - at < 8 and _is_letter(source[colon]):
        colon += 1
    slashes = colon + 1 if colon < size and source[colon] == COLON and colon > at + 1 else at + 1
    if not _slashes(source, slashes, size):
        put(out, OPEN_BRACKET)
        return at + 1
    out.state[BRACKET] = 1
    after = _address_end(source, slashes, size)
    while after < size and source[after] == SPACE:
        after += 1
    return after


@inlined
def address(source: Bytes, at: int, size: int, out: Rendered) -> int:
    """Read a `:` of a web address: remove its scheme from the output, and skip the rest."""
    state = out.state
    letters = 0
    # Letters that a link has taken as its trail are part of its anchor, and stay.
    while letters < at - state[TRAIL] and letters < 7 and _is_letter(source[at - letters - 1]):
        letters += 1
    if not 3 <= letters <= 6 or not _slashes(source, at + 1, size):
        put(out, COLON)
        return at + 1
    state[AT_ASIDE if state[HIDDEN] else AT_TEXT] -= letters
    return _without_punctuation(source, at + 3, _address_end(source, at + 1, size))


@bare
def _is_letter(byte: int) -> bool:
    return LOWER_A <= (byte | 32) <= LOWER_Z


@bare
def _slashes(source: Bytes, at: int, size: int) -> bool:
    return at + 1 < size and source[at] == SLASH and source[at + 1] == SLASH


@bare
def _address_end(source: Bytes, at: int, size: int) -> int:
    while at < size and source[at] > SPACE and not _ends_address(source[at]):
        at += 1
    return at


@bare
def _ends_address(byte: int) -> bool:
    return (
        byte == OPEN_BRACKET
        or byte == CLOSE_BRACKET
        or byte == LESS
        or byte == GREATER
        or byte == DOUBLE_QUOTE
        or byte == OPEN_BRACE
        or byte == CLOSE_BRACE
    )


@bare
def _without_punctuation(source: Bytes, start: int, end: int) -> int:
    """Return the end of an address without a final full stop or an unmatched parenthesis."""
    opened = False
    for at in range(start, end):
        opened |= source[at] == OPEN_PAREN
    while end > start and _is_punctuation(source[end - 1], opened):
        end -= 1
    return end


@bare
def _is_punctuation(byte: int, opened: bool) -> bool:
    return (
        byte == COMMA or byte == DOT or byte == COLON or byte == SEMICOLON or byte == EXCLAMATION or byte == QUESTION
        or (byte == CLOSE_PAREN and not opened)
    )  # fmt: skip
