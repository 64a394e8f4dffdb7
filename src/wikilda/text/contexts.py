"""The context symbols of mentions: the tokens around them, as hashes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import lower_bound
from wikilda._core.jit import Whole, bare, inner, njit
from wikilda.text.characters import Characters
from wikilda.text.tokens import BREAK, FLAGS, Bytes, Hashes, Offsets, mix, tokenize

_WINDOW = 4  # tokens of context on either side of a mention
MOST_CONTEXTS = 2 * _WINDOW  # context symbols of a mention
_MENTION, _NUMBER = np.uint64(0x9E3779B97F4A7C14), np.uint64(0xD1B54A32D192ED00)  # for any of them
_SIDES = np.array([0x8CB92BA72F3D8DD7, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x589965CC75374CC3], np.uint64)
_EVEN = ~np.uint64(1)  # counts have signed keys: half of the symbol


class Contexts(NamedTuple):
    """The context symbols of each mention, as hashes: those of mention i from offsets[i] on."""

    offsets: NDArray[np.int64]
    symbols: NDArray[np.uint64]


@bare
def token_from(starts: Offsets, place: Whole) -> Whole:
    """Return the first token that starts at a place or after it."""
    found: Whole = lower_bound(starts, np.int64(0), np.int64(len(starts)), place)
    return found


@njit
def contexts_of_pages(
    text: Bytes, bounds: Offsets, link_bounds: Offsets, spans: Offsets, table: Characters
) -> NDArray[np.uint64]:
    """Return the context symbols of links, one row per link, padded with 0.

    Page i is `text[bounds[0, i]:bounds[1, i]]`; its links are those from link_bounds[i] on, as spans of `text`.
    """
    longest = np.int64(0)
    for page in range(bounds.shape[1]):
        longest = max(longest, bounds[1, page] - bounds[0, page])
    hashes, places = np.empty(longest + 1, np.uint64), np.empty((2, longest + 1), np.int64)
    found = np.zeros((len(spans), MOST_CONTEXTS), np.uint64)
    for page in range(bounds.shape[1]):
        size = tokenize(text, bounds[0, page], bounds[1, page], table, hashes, places[0], places[1])
        own = spans[link_bounds[page] : link_bounds[page + 1]]
        offsets, symbols = contexts_of(text, hashes[:size], places[0, :size], own)
        for link in range(len(own)):
            for at in range(offsets[link], offsets[link + 1]):
                found[link_bounds[page] + link, at - offsets[link]] = symbols[at]
    return found


@njit
def contexts_of(text: Bytes, hashes: Hashes, starts: Offsets, spans: Offsets) -> tuple[Offsets, Hashes]:
    """The distinct context symbols of each span: a token, its side, and whether it is next to the span."""
    tokens = _plain(text, hashes, starts, spans)
    offsets, symbols = np.zeros(len(spans) + 1, np.int64), np.empty(MOST_CONTEXTS * len(spans), np.uint64)
    for number in range(len(spans)):
        first, last = token_from(starts, spans[number, 0]), token_from(starts, spans[number, 1]) - 1
        end = _side(tokens, first, -1, offsets[number], offsets[number], symbols)
        offsets[number + 1] = _side(tokens, max(last, first - 1), 1, offsets[number], end, symbols)
    return offsets, symbols[: offsets[-1]].copy()


@inner
def _plain(text: Bytes, hashes: Hashes, starts: Offsets, spans: Offsets) -> Hashes:
    """Tokens without their flags: all numbers are one symbol, all tokens of mentions another."""
    tokens = np.empty(len(hashes), np.uint64)
    for at in range(len(hashes)):
        digit = ord("0") <= text[starts[at]] <= ord("9") if hashes[at] != BREAK else False
        tokens[at] = _NUMBER if digit else hashes[at] & ~FLAGS
    for number in range(len(spans)):
        for at in range(token_from(starts, spans[number, 0]), token_from(starts, spans[number, 1])):
            tokens[at] = _MENTION
    return tokens


@bare
def _side(tokens: Hashes, at: Whole, step: Whole, begin: Whole, end: Whole, symbols: Hashes) -> Whole:
    """Add the context on one side to the symbols of a mention, from `begin` to `end`; returns their new end."""
    seen = np.int64(0)
    at += step
    while 0 <= at < len(tokens) and seen < _WINDOW:
        if tokens[at] != BREAK:
            symbol = mix(tokens[at] ^ _SIDES[(step > 0) * 2 + (seen > 0)]) & _EVEN
            new = symbol != 0
            for other in range(begin, end):
                new = new and symbols[other] != symbol
            if new:
                symbols[end] = symbol
                end += 1
            seen += 1
        at += step
    return end
