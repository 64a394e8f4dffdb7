"""Links to the web: `[https://… label]` shows its label, a bare address shows nothing."""

from wikilda._core.jit import bare
from wikilda.mediawiki.wikitext._output import AT_ASIDE, AT_TEXT, BRACKET, HIDDEN, SPACE, TRAIL, Rendered, put
from wikilda.text.tokens import Bytes


@bare
def open_external(source: Bytes, at: int, size: int, out: Rendered) -> int:
    """A single `[`: the beginning of a link to the web, or a character."""
    colon = at + 1
    while colon < size and colon - at < 8 and _is_letter(source[colon]):
        colon += 1
    slashes = colon + 1 if colon < size and source[colon] == 58 and colon > at + 1 else at + 1
    if not _slashes(source, slashes, size):
        put(out, 91)
        return at + 1
    out.state[BRACKET] = 1
    after = _address_end(source, slashes, size)
    while after < size and source[after] == SPACE:
        after += 1
    return after


@bare
def address(source: Bytes, at: int, size: int, out: Rendered) -> int:
    """A `:` that belongs to a web address: takes its scheme back and skips the rest."""
    state = out.state
    letters = 0
    # Letters that a link has taken as its trail are part of its anchor, and stay.
    while letters < at - state[TRAIL] and letters < 7 and _is_letter(source[at - letters - 1]):
        letters += 1
    if not 3 <= letters <= 6 or not _slashes(source, at + 1, size):
        put(out, 58)
        return at + 1
    state[AT_ASIDE if state[HIDDEN] else AT_TEXT] -= letters
    return _without_punctuation(source, at + 3, _address_end(source, at + 1, size))


@bare
def _is_letter(byte: int) -> bool:
    return 97 <= (byte | 32) <= 122


@bare
def _slashes(source: Bytes, at: int, size: int) -> bool:
    return at + 1 < size and source[at] == 47 and source[at + 1] == 47


@bare
def _address_end(source: Bytes, at: int, size: int) -> int:
    while at < size and source[at] > 32 and not _ends_address(source[at]):
        at += 1
    return at


@bare
def _ends_address(byte: int) -> bool:
    return byte == 91 or byte == 93 or byte == 60 or byte == 62 or byte == 34 or byte == 123 or byte == 125


@bare
def _without_punctuation(source: Bytes, start: int, end: int) -> int:
    """The full stop after an address ends the sentence, and a parenthesis that it has not opened is not its own."""
    opened = False
    for at in range(start, end):
        opened |= source[at] == 40
    while end > start and _is_punctuation(source[end - 1], opened):
        end -= 1
    return end


@bare
def _is_punctuation(byte: int, opened: bool) -> bool:
    return (
        byte == 44 or byte == 46 or byte == 58 or byte == 59 or byte == 33 or byte == 63 or (byte == 41 and not opened)
    )  # fmt: skip
