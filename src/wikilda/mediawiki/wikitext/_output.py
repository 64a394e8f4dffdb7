"""What rendering fills, and where it is while it does so."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import inner
from wikilda.text.tokens import Bytes, Hashes, encode

# Where things are while a page is rendered: the rows of `state`.
AT_TEXT, AT_ASIDE, HIDDEN, FRAMES, LINKS, MARKS, HEADING, BRACKET, LEAD, TRAIL, APOSTROPHE, CATEGORIES = range(12)
LINE, PROSE, BOLD, FALLBACK, ROW, ROWS_SEEN, LOOKED = range(12, 19)
STATE_SIZE = 19

NEWLINE, SPACE = 10, 32


class Rendered(NamedTuple):
    """What rendering fills: two texts; the links, the marks and the categories of the page, one a column."""

    text: Bytes
    aside: Bytes
    links: NDArray[np.int64]
    marks: Hashes
    categories: NDArray[np.int64]
    state: NDArray[np.int64]


@inner
def put(out: Rendered, byte: int) -> None:
    """Write one byte to the text or, while that is hidden, to the aside."""
    state = out.state
    if state[HIDDEN]:
        out.aside[state[AT_ASIDE]] = byte
        state[AT_ASIDE] += 1
    else:
        out.text[state[AT_TEXT]] = byte
        state[AT_TEXT] += 1


@inner
def put_point(out: Rendered, point: int) -> None:
    """Write one character."""
    state = out.state
    if state[HIDDEN]:
        state[AT_ASIDE] = encode(point, out.aside, state[AT_ASIDE])
    else:
        state[AT_TEXT] = encode(point, out.text, state[AT_TEXT])


@inner
def mark(out: Rendered, kind: int, name: np.uint64, start: int, end: int) -> None:
    """Note a template, a category or a magic word, and where its name is in the source."""
    count = out.state[MARKS]
    out.marks[0, count] = kind
    out.marks[1, count] = name
    out.marks[2, count] = start
    out.marks[3, count] = end
    out.state[MARKS] = count + 1
