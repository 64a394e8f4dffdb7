"""Iterations as jobs of Spark. Tables are on the cluster; the driver has only files, which it maps."""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from wikilda._core.atomic import write_text
from wikilda._core.errors import WikildaError
from wikilda._core.npy import GrowingArray
from wikilda._core.spark import check_cluster, open_session, worded
from wikilda.joins.broadcast import Spread, spread
from wikilda.joins.tables import Tables
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.model import model as kinds
from wikilda.model.model import LDA, URN
from wikilda.training.engines.base import STUB, Engine, Job
from wikilda.training.engines.local import LocalEngine
from wikilda.training.engines.spark._merging import next_table
from wikilda.training.engines.spark._sampling import sample_partition
from wikilda.training.engines.spark._urn_training import UrnTraining, rounds_of
from wikilda.training.engines.spark.rows import BEFORE, COUNTS, MENTIONS, WORDS, Sources, form_shards, list_array, lists
from wikilda.training.engines.spark.tables import (
    documents_table,
    links_table,
    model_table,
    symbols_table,
)
from wikilda.training.interpolate import Blend, Change, Joined, next_model
from wikilda.training.shard import Globals, open_shared, write_shared


def fetch_tables(tables: Tables, name: str, model: Model, scratch: Path) -> dict[str, Joined]:
    """Fetch the next model's rows of words and mentions."""
    scratch.mkdir(parents=True, exist_ok=True)
    made = {
        WORDS: _Fetched(scratch / kinds.WORDS, model.words.symbols),
        MENTIONS: _Fetched(scratch / kinds.MENTIONS, model.mentions.symbols),
    }
    for batch in tables.batches(name):
        bounds = np.searchsorted(batch.column("kind").to_numpy(), (WORDS, MENTIONS, MENTIONS + 1))
        for kind, start, end in zip((WORDS, MENTIONS), bounds[:-1], bounds[1:], strict=True):
            made[kind].append(batch.slice(start, end - start))
    return {kinds.WORDS: made[WORDS].finish(), kinds.MENTIONS: made[MENTIONS].finish()}


class _Fetched:
    """One kind of symbols on its way to files."""

    def __init__(self, place: Path, symbols: int) -> None:
        self.topics = GrowingArray(place.with_suffix(".topics.npy"), np.uint32)
        self.values = GrowingArray(place.with_suffix(".values.npy"), np.float32)
        self.lengths = np.zeros(symbols + 1, np.int64)
        self.last, self.changes = -1, np.zeros(2, np.int64)

    def append(self, rows: pa.RecordBatch) -> None:
        """Add rows, which must come in the order of symbols."""
        symbols = rows.column("symbol").to_numpy()
        if len(symbols) == 0:
            return
        if symbols[0] < self.last or np.any(np.diff(symbols) < 0):
            raise WikildaError("files of the model's table are missing. Run the same command with --restart.")
        self.last = int(symbols[-1])
        topics = lists([rows.column("topics")], np.uint32)
        np.add.at(self.lengths, symbols + 1, topics.lengths)
        self.topics.append(topics.values)
        self.values.append(lists([rows.column("values")], np.float32).values)
        self.changes += [_sum(rows, "gained"), _sum(rows, "dropped")]

    def finish(self) -> Joined:
        """The table as files."""
        offsets = np.cumsum(self.lengths)
        gained, dropped = self.changes.tolist()
        change = Change(int(offsets[-1]), gained, dropped)
        return Joined(offsets, self.topics.finish(), self.values.finish(), change)


def _sum(rows: pa.RecordBatch, name: str) -> Any:
    return rows.column(name).to_numpy().sum()


_ROUND = 8  # shards of a round per core, which are lost with the driver
SAMPLING, MERGING = "sampling", "adding up and interpolating"


