"""The joins of Figure 3: documents re-keyed by symbol, joined with the model's table, and regrouped by shard."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from wikilda.training.engines.spark.rows import BEFORE, DOCUMENT_MENTIONS, DOCUMENT_WORDS


def form_shards(
    documents: DataFrame, symbols: DataFrame, model: DataFrame, before: DataFrame, shards: list[int]
) -> DataFrame:
    """Everything that the sampler needs, one shard a partition, sorted: `before`, documents, parameters."""
    listed = ", ".join(map(str, shards))
    some, needed = (table.where(f"shard in ({listed})") for table in (documents, symbols))
    rows = _documents(some).unionByName(_before(before)).unionByName(_parameters(needed, model))
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


def _parameters(symbols: DataFrame, model: DataFrame) -> DataFrame:
    """The rows of the model's table that shards need, a copy for each shard.

    A symbol is asked for once a shard, however many documents have it, and joined once, however many shards do. Its
    row may be long, if it is a word that every article has: it is then in segments, which are joined and copied by
    different tasks.
    """
    pairs = symbols.select("shard", "kind", F.explode(F.col("symbols").cast("array<bigint>")).alias("symbol"))
    needed = pairs.groupBy("kind", "symbol").agg(F.collect_list("shard").alias("shards"))
    long = model.where("segment > 0").groupBy("kind", "symbol").agg(F.max("segment").alias("last"))
    needed = needed.join(F.broadcast(long), ["kind", "symbol"], "left")
    needed = needed.select("kind", "symbol", "shards", F.explode(F.sequence(F.lit(0), _or_0("last"))).alias("segment"))
    joined = needed.join(model.hint("merge"), ["kind", "symbol", "segment"], "left")
    return joined.select(
        F.explode("shards").alias("shard"),
        "kind",
        F.col("symbol").alias("number"),
        F.col("segment").alias("place"),
        F.col("topics").alias("ints"),
        F.col("values").alias("floats"),
    )


def _or_0(column: str) -> Column:
    return F.coalesce(F.col(column), F.lit(0))
