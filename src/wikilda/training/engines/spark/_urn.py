"""The E-step of the urn by joins: Figure 3 of the paper with blocks in place of rows. See docs/method/joins.md.

No process holds the model, the knowledge or the link graph: a task has the blocks of some buckets, or the packet of a
shard. The driver writes the first tables from its files, a bucket at a time, and then handles figures only.
"""

import json
import time
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from wikilda import __version__
from wikilda._core.errors import WikildaError
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import CONTEXTS as CONTEXT_COUNTS
from wikilda.knowledge.context_counts import topic_types
from wikilda.model.model import EXPECTED
from wikilda.training.corpus import Documents
from wikilda.training.corpus.corpus import KINDS as DOCUMENT_TYPES
from wikilda.training.engines.base import Job
from wikilda.training.engines.spark._sampling import Spread
from wikilda.training.engines.spark._urn_step import parameters_of, rows_of_run
from wikilda.training.engines.spark.blocks import (
    BLOCK,
    CONTEXTS,
    COUNTED,
    COUNTS,
    DOCUMENTS,
    LAMBDA,
    NONE,
    NOTES,
    REPORT,
    REQUEST,
    SIDE_OF_COUNTS,
    STRINGS,
    TOPIC_WORD,
    TOPIC_WORDS,
    TOPICS,
    WORDS,
    Buckets,
    Value,
    asked_of,
    batches_of,
    blocks_of,
    groups_of,
    requests_of,
    serve,
    together,
    unpacked,
    values_of,
)
from wikilda.training.engines.spark.tables import Tables
from wikilda.training.methods import learner_of
from wikilda.training.settings import of_shard
from wikilda.training.shard import Found, Task
from wikilda.training.urn_shard import asked_by, log_likelihoods, noted_topics, sample_packet
from wikilda.urn import Urn
from wikilda.urn import packet as packets
from wikilda.urn.packet import Keyed, Packet, Shared, candidates_of

STATIC, DOCUMENT_TABLE = "urn-static", "urn-documents"
_AT_ONCE = 50_000  # keys whose rows are gathered together
_FILE_SHARDS = 16
_HALVES = 1 << 63  # of context symbols


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
        self.rows = packets.Tables(self.urn, first.mentions, self.types)
        self.buckets = Buckets(count, (first.mentions.symbols, first.words.symbols, first.topics, _HALVES))

    def write(self, tables: Tables) -> None:
        """Write what is not there yet: documents with their requests, what never changes, and the first model."""
        if not tables.is_whole(DOCUMENT_TABLE):
            tables.write(DOCUMENT_TABLE, self._documents())
        if not tables.is_whole(STATIC):
            strings, words = self._occurring()
            tables.write(STATIC, self._by_bucket(partial(self._static, strings=strings, words=words)))
        if not tables.is_whole(model_name(0)):
            tables.write(model_name(0), self._by_bucket(self._learned))

    def _documents(self) -> Iterator[Iterator[pa.RecordBatch]]:
        for first in range(0, self.job.checkpoint.count, _FILE_SHARDS):
            numbers = range(first, min(first + _FILE_SHARDS, self.job.checkpoint.count))
            yield batches_of(each for number in numbers for each in self._shard(number))

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
            yield batches_of(values(bucket))

    def _keys(self, side: int, bucket: int) -> Iterator[NDArray[np.int64]]:
        width, size = self.buckets.width(side), self.buckets.sizes[side]
        for start in range(bucket * width, min((bucket + 1) * width, size), _AT_ONCE):
            yield np.arange(start, min(start + _AT_ONCE, (bucket + 1) * width, size))

    def _values(self, side: int, rows: dict[int, Keyed]) -> Iterator[Value]:
        for kind, each in rows.items():
            yield from blocks_of(kind, each, self.buckets, side)

    def _static(self, bucket: int, strings: NDArray[np.bool_], words: NDArray[np.bool_]) -> Iterator[Value]:
        for keys in self._keys(STRINGS, bucket):
            yield from self._values(STRINGS, self.rows.of_strings(keys[strings[keys]]))
        for keys in self._keys(WORDS, bucket):
            yield from self._values(WORDS, {packets.WORD: self.rows.words(keys[words[keys]])})
        for keys in self._keys(TOPICS, bucket):
            yield from self._values(TOPICS, self.rows.of_topics(keys))

    def _learned(self, bucket: int) -> Iterator[Value]:
        for keys in self._keys(STRINGS, bucket):
            yield from self._values(STRINGS, self.rows.learned_of_strings(keys) | {LAMBDA: self.rows.known(keys)})
        for keys in self._keys(TOPICS, bucket):
            yield from self._values(TOPICS, {packets.PAIRS: self.rows.pairs(keys)})
        if self.urn.view.contexts is not None:
            yield from self._values(CONTEXTS, self.rows.contexts(self._symbols(bucket)))

    def _symbols(self, bucket: int) -> NDArray[np.uint64]:
        assert self.urn.view.contexts is not None
        first = bucket * self.buckets.width(CONTEXTS)
        start, end = np.searchsorted(self._halves, (first, min(first + self.buckets.width(CONTEXTS), _HALVES - 1)))
        found: NDArray[np.uint64] = self._halves[start:end].astype(np.uint64) << np.uint64(1)
        return found

    @cached_property
    def _halves(self) -> NDArray[np.int64]:
        """Halves of the context symbols that the first model has counts of, sorted."""
        assert self.urn.view.contexts is not None
        return (self.urn.view.contexts.keys >> np.uint64(1)).astype(np.int64)


