"""Second pass: which braces and brackets belong together, after the rules of MediaWiki's preprocessor.

Only what closes the innermost open pair counts; what is never closed is ordinary text.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import bare, njit
from wikilda.mediawiki.wikitext._characters import (
    CLOSE_BRACE,
    CLOSE_BRACKET,
    COLON,
    NEWLINE,
    OPEN_BRACE,
    OPEN_BRACKET,
    PIPE,
    SPACE,
    TAB,
)
from wikilda.mediawiki.wikitext._strip import ASIDE_BEGIN, ASIDE_END
from wikilda.text.tokens import Bytes

TABLE_END = -2  # marks the `|}` of a table that has been begun

Partners = NDArray[np.int32]
_PLAIN = np.ones(256, np.bool_)
_PLAIN[[OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, ASIDE_BEGIN, ASIDE_END]] = False


@njit
def match_pairs(text: Bytes, size: int, partner: Partners, stack: NDArray[np.int32]) -> None:
    """Set `partner[i]` to the end of what opens at i (`{{`, `[[`, `{|` at the start of a line), else -1.

    `stack` has three rows (character, position, how many are open) and room for `size // 2 + 2` columns.
    """
    partner[:size] = -1
    depth = 0
    at = 0
    while True:
        while at < size and _PLAIN[text[at]]:
            at += 1
        if at >= size:
            break
        byte = text[at]
        if byte == OPEN_BRACE or byte == OPEN_BRACKET:
            run = _run(text, at, size)
            # In MediaWiki `[[[a]]]` is no link: brackets pair up from the left, and a third one spoils the title.
            if run >= 2 and not (byte == OPEN_BRACKET and run % 2):
                stack[0, depth], stack[1, depth], stack[2, depth] = byte, at, run
                depth += 1
            at += run
        elif byte == CLOSE_BRACE or byte == CLOSE_BRACKET:
            run = _run(text, at, size)
            depth = _close(at, run, OPEN_BRACE if byte == CLOSE_BRACE else OPEN_BRACKET, partner, stack, depth)
            at += run
        elif byte == ASIDE_BEGIN:
            stack[0, depth], stack[1, depth], stack[2, depth] = byte, at, 1
            depth += 1
            at += 1
        else:
            depth = _leave_aside(stack, depth)
            at += 1
    _match_tables(text, size, partner, stack)


@bare
def _run(text: Bytes, at: int, size: int) -> int:
    after = at + 1
    while after < size and text[after] == text[at]:
        after += 1
    return after - at


@bare
def _close(at: int, run: int, opener: int, partner: Partners, stack: NDArray[np.int32], depth: int) -> int:
    while run >= 2 and depth > 0 and stack[0, depth - 1] == opener:
        most = 3 if opener == OPEN_BRACE else 2
        taken = min(most, run, stack[2, depth - 1])
        stack[2, depth - 1] -= taken
        partner[stack[1, depth - 1] + stack[2, depth - 1]] = at + taken
        at += taken
        run -= taken
        if stack[2, depth - 1] < 2:
            depth -= 1
    return depth


@bare
def _leave_aside(stack: NDArray[np.int32], depth: int) -> int:
    """Forget what was opened inside a reference and not closed there."""
    below = depth - 1
    while below >= 0 and stack[0, below] != ASIDE_BEGIN:
        below -= 1
    return below if below >= 0 else depth


@bare
def _match_tables(text: Bytes, size: int, partner: Partners, stack: NDArray[np.int32]) -> None:
    depth = 0
    at = 0
    while at + 1 < size:
        if at == 0 or text[at - 1] == NEWLINE:
            while at + 1 < size and (text[at] == SPACE or text[at] == COLON or text[at] == TAB):
                at += 1
            if at + 1 < size and text[at] == OPEN_BRACE and text[at + 1] == PIPE and partner[at] < 0:
                stack[1, depth] = at
                depth += 1
            elif (
                at + 1 < size
                and text[at] == PIPE
                and text[at + 1] == CLOSE_BRACE
                and depth > 0
                and not _is_brace(text, at + 2, size)
            ):
                depth -= 1
                partner[stack[1, depth]] = at
                partner[at] = TABLE_END
        at += 1
        while at < size and text[at - 1] != NEWLINE:
            at += 1


@bare
def _is_brace(text: Bytes, at: int, size: int) -> bool:
    return at < size and text[at] == CLOSE_BRACE
