"""The E-step of the urn by joins (`wikilda.joins.packets`). The driver writes first tables, then handles figures."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from wikilda import __version__
from wikilda._core.errors import WikildaError
from wikilda.joins import blocks
from wikilda.joins.blocks import Buckets, Value
from wikilda.joins.broadcast import Spread
from wikilda.joins.packets import ModelRows, by_shard, candidate_requests, joined, served
from wikilda.joins.tables import Tables
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import CONTEXTS as CONTEXT_COUNTS
from wikilda.knowledge.context_counts import topic_types
from wikilda.model.model import EXPECTED
from wikilda.training.corpus import Documents
from wikilda.training.corpus.corpus import KINDS as DOCUMENT_TYPES
from wikilda.training.engines.base import Job
from wikilda.training.engines.spark._urn_step import rows_of_run
from wikilda.training.methods import learner_of
from wikilda.training.settings import of_shard
from wikilda.training.shard import Found, Task
from wikilda.training.urn_shard import asked_by, log_likelihoods, noted_topics, sample_packet
from wikilda.urn import Urn
from wikilda.urn import packet as packets
from wikilda.urn.packet import Keyed, Packet, Shared

STATIC, DOCUMENT_TABLE = "urn-static", "urn-documents"
_FILE_SHARDS = 16


def model_name(iteration: int) -> str:
    """The table of what was learned until an iteration; 0 is the model that training began with."""
    return f"urn-model-{iteration:04d}"


class Source:
    """The files of the driver, as far as tables are made of them."""

    def __init__(self, job: Job, count: int) -> None:
        assert job.knowledge is not None
        self.job, first, knowledge = job, job.first, Knowledge.open(job.knowledge)
        self.urn = Urn(first, knowledge, job.task.settings.urn())
        self.types = first.contexts.types if first.contexts else topic_types(knowledge.titles, knowledge.sentences)
        self.buckets = Buckets(count, (first.mentions.symbols, first.words.symbols, first.topics, blocks.HALVES))
        self.rows = ModelRows(self.urn, self.types, self.buckets)

    def write(self, tables: Tables) -> None:
        """Write what is not there yet: documents with their requests, what never changes, and the first model."""
        if not tables.is_whole(DOCUMENT_TABLE):
            tables.write(DOCUMENT_TABLE, self._documents())
        if not tables.is_whole(STATIC):
            strings, words = self._occurring()
            tables.write(STATIC, map(blocks.batches_of, self.rows.for_training(strings, words)))
        if not tables.is_whole(model_name(0)):
            tables.write(model_name(0), self._by_bucket(self.rows.learned))

    def _documents(self) -> Iterator[Iterator[pa.RecordBatch]]:
        for first in range(0, self.job.checkpoint.count, _FILE_SHARDS):
            numbers = range(first, min(first + _FILE_SHARDS, self.job.checkpoint.count))
            yield blocks.batches_of(each for number in numbers for each in self._shard(number))

    def _shard(self, number: int) -> Iterator[Value]:
        job = self.job
        documents = of_shard(job.corpus, number, job.checkpoint.count, job.task.settings.held_out)
        documents = documents.chosen(learner_of(job.task.settings).are_new(documents.digests, job.first))
        return document_values(documents, number, self.buckets)

    def _occurring(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which strings and words of the model the corpus has."""
        first, corpus = self.job.first, self.job.corpus
        strings, words = np.zeros(first.mentions.symbols, np.bool_), np.zeros(first.words.symbols, np.bool_)
        for number in range(self.job.checkpoint.count):
            documents = corpus.shard(number, self.job.checkpoint.count)
            strings[documents.mentions], words[documents.words] = True, True
        return strings, words

    def _by_bucket(self, values: Callable[[int], Iterator[Value]]) -> Iterator[Iterator[pa.RecordBatch]]:
        """A file for each bucket."""
        for bucket in range(self.buckets.ranges):
            yield blocks.batches_of(values(bucket))


