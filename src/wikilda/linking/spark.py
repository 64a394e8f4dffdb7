"""Linking on Spark: Parquet in, Parquet out, with the answers of `link_files`.

For the urn, documents and the rows that they need are joined, so that no worker has the model (docs/method/joins.md).
For the paper's method, every node maps the model's files, which must exist under the same path.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from wikilda import __version__
from wikilda._core.errors import InputError, SettingsError, WikildaError
from wikilda._core.spark import check_cluster, entries, file_system, running, worded
from wikilda.documents.reading import Bad
from wikilda.documents.reading.rows import from_row
from wikilda.documents.reading.tables import check_columns
from wikilda.documents.writing.parquet import schema_of, storable
from wikilda.joins import blocks
from wikilda.joins.blocks import Buckets, Value
from wikilda.joins.broadcast import spread
from wikilda.joins.dictionary import DictionaryRows
from wikilda.joins.packets import FEW_ROWS, ModelRows, by_shard, candidate_requests, served
from wikilda.joins.tables import Tables
from wikilda.knowledge.context_counts import topic_types
from wikilda.linking._packets import Everywhere
from wikilda.linking._requests import (
    PLACE,
    Linking,
    ask_for_names,
    ask_for_titled,
    ask_for_tokens,
    document_value,
    link_partition,
)
from wikilda.linking.files import Job
from wikilda.linking.linker import Linker
from wikilda.linking.restriction import Allowed
from wikilda.linking.unknown import Unknown, UnknownNames
from wikilda.urn.method import UrnMethod
from wikilda.urn.packet import Keyed

_CONF = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64"}  # documents that a worker holds
_FILE, _ROW, _NUMBER = "name of the file", "row of the file", "number of the document"
_SHARD_DOCUMENTS = 500
_SHARDS, _ROUND = 4, 16  # least shards per core, so that none waits long; shards of a round per core
_BLOCK_ENTRIES = 1 << 20
_RANGES = 16
_MODEL = "link"


def schema_for(job: Job) -> pa.Schema:
    """Return the columns of results: those of `wikilda link`, and the error of a document."""
    extra = {"text": job.with_text, "mentions": job.with_mentions}
    names = ["id", *(name for name, wanted in extra.items() if wanted), "topics", "knowledge"]
    return schema_of(names).append(pa.field("error", pa.string()))


def answers_schema(job: Job) -> pa.Schema:
    """Return the columns that workers give: those of results, and the unknown names of a document."""
    return schema_for(job).append(pa.field("unknown", pa.list_(pa.string())))


def allowed_rows(allowed: Allowed, bucket: int, buckets: Buckets) -> Iterator[Value]:
    """Yield which topics of a bucket a restriction leaves."""
    width, count = buckets.width(blocks.TOPICS), len(allowed.topics)
    topics = np.arange(min(bucket * width, count), min((bucket + 1) * width, count))
    flags = np.empty(len(topics), blocks.ENTRY[blocks.ALLOWED])
    flags["topic"], flags["possible"] = allowed.topics[topics], allowed.possible[topics]
    yield from blocks.blocks_of(
        blocks.ALLOWED, Keyed(topics, np.arange(len(topics) + 1), flags), buckets, blocks.TOPICS
    )


def link_files(
    sources: Sequence[str], target: str, job: Job, *, master: str | None = None,
    conf: Mapping[str, str] | None = None, overwrite: bool = False, tables: str | None = None,
    unknown: Path | None = None,
) -> tuple[int, int]:  # fmt: skip
    """Link the documents of Parquet files, and write one row each. Return the numbers of linked and bad documents.

    Parameters
    ----------
    tables
        Where the tables of the model are kept for other runs; by default they are removed with other intermediate ones.
    unknown
        A file to write with the names that the knowledge lacks, clustered over all documents, as JSON lines.
    """
    linker = job.open()
    job.restriction.check(linker.knowledge)  # errors come before Spark starts
    by_joins = isinstance(linker.method, UrnMethod)
    _check_options(job, by_joins=by_joins, unknown=unknown)
    settings = _CONF | (FEW_ROWS if by_joins else {}) | dict(conf or {})
    with running(master, settings) as spark, worded("Run the same command again."):
        check_cluster(spark, [*sources, target, *([tables] if tables else [])])
        if not overwrite and any(not name.startswith("_temporary") for name in entries(spark, target)):
            raise InputError(f"{target}: exists already. Use --overwrite to replace it.")
        documents = _read(spark, sources, job)
        if by_joins:
            _Joins(spark, linker, job, target, tables).link(documents, unknown)
        else:
            link_documents(documents, job).write.mode("overwrite").parquet(target)
        [counts] = spark.read.parquet(target).select(F.count("*"), F.count("error")).collect()
        return counts[0], counts[1]


def _check_options(job: Job, *, by_joins: bool, unknown: Path | None) -> None:
    """Refuse what joins do not do, before Spark starts."""
    if unknown and not by_joins:
        raise SettingsError("--unknown with --engine spark is for the method urn. Use --engine local.")
    if by_joins and job.topics:
        raise SettingsError(
            "topics of documents are for --engine local with the method urn: their neighbours are not joined. "
            "Add --topics 0."
        )
    if by_joins and job.detector != "dictionary":
        raise SettingsError(f"--detector {job.detector} is for --engine local. Use the dictionary.")


def _read(spark: SparkSession, sources: Sequence[str], job: Job) -> DataFrame:
    found = spark.read.parquet(*sources)
    try:
        check_columns(found.columns, job.reading)
    except InputError as error:
        raise InputError(f"{', '.join(sources)}: {error}") from None
    if found.isEmpty():
        raise InputError("there are no documents in the input. Give Parquet files with at least one row.")
    return found.withColumn(PLACE, _place())


def _place() -> Column:
    """Return the name of a document's file and the number of its row, as in `link_files`."""
    file = F.element_at(F.split("_metadata.file_path", "/"), -1)
    return F.concat(file, F.lit(":"), (F.col("_metadata.row_index") + 1).cast("string"))


