"""Training for the urn on a cluster: the E-step and the M-step are joins, the driver handles figures."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as ds
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from wikilda import __version__
from wikilda._core.arrays import offsets_of, table_of
from wikilda._core.atomic import write_text
from wikilda._core.errors import InputError, SettingsError, WikildaError
from wikilda._core.npy import GrowingArray, save_array
from wikilda.joins import blocks
from wikilda.joins.blocks import Buckets
from wikilda.joins.broadcast import spread
from wikilda.joins.packets import FEW_ROWS
from wikilda.joins.tables import Tables
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import PARTS_OF_ONE, ContextCounts
from wikilda.model import Model
from wikilda.model.model import URN, NilCounts
from wikilda.training.checkpoints import Checkpoint
from wikilda.training.engines.base import STUB, Job
from wikilda.training.engines.spark._urn import (
    DOCUMENT_TABLE,
    STATIC,
    Drawing,
    Pieces,
    Source,
    counts_by_bucket,
    document_values,
    draw_partition,
    evaluate_partition,
    form_packets,
    model_name,
)
from wikilda.training.engines.spark._urn_step import Step, step_partition
from wikilda.training.interpolate import Change, Joined
from wikilda.training.learn import NextParts, write_next
from wikilda.training.settings import to_evaluate
from wikilda.urn import packet as packets
from wikilda.urn.packet import PARAMETER, Keyed, Shared

_BLOCK_ENTRIES = 1 << 20  # of all tables, in a bucket, about
_EVALUATED, _TOGETHER = "urn-evaluated", 10  # documents that are evaluated by a task
_FIGURES = "urn.json"


def _figures(place: Path) -> dict[str, float]:
    """Return the sums of an iteration."""
    try:
        found = json.loads((place / _FIGURES).read_text("utf-8"))
        return {str(name): float(each) for name, each in found.items()}
    except (ValueError, TypeError, AttributeError):
        raise InputError(f"{place / _FIGURES}: is damaged. Run the same command again with --restart.") from None


class UrnTraining:
    """One iteration of a training."""

    def __init__(self, tables: Tables, job: Job) -> None:
        self.tables, self.job, self.context = tables, job, tables.spark.sparkContext
        for name, value in FEW_ROWS.items():
            tables.spark.conf.set(name, value)
        self.done = job.model.iteration - job.first.iteration  # iterations
        if job.task.settings.adaptive:
            raise SettingsError("adaptive is for --engine local. Set rho_global or kappa_global instead.")

    def prepare(self) -> None:
        """Write the tables that do not change, if they are not there yet."""
        names = (DOCUMENT_TABLE, STATIC, model_name(0))
        if not all(map(self.tables.is_whole, names)):
            self._source.write(self.tables)
        if self.done and not self.tables.is_whole(model_name(self.done)):
            raise WikildaError(f"{self.tables.uri(model_name(self.done))}: is missing. Train with --restart.")

    def rows(self, shards: list[int]) -> DataFrame:
        """Draw some shards."""
        before = self._counts(self.job.previous) if self.job.previous else None
        pieces = self._pieces(self._read(DOCUMENT_TABLE), before)
        draw = partial(draw_partition, drawing=Drawing(self.job.task, self._spread(), self.buckets, __version__))
        return self._packets(pieces, shards).mapInArrow(draw, blocks.WITH_FIGURES)

    def round_name(self, first: int) -> str:
        """The table of the counts of a round."""
        return f"{_counts_name(self.job.task.iteration)}/{first:06d}"

    def reports(self, name: str) -> Iterator[tuple[int, str]]:
        """Return the figures of the shards of a round."""
        for row in self._figures_of(name).collect():
            yield row.shard, bytes(row.figures).decode()

    def learn(self, rho: float, target: Path) -> Model:
        """Add up the counts of the shards. The next model is a table, and files on request."""
        job, name = self.job, model_name(self.done + 1)
        if not (self.tables.is_whole(name) and (job.checkpoint.path / _FIGURES).is_file()):
            self._step(rho).write.mode("overwrite").parquet(self.tables.uri(name))
            self._keep_figures(name)
        self.tables.remove(_counts_name(job.task.iteration - 1))
        made = self._fetch(name, target) if job.is_kept else self._stub(target)
        if self.done:
            self.tables.remove(model_name(self.done))
        return made

    def log_likelihood(self, model: Model, held_out: bool) -> tuple[float, int]:
        """The log likelihood of some documents under a model that is a table."""
        some = to_evaluate(self.job.corpus, self.job.task.settings, held_out=held_out)
        starts = list(range(0, len(some.keys), _TOGETHER))
        parts = (
            some.chosen((np.arange(len(some.keys)) >= start) & (np.arange(len(some.keys)) < start + _TOGETHER))
            for start in starts
        )
        values = (value for number, part in enumerate(parts) for value in document_values(part, number, self.buckets))
        self.tables.write(_EVALUATED, [blocks.batches_of(values)])
        self.done = model.iteration - self.job.first.iteration
        shards, place = list(range(len(starts))), self._place(model.iteration)
        distinct = np.load(place / "distinct.npy", allow_pickle=False)
        drawing = Drawing(self.job.task, self._spread(), self.buckets, __version__)
        evaluate = partial(evaluate_partition, drawing=drawing, distinct=distinct)
        rows = self._packets(self._pieces(self._read(_EVALUATED), None), shards).mapInArrow(evaluate, blocks.BLOCK)
        found = sorted((row.shard, json.loads(bytes(row.data))) for row in rows.select("shard", "data").collect())
        self.tables.remove(_EVALUATED)
        sums = [(sum(each[0] for each in part), sum(each[1] for each in part)) for _, part in found]
        return sum(each[0] for each in sums), sum(each[1] for each in sums)

    @cached_property
    def buckets(self) -> Buckets:
        """Return the buckets of keys, as when the training began."""
        first = self.job.first
        place = self.job.checkpoint.path.parent / "buckets.json"
        if not place.is_file():
            entries = len(first.words.topics) + len(first.base.topics) + 2 * len(self._knowledge.graph.out_topics)
            count = max(4 * self.context.defaultParallelism, entries // _BLOCK_ENTRIES)
            write_text(place, json.dumps(count))
        count = json.loads(place.read_text("utf-8"))
        return Buckets(count, (first.mentions.symbols, first.words.symbols, first.topics, blocks.HALVES))

    @cached_property
    def _knowledge(self) -> Knowledge:
        assert self.job.knowledge is not None
        return Knowledge.open(self.job.knowledge)

    @cached_property
    def _source(self) -> Source:
        return Source(self.job, self.buckets.ranges)

    @property
    def _tasks(self) -> int:
        """Of a join."""
        return max(2 * self.context.defaultParallelism, self.buckets.ranges // 4)

    def _read(self, name: str) -> DataFrame:
        return self.tables.read(name, blocks.BLOCK)

    def _figures_of(self, name: str) -> DataFrame:
        return self.tables.read(name, blocks.FIGURES).where("figures is not null")

    def _counts(self, checkpoint: Checkpoint) -> DataFrame:
        """What the finished rounds of an iteration have left."""
        name = _counts_name(int(checkpoint.path.name.rpartition("-")[2]))
        rounds = [self.tables.uri(f"{name}/{file.stem}") for file in rounds_of(checkpoint)]
        return self.tables.spark.read.schema(blocks.BLOCK).parquet(*rounds)

    def _pieces(self, documents: DataFrame, before: DataFrame | None) -> Pieces:
        return Pieces(self._read(STATIC), self._read(model_name(self.done)), documents, before)

    def _packets(self, pieces: Pieces, shards: list[int]) -> DataFrame:
        most = self.job.task.settings.urn().max_candidates
        return form_packets(pieces, shards, self.buckets, most, self._tasks)

    def _spread(self) -> Any:
        name = f"{self.job.first.identity}-{self.done:04d}"
        return spread(self.context, "shared", name, self._shared())

    def _shared(self) -> Shared:
        """Return the values that all packets share, after the finished iterations."""
        first = Shared.of(self._source.urn.view)
        if not self.done:
            return first
        place = self._place(self.job.first.iteration + self.done)
        figures = _figures(place)
        return replace(
            first,
            nil_share=(figures["nil"] + 1.0) / (figures["texts"] + 2.0),
            totals=np.load(place / "totals.npy", allow_pickle=False),
            has=first.has | {packets.NIL, packets.CONTEXT},
        )

    def _place(self, iteration: int) -> Path:
        return self.job.checkpoint.path.with_name(f"iteration-{iteration:04d}")

    def _step(self, rho: float) -> DataFrame:
        types, has_nil = len(self._source.types.hashes), self._source.urn.view.nil is not None
        step = Step(self.job.task.settings, rho, self.done == 0, types, has_nil)
        learned = [self._read(model_name(0))]
        if self.done and step.keeps_counts:
            learned.append(
                self._read(model_name(self.done)).where(f"kind >= {blocks.COUNTED} and kind < {blocks.REQUEST}")
            )
        rows = counts_by_bucket(self._counts(self.job.checkpoint), learned, self.buckets, self._tasks)
        return rows.mapInArrow(partial(step_partition, step=step), blocks.WITH_FIGURES)

    def _keep_figures(self, name: str) -> None:
        """Keep the driver's figures of a model: sums over all of its rows."""
        sums: dict[str, float] = {}
        totals = np.zeros((2, len(self._source.types.hashes)), np.float64)
        for row in self._figures_of(name).toLocalIterator():
            if row.kind == blocks.REPORT:
                for figure, value in json.loads(bytes(row.figures)).items():
                    sums[figure] = sums.get(figure, 0) + value
            else:
                found = np.frombuffer(row.figures, blocks.TOTAL)
                totals[:, found["word"]] += found["total"], found["distinct"]
        place = self.job.checkpoint.path
        save_array(place / "totals.npy", totals[0] / PARTS_OF_ONE)
        save_array(place / "distinct.npy", totals[1])
        write_text(place / _FIGURES, json.dumps(sums))

    @property
    def _change(self) -> Change:
        figures = _figures(self.job.checkpoint.path)
        return Change(*(int(figures[name]) for name in Change._fields))

    def _stub(self, target: Path) -> Model:
        """Return the driver's part of a model that is a table."""
        first, change = self.job.first, self._change
        change = change._replace(parameters=len(first.words.topics) + change.parameters)
        with first.derive(target, overwrite=True) as writer:
            about = {"change": change._asdict(), STUB: True}
            return writer.derived(iteration=self.job.task.iteration, method=URN, **about)

    def _fetch(self, name: str, target: Path) -> Model:
        """Bring a model to the driver's disk, a block at a time."""
        scratch = target.with_name("fetched")
        tables = _Fetching(self.tables, name, scratch, self.buckets)
        first, place = self.job.first, self.job.checkpoint.path
        mentions = tables.parameters(blocks.LAMBDA, blocks.STRINGS, first.mentions.symbols)._replace(
            change=self._change
        )
        base = tables.parameters(packets.BASE, blocks.STRINGS, first.mentions.symbols)
        keys, offsets, (words, counts, expected) = tables.rows(
            packets.CONTEXT, blocks.CONTEXTS, ("word", "count", "expected")
        )  # fmt: skip
        _, _, [sums] = tables.rows(packets.CONTEXT_SUM, blocks.CONTEXTS, ())
        old = first.contexts
        texts = np.unique(self.job.texts) if old is None else np.union1d(old.texts, self.job.texts)
        table, totals = table_of(keys.astype(np.uint64) << np.uint64(1)), np.load(place / "totals.npy")
        contexts = ContextCounts(
            types=self._source.types, symbols=table, offsets=offsets, words=words, counts=counts, expected=expected,
            sums=sums, totals=totals, texts=texts,
        )  # fmt: skip
        symbols, _, (nil, met) = tables.rows(packets.NIL, blocks.STRINGS, ("nil", "texts"))
        parts = NextParts(mentions, base, contexts, NilCounts(symbols, nil, met))
        made = write_next(
            first, self._knowledge, parts, target, self.job.task.iteration, self.job.task.settings.shift()
        )
        tables.close()
        return made


