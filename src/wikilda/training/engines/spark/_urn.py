"""Shards of the urn on a cluster. Documents are rows; what was learned is broadcast; counts are added up by Spark.

Nodes map the files of the knowledge and of the model that training began with, as they do to link: they must be there
under the same paths.
"""

import json
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from wikilda._core.npy import GrowingArray
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.model import model as kinds
from wikilda.model.model import Learned
from wikilda.training.corpus import Documents
from wikilda.training.engines.base import Job
from wikilda.training.engines.spark._sampling import Spread, count_rows, notes_row
from wikilda.training.engines.spark.rows import BASE, CONTEXTS, EXPECTED, MENTIONS, NIL, PAIRS, lists
from wikilda.training.engines.spark.tables import Tables
from wikilda.training.interpolate import Run, open_run
from wikilda.training.methods import learner_of
from wikilda.training.settings import UrnTraining, of_shard
from wikilda.training.shard import Task
from wikilda.training.urn_shard import sample_urn_shard
from wikilda.urn import Urn

_TYPES = (np.uint64, np.int64, np.uint32, np.int64, np.uint32, np.uint64, np.uint32, np.uint64, np.bool_)
DOCUMENTS = "shard int, " + ", ".join(f"{name} binary" for name in Documents._fields)
_NUMBERS = {
    MENTIONS: kinds.MENTIONS, CONTEXTS: kinds.CONTEXTS, BASE: kinds.BASE, PAIRS: kinds.PAIRS, NIL: kinds.NIL,
    EXPECTED: kinds.EXPECTED,
}  # fmt: skip


class Nodes(NamedTuple):
    """What a worker needs besides rows: paths that all nodes have, and what was broadcast."""

    first: Path
    knowledge: Path
    iteration: int
    learned: Spread[Learned]


def urn_documents(tables: Tables, job: Job) -> DataFrame:
    """The documents to learn from, a row a shard; written if they are not there yet."""
    held_out, shards = job.task.settings.held_out, job.checkpoint.count
    name = f"texts-{job.corpus.identity}-{job.first.identity}-{shards}-{held_out}"
    if not tables.is_whole(name):
        tables.write(name, ([_row(job, number)] for number in range(shards)))
    return tables.read(name, DOCUMENTS)


def _row(job: Job, number: int) -> pa.RecordBatch:
    documents = of_shard(job.corpus, number, job.checkpoint.count, job.task.settings.held_out)
    new = documents.chosen(learner_of(job.task.settings).are_new(documents.digests, job.first))
    values = [pa.array([each.tobytes()], pa.binary()) for each in new]
    return pa.record_batch([pa.array([number], pa.int32()), *values], names=["shard", *Documents._fields])


def form_urn_shards(documents: DataFrame, before: DataFrame, shards: list[int]) -> DataFrame:
    """Shards with their notes, one a partition."""
    some = documents.where(F.col("shard").isin(shards)).join(before, "shard")
    place = F.expr(f"array_position(array({', '.join(map(str, shards))}), shard) - 1").cast("int")
    return some.repartitionById(len(shards), place)


def draw_partition(batches: Iterator[pa.RecordBatch], task: Task, nodes: Nodes) -> Iterator[pa.RecordBatch]:
    """Draw the one shard of a partition; gives its counts, and a row of notes."""
    started = time.process_time()
    for batch in batches:
        for number in range(len(batch)):
            row = batch.slice(number, 1)
            shard = row.column("shard")[0].as_py()
            given = zip(Documents._fields, _TYPES, strict=True)
            documents = Documents(*(np.frombuffer(row.column(name)[0].as_buffer(), kind) for name, kind in given))
            notes = row.column("topics")
            previous = None if notes.null_count else lists([notes], np.uint32).values
            urn = _urn(nodes, task.settings)
            joining = time.process_time() - started
            found = sample_urn_shard(documents, urn, _first(nodes.first).mentions, previous)
            found.report["joining seconds"] = joining
            for kind, name in _NUMBERS.items():
                yield from count_rows(shard, kind, found.runs[name])
            yield notes_row(shard, found.notes, json.dumps(found.report))
            started = time.process_time()


def _urn(nodes: Nodes, settings: UrnTraining) -> Urn:
    model = _first(nodes.first).with_learned(nodes.learned.value(), nodes.iteration)
    return Urn(model, _knowledge(nodes.knowledge), settings.urn())


@lru_cache(maxsize=1)
def _first(path: Path) -> Model:
    return Model.open(path)


@lru_cache(maxsize=1)
def _knowledge(path: Path) -> Knowledge:
    return Knowledge.open(path)


def collect(tables: Tables, sums: DataFrame, name: str, place: Path) -> dict[str, list[Run]]:
    """Bring sums by symbol and topic to the driver's disk, a few rows at a time."""
    sums.repartitionByRange("kind", "symbol", "segment").sortWithinPartitions("kind", "symbol", "segment").write.mode(
        "overwrite"
    ).parquet(tables.uri(name))
    place.mkdir(parents=True, exist_ok=True)
    made = {kind: _Collected(place, _NUMBERS[kind]) for kind in _NUMBERS}
    for batch in tables.batches(name):
        numbers = batch.column("kind").to_numpy()
        for kind, each in made.items():
            start, end = np.searchsorted(numbers, (kind, kind + 1))
            each.append(batch.slice(start, end - start))
    tables.remove(name)
    return {_NUMBERS[kind]: [each.finish()] for kind, each in made.items()}


class _Collected:
    """One kind of counts on its way to files."""

    def __init__(self, place: Path, kind: str) -> None:
        self.place, self.kind = place, kind
        types = (np.int64, np.int64, np.uint32, np.int64)
        names = zip(Run._fields, types, strict=True)
        self.parts = {name: GrowingArray(place / f"{kind}.{name}.npy", kind_of) for name, kind_of in names}
        self.last = -1

    def append(self, rows: pa.RecordBatch) -> None:
        """Add rows, which come in the order of symbols; a symbol may have several."""
        symbols = rows.column("symbol").to_numpy()
        topics, sweeps = lists([rows.column("topics")], np.uint32), lists([rows.column("sweeps")], np.int64)
        new = np.ones(len(symbols), np.bool_)
        new[1:] = symbols[1:] != symbols[:-1]
        new[:1] = symbols[:1] != self.last
        self.parts["symbols"].append(symbols[new])
        self.parts["offsets"].append(self.parts["topics"].length + topics.offsets[:-1][new])
        self.parts["topics"].append(topics.values)
        self.parts["sweeps"].append(sweeps.values)
        self.last = int(symbols[-1]) if len(symbols) else self.last

    def finish(self) -> Run:
        """The run, mapped into memory."""
        self.parts["offsets"].append(np.array([self.parts["topics"].length], np.int64))
        for each in self.parts.values():
            each.finish()
        return open_run(self.place, self.kind)
