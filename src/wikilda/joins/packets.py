"""Packets by joins: Figure 3 of the paper with blocks in place of rows. See docs/method/joins.md.

No process holds the model, the knowledge or the link graph: a task has the blocks of some buckets, or the packet of a
shard. The driver writes the tables from its files, a bucket at a time.
"""

from collections.abc import Iterator
from functools import cached_property, partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from wikilda.joins import blocks
from wikilda.joins.blocks import Buckets, Value
from wikilda.knowledge.context_counts import TopicTypes
from wikilda.model.model import Parameters
from wikilda.urn import Urn
from wikilda.urn import packet as packets
from wikilda.urn.packet import Keyed, candidates_of

# Settings of Spark for tables of blocks, which are few and large: generating code for their rows takes longer than it
# saves, and so does planning again before each stage, because the number of tasks is given.
FEW_ROWS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
_AT_ONCE = 50_000  # keys whose rows are gathered together

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class ModelRows:
    """The rows that packets are made of, gathered from the files of the driver."""

    def __init__(self, urn: Urn, types: TopicTypes, buckets: Buckets) -> None:
        """`types` are the type words of topics."""
        self.urn, self.types, self.buckets = urn, types, buckets
        self.rows = packets.Tables(urn, types)

    def for_training(self, strings: Flags, words: Flags) -> Iterator[Iterator[Value]]:
        """Yield files of the rows that training does not change: of some strings, and then by bucket of some words.

        Of topics those that the strings may mean, which are known after the strings: training adds none.
        """
        topics = np.zeros(self.buckets.sizes[blocks.TOPICS], np.bool_)
        for bucket in range(self.buckets.ranges):
            yield self._strings_for_training(bucket, strings, topics)
        for bucket in range(self.buckets.ranges):
            yield self._words_and_topics(bucket, words, topics)

    def _strings_for_training(self, bucket: int, strings: Flags, topics: Flags) -> Iterator[Value]:
        for keys in self._keys(blocks.STRINGS, bucket):
            some = keys[strings[keys]]
            candidates = self.rows.candidates_of_strings(some)
            for rows in (candidates[packets.BY_WORDS], self.rows.learned_of_strings(some)[packets.BASE]):
                topics[rows.entries["topic"]] = True
            yield from self._values(blocks.STRINGS, candidates | self.rows.of_strings(some))

    def static(self, bucket: int) -> Iterator[Value]:
        """Yield the rows of a bucket that no text changes."""
        for keys in self._keys(blocks.STRINGS, bucket):
            yield from self._values(blocks.STRINGS, self.rows.of_strings(keys))
        yield from self._words_and_topics(bucket)

    def _words_and_topics(
        self, bucket: int, words: Flags | None = None, topics: Flags | None = None
    ) -> Iterator[Value]:
        for keys in self._keys(blocks.WORDS, bucket):
            yield from self._values(blocks.WORDS, {packets.WORD: self.rows.words(_some(keys, words))})
        for keys in self._keys(blocks.TOPICS, bucket):
            yield from self._values(blocks.TOPICS, self.rows.of_topics(_some(keys, topics)))

    def learned(self, bucket: int) -> Iterator[Value]:
        """Yield the rows of a bucket that training changes."""
        for keys in self._keys(blocks.STRINGS, bucket):
            yield from self._values(
                blocks.STRINGS, self.rows.learned_of_strings(keys) | {blocks.LAMBDA: self.rows.known(keys)}
            )
        if self.urn.view.contexts is not None:
            yield from self._values(blocks.CONTEXTS, self.rows.contexts(self._symbols(bucket)))

    def _keys(self, side: int, bucket: int) -> Iterator[Numbers]:
        width, size = self.buckets.width(side), self.buckets.sizes[side]
        for start in range(bucket * width, min((bucket + 1) * width, size), _AT_ONCE):
            yield np.arange(start, min(start + _AT_ONCE, (bucket + 1) * width, size))

    def _values(self, side: int, rows: dict[int, Keyed]) -> Iterator[Value]:
        for kind, each in rows.items():
            yield from blocks.blocks_of(kind, each, self.buckets, side)

    def _symbols(self, bucket: int) -> NDArray[np.uint64]:
        here = self.buckets.within(blocks.CONTEXTS, bucket, self._halves)
        found: NDArray[np.uint64] = self._halves[here].astype(np.uint64) << np.uint64(1)
        return found

    @cached_property
    def _halves(self) -> Numbers:
        """Halves of the context symbols that the first model has counts of, sorted."""
        assert self.urn.view.contexts is not None
        return (self.urn.view.contexts.keys >> np.uint64(1)).astype(np.int64)


def _some(keys: Numbers, which: Flags | None) -> Numbers:
    return keys if which is None else keys[which[keys]]


def joined(rows: DataFrame, buckets: Buckets, tasks: int) -> DataFrame:
    """Bring blocks and requests of a bucket together."""
    place = F.expr(f"cast((side * {buckets.ranges} + bucket) % {tasks} as int)")
    return rows.repartitionById(tasks, place).sortWithinPartitions("side", "bucket", "kind")


def served(rows: DataFrame, requests: DataFrame, buckets: Buckets, tasks: int) -> DataFrame:
    """Return the rows that shards have asked for."""
    return joined(rows.unionByName(requests), buckets, tasks).mapInArrow(blocks.serve, blocks.BLOCK)


def candidate_requests(
    rows: DataFrame, requests: DataFrame, buckets: Buckets, candidates: int, tasks: int
) -> DataFrame:
    """Return the requests of shards for the topics that their mention strings may mean."""
    of_strings = rows.where(f"side = {blocks.STRINGS} and kind in ({packets.BASE}, {packets.BY_WORDS})")
    together = joined(of_strings.unionByName(requests.where(f"side = {blocks.STRINGS}")), buckets, tasks)
    return together.mapInArrow(partial(ask_for_candidates, buckets=buckets, most=candidates), blocks.BLOCK)


def by_shard(parts: list[DataFrame], shards: list[int]) -> DataFrame:
    """Bring everything of a shard together: one shard is one partition, in any order."""
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.unionByName(part)
    place = F.expr(f"array_position(array({', '.join(map(str, shards))}), shard) - 1").cast("int")
    return whole.repartitionById(len(shards), place)


def ask_for_candidates(batches: Iterator[pa.RecordBatch], buckets: Buckets, most: int) -> Iterator[pa.RecordBatch]:
    """The topics that the mentions of each shard may mean, as requests for rows of topics."""
    for _, _, found in blocks.groups_of(blocks.values_of(batches)):
        asked = blocks.asked_of(found.pop(blocks.REQUEST, []))
        rows, by_words = (blocks.rows_of_kind(found, kind) for kind in (packets.BASE, packets.BY_WORDS))
        for shard, keys in asked.items():
            topics = candidates_of(parameters_of(rows.of(keys)), by_words, keys, most)
            yield from blocks.batches_of(blocks.requests_of(blocks.TOPICS, topics.astype(np.int64), buckets, shard))


def parameters_of(rows: Keyed) -> Parameters:
    """Rows of parameters as arrays."""
    topics, values = (np.ascontiguousarray(rows.entries[name]) for name in ("topic", "value"))
    return Parameters(rows.offsets, topics, values)
