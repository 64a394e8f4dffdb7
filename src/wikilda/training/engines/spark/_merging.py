"""Line 15 of Algorithm 2 on tables: counts added up by symbol and topic, outer-joined with the model's table."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from wikilda._core.arrays import Run
from wikilda.model import Model, Parameters
from wikilda.training.engines.spark.rows import BEFORE, MENTIONS, MODEL, WORDS, Lists, lists, model_batch
from wikilda.training.interpolate import Blend, blend_rows

_STRETCH = 1 << 18  # topics: the counts of a word that every document has are in several lists, too
_PARTITION = 1 << 22  # parameters that a task handles
_BLOCKS = 2000  # stretches of symbols, at most, of which partitions are made
_AT_ONCE = 1 << 20  # entries that a task has in memory
_ROWS = 2000  # of a batch


class Ranges(NamedTuple):
    """Symbols in stretches of `block`, and to which partition each stretch goes."""

    block: int
    partitions: list[int]

    def partition(self) -> Column:
        """The partition of a symbol."""
        numbers = ", ".join(map(str, self.partitions))
        return F.expr(f"element_at(array({numbers}), cast(symbol div {self.block} as int) + 1)")


def next_table(model: Model, table: DataFrame, counts: DataFrame, blend: Blend) -> DataFrame:
    """The table of the next model, in files that are in the order of symbols."""
    missing = F.lit(None).cast("array<bigint>").alias("sweeps")
    rows = table.select("kind", "symbol", "segment", "topics", "values", missing).unionByName(sums_of(counts))
    words, mentions = ranges_of(model)
    partition = F.when(F.col("kind") == WORDS, words.partition()).otherwise(mentions.partition())
    placed = rows.repartitionById(mentions.partitions[-1] + 1, partition)
    merged = placed.sortWithinPartitions("kind", "symbol", "segment")
    return merged.mapInArrow(partial(blend_partition, blend=blend), MODEL)


def sums_of(counts: DataFrame) -> DataFrame:
    """Σ_m counts^m by symbol and topic: whole numbers, so their order does not matter."""
    pairs = counts.where(F.col("kind") != BEFORE).select(
        "kind", "symbol", F.explode(F.arrays_zip("topics", "sweeps")).alias("pair")
    )
    sums = pairs.groupBy("kind", "symbol", F.col("pair.topics").alias("topic")).agg(
        F.sum("pair.sweeps").alias("sweeps")
    )
    stretch = F.expr(f"cast(topic div {_STRETCH} as int)").alias("segment")
    listed = F.sort_array(F.collect_list(F.struct("topic", "sweeps"))).alias("pairs")
    return (
        sums.groupBy("kind", "symbol", stretch)
        .agg(listed)
        .select(
            "kind",
            "symbol",
            "segment",
            F.col("pairs.topic").alias("topics"),
            F.lit(None).cast("array<float>").alias("values"),
            F.col("pairs.sweeps").alias("sweeps"),
        )
    )


def ranges_of(model: Model) -> tuple[Ranges, Ranges]:
    """Partitions for words and for mentions: in the order of symbols, and with about as many parameters."""
    words = _ranges(model.words, 0)
    return words, _ranges(model.mentions, words.partitions[-1] + 1)


def _ranges(table: Parameters, first: int) -> Ranges:
    block = max(-(-table.symbols // _BLOCKS), 1)
    starts = np.asarray(table.offsets[: max(table.symbols, 1) : block])
    return Ranges(block, (first + starts // _PARTITION).tolist())


def blend_partition(batches: Iterator[pa.RecordBatch], blend: Blend) -> Iterator[pa.RecordBatch]:
    """Blend old rows and sums in the order of symbols in a worker, with the kernel of all engines."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(len(each.column("topics").values) for each in waiting) > _AT_ONCE:
            rows = pa.Table.from_batches(waiting)
            whole = _last_symbol(rows)
            yield from _blended(rows.slice(0, whole), blend)
            waiting = rows.slice(whole).to_batches()
    if waiting:
        yield from _blended(pa.Table.from_batches(waiting), blend)


def _last_symbol(rows: pa.Table) -> int:
    """Where the last symbol begins: more of it may come."""
    kinds, symbols = rows.column("kind").to_numpy(), rows.column("symbol").to_numpy()
    other = np.flatnonzero((kinds != kinds[-1]) | (symbols != symbols[-1]))
    return int(other[-1]) + 1 if len(other) else 0


def _blended(rows: pa.Table, blend: Blend) -> Iterator[pa.RecordBatch]:
    kinds = rows.column("kind").to_numpy()
    for kind in (WORDS, MENTIONS):
        start, end = np.searchsorted(kinds, (kind, kind + 1))
        if start < end:
            yield from _blended_kind(kind, rows.slice(start, end - start), blend)


def _blended_kind(kind: int, rows: pa.Table, blend: Blend) -> Iterator[pa.RecordBatch]:
    symbols, numbers = np.unique(rows.column("symbol").to_numpy(), return_inverse=True)
    added = rows.column("sweeps").is_valid().to_numpy()
    old, new = rows.filter(pa.array(~added)), rows.filter(pa.array(added))
    topics, values = _column(old, "topics", np.uint32), _column(old, "values", np.float32)
    lengths = np.bincount(numbers[~added], topics.lengths, len(symbols)).astype(np.int64)
    table = Parameters(np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))), topics.values, values.values)
    more, sweeps = _column(new, "topics", np.uint32), _column(new, "sweeps", np.int64)
    changed, first = np.unique(numbers[added].astype(np.int64), return_index=True)
    update = Run(changed, np.append(more.offsets[first], more.offsets[-1]), more.values, sweeps.values)
    made, new_topics, new_values, gained, dropped = blend_rows(table, update, 0, blend)
    batch = model_batch(kind, symbols, made, new_topics, new_values, int(gained), int(dropped))
    for start in range(0, len(batch), _ROWS):
        yield batch.slice(start, _ROWS)


def _column(rows: pa.Table, name: str, kind: type) -> Lists:
    return lists(rows.column(name).chunks, kind)