class SparkEngine(Engine):
    """Shards are sampled in rounds, each a job; the counts of a finished round are a table."""

    kind = "spark"

    def __init__(
        self, master: str | None = None, tables: str | None = None, conf: Mapping[str, str] | None = None,
        together: int = 0,
    ) -> None:  # fmt: skip
        """`tables` is a directory that all nodes see, by default beside the result; `together` shards are a round."""
        self._master, self._tables, self._conf, self._together = master, tables, conf or {}, together
        self._scratch = Path(tempfile.mkdtemp(prefix="wikilda-spark-"))
        self._local = LocalEngine(1)

    @cached_property
    def spark(self) -> SparkSession:
        """The session, which takes seconds to start."""
        return open_session(self._master, self._conf, self._scratch)

    def check(self) -> None:
        """Start the session, and check that nodes have the same package, and that tables can be written."""
        with worded():
            check_cluster(self.spark, [self._tables] if self._tables else [])

    def missing(self, job: Job) -> list[int]:
        """The shards that are not in a finished round."""
        done = {shard for file in rounds_of(job.checkpoint) for shard in json.loads(file.read_text("utf-8"))}
        return [shard for shard in range(job.checkpoint.count) if shard not in done]

    def sample(self, job: Job) -> Iterator[int]:
        """Sample all shards that are not done yet, and yield the number of documents of each."""
        with worded():
            yield from {URN: self._sample_urn, LDA: self._sample}[job.task.settings.method](job)

    def _sample(self, job: Job) -> Iterator[int]:
        self.merging_seconds = 0.0
        tables = self._place(job)
        for file in rounds_of(job.checkpoint):
            if not tables.is_whole(_round_name(job, int(file.stem))):  # someone has removed it
                file.unlink()
        missing = self.missing(job)
        if not missing:
            return
        rows = self._lda_rows(tables, job)
        for shards in self._groups(job, missing):
            before = self._before(tables, job, shards)
            name = _round_name(job, shards[0])
            rows(before, shards).write.mode("overwrite").parquet(tables.uri(name))
            yield from self._finish_round(tables, job, shards, name)

    def _sample_urn(self, job: Job) -> Iterator[int]:
        self.merging_seconds = 0.0
        training = UrnTraining(self._place(job), job)
        started = time.process_time()
        training.prepare()
        self.merging_seconds += time.process_time() - started
        for file in rounds_of(job.checkpoint):
            if not training.tables.is_whole(training.round_name(int(file.stem))):
                file.unlink()
        for shards in self._groups(job, self.missing(job)):
            name = training.round_name(shards[0])
            training.rows(shards).write.mode("overwrite").parquet(training.tables.uri(name))
            for shard, report in training.reports(name):
                job.checkpoint.save_notes(shard, np.empty(0, np.uint32), report)
                yield int(json.loads(report)["documents"])
            _mark_done(job, shards)

    def _groups(self, job: Job, missing: list[int]) -> Iterator[list[int]]:
        """The shards of each round."""
        size = self._together or _ROUND * self.spark.sparkContext.defaultParallelism
        for start in range(0, len(missing), size):
            shards = missing[start : start + size]
            self._describe(job, f"{SAMPLING} {len(shards)} of {len(missing)} shards, from number {shards[0]} on")
            yield shards

    def _lda_rows(self, tables: Tables, job: Job) -> Callable[[DataFrame, list[int]], DataFrame]:
        """How a round of the paper's sampler is run: what it needs is joined."""
        sources, shared = _sources(tables, job), self._spread_globals(job)
        sample = partial(sample_partition, task=job.task, shared=shared)
        return lambda before, shards: form_shards(sources, before, shards).mapInArrow(sample, COUNTS)

    def learn(self, job: Job, rho: float | None, target: Path) -> Model:
        """Add the counts of all shards up on the cluster; the next model is a table there."""
        started = time.process_time()
        with worded():
            self._describe(job, MERGING)
            model = UrnTraining(self._place(job), job).learn(1.0 if rho is None else rho, target)
        self.merging_seconds += time.process_time() - started
        return model

    def interpolate(self, job: Job, blend: Blend, target: Path) -> Model:
        """Add the counts of all shards up, and write the next model to `target`."""
        started = time.process_time()
        with worded():
            model = self._interpolate(job, blend, target)
        self.merging_seconds += time.process_time() - started
        return model

    def _interpolate(self, job: Job, blend: Blend, target: Path) -> Model:
        tables = self._place(job)
        self._describe(job, MERGING)
        rounds = [tables.uri(_round_name(job, int(file.stem))) for file in rounds_of(job.checkpoint)]
        counts = self.spark.read.schema(COUNTS).parquet(*rounds)
        name = f"next-{job.model.identity}"
        made = next_table(job.model, model_table(tables, job.model), counts, blend)
        made.write.mode("overwrite").parquet(tables.uri(name))
        joined = fetch_tables(tables, name, job.model, job.checkpoint.path / "scratch")
        knowledge_path = str(job.knowledge) if job.knowledge else ""
        model = next_model(job.model, joined, target, knowledge_path=knowledge_path, iteration=job.task.iteration)
        tables.rename(name, f"model-{model.identity}")
        tables.remove(f"model-{job.model.identity}")
        tables.remove(_iteration_name(job))
        return model

    def likelihoods(self, model: Model, job: Job, held_out: bool) -> tuple[float, int]:
        """The log likelihood of some documents, few enough for the driver where it has the model in files."""
        if not model.manifest.get(STUB):
            return self._local.likelihoods(model, job, held_out)
        with worded():
            self._describe(job, "likelihood")
            return UrnTraining(self._place(job), job).log_likelihood(model, held_out)

    def close(self) -> None:
        """Stop the session."""
        if "spark" in self.__dict__:
            self.spark.stop()
        self._local.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _place(self, job: Job) -> Tables:
        work = job.checkpoint.path.parent
        if self._tables is None:
            return Tables(self.spark, (work / "tables").resolve().as_uri(), self._scratch)
        name = work / "tables.name"  # a directory of its own: other trainings may use the same place
        if not name.is_file():
            write_text(name, f"{work.stem}-{uuid4().hex[:12]}")
        return Tables(self.spark, f"{self._tables}/{name.read_text('utf-8')}", self._scratch)

    def _describe(self, job: Job, what: str) -> None:
        """Set the name of the following jobs in Spark's pages and logs."""
        self.spark.sparkContext.setJobDescription(f"iteration {job.task.iteration}: {what}")

    def _spread_globals(self, job: Job) -> Spread[Globals]:
        place = job.checkpoint.path / "shared"
        if not place.is_dir():
            write_shared(job.model, place)
        return spread(self.spark.sparkContext, "globals", job.model.identity, open_shared(job.model, place))

    def _before(self, tables: Tables, job: Job, shards: list[int]) -> DataFrame:
        """The topics that mentions had in the iteration before: a row for every shard."""
        name, size = f"{_iteration_name(job)}/before-{shards[0]:06d}", 256
        parts = [shards[start : start + size] for start in range(0, len(shards), size)]
        tables.write(name, ([_chosen(job, part)] for part in parts))
        return tables.read(name, "shard int, topics array<int>")

    def _finish_round(self, tables: Tables, job: Job, shards: list[int], name: str) -> Iterator[int]:
        """Keep the notes of a round's shards, and that it is done."""
        notes = tables.read(name, COUNTS).where(F.col("kind") == BEFORE).select("shard", "topics", "report")
        for row in notes.toLocalIterator():
            job.checkpoint.save_notes(row.shard, np.array(row.topics, np.uint32), row.report)
            yield int(json.loads(row.report)["documents"])
        _mark_done(job, shards)
        tables.remove(f"{_iteration_name(job)}/before-{shards[0]:06d}")


