"""Blocks: the rows of a range of keys as one value. Tables of the urn on a cluster are made of them.

A join of rows would move each of them on its own, through the JVM. Here the keys of each side are cut into ranges of
the same width (buckets), the same in all tables. A block has the rows of one kind in one bucket, a request the keys
that a shard needs of it; a task that has both takes the rows out (`serve`). So a join costs Spark a few values for each
shard and bucket, and the work is that of arrays.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda.knowledge.types import TYPES
from wikilda.urn import packet as packets
from wikilda.urn.name_rows import NAME_ENTRIES
from wikilda.urn.packet import ENTRIES, PARAMETER, Keyed

# What the keys of a side are; and kinds of values besides those of packets.
STRINGS, WORDS, TOPICS, CONTEXTS = range(4)
# Sides that linking reads, all by halves of hashes: beginnings of mention strings, words as they are spelt, keys of the
# index of names, folded strings.
PREFIXES, SPELLINGS, NAMES, VARIANTS = range(4, 8)
LAMBDA = 20  # λ̂ of mention strings, which linking reads and inference in training does not
DOCUMENTS = 30  # and on: the columns of the documents of a shard
NOTES, REPORT, TOTALS, REQUEST = 40, 41, 42, 100
COUNTED = 50  # and on: counts by kind, in the order of COUNTS
COUNTS = ("mentions", "base", "contexts", "expected", "nil")
TOPIC_WORDS = 60  # type words of the topics that are counted with context symbols

NODE, SPELLING, ENTITY, ADDRESS, ID, ALLOWED = range(75, 81)
TEXT, STRING_LIST = 90, 91  # a document; the names of a shard, and whether they are known: as JSON

BLOCK = "side tinyint, bucket int, kind tinyint, shard int, data binary"
# What the driver reads of a table is in a column of its own, so that it does not read the rest.
FIGURES = "kind tinyint, shard int, figures binary"
WITH_FIGURES = f"{BLOCK}, figures binary"
COUNT = np.dtype([("topic", np.uint32), ("sweeps", np.int64)])
TOPIC_WORD = np.dtype([("topic", np.uint32), ("word", np.uint32)])
TOTAL = np.dtype([("word", np.uint32), ("total", np.float64), ("distinct", np.float64)])
SIDE_OF = {
    packets.STRING: STRINGS, packets.LINKS: STRINGS, packets.BY_WORDS: STRINGS,
    packets.BASE: STRINGS, packets.NIL: STRINGS, LAMBDA: STRINGS, packets.WORD: WORDS, packets.TITLE: TOPICS,
    packets.TOPIC: TOPICS, packets.TYPES: TOPICS, packets.NEAR: TOPICS,
    packets.CONTEXT: CONTEXTS, packets.CONTEXT_SUM: CONTEXTS,
}  # fmt: skip
SIDE_OF_COUNTS = (STRINGS, STRINGS, CONTEXTS, CONTEXTS, STRINGS)
ENTRY: dict[int, Any] = ENTRIES | NAME_ENTRIES | {LAMBDA: PARAMETER} | {
    # A sequence of tokens that a mention string begins with, and the string if it is one (else −1).
    NODE: np.dtype([
        ("key", np.uint64), ("mention", np.int32), ("linked", np.uint32), ("occurrences", np.uint32),
        ("lower", np.bool_),
    ]),
    SPELLING: np.dtype([
        ("key", np.uint64), ("word", np.int32), ("cased", np.bool_), ("capital", np.uint8), ("before", np.uint8),
        ("after", np.uint8),
    ]),
    ENTITY: np.dtype([("page", np.int64), ("wikidata", np.int64), ("types", np.uint8, (len(TYPES),))]),
    ADDRESS: np.dtype(np.uint8),
    ID: np.dtype(np.uint8),
    ALLOWED: np.dtype([("topic", np.bool_), ("possible", np.bool_)]),
} | dict.fromkeys(range(COUNTED, COUNTED + len(COUNTS)), COUNT)  # fmt: skip
HALVES = 1 << 63  # keys that are halves of hashes are below
NONE = -1  # the shard of a block, the bucket of what belongs to a shard


class Buckets(NamedTuple):
    """The number of ranges into which the keys of each side are cut."""

    ranges: int
    sizes: tuple[int, ...]

    def width(self, side: int) -> int:
        """How many keys a range has."""
        return -(-max(self.sizes[side], 1) // self.ranges)

    def cut(self, side: int, keys: NDArray[np.int64]) -> Iterator[tuple[int, slice]]:
        """Which of some sorted keys are in each bucket that has any."""
        if len(keys) == 0:
            return
        width = self.width(side)
        first, last = int(keys[0]) // width, int(keys[-1]) // width
        bounds = [min((number + 1) * width, (1 << 63) - 1) for number in range(first, last)]
        ends = [0, *np.searchsorted(keys, bounds).tolist(), len(keys)]
        for number, (start, end) in enumerate(pairwise(ends), first):
            if start < end:
                yield number, slice(start, end)

    def within(self, side: int, bucket: int, keys: NDArray[np.int64]) -> slice:
        """Return which of some sorted keys are in a bucket."""
        width, most = self.width(side), (1 << 63) - 1
        bounds = [min(number * width, most) for number in (bucket, bucket + 1)]
        start, end = np.searchsorted(keys, bounds).tolist()
        return slice(start, end if bounds[1] < most else len(keys))


class Value(NamedTuple):
    """A row of a table."""

    side: int
    bucket: int
    kind: int
    shard: int
    data: Any


def blocks_of(kind: int, rows: Keyed, buckets: Buckets, side: int, shard: int = NONE) -> Iterator[Value]:
    """Rows as blocks."""
    for bucket, part in buckets.cut(side, rows.keys):
        offsets = rows.offsets[part.start : part.stop + 1]
        some = Keyed(rows.keys[part], offsets - offsets[0], rows.entries[offsets[0] : offsets[-1]])
        yield Value(side, bucket, kind, shard, packed(some))


def requests_of(side: int, keys: NDArray[np.int64], buckets: Buckets, shard: int) -> Iterator[Value]:
    """The keys that a shard needs, which are sorted."""
    for bucket, part in buckets.cut(side, keys):
        yield Value(side, bucket, REQUEST, shard, keys[part].tobytes())


def packed(rows: Keyed) -> bytes:
    """Rows as bytes."""
    head = np.array([len(rows.keys)], np.int64)
    numbers = (each.astype(np.int64, copy=False) for each in (rows.keys, rows.offsets))
    return b"".join(_bytes_of(each) for each in (head, *numbers, rows.entries))


def _bytes_of(values: NDArray[Any]) -> Any:
    return np.ascontiguousarray(values).view(np.uint8)


def unpacked(data: Any, kind: int) -> Keyed:
    """Bytes as rows."""
    count = int(np.frombuffer(data, np.int64, 1)[0])
    keys = np.frombuffer(data, np.int64, count, 8)
    offsets = np.frombuffer(data, np.int64, count + 1, 8 * (count + 1))
    start = 8 * (2 * count + 2)
    return Keyed(keys, offsets, np.frombuffer(data, ENTRY[kind], int(offsets[-1]), start))


def together(parts: list[Keyed], kind: int) -> Keyed:
    """Parts of different ranges of keys as one."""
    parts = sorted((each for each in parts if len(each.keys)), key=lambda each: int(each.keys[0]))
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(each.offsets) for each in parts)])
    keys = np.concatenate([np.empty(0, np.int64), *(each.keys for each in parts)])
    entries = np.concatenate([np.empty(0, ENTRY[kind]), *(each.entries for each in parts)])
    return Keyed(keys, offsets_of(lengths), entries)


def rows_of_kind(found: Mapping[int, list[Value]], kind: int) -> Keyed:
    """Return the rows of a kind from its blocks."""
    return together([unpacked(each.data, kind) for each in found.get(kind, [])], kind)


def batches_of(values: Iterable[Value], most: int = 1 << 24) -> Iterator[pa.RecordBatch]:
    """Yield values as Arrow batches of about this many bytes."""
    waiting: list[Value] = []
    size = 0
    for value in values:
        waiting.append(value)
        size += len(value.data)
        if size >= most:
            yield _batch(waiting)
            waiting, size = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(values: list[Value]) -> pa.RecordBatch:
    sides, buckets, kinds, shards, data = zip(*values, strict=True)
    types = (pa.int8(), pa.int32(), pa.int8(), pa.int32(), pa.binary())
    columns = [pa.array(each, kind) for each, kind in zip((sides, buckets, kinds, shards, data), types, strict=True)]
    return pa.record_batch(columns, names=["side", "bucket", "kind", "shard", "data"])


def batches_with_figures(values: Iterable[Value]) -> Iterator[pa.RecordBatch]:
    """The same with figures in their column."""
    figures: list[Value] = []

    def rest() -> Iterator[Value]:
        for value in values:
            if value.kind in (REPORT, TOTALS):
                figures.append(value)
            else:
                yield value

    for batch in batches_of(rest()):
        yield batch.append_column("figures", pa.nulls(len(batch), pa.binary()))
    for batch in batches_of(figures):
        both = batch.append_column("figures", batch.column("data"))
        yield both.set_column(batch.schema.get_field_index("data"), "data", pa.nulls(len(batch), pa.binary()))


def values_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Value]:
    """Arrow batches as values; the data are views of the batch."""
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in ("side", "bucket", "kind", "shard")]
        data = batch.column("data")
        for at, (side, bucket, kind, shard) in enumerate(zip(*columns, strict=True)):
            yield Value(side, bucket, kind, shard, data[at].as_buffer())


def groups_of(values: Iterable[Value]) -> Iterator[tuple[int, int, dict[int, list[Value]]]]:
    """Values that come sorted by side and bucket, by these, and then by kind."""
    here: dict[int, list[Value]] = defaultdict(list)
    place: tuple[int, int] | None = None
    for value in values:
        if place is not None and place != value[:2]:
            yield *place, here
            here = defaultdict(list)
        place = value.side, value.bucket
        here[value.kind].append(value)
    if place is not None:
        yield *place, here


def serve(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Give each shard the rows that it has asked for: they have its number."""
    for side, bucket, found in groups_of(values_of(batches)):
        asked = asked_of(found.pop(REQUEST, []))
        for kind, blocks in found.items() if asked else ():
            rows = together([unpacked(each.data, kind) for each in blocks], kind)
            answers = (
                Value(side, bucket, kind, shard, packed(some))
                for shard, keys in asked.items()
                if len((some := _existing(rows, keys)).keys)
            )
            yield from batches_of(answers)


