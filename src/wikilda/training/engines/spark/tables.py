"""Parquet tables on whatever file system Spark knows, written and read by the driver a piece at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from wikilda._core.spark import entries, file_system, hadoop_path, running, worded
from wikilda.knowledge import Knowledge
from wikilda.knowledge.graph import Graph
from wikilda.model import Model, Parameters
from wikilda.model.writer import chunks
from wikilda.training.corpus import Corpus, Documents
from wikilda.training.engines.spark.rows import (
    DOCUMENTS,
    IN_LINKS,
    LINKS,
    MENTIONS,
    MODEL,
    SYMBOLS,
    WORDS,
    list_array,
    model_batch,
    segments,
)
from wikilda.training.settings import of_shard

_DONE = "_SUCCESS"  # as Spark itself marks what is whole
_SIGN = np.uint64(1 << 63)
_FILE_PARAMETERS = 1 << 23
_FILE_SHARDS = 16


class Tables:
    """Tables below a directory that every node sees; `scratch` is a place on the driver's disk."""

    def __init__(self, spark: SparkSession, root: str, scratch: Path) -> None:
        self.spark, self.root, self.scratch = spark, root, scratch
        scratch.mkdir(parents=True, exist_ok=True)

    def uri(self, name: str) -> str:
        """Where a table is."""
        return f"{self.root}/{name}"

    def read(self, name: str, schema: str) -> DataFrame:
        """A table."""
        return self.spark.read.schema(schema).parquet(self.uri(name))

    def is_whole(self, name: str) -> bool:
        """Whether a table is there, and all of it."""
        return _DONE in entries(self.spark, self.uri(name))

    def remove(self, name: str) -> None:
        """Remove a table, if it is there."""
        system, path = self._at(name)
        system.delete(path, True)

    def rename(self, name: str, to: str) -> None:
        """Give a table its name."""
        self.remove(to)
        system, path = self._at(name)
        system.rename(path, self._at(to)[1])

    def write(self, name: str, files: Iterable[Iterable[pa.RecordBatch]]) -> None:
        """Write a table, file by file."""
        self.remove(name)
        for number, batches in enumerate(files):
            local = self.scratch / f"part-{number:05d}.parquet"
            _write_file(local, batches)
            self._put(local, f"{name}/{local.name}")
        local = self.scratch / _DONE
        local.touch()
        self._put(local, f"{name}/{_DONE}")

    def copied(self, name: str, target: Path) -> list[Path]:
        """A table's files, brought to the driver's disk."""
        target.mkdir(parents=True, exist_ok=True)
        made = []
        for file in sorted(each for each in entries(self.spark, self.uri(name)) if each.startswith("part-")):
            system, source = self._at(f"{name}/{file}")
            system.copyToLocalFile(False, source, hadoop_path(self.spark, (target / file).resolve().as_uri()), True)
            made.append(target / file)
        return made

    def batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """A table's rows in the order of its files, each of which is brought to the driver's disk in turn."""
        for file in sorted(each for each in entries(self.spark, self.uri(name)) if each.startswith("part-")):
            local = self.scratch / "fetched.parquet"
            system, source = self._at(f"{name}/{file}")
            system.copyToLocalFile(False, source, hadoop_path(self.spark, local.as_uri()), True)
            with pq.ParquetFile(local) as opened:
                yield from opened.iter_batches(batch_size=4096)
            local.unlink()

    def _put(self, local: Path, name: str) -> None:
        system, path = self._at(name)
        system.copyFromLocalFile(True, True, hadoop_path(self.spark, local.resolve().as_uri()), path)

    def _at(self, name: str) -> tuple[Any, Any]:
        return file_system(self.spark, self.uri(name))


def _write_file(path: Path, batches: Iterable[pa.RecordBatch]) -> None:
    writer = None
    for batch in batches:
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_batch(batch)
    if writer:
        writer.close()


def model_table(tables: Tables, model: Model) -> DataFrame:
    """λ̂ as a table of lists by symbol; written if it is not there yet."""
    name = f"model-{model.identity}"
    if not tables.is_whole(name):
        tables.write(name, _model_files(model))
    return tables.read(name, MODEL)


def _model_files(model: Model) -> Iterator[list[pa.RecordBatch]]:
    for kind, table in ((WORDS, model.words), (MENTIONS, model.mentions)):
        for first, last in chunks(table.offsets, _FILE_PARAMETERS):
            yield [_model_part(kind, table, first, last)]


