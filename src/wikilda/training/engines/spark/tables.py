"""Tables of the paper's sampler, and of corpora that are made on Spark."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from wikilda._core.spark import running, worded
from wikilda.joins.tables import Tables
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

_SIGN = np.uint64(1 << 63)
_FILE_PARAMETERS = 1 << 23
_FILE_SHARDS = 16


def model_table(tables: Tables, model: Model) -> DataFrame:
    """Return λ̂ as a table of lists by symbol, written if it does not exist."""
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
    """Return in-links as a table of lists by topic, written if it does not exist."""
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
    """Return the documents to train on by shard, written if they do not exist."""
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
    """Return the distinct words and mentions of each shard, written if they do not exist."""
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
    """Return keys as signed numbers in the same order, because Spark has no unsigned ones."""
    return (keys ^ _SIGN).view(np.int64)


def unsigned(numbers: Any) -> Any:
    """Return the unsigned keys."""
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
