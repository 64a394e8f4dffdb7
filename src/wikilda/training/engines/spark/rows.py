"""Tables of lists as Arrow batches, and back as flat arrays."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# Kinds of rows of a shard, in the order in which a worker gets them: the topics that its mentions had before, words
# and mentions of documents, parameters of words and of mentions, and the links to the topics that mentions may mean.
KINDS = BEFORE, DOCUMENT_WORDS, DOCUMENT_MENTIONS, WORDS, MENTIONS, LINKS = tuple(range(6))
CONTEXTS = 6  # of counts alone

SEGMENT = 1 << 14  # a row of the model's table has no more parameters: no symbol is too much for one task

MODEL = (
    "kind tinyint, symbol bigint, segment int, topics array<int>, values array<float>, gained bigint, dropped bigint"
)
IN_LINKS = "kind tinyint, symbol bigint, segment int, topics array<int>"
DOCUMENTS = "shard int, number bigint, place int, words array<int>, mentions array<int>"
SYMBOLS = "shard int, kind tinyint, symbols array<int>"
COUNTS = "shard int, kind tinyint, symbol bigint, topics array<int>, sweeps array<bigint>, report string"


class Lists(NamedTuple):
    """Lists, one after the other."""

    lengths: NDArray[np.int64]
    values: NDArray[Any]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each begins, and the last ends."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.lengths)))


def lists(columns: Iterable[pa.ListArray], kind: type) -> Lists:
    """The lists of a column in batches; those that are missing are empty."""
    lengths: list[NDArray[Any]] = [np.empty(0, np.int64)]
    values: list[NDArray[Any]] = [np.empty(0, kind)]
    for column in columns:
        lengths.append(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False))
        values.append(column.flatten().to_numpy(zero_copy_only=False).astype(kind, copy=False))
    return Lists(np.concatenate(lengths).astype(np.int64, copy=False), np.concatenate(values))


def list_array(offsets: NDArray[np.int64], values: NDArray[Any], kind: Any) -> pa.ListArray:
    """Lists as Arrow has them."""
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values.view(kind)))


def segments(lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Cut lists to segments: which list each is of, its number therein, and where it begins (and the last ends)."""
    pieces = -(-lengths // SEGMENT)
    rows = np.repeat(np.arange(len(lengths)), pieces)
    numbers = np.arange(len(rows)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    sizes = np.minimum(lengths[rows] - numbers * SEGMENT, SEGMENT)
    return rows, numbers.astype(np.int32), np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))


def model_batch(
    kind: int, symbols: NDArray[np.int64], lengths: NDArray[np.int64], topics: NDArray[np.uint32],
    values: NDArray[np.float32], gained: int = 0, dropped: int = 0,
) -> pa.RecordBatch:  # fmt: skip
    """Rows of the model's table. How many parameters are new or gone is noted on the first."""
    rows, numbers, offsets = segments(lengths)
    changes = np.zeros((2, len(rows)), np.int64)
    if len(rows):
        changes[:, 0] = gained, dropped
    return pa.record_batch(
        [
            pa.array(np.full(len(rows), kind, np.int8)),
            pa.array(symbols[rows]),
            pa.array(numbers),
            list_array(offsets, topics, np.int32),
            list_array(offsets, values, np.float32),
            pa.array(changes[0]),
            pa.array(changes[1]),
        ],
        names=["kind", "symbol", "segment", "topics", "values", "gained", "dropped"],
    )