def _model_part(kind: int, table: Parameters, first: int, last: int) -> pa.RecordBatch:
    span = slice(int(table.offsets[first]), int(table.offsets[last]))
    lengths = np.diff(table.offsets[first : last + 1])
    topics, values = np.asarray(table.topics[span]), np.asarray(table.values[span])
    return model_batch(kind, np.arange(first, last), lengths, topics, values)


def links_table(tables: Tables, knowledge: Knowledge) -> DataFrame:
    """Who links to a topic, as a table of lists by topic; written if it is not there yet."""
    name = f"links-{knowledge.identity}"
    if not tables.is_whole(name):
        tables.write(name, _link_files(knowledge.graph))
    return tables.read(name, IN_LINKS)


def _link_files(graph: Graph) -> Iterator[list[pa.RecordBatch]]:
    for first, last in chunks(graph.in_offsets, _FILE_PARAMETERS):
        bounds = np.asarray(graph.in_offsets[first : last + 1])
        rows, numbers, offsets = segments(np.diff(bounds))
        columns = [
            pa.array(np.full(len(rows), LINKS, np.int8)),
            pa.array(first + rows),
            pa.array(numbers),
            list_array(offsets, np.asarray(graph.in_topics[bounds[0] : bounds[-1]]), np.int32),
        ]
        yield [pa.record_batch(columns, names=["kind", "symbol", "segment", "topics"])]


def documents_table(tables: Tables, corpus: Corpus, shards: int, held_out: float) -> DataFrame:
    """The documents to train on by shard; written if they are not there yet."""
    name = f"documents-{corpus.identity}-{shards}-{held_out}"
    if not tables.is_whole(name):
        tables.write(name, _files(corpus, shards, held_out, _document_part))
    return tables.read(name, DOCUMENTS)


def _files(
    corpus: Corpus, shards: int, held_out: float, part: Callable[[Documents, int], pa.RecordBatch]
) -> Iterator[Iterator[pa.RecordBatch]]:
    for first in range(0, shards, _FILE_SHARDS):
        numbers = range(first, min(first + _FILE_SHARDS, shards))
        yield (part(of_shard(corpus, number, shards, held_out), number) for number in numbers)


def symbols_table(tables: Tables, corpus: Corpus, shards: int, held_out: float) -> DataFrame:
    """The distinct words and mentions of each shard; written if they are not there yet."""
    name = f"symbols-{corpus.identity}-{shards}-{held_out}"
    if not tables.is_whole(name):
        tables.write(name, _files(corpus, shards, held_out, _symbols_part))
    return tables.read(name, SYMBOLS)


def _symbols_part(documents: Documents, number: int) -> pa.RecordBatch:
    found = [np.unique(symbols) for symbols in (documents.words, documents.mentions)]
    offsets = np.cumsum([0, *map(len, found)])
    return pa.record_batch(
        [
            pa.array(np.full(2, number, np.int32)),
            pa.array([WORDS, MENTIONS], pa.int8()),
            list_array(offsets, np.concatenate(found), np.int32),
        ],
        names=["shard", "kind", "symbols"],
    )


def _document_part(documents: Documents, number: int) -> pa.RecordBatch:
    count = len(documents.keys)
    return pa.record_batch(
        [
            pa.array(np.full(count, number, np.int32)),
            pa.array(signed(documents.keys)),
            pa.array(np.arange(count, dtype=np.int32)),
            list_array(documents.word_offsets, documents.words, np.int32),
            list_array(documents.mention_offsets, documents.mentions, np.int32),
        ],
        names=["shard", "number", "place", "words", "mentions"],
    )


def signed(keys: Any) -> Any:
    """Keys as signed numbers in the same order, which is all that Parquet readers of Spark have."""
    return (keys ^ _SIGN).view(np.int64)


def unsigned(numbers: Any) -> Any:
    """The keys back."""
    return numbers.view(np.uint64) ^ _SIGN


_TOGETHER = 4  # tasks of a job by core


class SparkWorkers:
    """Runs tasks as `wikilda._core.workers.Workers` does."""

    def __init__(self, master: str | None = None, conf: Mapping[str, str] | None = None) -> None:
        self._running = running(master, conf or {})

    def __enter__(self) -> "SparkWorkers":
        self._spark = self._running.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None) -> None:
        self._running.__exit__(kind, e, t)

    def run(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Results in the order of tasks; a task may be run again where the first one to run it was lost."""
        context, left = self._spark.sparkContext, iter(tasks)
        while some := list(islice(left, _TOGETHER * context.defaultParallelism)):
            with worded():
                found = context.parallelize(some, len(some)).map(partial(_call, function)).collect()
            yield from found


def _call(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    return function(*task)
