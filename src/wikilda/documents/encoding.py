"""Documents as symbols: words, mentions, token positions and context symbols, all from one tokenisation."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from wikilda._core.arrays import HashTable, lookup
from wikilda._core.jit import Whole, njit
from wikilda.documents.detection.base import Detector, TokenDetector
from wikilda.documents.detection.framing import words_of_handle
from wikilda.documents.document import Document
from wikilda.knowledge import Knowledge
from wikilda.text.contexts import Contexts, contexts_of, token_from
from wikilda.text.layout import shown
from wikilda.text.offsets import Spans
from wikilda.text.tokens import (
    BREAK,
    FLAGS,
    WORD,
    Bytes,
    Offsets,
    Strings,
    Tokens,
    chain,
    mention_key,
    tokens_of,
)

Parts = Literal["", "unknown", "all"]

_CUT = -2  # instead of a mention's number: its span begins or ends inside a token


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
    around = Contexts(*contexts_of(tokens.text, tokens.hashes, tokens.starts, places)) if contexts else None
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
        first, last = token_from(starts, spans[number, 0]), token_from(starts, spans[number, 1])
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
