"""The scanner: many pages in one call, each through the three passes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import njit
from wikilda.mediawiki.wikitext._characters import OPEN_BRACKET
from wikilda.mediawiki.wikitext._output import (
    ACCOUNT,
    ALL_LINKS,
    AT_ASIDE,
    AT_TEXT,
    CATEGORIES,
    LEAD,
    LINKS,
    MARKS,
    MARKUP_BYTES,
    STATE_SIZE,
    TARGET_END,
    TARGET_START,
    TEXT_BYTES,
    TEXT_LINKS,
    UNSHOWN_LINKS,
    WIKITEXT_BYTES,
    Rendered,
)
from wikilda.mediawiki.wikitext._pairs import match_pairs
from wikilda.mediawiki.wikitext._render import render
from wikilda.mediawiki.wikitext._strip import strip
from wikilda.mediawiki.wikitext.dialect import Dialect
from wikilda.text.tokens import Bytes, Hashes, Offsets, byte_array


class Scanned(NamedTuple):
    """Concatenated plain texts, and tables whose columns belong to pages by bounds.

    `links` has the rows TARGET_START … IN_ASIDE: a target is a span of `source`, an anchor one of `text`, or
    of `aside` where IN_ASIDE says so. `marks` has four rows: the kind of a mark, its name's hash and span.
    `categories` are spans of `source`, without the namespace. `account` has a row for each name in ACCOUNT and a column
    for each page.
    """

    source: Bytes
    text: Bytes
    aside: Bytes
    links: Offsets
    marks: Hashes
    categories: Offsets
    text_bounds: Offsets
    link_bounds: Offsets
    mark_bounds: Offsets
    category_bounds: Offsets
    lead: Offsets
    account: Offsets


@njit
def _scan(
    wikitext: Bytes, page_bounds: Offsets, source: Bytes, scratch: NDArray[np.int32], frames: Offsets,
    dialect: Dialect, out: Rendered, bounds: Offsets, lead: Offsets, accounts: Offsets,
) -> None:  # fmt: skip
    state, account = out.state, out.account
    written = 0
    for page in range(len(page_bounds) - 1):
        piece = source[written:]
        account[:] = 0
        size = strip(wikitext, page_bounds[page], page_bounds[page + 1], dialect, piece, account)
        match_pairs(piece, size, scratch[0], scratch[1:])
        opened = 0
        for at in range(size):  # without branches, so that it is vectorised
            opened += (piece[at] == OPEN_BRACKET) & (scratch[0, at] > 0)
        account[ALL_LINKS] = opened
        first_link, first_category, first_mark = state[LINKS], state[CATEGORIES], state[MARKS]
        render(piece, size, scratch[0], dialect, frames, out)
        account[WIKITEXT_BYTES] = page_bounds[page + 1] - page_bounds[page]
        account[TEXT_BYTES] = state[AT_TEXT] - bounds[0, page]
        account[MARKUP_BYTES] = account[WIKITEXT_BYTES] - account[TEXT_BYTES:MARKUP_BYTES].sum()
        account[UNSHOWN_LINKS] = account[ALL_LINKS] - account[TEXT_LINKS:UNSHOWN_LINKS].sum()
        accounts[:, page] = account
        for link in range(first_link, state[LINKS]):
            out.links[TARGET_START, link] += written
            out.links[TARGET_END, link] += written
        out.marks[2:, first_mark : state[MARKS]] += np.uint64(written)
        out.categories[:, first_category : state[CATEGORIES]] += written
        written += size
        lead[page] = state[LEAD] if state[LEAD] >= 0 else bounds[0, page]
        bounds[0, page + 1] = state[AT_TEXT]
        bounds[1, page + 1] = state[LINKS]
        bounds[2, page + 1] = state[MARKS]
        bounds[3, page + 1] = state[CATEGORIES]


def scan(wikitext: bytes, page_bounds: Offsets, dialect: Dialect) -> Scanned:
    """Scan the pages `wikitext[page_bounds[i]:page_bounds[i + 1]]`, which must be valid UTF-8."""
    data = byte_array(wikitext)
    longest = int(np.diff(page_bounds).max(initial=0))
    most = len(data) // 4 + 1  # links and marks: none is shorter than `{{}}`
    out = Rendered(
        text=np.empty(len(data) + 4, np.uint8),
        aside=np.empty(len(data) + 4, np.uint8),
        links=np.empty((5, most), np.int64),
        marks=np.empty((4, most), np.uint64),
        categories=np.empty((2, most), np.int64),
        state=np.zeros(STATE_SIZE, np.int64),
        account=np.zeros(len(ACCOUNT), np.int64),
    )
    source = np.empty(len(data) + 4, np.uint8)
    bounds = np.zeros((4, len(page_bounds)), np.int64)
    lead = np.zeros(len(page_bounds) - 1, np.int64)
    scratch = np.empty((4, longest + 4), np.int32)
    frames = np.empty((3, longest + 8), np.int64)
    accounts = np.zeros((len(ACCOUNT), len(page_bounds) - 1), np.int64)
    _scan(data, page_bounds, source, scratch, frames, dialect, out, bounds, lead, accounts)
    return Scanned(
        source=source,
        text=out.text[: out.state[AT_TEXT]],
        aside=out.aside[: out.state[AT_ASIDE]],
        links=out.links[:, : out.state[LINKS]],
        marks=out.marks[:, : out.state[MARKS]],
        categories=out.categories[:, : out.state[CATEGORIES]],
        text_bounds=bounds[0],
        link_bounds=bounds[1],
        mark_bounds=bounds[2],
        category_bounds=bounds[3],
        lead=lead,
        account=accounts,
    )


class Page(NamedTuple):
    """One scanned page, for reading; links are (target as written, anchor, in the text)."""

    text: str
    links: list[tuple[str, str, bool]]
    categories: list[str]


def read_page(wikitext: str, dialect: Dialect) -> Page:
    """Scan a single page."""
    data = wikitext.encode("utf-8", "replace")
    got = scan(data, np.array([0, len(data)]), dialect)
    links = []
    for target, target_end, anchor, anchor_end, aside in got.links.T:
        shown = (got.aside if aside else got.text)[anchor:anchor_end]
        links.append((_words(got.source[target:target_end]), _words(shown), not aside))
    categories = [_words(got.source[start:end]) for start, end in got.categories.T]
    return Page(_words(got.text), links, categories)


def _words(part: Bytes) -> str:
    return part.tobytes().decode()
