"""Text → symbols: the words between mentions, and the mentions, as the knowledge numbers them."""

import numpy as np
from numpy.typing import NDArray

from wikilda.hashtable import HashTable, lookup
from wikilda.inference.types import Whole
from wikilda.inference.urn.surroundings import Around
from wikilda.jit import inner, njit
from wikilda.knowledge import Knowledge
from wikilda.linking.detection.base import Spans
from wikilda.text.characters import characters
from wikilda.text.tokens import BREAK, FLAGS, WORD, Bytes, Hashes, Offsets, as_bytes, mention_key, mix, tokenize

_REACH = 4  # tokens on either side of a mention that stand around it
_MENTION, _NUMBER = np.uint64(0x9E3779B97F4A7C14), np.uint64(0xD1B54A32D192ED00)  # for any of them
_PLACES = np.array([0x8CB92BA72F3D8DD7, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x589965CC75374CC3], np.uint64)


def encode_words(text: str, mentions: Spans, knowledge: Knowledge) -> NDArray[np.int64]:
    """The content words outside mentions, in order; −1 for those that the knowledge does not have."""
    hashes, starts, spans = _tokens(text, sorted(mentions))
    return _words(hashes, starts, spans, knowledge.word_table)


def encode_places(text: str, mentions: Spans) -> NDArray[np.int64]:
    """Where mentions are, in tokens of the text."""
    _, starts, spans = _tokens(text, mentions)
    return np.searchsorted(starts, spans[:, 0])


def encode_around(text: str, mentions: Spans) -> Around:
    """What stands around mentions."""
    hashes, starts, spans = _tokens(text, mentions)
    return Around(*_around(as_bytes(text), hashes, starts, spans))


def _tokens(text: str, mentions: Spans) -> tuple[Hashes, Offsets, Offsets]:
    """The tokens of a text, where they start, and mentions; places are in bytes."""
    data = as_bytes(text)
    hashes, places = np.empty(len(data) + 1, np.uint64), np.empty((2, len(data) + 1), np.int64)
    count = tokenize(data, 0, len(data), characters(), hashes, places[0], places[1])
    first_bytes = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
    return hashes[:count], places[0][:count], first_bytes[np.array(mentions, np.int64).reshape(-1, 2)]


def encode_mentions(text: str, mentions: Spans, knowledge: Knowledge) -> NDArray[np.int64]:
    """The mentions in their order; −1 for strings that the knowledge does not have."""
    strings = [text[start:end] for start, end in mentions]
    found = {each: _mention(each, knowledge) for each in set(strings)}
    return np.array([found[each] for each in strings], np.int64)


def _mention(text: str, knowledge: Knowledge) -> int:
    _, key = mention_key(text)
    return int(lookup(knowledge.mention_trie, np.uint64(key)))


@njit
def _words(hashes: Hashes, starts: Offsets, spans: Offsets, table: HashTable) -> Offsets:
    found = np.empty(len(hashes), np.int64)
    count = span = 0
    for token in range(len(hashes)):
        while span < len(spans) and spans[span, 1] <= starts[token]:
            span += 1
        inside = span < len(spans) and spans[span, 0] <= starts[token]
        if hashes[token] & WORD and not inside:
            found[count] = lookup(table, hashes[token] & ~FLAGS)
            count += 1
    return found[:count]


@njit
def _around(text: Bytes, hashes: Hashes, starts: Offsets, spans: Offsets) -> tuple[Offsets, Hashes]:
    """The distinct symbols around each span: a token, its side, and whether it is next to the span."""
    tokens = _plain(text, hashes, starts, spans)
    offsets, symbols = np.zeros(len(spans) + 1, np.int64), np.empty(2 * _REACH * len(spans), np.uint64)
    for number in range(len(spans)):
        first = np.searchsorted(starts, spans[number, 0])
        last = np.searchsorted(starts, spans[number, 1]) - 1
        end = _side(tokens, first, -1, offsets[number], offsets[number], symbols)
        offsets[number + 1] = _side(tokens, max(last, first - 1), 1, offsets[number], end, symbols)
    return offsets, symbols[: offsets[-1]].copy()


@inner
def _plain(text: Bytes, hashes: Hashes, starts: Offsets, spans: Offsets) -> Hashes:
    """Tokens without their flags: all numbers are one, all parts of mentions another."""
    tokens = np.empty(len(hashes), np.uint64)
    for at in range(len(hashes)):
        digit = ord("0") <= text[starts[at]] <= ord("9") if hashes[at] != BREAK else False
        tokens[at] = _NUMBER if digit else hashes[at] & ~FLAGS
    for number in range(len(spans)):
        for at in range(np.searchsorted(starts, spans[number, 0]), np.searchsorted(starts, spans[number, 1])):
            tokens[at] = _MENTION
    return tokens


@inner
def _side(tokens: Hashes, at: Whole, step: Whole, begin: Whole, end: Whole, symbols: Hashes) -> Whole:
    """Add what stands on one side to the symbols of a mention, from `begin` to `end`; returns their new end."""
    seen = np.int64(0)
    at += step
    while 0 <= at < len(tokens) and seen < _REACH:
        if tokens[at] != BREAK:
            symbol = mix(tokens[at] ^ _PLACES[(step > 0) * 2 + (seen > 0)])
            new = symbol != 0
            for other in range(begin, end):
                new = new and symbols[other] != symbol
            if new:
                symbols[end] = symbol
                end += 1
            seen += 1
        at += step
    return end