def rounds_of(checkpoint: Checkpoint) -> list[Path]:
    """The notes of the driver on the rounds of an iteration that are finished, each a list of shards."""
    return sorted((checkpoint.path / "counted").glob("*.json"))


def _counts_name(iteration: int) -> str:
    return f"urn-counts-{iteration:04d}"


class _Fetching:
    """A table of blocks on its way to arrays."""

    def __init__(self, tables: Tables, name: str, scratch: Path, buckets: Buckets) -> None:
        self.scratch, self.buckets = scratch, buckets
        self.files = tables.copied(name, scratch / "blocks")
        self.blocks = ds.dataset([str(each) for each in self.files], format="parquet")

    def of(self, kind: int, side: int) -> Iterator[Keyed]:
        """The blocks of a kind, in the order of their keys."""
        for bucket in range(self.buckets.ranges):
            here = (ds.field("kind") == kind) & (ds.field("side") == side) & (ds.field("bucket") == bucket)
            for data in self.blocks.to_table(columns=["data"], filter=here).column("data"):
                yield blocks.unpacked(data.as_buffer(), kind)

    def parameters(self, kind: int, side: int, symbols: int) -> Joined:
        """Return the rows of parameters of all keys."""
        place, lengths = self.scratch / str(kind), np.zeros(symbols + 1, np.int64)
        topics = GrowingArray(place.with_suffix(".topics.npy"), np.uint32)
        values = GrowingArray(place.with_suffix(".values.npy"), np.float32)
        for rows in self.of(kind, side):
            assert rows.entries.dtype == PARAMETER
            lengths[rows.keys + 1] = np.diff(rows.offsets)
            topics.append(np.ascontiguousarray(rows.entries["topic"]))
            values.append(np.ascontiguousarray(rows.entries["value"]))
        offsets = np.cumsum(lengths)
        return Joined(offsets, topics.finish(), values.finish(), Change(int(offsets[-1]), 0, 0))

    def rows(
        self, kind: int, side: int, names: tuple[str, ...]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[NDArray[Any]]]:
        """The keys that have rows, where these begin, and some columns of the entries, or the entries."""
        kinds = [packets.ENTRIES[kind][name] for name in names] or [packets.ENTRIES[kind]]
        files = [self.scratch / f"{kind}-{number}.npy" for number in range(len(kinds))]
        columns = [GrowingArray(file, dtype) for file, dtype in zip(files, kinds, strict=True)]
        keys, lengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for rows in self.of(kind, side):
            keys.append(rows.keys)
            lengths.append(np.diff(rows.offsets))
            for number, column in enumerate(columns):
                column.append(np.ascontiguousarray(rows.entries[names[number]] if names else rows.entries))
        made: list[NDArray[Any]] = [np.load(column.finish(), mmap_mode="r") for column in columns]
        return np.concatenate(keys), offsets_of(np.concatenate(lengths)), made

    def close(self) -> None:
        """Remove what was fetched."""
        shutil.rmtree(self.scratch, ignore_errors=True)
