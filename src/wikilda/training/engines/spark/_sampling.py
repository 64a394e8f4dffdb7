"""Sampling of joined shards in workers, as in other engines."""

import json
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.arrays import Run
from wikilda.joins.broadcast import Spread
from wikilda.knowledge.graph import Graph
from wikilda.lda.similarity import likeness, no_likeness
from wikilda.lda.svi import Table
from wikilda.model import model as kinds
from wikilda.training.corpus import Documents
from wikilda.training.engines.spark.rows import (
    BEFORE,
    DOCUMENT_MENTIONS,
    DOCUMENT_WORDS,
    KINDS,
    LINKS,
    MENTIONS,
    WORDS,
    Lists,
    list_array,
    lists,
)
from wikilda.training.engines.spark.tables import unsigned
from wikilda.training.shard import Alike, Globals, Shard, Task, sample_shard

_ROWS = 2000  # of a batch of counts
_NAMES = ["shard", "kind", "symbol", "topics", "sweeps", "report"]


def sample_partition(
    batches: Iterator[pa.RecordBatch], task: Task, shared: Spread[Globals]
) -> Iterator[pa.RecordBatch]:
    """Sample the shard of a partition; yield its counts and a row of notes."""
    started = time.process_time()
    by_kind = _by_kind(batches)
    number = by_kind[BEFORE][0].column("shard")[0].as_py()
    shard, previous = _shard(by_kind), _before(by_kind[BEFORE])
    everywhere = shared.value()
    alike = _alike(by_kind[LINKS], len(everywhere.word_sums)) if task.settings.coherence else no_likeness
    del by_kind
    joining = time.process_time() - started
    found = sample_shard(shard, everywhere, task, alike, previous)
    found.report["joining seconds"] = joining
    yield from count_rows(number, WORDS, found.runs[kinds.WORDS])
    yield from count_rows(number, MENTIONS, found.runs[kinds.MENTIONS])
    yield notes_row(number, found.notes, json.dumps(found.report))


def _alike(batches: list[pa.RecordBatch], topics: int) -> Alike:
    """Similarities by the links that were joined; to topics that mentions gain in their shard, none were."""
    joined = _lists(batches)
    lengths = np.bincount(_numbers(batches), joined.lengths, topics).astype(np.int64)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    graph = Graph(np.empty(0, np.int64), np.empty(0, np.uint32), offsets, joined.values)
    return partial(likeness, graph)


def _by_kind(batches: Iterator[pa.RecordBatch]) -> list[list[pa.RecordBatch]]:
    """Rows come sorted by kind."""
    found: list[list[pa.RecordBatch]] = [[] for _ in KINDS]
    for batch in batches:
        bounds = np.searchsorted(batch.column("kind").to_numpy(), np.arange(len(KINDS) + 1))
        for kind in KINDS:
            if bounds[kind] < bounds[kind + 1]:
                found[kind].append(batch.slice(bounds[kind], bounds[kind + 1] - bounds[kind]))
    return found


def _before(batches: list[pa.RecordBatch]) -> NDArray[np.uint32] | None:
    column = batches[0].column("ints")
    return None if column.null_count else lists([column], np.uint32).values


def _shard(by_kind: list[list[pa.RecordBatch]]) -> Shard:
    words, mentions = (_lists(by_kind[kind]) for kind in (DOCUMENT_WORDS, DOCUMENT_MENTIONS))
    keys = unsigned(_numbers(by_kind[DOCUMENT_WORDS]))
    none = np.empty(0, np.uint64)
    documents = Documents(
        keys=keys,
        word_offsets=words.offsets,
        words=words.values,
        mention_offsets=mentions.offsets,
        mentions=mentions.values,
        digests=none,
        positions=np.empty(0, np.uint32),
        contexts=none,
    )  # the lda needs no contexts
    return Shard(documents, _table(by_kind[WORDS]), _table(by_kind[MENTIONS]))


def _table(batches: list[pa.RecordBatch]) -> Table:
    """The parameters of symbols, whose segments come in their order."""
    topics, pieces = _lists(batches), _numbers(batches)
    symbols, first = np.unique(pieces, return_index=True)
    offsets = np.append(topics.offsets[first], topics.offsets[-1])
    values = lists((batch.column("floats") for batch in batches), np.float32).values
    return Table(symbols, offsets, topics.values, values)


def _lists(batches: list[pa.RecordBatch]) -> Lists:
    return lists((batch.column("ints") for batch in batches), np.uint32)


def _numbers(batches: list[pa.RecordBatch]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, np.int64), *(batch.column("number").to_numpy() for batch in batches)])


def count_rows(shard: int, kind: int, run: Run) -> Iterator[pa.RecordBatch]:
    """Counts as rows."""
    for start in range(0, len(run.symbols), _ROWS):
        symbols = run.symbols[start : start + _ROWS]
        offsets = run.offsets[start : start + len(symbols) + 1]
        span = slice(offsets[0], offsets[-1])
        yield pa.record_batch(
            [
                pa.array(np.full(len(symbols), shard, np.int32)),
                pa.array(np.full(len(symbols), kind, np.int8)),
                pa.array(symbols),
                list_array(offsets - offsets[0], run.topics[span], np.int32),
                list_array(offsets - offsets[0], run.sweeps[span], np.int64),
                pa.nulls(len(symbols), pa.string()),
            ],
            names=_NAMES,
        )


def notes_row(shard: int, notes: NDArray[np.uint32], report: str) -> pa.RecordBatch:
    """The notes of a shard as a row."""
    columns = [
        pa.array([shard], pa.int32()),
        pa.array([BEFORE], pa.int8()),
        pa.array([0], pa.int64()),
        list_array(np.array([0, len(notes)]), notes, np.int32),
        pa.nulls(1, pa.list_(pa.int64())),
        pa.array([report]),
    ]
    return pa.record_batch(columns, names=_NAMES)