def document_values(documents: Documents, shard: int, buckets: Buckets) -> Iterator[Value]:
    """Documents, and what they ask for."""
    for kind, column in enumerate(documents, blocks.DOCUMENTS):
        yield Value(blocks.NONE, blocks.NONE, kind, shard, np.ascontiguousarray(column).tobytes())
    asked = asked_by(documents)
    halves = (asked.contexts >> np.uint64(1)).astype(np.int64)
    for side, keys in ((blocks.STRINGS, asked.mentions), (blocks.WORDS, asked.words), (blocks.CONTEXTS, halves)):
        yield from blocks.requests_of(side, keys, buckets, shard)


class Pieces(NamedTuple):
    """The tables that packets are made of."""

    static: DataFrame
    learned: DataFrame
    documents: DataFrame
    before: DataFrame | None  # the counts of the iteration before: notes, and the topics that they ask for


def form_packets(pieces: Pieces, shards: list[int], buckets: Buckets, candidates: int, tasks: int) -> DataFrame:
    """Packets, each with its documents: one shard a partition."""
    listed = ", ".join(map(str, shards))
    wanted = pieces.documents.where(f"shard in ({listed})")
    requests = wanted.where(f"kind = {blocks.REQUEST}")
    tables = pieces.static.unionByName(pieces.learned.where(f"kind < {blocks.LAMBDA}"))
    meant = candidate_requests(tables, requests, buckets, candidates, tasks)
    parts = [wanted.where(f"kind != {blocks.REQUEST}")]
    if pieces.before is not None:
        before = pieces.before.where(f"shard in ({listed})")
        meant = meant.unionByName(before.where(f"kind = {blocks.REQUEST}"))
        parts.append(before.where(f"kind = {blocks.NOTES}"))
    for rows, asked in ((f"side = {blocks.TOPICS}", meant), (f"side != {blocks.TOPICS}", requests)):
        parts.append(served(tables.where(rows), asked, buckets, tasks))
    return by_shard(parts, shards)


def counts_by_bucket(counts: DataFrame, learned: list[DataFrame], buckets: Buckets, tasks: int) -> DataFrame:
    """The counts of all shards, and the rows that they are added to."""
    rows = counts.where(f"kind >= {blocks.COUNTED} and kind < {blocks.REQUEST}")
    for each in learned:
        rows = rows.unionByName(each)
    return joined(rows, buckets, tasks)


class Drawing(NamedTuple):
    """How a worker draws shards."""

    task: Task
    shared: Spread[Shared]
    buckets: Buckets
    version: str  # of the driver's package

    def check(self) -> None:
        """Refuse to draw with another version of the package than the driver's."""
        if self.version != __version__:
            raise WikildaError(
                f"a node has wikilda {__version__}, but the driver has {self.version}. Install the same version on all."
            )


def draw_partition(batches: Iterator[pa.RecordBatch], drawing: Drawing) -> Iterator[pa.RecordBatch]:
    """Draw the one shard of a partition: gives its counts, notes, the topics that these ask for, and figures."""
    started = time.process_time()
    drawing.check()
    shard, documents, notes, packet = _read(batches)
    joining = time.process_time() - started
    found = sample_packet(packet, drawing.shared.value(), documents, drawing.task.settings.urn(), notes)
    started = time.process_time()
    values = list(_found_values(found, shard, len(documents.mentions), packet, drawing.buckets))
    found.report["joining seconds"] += joining + time.process_time() - started
    values.append(Value(blocks.NONE, blocks.NONE, blocks.REPORT, shard, json.dumps(found.report).encode()))
    yield from blocks.batches_with_figures(values)