def _mark_done(job: Job, shards: list[int]) -> None:
    place = job.checkpoint.path / "counted"
    place.mkdir(exist_ok=True)
    write_text(place / f"{shards[0]:06d}.json", json.dumps(shards))


def _sources(tables: Tables, job: Job) -> Sources:
    which = job.corpus, job.checkpoint.count, job.task.settings.held_out
    graph = job.knowledge if job.task.settings.coherence else None
    return Sources(
        documents_table(tables, *which),
        symbols_table(tables, *which),
        model_table(tables, job.model),
        links_table(tables, Knowledge.open(graph)) if graph else None,
    )


def _iteration_name(job: Job) -> str:
    return f"iteration-{job.task.iteration:04d}-of-{job.model.identity}"


def _round_name(job: Job, first: int) -> str:
    return f"{_iteration_name(job)}/counts-{first:06d}"


def _chosen(job: Job, shards: list[int]) -> pa.RecordBatch:
    found = [job.previous.notes(shard) if job.previous else None for shard in shards]
    none = pa.array([each is None for each in found])
    values = np.concatenate([np.empty(0, np.uint32), *(each for each in found if each is not None)])
    offsets = np.cumsum([0, *(0 if each is None else len(each) for each in found)])
    lists = list_array(offsets, values, np.int32)
    lists = pa.ListArray.from_arrays(lists.offsets, lists.values, mask=none)
    return pa.record_batch([pa.array(shards, pa.int32()), lists], names=["shard", "topics"])
