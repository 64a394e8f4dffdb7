"""Apostrophes: two are italics, three are bold, five are both."""

from wikilda._core.jit import bare, inlined
from wikilda.mediawiki.wikitext._characters import NEWLINE, SPACE
from wikilda.mediawiki.wikitext._output import (
    APOSTROPHE,
    AT_TEXT,
    BOLD,
    FRAMES,
    HIDDEN,
    LINE,
    LOOKED,
    TYPE_END,
    Rendered,
    put,
)
from wikilda.mediawiki.wikitext._pairs import Partners
from wikilda.mediawiki.wikitext._strip import ASIDE_BEGIN, ASIDE_END
from wikilda.text.tokens import Bytes

UNKNOWN, NONE = -2, -1  # value of APOSTROPHE, which otherwise has the end of a run
_QUOTE = 39
_NEAR = 80  # bytes from the start of a line within which bold type names the page's topic


@inlined
def quotes(source: Bytes, at: int, size: int, partner: Partners, out: Rendered) -> int:
    """Read a run of apostrophes: write those that are not markup, and return where to go on."""
    state = out.state
    after = _run_end(source, at, size)
    run = after - at
    shown = run if run == 1 else (1 if run == 4 else max(0, run - 5))
    if run >= 3 and not state[HIDDEN]:
        state[TYPE_END] = state[AT_TEXT]
        if state[AT_TEXT] - state[LINE] < _NEAR:
            state[BOLD] = 1
    if run >= 2 and not state[HIDDEN] and not state[FRAMES]:
        if state[APOSTROPHE] == UNKNOWN:
            state[APOSTROPHE], state[LOOKED] = _find_apostrophe(source, at, size, partner)
        if state[APOSTROPHE] == after:
            shown += 1
    for _ in range(shown):
        put(out, _QUOTE)
    return after


@bare
def _run_end(source: Bytes, at: int, size: int) -> int:
    while at < size and source[at] == _QUOTE:
        at += 1
    return at


@bare
def _find_apostrophe(source: Bytes, at: int, size: int, partner: Partners) -> tuple[int, int]:
    """Return the end of the run that is an apostrophe and italics (`l'''Iliade''`), if neither kind is balanced.

    MediaWiki takes the first after a word of one letter, or else the first after a word, or after a space. Also returns
    how far it has looked: up to there the answer holds, so that nothing is looked at twice.
    """
    bold = italic = hidden = 0
    alone = after_word = after_space = NONE
    while at < size and (hidden > 0 or source[at] != NEWLINE):
        byte = source[at]
        if partner[at] > at:
            at = partner[at]
            continue
        if byte == ASIDE_BEGIN:
            hidden += 1
        elif byte == ASIDE_END:
            hidden -= 1
        after = _run_end(source, at, size)
        run = min(after - at, 5)
        if hidden > 0 or run < 2:
            at = max(after, at + 1)
            continue
        italic += run == 2 or run == 5
        bold += run >= 3
        if (run == 3 or run == 4) and alone == NONE:
            start = after - 3
            if start >= 1 and source[start - 1] == SPACE:
                after_space = after if after_space == NONE else after_space
            elif start >= 2 and source[start - 2] == SPACE:
                alone = after
            elif after_word == NONE:
                after_word = after
        at = after
    if bold % 2 == 0 or italic % 2 == 0:
        return NONE, at
    return (alone if alone != NONE else (after_word if after_word != NONE else after_space)), at
