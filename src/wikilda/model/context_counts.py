"""Counts of context symbols next to mentions, by type words of the topics."""

from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, Arrays, hash_table, rows
from wikilda._core.arrays import HashTable, offsets_of
from wikilda._core.jit import Whole, inner, njit
from wikilda.knowledge import Knowledge
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import BREAK, WORD, Bytes, Offsets, tokenize

HASHES = 1 << 22  # of type words

# The stored arrays.
PARTS = (
    "type_offsets", "type_words", "type_hashes", "symbols_keys", "symbols_values", "offsets", "words", "counts",
    "expected", "sums", "totals", "texts",
)  # fmt: skip


def declared(prefix: str) -> Arrays:
    """Return the declarations of the stored arrays."""
    words = Array(np.uint32, below="types", increasing=True)
    return {
        **rows(f"{prefix}type_", "topics", optional=True, words=words),
        f"{prefix}type_hashes": Array(np.uint32, "types", below=HASHES, optional=True),
        **hash_table(f"{prefix}symbols_", below="contexts", optional=True),
        **rows(prefix, "contexts", optional=True, words=words, counts=Array(np.float32), expected=Array(np.float32)),
        f"{prefix}sums": Array(np.float64, "contexts", optional=True),
        f"{prefix}totals": Array(np.float64, "types", optional=True),
        f"{prefix}texts": Array(np.uint64, optional=True),
    }


class TopicTypes(NamedTuple):
    """Type words of topics: sorted, those of topic k from offsets[k] on; and the hash of every word."""

    offsets: NDArray[np.int64]
    words: NDArray[np.uint32]
    hashes: NDArray[np.uint32]


class ContextCounts(NamedTuple):
    """n_cd: of context symbol number c, type words d (sorted) and counts from offsets[c] on; and their sums.

    `expected` has the counts under P(k|v), the meanings that strings have elsewhere.
    """

    types: TopicTypes
    symbols: HashTable
    offsets: NDArray[np.int64]
    words: NDArray[np.uint32]
    counts: NDArray[np.float32]
    expected: NDArray[np.float32]
    sums: NDArray[np.float64]  # n_c
    totals: NDArray[np.float64]  # n_d
    texts: NDArray[np.uint64]  # digests of the training texts, sorted

    @property
    def total(self) -> float:
        """The sum of all counts, n."""
        return float(self.totals.sum())

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The context symbols by number."""
        found = np.empty(len(self.sums), np.uint64)
        used = self.symbols.keys != 0
        found[self.symbols.values[used]] = self.symbols.keys[used]
        return found

    def has(self, text: str) -> bool:
        """Whether a text is among the training texts."""
        return bool(self.among(np.array([text_digest(text)], np.uint64))[0])

    def among(self, digests: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Return which texts are training texts, by their digests."""
        if len(self.texts) == 0:
            return np.zeros(len(digests), np.bool_)
        places = np.minimum(np.searchsorted(self.texts, digests), len(self.texts) - 1)
        found: NDArray[np.bool_] = self.texts[places] == digests
        return found

    @classmethod
    def of(cls, parts: dict[str, NDArray[Any]]) -> "ContextCounts":
        """Make it from stored arrays."""
        arrays = [parts[name] for name in PARTS]
        return cls(TopicTypes(*arrays[:3]), HashTable(*arrays[3:5]), *arrays[5:])

    def parts(self) -> dict[str, NDArray[Any]]:
        """The arrays to store."""
        return dict(zip(PARTS, (*self.types, *self.symbols, *self[2:]), strict=True))


def text_digest(text: str) -> np.uint64:
    """Return a digest by which a text is recognised."""
    return np.uint64(int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little"))


_BEGINNING = 15  # words of the first sentence
_LEAST = 20  # topics that a type word must have
_LARGEST = 0.2  # largest share of all topics
_SHIFT = np.uint64(64 - 22)
_OPEN, _CLOSE = ord("("), ord(")")

Words = NDArray[np.uint32]


def topic_types(knowledge: Knowledge, known: NDArray[np.uint32] | None = None) -> TopicTypes:
    """Return the type words of every topic, numbered: words that enough topics share, but not too many.

    With `known`, only the type words of another TopicTypes, with their numbers.
    """
    titles, sentences = knowledge.titles, knowledge.sentences
    offsets, words = _read(titles.data, titles.offsets, sentences.data, sentences.offsets, characters())
    if known is None:
        topics = np.bincount(words, minlength=HASHES)
        common = (topics >= _LEAST) & (topics <= max(_LARGEST * len(titles), _LEAST))
    else:
        common = np.zeros(HASHES, np.bool_)
        common[known] = True
    kept = common[words]
    ends = offsets_of(kept.astype(np.int64))
    numbers = np.cumsum(common) - 1
    return TopicTypes(
        ends[offsets], numbers[words[kept]].astype(np.uint32), np.flatnonzero(common).astype(np.uint32)
    )  # fmt: skip


@njit
def _read(
    titles: Bytes, title_offsets: Offsets, sentences: Bytes, sentence_offsets: Offsets, letters: Characters
) -> tuple[Offsets, Words]:  # fmt: skip
    """The distinct words of each topic, sorted."""
    count = len(title_offsets) - 1
    offsets = np.zeros(count + 1, np.int64)
    longest = np.int64(0)
    for topic in range(count):
        longest = max(longest, title_offsets[topic + 1] - title_offsets[topic])
        longest = max(longest, sentence_offsets[topic + 1] - sentence_offsets[topic])
    hashes, starts, ends = np.empty(longest, np.uint64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    own = np.empty(longest + _BEGINNING, np.uint32)
    words = np.empty(16 * max(count, 1), np.uint32)
    for topic in range(count):
        tokens = tokenize(titles, title_offsets[topic], title_offsets[topic + 1], letters, hashes, starts, ends)
        found = _add(own, np.int64(0), titles, hashes[:tokens], starts, np.int64(longest), False)
        tokens = tokenize(
            sentences, sentence_offsets[topic], sentence_offsets[topic + 1], letters, hashes, starts, ends
        )  # fmt: skip
        found = _add(own, found, sentences, hashes[:tokens], starts, np.int64(_BEGINNING), True)
        distinct = np.unique(own[:found])
        end = offsets[topic] + len(distinct)
        if end > len(words):
            words = np.concatenate((words, np.empty(len(words) + len(distinct), np.uint32)))
        words[offsets[topic] : end] = distinct
        offsets[topic + 1] = end
    return offsets, words[: offsets[-1]].copy()


@inner
def _add(
    own: Words, found: Whole, text: Bytes, tokens: NDArray[np.uint64], starts: Offsets, most: Whole, aside: bool
) -> Whole:
    """Add the first words of some tokens; with `aside`, skip parentheses."""
    seen, depth = np.int64(0), np.int64(0)
    for at in range(len(tokens)):
        if aside and tokens[at] != BREAK:
            depth += text[starts[at]] == _OPEN
            depth -= text[starts[at]] == _CLOSE and depth > 0
        if not tokens[at] & WORD or depth > 0:
            continue
        seen += 1
        if seen > most:
            break
        own[found] = tokens[at] >> _SHIFT
        found += 1
    return found