class _Joins:
    """A run for the urn, in rounds of shards. Intermediate tables are beside the result."""

    def __init__(self, spark: SparkSession, linker: Linker, job: Job, target: str, tables: str | None) -> None:
        assert isinstance(linker.method, UrnMethod)
        self.spark, self.linker, self.job, self.target = spark, linker, job, target
        self.urn, self.knowledge = linker.method.urn, linker.knowledge
        self.work, self.shared_tables = f"{target.rstrip('/')}.partial", tables
        self.cores = spark.sparkContext.defaultParallelism

    def link(self, documents: DataFrame, unknown: Path | None) -> None:
        """Link documents into the target."""
        with TemporaryDirectory(prefix="wikilda-link-") as scratch:
            own = Tables(self.spark, self.work, Path(scratch) / "own")
            own.remove("")
            kept = Tables(self.spark, self.shared_tables, Path(scratch) / "kept") if self.shared_tables else own
            model, name = self._model_table(kept), "allowed"
            if self.job.restriction:
                allowed = self.job.restriction.allowed(self.knowledge)
                own.write(name, self._by_bucket(partial(allowed_rows, allowed, buckets=self.buckets)))
                model = model.unionByName(own.read(name, blocks.BLOCK))
            shards = self._write_documents(own, documents)
            linking = Linking(self.job, self._everywhere(), self.buckets, __version__, unknown is not None)
            size = _ROUND * self.cores
            for first in range(0, shards, size):
                some = list(range(first, min(first + size, shards)))
                self.spark.sparkContext.setJobDescription(f"linking shards {some[0]} to {some[-1]} of {shards}")
                self._round(own, model, some, linking)
            if unknown:
                self._clusters(own, shards).write(unknown)
            self._finish(own, range(0, shards, size))

    def _model_table(self, tables: Tables) -> DataFrame:
        """Return the rows of the model, which are written if they are not there."""
        s, model, known = self.urn.settings, self.linker.model, self.knowledge
        about = [model.identity, known.identity, s.max_candidates, s.max_neighbours, s.backoff_candidates, __version__]
        name = f"{_MODEL}-{hashlib.blake2b(json.dumps(about).encode(), digest_size=8).hexdigest()}"
        if not tables.is_whole(name):
            types = model.contexts.types if model.contexts else topic_types(known.titles, known.sentences)
            rows = ModelRows(self.urn, types, self.buckets)
            words = DictionaryRows(model, known, self.buckets)

            def values(bucket: int) -> Iterator[Value]:
                yield from rows.static(bucket)
                yield from (each for each in rows.learned(bucket) if each.kind != blocks.LAMBDA)
                yield from words.values(bucket)

            tables.write(name, self._by_bucket(values))
        return tables.read(name, blocks.BLOCK)

    @cached_property
    def buckets(self) -> Buckets:
        """The buckets of keys, which depend on the model only."""
        model, known = self.linker.model, self.knowledge
        found = len(model.words.topics) + len(model.base.topics) + 2 * len(known.graph.out_topics)
        sizes = (model.base.symbols, model.words.symbols, model.topics)
        return Buckets(max(_RANGES, found // _BLOCK_ENTRIES), (*sizes, *[blocks.HALVES] * 5))

    def _by_bucket(self, values: Callable[[int], Iterator[Value]]) -> Iterator[Iterator[pa.RecordBatch]]:
        for bucket in range(self.buckets.ranges):
            yield blocks.batches_of(values(bucket))

    def _everywhere(self) -> Any:
        value = Everywhere.of(self.urn, self.knowledge, self.job.detection)
        return spread(self.spark.sparkContext, "linking", hashlib.blake2b(repr(value).encode()).hexdigest()[:16], value)

    def _write_documents(self, own: Tables, documents: DataFrame) -> int:
        """Number documents in their order, and write them by shards. Return the number of shards."""
        wanted = (self.job.reading.text_column, self.job.reading.id_column or "id", "mentions", PLACE)
        some = [F.col(f"`{name}`") for name in dict.fromkeys(wanted) if name in documents.columns]
        placed = documents.select(
            *some, F.col("_metadata.file_path").alias(_FILE), F.col("_metadata.row_index").alias(_ROW)
        )
        files = sorted((row[_FILE], row["count"]) for row in placed.groupBy(_FILE).count().collect())
        total = int(sum(count for _, count in files))
        starts = np.cumsum([0, *(count for _, count in files[:-1])]).tolist()
        first = self.spark.createDataFrame([(file, start) for (file, _), start in zip(files, starts, strict=True)],
                                           f"`{_FILE}` string, `{_NUMBER}` bigint")  # fmt: skip
        size = max(1, min(_SHARD_DOCUMENTS, -(-total // (_SHARDS * self.cores))))
        numbered = placed.join(F.broadcast(first), _FILE).withColumn(_NUMBER, F.col(_NUMBER) + F.col(_ROW))
        values = partial(_document_values, job=self.job, size=size)
        numbered.drop(_FILE, _ROW).mapInArrow(values, blocks.BLOCK).write.mode("overwrite").parquet(
            own.uri("documents")
        )
        return int(-(-total // size))

    def _round(self, own: Tables, model: DataFrame, shards: list[int], linking: Linking) -> None:
        """Link some shards."""
        tasks = max(2 * self.cores, self.buckets.ranges // 4)
        documents = own.read("documents", blocks.BLOCK).where(f"shard >= {shards[0]} and shard <= {shards[-1]}")
        kept: list[DataFrame] = []

        def keep(rows: DataFrame) -> DataFrame:
            """Rows that several steps need."""
            kept.append(rows.persist(StorageLevel.DISK_ONLY))
            return kept[-1]

        def rows_of(*sides: int) -> DataFrame:
            return model.where(F.col("side").isin(*sides))

        def asked_of(rows: DataFrame, *sides: int) -> DataFrame:
            """Requests, which are few, in as few tasks: a stage has no tasks that do next to nothing."""
            wanted = rows.where(f"kind = {blocks.REQUEST}").where(F.col("side").isin(*sides))
            return wanted.coalesce(self.cores)

        asked = documents.mapInArrow(partial(ask_for_tokens, linking=linking), blocks.BLOCK)
        tokens = keep(served(rows_of(blocks.PREFIXES, blocks.SPELLINGS), asked, self.buckets, tasks))
        asked = keep(
            by_shard([documents, tokens], shards).mapInArrow(partial(ask_for_names, linking=linking), blocks.BLOCK)
        )
        of_names = blocks.NAMES, blocks.VARIANTS
        names = keep(served(rows_of(*of_names), asked_of(asked, *of_names), self.buckets, tasks))
        strings = by_shard([asked.where(f"kind = {blocks.STRING_LIST}"), names], shards)
        more = keep(strings.mapInArrow(partial(ask_for_titled, linking=linking), blocks.BLOCK))
        requests = asked_of(asked, *range(blocks.NAMES)).unionByName(asked_of(more, blocks.STRINGS, blocks.TOPICS))
        most = self.urn.settings.max_candidates
        meant = candidate_requests(rows_of(blocks.STRINGS), requests, self.buckets, most, tasks)
        topics = served(rows_of(blocks.TOPICS), meant.unionByName(asked_of(more, blocks.TOPICS)), self.buckets, tasks)
        others = requests.where(F.col("side") != blocks.TOPICS)
        rest = served(rows_of(blocks.STRINGS, blocks.WORDS, blocks.CONTEXTS), others, self.buckets, tasks)
        schema = answers_schema(self.job)
        link = partial(link_partition, linking=linking, schema=schema)
        linked = by_shard([documents, tokens, names, topics, rest], shards).mapInArrow(link, from_arrow_schema(schema))
        if linking.clusters:
            keep(linked).select("unknown").write.mode("overwrite").parquet(own.uri(_unknown_name(shards[0])))
        linked.drop("unknown").write.mode("overwrite").parquet(own.uri(_round_name(shards[0])))
        for each in kept:
            each.unpersist()

    def _clusters(self, own: Tables, shards: int) -> UnknownNames:
        """Cluster the unknown names of all documents, in their order."""
        names = UnknownNames()
        for first in range(0, shards, _ROUND * self.cores):
            found = self.spark.read.parquet(own.uri(_unknown_name(first)))
            for row in found.orderBy("_metadata.file_path", "_metadata.row_index").toLocalIterator():
                for each in row.unknown or ():
                    names.add_one(Unknown.from_json(json.loads(each)))
        return names

    def _finish(self, own: Tables, rounds: range) -> None:
        """Move the results of all rounds to the target, in the order of the documents."""
        system, target = file_system(self.spark, self.target)
        system.delete(target, True)
        system.mkdirs(target)
        jvm: Any = self.spark._jvm
        for first in rounds:
            name = _round_name(first)
            files = sorted(each for each in entries(self.spark, own.uri(name)) if each.startswith("part-"))
            for number, file in enumerate(files):
                source = jvm.org.apache.hadoop.fs.Path(own.uri(f"{name}/{file}"))
                to = jvm.org.apache.hadoop.fs.Path(f"{self.target}/part-{first:08d}-{number:05d}.parquet")
                if not system.rename(source, to):
                    raise WikildaError(f"{to}: could not be written. Check the file system, and run the command again.")
        own.remove("")


def _round_name(first: int) -> str:
    return f"linked-{first:08d}"


def _unknown_name(first: int) -> str:
    return f"unknown-{first:08d}"


def _document_values(batches: Iterator[pa.RecordBatch], job: Job, size: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        numbers = batch.column(_NUMBER).to_pylist()
        rows = batch.drop_columns([_NUMBER]).to_pylist()
        yield from blocks.batches_of(
            document_value(row, at // size, at % size, job) for row, at in zip(rows, numbers, strict=True)
        )


def link_documents(documents: DataFrame, job: Job) -> DataFrame:
    """Link a table of documents with the columns that `job.reading` names, and optionally `mentions`."""
    wanted = (job.reading.text_column, job.reading.id_column or "id", "mentions", PLACE)
    some = documents.select(*(F.col(f"`{name}`") for name in dict.fromkeys(wanted) if name in documents.columns))
    return some.mapInArrow(partial(link_batches, job=job), from_arrow_schema(schema_for(job)))


def link_batches(batches: Iterator[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """Link batches in a worker."""
    linker, schema = _linker(job), schema_for(job)
    for batch in batches:
        yield pa.RecordBatch.from_pylist([storable(_answer(linker, row, job)) for row in batch.to_pylist()], schema)


@lru_cache(maxsize=1)
def _linker(job: Job) -> Linker:
    return job.open()


def _answer(linker: Linker, row: dict[str, Any], job: Job) -> dict[str, Any]:
    given, place = row.get(job.reading.id_column or "id"), row.get(PLACE) or ""
    name = place if given is None else str(given)
    try:
        linked = job.link(linker, from_row(row, place, job.reading))
    except InputError as error:
        return {"id": name, "error": str(error)}
    return {"id": name, "error": linked.why} if isinstance(linked, Bad) else job.row(linked)
