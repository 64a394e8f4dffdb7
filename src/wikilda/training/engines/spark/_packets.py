"""The joins of Figure 3: documents re-keyed by symbol, joined with the model and the links, and regrouped by shard."""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from wikilda.training.engines.spark.rows import BEFORE, DOCUMENT_MENTIONS, DOCUMENT_WORDS, LINKS, MENTIONS


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

    A symbol is asked for once a shard, however many documents have it, and joined once, however many shards do. Its
    row may be long, if it is a word that every article has: it is then in segments, which are joined and copied by
    different tasks.
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