def evaluate_partition(
    batches: Iterator[pa.RecordBatch], drawing: Drawing, distinct: NDArray[np.float64]
) -> Iterator[pa.RecordBatch]:
    """The log likelihood of the documents of a partition, and how many tokens they have."""
    drawing.check()
    shard, documents, _, packet = _read(batches)
    settings = drawing.task.settings
    found = log_likelihoods(
        packet, drawing.shared.value(), documents, settings.urn(), settings.particles, distinct
    )  # fmt: skip
    yield from blocks.batches_of([Value(blocks.NONE, blocks.NONE, blocks.REPORT, shard, json.dumps(found).encode())])


def _read(batches: Iterator[pa.RecordBatch]) -> tuple[int, Documents, NDArray[np.uint32] | None, Packet]:
    """The values of a shard."""
    by_kind: dict[int, list[Value]] = {}
    for value in blocks.values_of(batches):
        by_kind.setdefault(value.kind, []).append(value)
    columns: list[NDArray[Any]] = [
        np.frombuffer(by_kind[kind][0].data, dtype).copy()
        for kind, dtype in enumerate(DOCUMENT_TYPES, blocks.DOCUMENTS)
    ]
    notes = np.frombuffer(by_kind[blocks.NOTES][0].data, np.uint32).copy() if blocks.NOTES in by_kind else None
    packet = {kind: blocks.rows_of_kind(by_kind, kind) for kind in packets.ENTRIES}
    documents = Documents(*columns)
    _check(packet, documents)
    return by_kind[blocks.DOCUMENTS][0].shard, documents, notes, packet


def _check(packet: Packet, documents: Documents) -> None:
    """Refuse a packet that lacks rows that every string, word or topic has."""
    strings, words = (np.unique(each).astype(np.int64) for each in (documents.mentions, documents.words))
    by_words = np.unique(packet[packets.BY_WORDS].entries["topic"]).astype(np.int64)
    whole = (
        np.array_equal(packet[packets.STRING].keys, strings) and np.array_equal(packet[packets.BASE].keys, strings)
        and np.array_equal(packet[packets.WORD].keys, words) and np.isin(by_words, packet[packets.TOPIC].keys).all()
    )  # fmt: skip
    if not whole:
        raise WikildaError("a table of the training is cut short: files of it are missing. Train with --restart.")


def _found_values(found: Found, shard: int, mentions: int, packet: Packet, buckets: Buckets) -> Iterator[Value]:
    for number, kind in enumerate(blocks.COUNTS):
        rows, side = rows_of_run(found.runs[kind]), blocks.SIDE_OF_COUNTS[number]
        yield from blocks.blocks_of(blocks.COUNTED + number, rows, buckets, side, shard)
    yield from _types_of_counted(found, shard, packet[packets.TYPES], buckets)
    yield Value(blocks.NONE, blocks.NONE, blocks.NOTES, shard, found.notes.tobytes())
    noted = np.unique(noted_topics(found.notes, mentions)).astype(np.int64)
    yield from blocks.requests_of(blocks.TOPICS, noted, buckets, shard)


def _types_of_counted(found: Found, shard: int, types: Keyed, buckets: Buckets) -> Iterator[Value]:
    """The type words of the topics that are counted with context symbols, for each bucket of these."""
    topics: dict[int, list[NDArray[np.uint32]]] = {}
    for kind in (CONTEXT_COUNTS, EXPECTED):
        run = found.runs[kind]
        for bucket, part in buckets.cut(blocks.CONTEXTS, run.symbols):
            topics.setdefault(bucket, []).append(run.topics[run.offsets[part.start] : run.offsets[part.stop]])
    for bucket, parts in topics.items():
        rows = types.of(np.unique(np.concatenate(parts)).astype(np.int64))
        pairs = np.empty(len(rows.entries), blocks.TOPIC_WORD)
        pairs["topic"], pairs["word"] = np.repeat(rows.keys, np.diff(rows.offsets)), rows.entries
        yield Value(blocks.CONTEXTS, bucket, blocks.TOPIC_WORDS, shard, pairs.tobytes())