def document_values(documents: Documents, shard: int, buckets: Buckets) -> Iterator[Value]:
    """Documents, and what they ask for."""
    for kind, column in enumerate(documents, DOCUMENTS):
        yield Value(NONE, NONE, kind, shard, np.ascontiguousarray(column).tobytes())
    asked = asked_by(documents)
    halves = (asked.contexts >> np.uint64(1)).astype(np.int64)
    for side, keys in ((STRINGS, asked.mentions), (WORDS, asked.words), (CONTEXTS, halves)):
        yield from requests_of(side, keys, buckets, shard)


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
    requests = wanted.where(f"kind = {REQUEST}")
    tables = pieces.static.unionByName(pieces.learned.where(f"kind < {LAMBDA}"))
    of_strings = tables.where(f"side = {STRINGS} and kind in ({packets.BASE}, {packets.BY_WORDS})")
    meant = _joined(of_strings.unionByName(requests.where(f"side = {STRINGS}")), buckets, tasks).mapInArrow(
        partial(ask_for_candidates, buckets=buckets, most=candidates), BLOCK
    )
    parts = [wanted.where(f"kind != {REQUEST}")]
    if pieces.before is not None:
        before = pieces.before.where(f"shard in ({listed})")
        meant = meant.unionByName(before.where(f"kind = {REQUEST}"))
        parts.append(before.where(f"kind = {NOTES}"))
    for rows, asked in ((f"side = {TOPICS}", meant), (f"side != {TOPICS}", requests)):
        parts.append(_joined(tables.where(rows).unionByName(asked), buckets, tasks).mapInArrow(serve, BLOCK))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.unionByName(part)
    place = F.expr(f"array_position(array({listed}), shard) - 1").cast("int")
    return whole.repartitionById(len(shards), place).sortWithinPartitions("kind", "bucket")


def _joined(rows: DataFrame, buckets: Buckets, tasks: int) -> DataFrame:
    """Blocks and requests of a bucket together."""
    place = F.expr(f"cast((side * {buckets.ranges} + bucket) % {tasks} as int)")
    return rows.repartitionById(tasks, place).sortWithinPartitions("side", "bucket", "kind")


def counts_by_bucket(counts: DataFrame, learned: list[DataFrame], buckets: Buckets, tasks: int) -> DataFrame:
    """The counts of all shards, and the rows that they are added to."""
    rows = counts.where(f"kind >= {COUNTED} and kind < {REQUEST}")
    for each in learned:
        rows = rows.unionByName(each)
    return _joined(rows, buckets, tasks)


def ask_for_candidates(batches: Iterator[pa.RecordBatch], buckets: Buckets, most: int) -> Iterator[pa.RecordBatch]:
    """The topics that the mentions of each shard may mean, as requests for rows of topics."""
    for _, _, found in groups_of(values_of(batches)):
        asked = asked_of(found.pop(REQUEST, []))
        rows, by_words = (
            together([unpacked(each.data, kind) for each in found.get(kind, [])], kind)
            for kind in (packets.BASE, packets.BY_WORDS)
        )
        for shard, keys in asked.items():
            topics = candidates_of(parameters_of(rows.of(keys)), by_words, keys, most)
            yield from batches_of(requests_of(TOPICS, topics.astype(np.int64), buckets, shard))


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
    values.append(Value(NONE, NONE, REPORT, shard, json.dumps(found.report).encode()))
    yield from batches_of(values)


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
    yield from batches_of([Value(NONE, NONE, REPORT, shard, json.dumps(found).encode())])


def _read(batches: Iterator[pa.RecordBatch]) -> tuple[int, Documents, NDArray[np.uint32] | None, Packet]:
    """The values of a shard."""
    by_kind: dict[int, list[Value]] = {}
    for value in values_of(batches):
        by_kind.setdefault(value.kind, []).append(value)
    columns: list[NDArray[Any]] = [
        np.frombuffer(by_kind[kind][0].data, dtype).copy() for kind, dtype in enumerate(DOCUMENT_TYPES, DOCUMENTS)
    ]
    notes = np.frombuffer(by_kind[NOTES][0].data, np.uint32).copy() if NOTES in by_kind else None
    packet = {
        kind: together([unpacked(each.data, kind) for each in by_kind.get(kind, [])], kind)
        for kind in packets.ENTRIES
    }  # fmt: skip
    documents = Documents(*columns)
    _check(packet, documents)
    return by_kind[DOCUMENTS][0].shard, documents, notes, packet


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
    for number, kind in enumerate(COUNTS):
        rows, side = rows_of_run(found.runs[kind]), SIDE_OF_COUNTS[number]
        yield from blocks_of(COUNTED + number, rows, buckets, side, shard)
    yield from _types_of_counted(found, shard, packet[packets.TYPES], buckets)
    yield Value(NONE, NONE, NOTES, shard, found.notes.tobytes())
    noted = np.unique(noted_topics(found.notes, mentions)).astype(np.int64)
    yield from requests_of(TOPICS, noted, buckets, shard)


def _types_of_counted(found: Found, shard: int, types: Keyed, buckets: Buckets) -> Iterator[Value]:
    """The type words of the topics that are counted with context symbols, for each bucket of these."""
    topics: dict[int, list[NDArray[np.uint32]]] = {}
    for kind in (CONTEXT_COUNTS, EXPECTED):
        run = found.runs[kind]
        for bucket, part in buckets.cut(CONTEXTS, run.symbols):
            topics.setdefault(bucket, []).append(run.topics[run.offsets[part.start] : run.offsets[part.stop]])
    for bucket, parts in topics.items():
        rows = types.of(np.unique(np.concatenate(parts)).astype(np.int64))
        pairs = np.empty(len(rows.entries), TOPIC_WORD)
        pairs["topic"], pairs["word"] = np.repeat(rows.keys, np.diff(rows.offsets)), rows.entries
        yield Value(CONTEXTS, bucket, TOPIC_WORDS, shard, pairs.tobytes())
