"""Text → symbols: the words between mentions, and the mentions, as the knowledge numbers them."""

import numpy as np
from numpy.typing import NDArray

from wikilda.hashtable import HashTable, lookup
from wikilda.jit import njit
from wikilda.knowledge import Knowledge
from wikilda.linking.detection.base import Spans
from wikilda.text.characters import characters
from wikilda.text.tokens import FLAGS, WORD, Hashes, Offsets, as_bytes, mention_key, tokenize


def encode_words(text: str, mentions: Spans, knowledge: Knowledge) -> NDArray[np.int64]:
    """The content words outside mentions, in order; −1 for those that the knowledge does not have."""
    data = as_bytes(text)
    hashes, places = np.empty(len(data) + 1, np.uint64), np.empty((2, len(data) + 1), np.int64)
    count = tokenize(data, 0, len(data), characters(), hashes, places[0], places[1])
    first_bytes = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
    spans = np.array(sorted(mentions), np.int64).reshape(-1, 2)
    return _words(hashes[:count], places[0], first_bytes[spans], knowledge.word_table)


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
