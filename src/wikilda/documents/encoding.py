"""Documents as symbols: words, mentions, token positions and context symbols, all from one tokenisation."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikilda._core.arrays import HashTable, lookup, lower_bound
from wikilda._core.jit import Whole, inner, njit
from wikilda.documents.detection.base import Detector, TokenDetector
from wikilda.documents.detection.framing import words_of_handle
from wikilda.documents.document import Document
from wikilda.knowledge import Knowledge
from wikilda.text.layout import shown
from wikilda.text.offsets import Spans
from wikilda.text.tokens import (
    BREAK,
    FLAGS,
    WORD,
    Bytes,
    Hashes,
    Offsets,
    Strings,
    Tokens,
    chain,
    mention_key,
    mix,
    tokens_of,
)

Parts = Literal["", "unknown", "all"]

_WINDOW = 4  # tokens of context on either side of a mention
MOST_CONTEXTS = 2 * _WINDOW  # context symbols of a mention
_MENTION, _NUMBER = np.uint64(0x9E3779B97F4A7C14), np.uint64(0xD1B54A32D192ED00)  # for any of them
_SIDES = np.array([0x8CB92BA72F3D8DD7, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x589965CC75374CC3], np.uint64)
_EVEN = ~np.uint64(1)  # counts have signed keys: half of the symbol
_CUT = -2  # instead of a mention's number: its span begins or ends inside a token


class Contexts(NamedTuple):
    """The context symbols of each mention, as hashes: those of mention i from offsets[i] on."""

    offsets: NDArray[np.int64]
    symbols: NDArray[np.uint64]


@dataclass(frozen=True)
class EncodedDocument:
    """A document as the knowledge numbers its words and mentions; −1 for those that it does not have.

    Samplers need `words`, `mentions` and `id`, which random numbers depend on. The urn also needs the mentions'
    `positions` (in tokens) and spans, and their `contexts` if the model has learned from texts.
    """

    words: ArrayLike  # content words outside of mentions
    mentions: ArrayLike
    id: str | int = 0
    positions: ArrayLike = ()
    contexts: Contexts | None = None
    text: str = ""
    spans: Spans = ()  # type: ignore[assignment]
    written: tuple[str, ...] | None = None  # the mention strings, where markup or line breaks divide them in the text

    @cached_property
    def strings(self) -> list[str]:
        """The mention strings."""
        return [self.text[start:end] for start, end in self.spans] if self.written is None else list(self.written)

    def without_text(self) -> "EncodedDocument":
        """The same mentions without the text around them, which training does not have, either."""
        ends = np.cumsum([len(each) for each in self.strings], dtype=np.int64).tolist()
        spans = [(end - len(each), end) for each, end in zip(self.strings, ends, strict=True)]
        return replace(self, text="".join(self.strings), spans=spans)

    @cached_property
    def names(self) -> Strings:
        """The mention strings, as kernels take them."""
        return Strings.of(self.strings)


def encode(
    document: Document, knowledge: Knowledge, detector: Detector | None = None, *, contexts: bool = False,
    parts: Parts = "",
) -> EncodedDocument:  # fmt: skip
    """Encode a document; its mentions are detected if they are not given (without a detector it then has none).

    With `parts`, what is detected may overlap: names in `unknown` names, or in `all`, are mentions, too. Where mentions
    are detected, what a reader sees counts: not the tags of HTML, nor the line breaks that divide words.
    """
    seen = shown(document.text) if document.mentions is None else None
    if seen is not None:
        found = encode(Document(seen.text, None, document.id), knowledge, detector, contexts=contexts, parts=parts)
        spans, strings = seen.original(list(found.spans)), tuple(found.strings)
        return replace(found, text=document.text, spans=spans, written=strings)
    text, tokens = document.text, tokens_of(document.text)
    spans = _spans(document, tokens, detector, parts)
    places = _byte_offsets(text, tokens.text, spans)
    words, mentions, positions, cut = _encode(tokens, places, knowledge.mention_trie, knowledge.word_table)
    for at in np.flatnonzero(mentions == _CUT).tolist() if cut else ():
        _, key = mention_key(text[spans[at][0] : spans[at][1]])
        mentions[at] = lookup(knowledge.mention_trie, np.uint64(key))
    for at in np.flatnonzero(mentions < 0).tolist() if "@" in text or "#" in text else ():
        start, end = spans[at]
        if text[max(start - 1, 0)] in "@#":
            _, key = mention_key(words_of_handle(text[start:end]))
            mentions[at] = lookup(knowledge.mention_trie, np.uint64(key))
    around = Contexts(*_contexts(tokens.text, tokens.hashes, tokens.starts, places)) if contexts else None
    return EncodedDocument(words, mentions, document.id, positions, around, text, spans)


def _spans(document: Document, tokens: Tokens, detector: Detector | None, parts: Parts) -> Spans:
    if document.mentions is not None:
        return document.mentions
    if isinstance(detector, TokenDetector):
        return detector.propose_tokens(tokens, nested=parts == "all") if parts else detector.detect_tokens(tokens)
    return detector.detect(document.text) if detector else []


def _byte_offsets(text: str, data: Bytes, spans: Spans) -> Offsets:
    """Spans in bytes of the tokenised text."""
    places = np.array(spans, np.int64).reshape(-1, 2)
    if len(data) == len(text):  # a byte a character
        return places
    return np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))[places]


@inner
def _token_from(starts: Offsets, place: Whole) -> Whole:
    """The first token that starts at a place or after it."""
    found: Whole = lower_bound(starts, np.int64(0), np.int64(len(starts)), place)
    return found


@njit
def _encode(
    tokens: Tokens, spans: Offsets, trie: HashTable, table: HashTable
) -> tuple[Offsets, Offsets, Offsets, Whole]:
    """Words outside of mentions, mentions, the tokens that these begin with, and how many mentions cut a token.

    Those are to be looked up as strings.
    """
    hashes, starts, ends = tokens.hashes, tokens.starts, tokens.ends
    mentions, positions = np.empty(len(spans), np.int64), np.empty(len(spans), np.int64)
    inside, cut = np.zeros(len(hashes), np.bool_), np.int64(0)
    for number in range(len(spans)):
        first, last = _token_from(starts, spans[number, 0]), _token_from(starts, spans[number, 1])
        positions[number] = first
        sequence = BREAK
        for at in range(first, last):
            inside[at] = True
            if hashes[at] != BREAK:
                sequence = chain(sequence, hashes[at])
        before = first > 0 and ends[first - 1] > spans[number, 0]
        if before or (last > 0 and ends[last - 1] > spans[number, 1]):
            mentions[number] = _CUT
            cut += 1
        else:
            mentions[number] = lookup(trie, sequence) if sequence != BREAK else -1  # nothing but spaces
    words, count = np.empty(len(hashes), np.int64), np.int64(0)
    for token in range(len(hashes)):
        if hashes[token] & WORD and not inside[token]:
            words[count] = lookup(table, hashes[token] & ~FLAGS)
            count += 1
    return words[:count], mentions, positions, cut


@njit
def _contexts(text: Bytes, hashes: Hashes, starts: Offsets, spans: Offsets) -> tuple[Offsets, Hashes]:
    """The distinct context symbols of each span: a token, its side, and whether it is next to the span."""
    tokens = _plain(text, hashes, starts, spans)
    offsets, symbols = np.zeros(len(spans) + 1, np.int64), np.empty(MOST_CONTEXTS * len(spans), np.uint64)
    for number in range(len(spans)):
        first, last = _token_from(starts, spans[number, 0]), _token_from(starts, spans[number, 1]) - 1
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
        for at in range(_token_from(starts, spans[number, 0]), _token_from(starts, spans[number, 1])):
            tokens[at] = _MENTION
    return tokens


@inner
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
