"""Tables of lists as Arrow batches, and back as flat arrays."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

# Kinds of rows of a shard, in the order in which a worker gets them: the topics that its mentions had before, words
# and mentions of documents, parameters of words and of mentions, and the links to the topics that mentions may mean.
KINDS = BEFORE, DOCUMENT_WORDS, DOCUMENT_MENTIONS, WORDS, MENTIONS, LINKS = tuple(range(6))

SEGMENT = 1 << 14  # most parameters of a row of the model's table, so that every symbol fits one task

MODEL = (
    "kind tinyint, symbol bigint, segment int, topics array<int>, values array<float>, gained bigint, dropped bigint"
)
IN_LINKS = "kind tinyint, symbol bigint, segment int, topics array<int>"
DOCUMENTS = "shard int, number bigint, place int, words array<int>, mentions array<int>"
SYMBOLS = "shard int, kind tinyint, symbols array<int>"
COUNTS = "shard int, kind tinyint, symbol bigint, topics array<int>, sweeps array<bigint>, report string"


class Lists(NamedTuple):
    """Concatenated lists."""

    lengths: NDArray[np.int64]
    values: NDArray[Any]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each begins, and the last ends."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.lengths)))


def lists(columns: Iterable[pa.ListArray], kind: type) -> Lists:
    """Return the lists of a column in batches; missing ones are empty."""
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


class Sources(NamedTuple):
    """The tables that shards are formed of: see `tables.py`. Without coherence, there is none of links."""

    documents: DataFrame
    symbols: DataFrame
    model: DataFrame
    links: DataFrame | None


def form_shards(sources: Sources, before: DataFrame, shards: list[int]) -> DataFrame:
    """Everything that the sampler needs, one shard a partition, sorted: `before`, documents, parameters, links."""
    listed = ", ".join(map(str, shards))
    documents, symbols = (table.where(f"shard in ({listed})") for table in (sources.documents, sources.symbols))
    joined = _joined(symbols, sources.model, sources.links)
    rows = _documents(documents).unionByName(_before(before)).unionByName(joined)
    partition = F.expr(f"array_position(array({listed}), shard) - 1")
    return rows.repartitionById(len(shards), partition.cast("int")).sortWithinPartitions("kind", "number", "place")


def _documents(documents: DataFrame) -> DataFrame:
    """Words and mentions of documents."""
    return _rows(documents, DOCUMENT_WORDS, ints="words").unionByName(
        _rows(documents, DOCUMENT_MENTIONS, ints="mentions")
    )


def _before(before: DataFrame) -> DataFrame:
    return _rows(before.select("*", F.lit(0).alias("number"), F.lit(0).alias("place")), BEFORE, ints="topics")


def _rows(table: DataFrame, kind: int, ints: str) -> DataFrame:
    return table.select(
        "shard",
        F.lit(kind).cast("tinyint").alias("kind"),
        F.col("number").cast("bigint"),
        "place",
        F.col(ints).alias("ints"),
        F.lit(None).cast("array<float>").alias("floats"),
    )


def _joined(symbols: DataFrame, model: DataFrame, links: DataFrame | None) -> DataFrame:
    """The rows of the tables of the model and of links that shards need, a copy for each shard.

    A shard requests a symbol once, and a symbol is joined once for all shards. Long rows, such as those of frequent
    words, are in segments, which different tasks join and copy.
    """
    pairs = symbols.select("shard", "kind", F.explode(F.col("symbols").cast("array<bigint>")).alias("symbol"))
    needed = pairs.groupBy("kind", "symbol").agg(F.collect_list("shard").alias("shards"))
    if links is not None:
        needed = needed.unionByName(_meant(needed, model))
        model = model.unionByName(links, allowMissingColumns=True)
    long = model.where("segment > 0").groupBy("kind", "symbol").agg(F.max("segment").alias("last"))
    needed = needed.join(F.broadcast(long), ["kind", "symbol"], "left")
    needed = needed.select("kind", "symbol", "shards", F.explode(F.sequence(F.lit(0), _or_0("last"))).alias("segment"))
    joined = needed.join(model.hint("merge"), ["kind", "symbol", "segment"], "left")
    there = (F.col("kind") != LINKS) | F.col("topics").isNotNull()
    return joined.where(there).select(
        F.explode("shards").alias("shard"),
        "kind",
        F.col("symbol").alias("number"),
        F.col("segment").alias("place"),
        F.col("topics").alias("ints"),
        F.col("values").alias("floats"),
    )


def _meant(needed: DataFrame, model: DataFrame) -> DataFrame:
    """The topics that mentions may mean, the links to which their shards need, too."""
    ours = F.col("kind") == MENTIONS
    rows = needed.where(ours).join(model.where(ours).select("symbol", "topics").hint("merge"), "symbol")
    topics = rows.select("shards", F.explode(F.col("topics").cast("array<bigint>")).alias("symbol"))
    shards = F.array_distinct(F.flatten(F.collect_list("shards"))).alias("shards")
    return topics.groupBy(F.lit(LINKS).cast("tinyint").alias("kind"), "symbol").agg(shards)


def _or_0(column: str) -> Column:
    return F.coalesce(F.col(column), F.lit(0))
