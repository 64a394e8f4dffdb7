"""Counts of context symbols next to mentions, by type words of the topics.

A build counts them next to the links of articles (`wikilda.knowledge.link_contexts`), training next to the mentions of
texts.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, Arrays, hash_table, rows
from wikilda._core.arrays import HashTable, Run, StringTable, lookup, offsets_of, table_of
from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import BREAK, WORD, Bytes, Offsets, tokenize

if TYPE_CHECKING:
    pass

CONTEXTS = "contexts"  # the folder of the stored arrays
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


def topic_types(
    titles: StringTable, sentences: StringTable, known: NDArray[np.uint32] | None = None
) -> TopicTypes:  # fmt: skip
    """Return the type words of every topic, numbered: words that enough topics share, but not too many.

    With `known`, only the type words of another TopicTypes, with their numbers.
    """
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


# -- counting -----------------------------------------------------------------------------------------------------

UNIT = 1 << 12  # one mention, in counts that are whole numbers
_LEAST_MET = 2.5  # mentions that a context symbol must have had
_AT_ONCE = 1 << 16  # context symbols that are expanded together
PARTS_OF_ONE = 1 << 20  # of a count, in sums by type word
_ONE = np.uint64(1)  # counts have half of a context symbol, which is even: their symbols are signed


class CountedContexts(NamedTuple):
    """Rows of context symbols (sorted): type words, counts and expected counts; and sums by symbol."""

    keys: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    words: NDArray[np.uint32]
    counts: NDArray[np.float32]
    expected: NDArray[np.float32]
    sums: NDArray[np.float64]

    def whole_totals(self, types: int) -> NDArray[np.float64]:
        """The sums of counts by type word, in whole parts: they do not depend on the order of addition."""
        parts = np.rint(self.counts * np.float64(PARTS_OF_ONE))
        return np.bincount(self.words, parts, minlength=types).astype(np.float64)

    def counts_of(self, types: TopicTypes, texts: NDArray[np.uint64]) -> ContextCounts:
        """Return the counts with what finds their rows."""
        totals = self.whole_totals(len(types.hashes)) / PARTS_OF_ONE
        rows = self.words, self.counts, self.expected, self.sums
        return ContextCounts(types, table_of(self.keys), offsets_of(self.lengths), *rows, totals, texts)


def empty_counts(types: TopicTypes) -> ContextCounts:
    """Return empty counts."""
    none = np.empty(0, np.float32)
    empty = CountedContexts(
        keys=np.empty(0, np.uint64), lengths=np.empty(0, np.int64), words=np.empty(0, np.uint32), counts=none,
        expected=none, sums=np.empty(0),
    )  # fmt: skip
    return empty.counts_of(types, np.empty(0, np.uint64))


def counted_contexts(
    old: ContextCounts, types: TopicTypes, counts: Run, expected: Run
) -> CountedContexts:  # fmt: skip
    """Return the rows of all context symbols, but for those that are hardly ever met."""
    keys = np.union1d(old.keys, counts.symbols.astype(np.uint64) << _ONE)
    pieces = list(_expanded(keys, old, counts, expected, types))
    lengths, words, values, chances, sums = (np.concatenate(column) for column in zip(*pieces, strict=True))
    kept = sums >= _LEAST_MET
    inside = np.repeat(kept, lengths)
    return CountedContexts(
        keys=keys[kept], lengths=lengths[kept], words=words[inside], counts=values[inside], expected=chances[inside],
        sums=sums[kept],
    )  # fmt: skip


class _Piece(NamedTuple):
    """Rows of some context symbols: their lengths, type words, counts and expected counts, and sums."""

    lengths: NDArray[np.int64]
    words: NDArray[np.uint32]
    counts: NDArray[np.float32]
    expected: NDArray[np.float32]
    sums: NDArray[np.float64]


class _Rows(NamedTuple):
    """The rows of context counts."""

    symbols: HashTable
    offsets: NDArray[np.int64]
    words: NDArray[np.uint32]
    counts: NDArray[np.float32]
    expected: NDArray[np.float32]


def _expanded(
    keys: NDArray[np.uint64], old: ContextCounts, counts: Run, expected: Run, types: TopicTypes
) -> Iterator[_Piece]:
    """Yield the rows of all context symbols in groups."""
    none = np.empty(0, np.float32)
    yield _Piece(np.empty(0, np.int64), np.empty(0, np.uint32), none, none, np.empty(0))
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        first, last = int(some[0]) >> 1, (int(some[-1]) >> 1) + 1
        rows = _Rows(old.symbols, old.offsets, old.words, old.counts, old.expected)
        yield _Piece(
            *_expand(some, rows, counts.between(first, last), expected.between(first, last), types, len(types.hashes))
        )


@njit
def _expand(
    keys: NDArray[np.uint64], old: _Rows, run: Run, chance: Run, types: TopicTypes, words: Whole
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    lengths, sums = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.float64)
    added, seen, new = np.zeros((2, words), np.float64), np.empty(words, np.uint32), np.ones(words, np.bool_)
    found, counts = np.empty(1 << 16, np.uint32), np.empty((2, 1 << 16), np.float32)
    size, row, other = np.int64(0), np.int64(0), np.int64(0)
    for number in range(len(keys)):
        count = _add_old(keys[number], old, added, seen, new)
        if row < len(run.symbols) and np.uint64(run.symbols[row]) << _ONE == keys[number]:
            count = _add_new(run, row, types, added[0], seen, new, count)
            row += 1
        while other < len(chance.symbols) and np.uint64(chance.symbols[other]) << _ONE < keys[number]:
            other += 1
        if other < len(chance.symbols) and np.uint64(chance.symbols[other]) << _ONE == keys[number]:
            count = _add_new(chance, other, types, added[1], seen, new, count)
        if size + count > len(found):
            more = max(len(found), count)
            found = np.concatenate((found, np.empty(more, np.uint32)))
            counts = np.concatenate((counts, np.empty((2, more), np.float32)), axis=1)
        for word in np.sort(seen[:count]):
            found[size], counts[0, size], counts[1, size] = word, added[0, word], added[1, word]
            sums[number] += added[0, word]
            added[:, word] = 0.0
            new[word] = True
            size += 1
        lengths[number] = count
    return lengths, found[:size].copy(), counts[0, :size].copy(), counts[1, :size].copy(), sums


@inner
def _add_old(
    key: np.uint64, old: _Rows, added: NDArray[np.float64], seen: NDArray[np.uint32], new: NDArray[np.bool_]
) -> Whole:
    number = lookup(old.symbols, key)
    count = np.int64(0)
    if number >= 0:
        for at in range(old.offsets[number], old.offsets[number + 1]):
            seen[count] = old.words[at]
            new[old.words[at]] = False
            added[0, old.words[at]] = np.float64(old.counts[at])
            added[1, old.words[at]] = np.float64(old.expected[at])
            count += 1
    return count


@inner
def _add_new(
    run: Run, row: Whole, types: TopicTypes, added: NDArray[np.float64], seen: NDArray[np.uint32],
    new: NDArray[np.bool_], count: Whole,
) -> Whole:  # fmt: skip
    for at in range(run.offsets[row], run.offsets[row + 1]):
        start, end = types.offsets[run.topics[at]], types.offsets[run.topics[at] + 1]
        share: Real = np.float64(run.sweeps[at]) / UNIT / max(end - start, 1)
        for word in types.words[start:end]:
            if new[word] and share > 0.0:
                seen[count] = word
                new[word] = False
                count += 1
            added[word] += share
    return count
