"""What a model has learned of the words around mentions: which kinds of topics they go with."""

from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, Arrays, hash_table, rows
from wikilda._core.hash_table import HashTable

# The arrays that it is stored as.
PARTS = (
    "kinds_offsets", "kinds_words", "symbols_keys", "symbols_values", "offsets", "words", "counts", "sums", "totals",
    "texts",
)  # fmt: skip


def declared(prefix: str) -> Arrays:
    """What the stored arrays must be, for the model's own declarations."""
    words = Array(np.uint32, below="types", increasing=True)
    return {
        **rows(f"{prefix}kinds_", "topics", optional=True, words=words),
        **hash_table(f"{prefix}symbols_", below="contexts", optional=True),
        **rows(prefix, "contexts", optional=True, words=words, counts=Array(np.float32)),
        f"{prefix}sums": Array(np.float64, "contexts", optional=True),
        f"{prefix}totals": Array(np.float64, "types", optional=True),
        f"{prefix}texts": Array(np.uint64, optional=True),
    }


class Kinds(NamedTuple):
    """The words that tell of each topic: those of topic k from offsets[k] on, sorted."""

    offsets: NDArray[np.int64]
    words: NDArray[np.uint32]


class Surroundings(NamedTuple):
    """n_cd, learned: of the symbol with number c, words and counts from offsets[c] on, words sorted; and their sums."""

    kinds: Kinds
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

    def has(self, text: str) -> bool:
        """Whether it was learned from a text, among others."""
        digest = text_digest(text)
        at = int(np.searchsorted(self.texts, digest))
        return at < len(self.texts) and bool(self.texts[at] == digest)

    @classmethod
    def of(cls, parts: dict[str, NDArray[Any]]) -> "Surroundings":
        """Put stored arrays together."""
        arrays = [parts[name] for name in PARTS]
        return cls(Kinds(*arrays[:2]), HashTable(*arrays[2:4]), *arrays[4:])

    def parts(self) -> dict[str, NDArray[Any]]:
        """The arrays to store."""
        return dict(zip(PARTS, (*self.kinds, *self.symbols, *self[2:]), strict=True))


def text_digest(text: str) -> np.uint64:
    """A text as a number, by which it is known again."""
    return np.uint64(int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little"))
