"""What a model has learned of context symbols: how often each was next to a mention of which type of topic."""

from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, Arrays, hash_table, rows
from wikilda._core.hash_table import HashTable

HASHES = 1 << 22  # of type words

# The arrays that it is stored as.
PARTS = (
    "type_offsets", "type_words", "type_hashes", "symbols_keys", "symbols_values", "offsets", "words", "counts", "sums",
    "totals", "texts",
)  # fmt: skip


def declared(prefix: str) -> Arrays:
    """What the stored arrays must be, for the model's own declarations."""
    words = Array(np.uint32, below="types", increasing=True)
    return {
        **rows(f"{prefix}type_", "topics", optional=True, words=words),
        f"{prefix}type_hashes": Array(np.uint32, "types", below=HASHES, optional=True),
        **hash_table(f"{prefix}symbols_", below="contexts", optional=True),
        **rows(prefix, "contexts", optional=True, words=words, counts=Array(np.float32)),
        f"{prefix}sums": Array(np.float64, "contexts", optional=True),
        f"{prefix}totals": Array(np.float64, "types", optional=True),
        f"{prefix}texts": Array(np.uint64, optional=True),
    }


class TopicTypes(NamedTuple):
    """The type words of each topic: those of topic k from offsets[k] on, sorted; and the hash of every word."""

    offsets: NDArray[np.int64]
    words: NDArray[np.uint32]
    hashes: NDArray[np.uint32]


class ContextCounts(NamedTuple):
    """n_cd: of context symbol number c, type words d (sorted) and counts from offsets[c] on; and their sums."""

    types: TopicTypes
    symbols: HashTable
    offsets: NDArray[np.int64]
    words: NDArray[np.uint32]
    counts: NDArray[np.float32]
    sums: NDArray[np.float64]  # n_c
    totals: NDArray[np.float64]  # n_d
    texts: NDArray[np.uint64]  # digests of the texts that it was learned from, sorted

    @property
    def total(self) -> float:
        """How many counts there are in all: n."""
        return float(self.totals.sum())

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The context symbols by number."""
        found = np.empty(len(self.sums), np.uint64)
        used = self.symbols.keys != 0
        found[self.symbols.values[used]] = self.symbols.keys[used]
        return found

    def has(self, text: str) -> bool:
        """Whether it was learned from a text, among others."""
        return bool(self.among(np.array([text_digest(text)], np.uint64))[0])

    def among(self, digests: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which texts it was learned from, by their digests."""
        if len(self.texts) == 0:
            return np.zeros(len(digests), np.bool_)
        places = np.minimum(np.searchsorted(self.texts, digests), len(self.texts) - 1)
        found: NDArray[np.bool_] = self.texts[places] == digests
        return found

    @classmethod
    def of(cls, parts: dict[str, NDArray[Any]]) -> "ContextCounts":
        """Put stored arrays together."""
        arrays = [parts[name] for name in PARTS]
        return cls(TopicTypes(*arrays[:3]), HashTable(*arrays[3:5]), *arrays[5:])

    def parts(self) -> dict[str, NDArray[Any]]:
        """The arrays to store."""
        return dict(zip(PARTS, (*self.types, *self.symbols, *self[2:]), strict=True))


def text_digest(text: str) -> np.uint64:
    """A text as a number, by which it is recognised."""
    return np.uint64(int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little"))
