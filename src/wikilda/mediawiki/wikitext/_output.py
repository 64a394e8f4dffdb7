"""What rendering fills, and where it is while it does so."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import bare
from wikilda.text.tokens import Bytes, Hashes, encode

# Where things are while a page is rendered: the rows of `state`.
AT_TEXT, AT_ASIDE, HIDDEN, FRAMES, LINKS, MARKS, HEADING, BRACKET, LEAD, TRAIL, APOSTROPHE, CATEGORIES = range(12)
LINE, PROSE, BOLD, FALLBACK, ROW, ROWS_SEEN, LOOKED, TYPE_END, HIDING = range(12, 21)
STATE_SIZE = 21

TEMPLATE_MARK, CATEGORY_MARK, MAGIC_MARK = 0, 1, 2
TARGET_START, TARGET_END, ANCHOR_START, ANCHOR_END, IN_ASIDE = range(5)  # the rows of `links`
STOP, RESUME, LINK = range(3)  # the rows of frames
# Frames that are not links: what is set aside, what is shown as it is, and what is shown with something after it.
SET_ASIDE, SHOWN, THEN_SPACE, THEN_OPEN, THEN_CLOSE = -1, -2, -3, -4, -5
Frames = NDArray[np.int64]

# The account of a page: bytes of wikitext by what became of them, then `[[…]]` by what they are.
(
    WIKITEXT_BYTES, TEXT_BYTES, TEMPLATE_BYTES, TABLE_BYTES, REFERENCE_BYTES, FILE_BYTES, COMMENT_BYTES, DROPPED_BYTES,
    MARKUP_BYTES, ALL_LINKS, TEXT_LINKS, ASIDE_LINKS, FILE_LINKS, CATEGORY_LINKS, LANGUAGE_LINKS, OTHER_LINKS,
    SECTION_LINKS, OUTER_LINKS, COMPUTED_LINKS, NO_LINKS, UNSHOWN_LINKS,
) = range(21)  # fmt: skip
ACCOUNT = (
    "wikitext", "text", "in_templates", "in_tables", "in_references", "in_files", "in_comments", "in_dropped_tags",
    "markup", "links", "in_text", "outside_text", "to_file", "to_category", "to_language", "elsewhere", "to_section",
    "around_link", "computed", "no_title", "unshown",
)  # fmt: skip


class Rendered(NamedTuple):
    """What rendering fills: two texts; the links, the marks and the categories of the page, one a column."""

    text: Bytes
    aside: Bytes
    links: NDArray[np.int64]
    marks: Hashes
    categories: NDArray[np.int64]
    state: NDArray[np.int64]
    account: NDArray[np.int64]


@bare
def put(out: Rendered, byte: int) -> None:
    """Write one byte to the text or, while that is hidden, to the aside."""
    state = out.state
    if state[HIDDEN]:
        out.aside[state[AT_ASIDE]] = byte
        state[AT_ASIDE] += 1
    else:
        out.text[state[AT_TEXT]] = byte
        state[AT_TEXT] += 1


@bare
def put_point(out: Rendered, point: int) -> None:
    """Write one character."""
    state = out.state
    if state[HIDDEN]:
        state[AT_ASIDE] = encode(point, out.aside, state[AT_ASIDE])
    else:
        state[AT_TEXT] = encode(point, out.text, state[AT_TEXT])


@bare
def mark(out: Rendered, kind: int, name: np.uint64, start: int, end: int) -> None:
    """Note a template, a category or a magic word, and where its name is in the source."""
    count = out.state[MARKS]
    out.marks[0, count] = kind
    out.marks[1, count] = name
    out.marks[2, count] = start
    out.marks[3, count] = end
    out.state[MARKS] = count + 1


@bare
def push(frames: Frames, out: Rendered, stop: int, resume: int, link: int) -> None:
    """Open a pair: what is shown of it ends at `stop`, and the text continues at `resume`."""
    depth = out.state[FRAMES]
    frames[STOP, depth] = stop
    frames[RESUME, depth] = resume
    frames[LINK, depth] = link
    out.state[FRAMES] = depth + 1
