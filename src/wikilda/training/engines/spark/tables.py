"""Parquet tables on whatever file system Spark knows, written and read by the driver a piece at a time."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from wikilda.model import Model, Parameters
from wikilda.model.writer import chunks
from wikilda.training.corpus import Corpus
from wikilda.training.engines.spark.rows import DOCUMENTS, MENTIONS, MODEL, WORDS, list_array, model_batch
from wikilda.training.sampled import of_shard

_DONE = "_SUCCESS"  # as Spark itself marks what is whole
_SIGN = np.uint64(1 << 63)
_FILE_PARAMETERS = 1 << 23
_FILE_SHARDS = 16


class Tables:
    """Tables below a directory that every node sees; `scratch` is a place on the driver's disk."""

    def __init__(self, spark: SparkSession, root: str, scratch: Path) -> None:
        self.spark, self.root, self.scratch = spark, root, scratch
        self._jvm: Any = spark._jvm
        scratch.mkdir(parents=True, exist_ok=True)

    def uri(self, name: str) -> str:
        """Where a table is."""
        return f"{self.root}/{name}"

    def read(self, name: str, schema: str) -> DataFrame:
        """A table."""
        return self.spark.read.schema(schema).parquet(self.uri(name))

    def is_whole(self, name: str) -> bool:
        """Whether a table is there, and all of it."""
        path = self._path(f"{name}/{_DONE}")
        return bool(self._system(path).exists(path))

    def remove(self, name: str) -> None:
        """Remove a table, if it is there."""
        path = self._path(name)
        self._system(path).delete(path, True)

    def rename(self, name: str, to: str) -> None:
        """Give a table its name."""
        self.remove(to)
        path = self._path(name)
        self._system(path).rename(path, self._path(to))

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

    def batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """A table's rows in the order of its files, each of which is brought to the driver's disk in turn."""
        path = self._path(name)
        system = self._system(path)
        files = sorted(str(each.getPath().getName()) for each in system.listStatus(path))
        for file in files:
            if not file.startswith("part-"):
                continue
            local = self.scratch / "fetched.parquet"
            source = self._path(f"{name}/{file}")
            system.copyToLocalFile(False, source, self._hadoop_path(local.as_uri()), True)
            with pq.ParquetFile(local) as opened:
                yield from opened.iter_batches(batch_size=4096)
            local.unlink()

    def _put(self, local: Path, name: str) -> None:
        path = self._path(name)
        self._system(path).copyFromLocalFile(True, True, self._hadoop_path(local.resolve().as_uri()), path)

    def _path(self, name: str) -> Any:
        return self._hadoop_path(self.uri(name))

    def _hadoop_path(self, uri: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(uri)

    def _system(self, path: Any) -> Any:
        context: Any = self.spark.sparkContext
        return path.getFileSystem(context._jsc.hadoopConfiguration())


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


def documents_table(tables: Tables, corpus: Corpus, shards: int, held_out: float) -> DataFrame:
    """The documents to train on by shard; written if they are not there yet."""
    name = f"documents-{corpus.identity}-{shards}-{held_out}"
    if not tables.is_whole(name):
        tables.write(name, _document_files(corpus, shards, held_out))
    return tables.read(name, DOCUMENTS)


def _document_files(corpus: Corpus, shards: int, held_out: float) -> Iterator[Iterator[pa.RecordBatch]]:
    for first in range(0, shards, _FILE_SHARDS):
        numbers = range(first, min(first + _FILE_SHARDS, shards))
        yield (_document_part(corpus, number, shards, held_out) for number in numbers)


def _document_part(corpus: Corpus, number: int, shards: int, held_out: float) -> pa.RecordBatch:
    documents = of_shard(corpus, number, shards, held_out)
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