def asked_of(requests: list[Value]) -> dict[int, NDArray[np.int64]]:
    """The keys that each shard needs; it may have asked several times."""
    keys: dict[int, list[NDArray[np.int64]]] = defaultdict(list)
    for each in requests:
        keys[each.shard].append(np.frombuffer(each.data, np.int64))
    return {shard: some[0] if len(some) == 1 else np.unique(np.concatenate(some)) for shard, some in keys.items()}


def _existing(rows: Keyed, keys: NDArray[np.int64]) -> Keyed:
    if len(rows.keys) == 0:
        return rows
    places = np.minimum(np.searchsorted(rows.keys, keys), len(rows.keys) - 1)
    return _rows_at(rows, places[rows.keys[places] == keys])


def _rows_at(rows: Keyed, places: NDArray[np.int64]) -> Keyed:
    """Rows by their places. Arrow copies a row at once, NumPy each entry."""
    size = rows.entries.itemsize
    buffers = [None, pa.py_buffer(rows.offsets * size), pa.py_buffer(_bytes_of(rows.entries))]
    taken = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(rows.keys), buffers).take(pa.array(places))
    _, ends, data = taken.buffers()
    offsets = np.frombuffer(ends, np.int64, len(places) + 1) // size
    none = np.empty(0, rows.entries.dtype)
    entries = np.frombuffer(data, rows.entries.dtype, int(offsets[-1])) if offsets[-1] else none
    return Keyed(rows.keys[places], offsets, entries)
