"""The M-step of the urn by joins: counts of a bucket are added up and joined with the rows of the first model there.

The arithmetic is that of `wikilda.training.learn`, on the rows of a bucket instead of all: the same bits.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.arrays import Run, offsets_of, table_of
from wikilda.joins import blocks
from wikilda.joins.blocks import Value
from wikilda.joins.packets import parameters_of
from wikilda.knowledge.context_counts import ContextCounts, CountedContexts, TopicTypes, counted_contexts, empty_counts
from wikilda.model.model import BASE, MENTIONS, NilCounts
from wikilda.training.interpolate import add_up
from wikilda.training.learn import (
    Blended,
    in_contexts,
    next_mentions,
    nil_table,
    scaled,
)
from wikilda.training.settings import UrnTraining
from wikilda.urn import packet as packets
from wikilda.urn.likelihood import distinct_contexts
from wikilda.urn.packet import PARAMETER, Keyed

Numbers = NDArray[np.int64]


class Step(NamedTuple):
    """How the rows of an iteration are made."""

    settings: UrnTraining
    rho: float
    is_first: bool
    types: int  # the number of type words
    has_nil: bool  # whether the first model has counts of NIL

    @property
    def keeps_counts(self) -> bool:
        """Whether later iterations need what was learned until now."""
        return self.settings.rho_global < 1.0 or self.settings.kappa_global > 0.0


def step_partition(batches: Iterator[pa.RecordBatch], step: Step) -> Iterator[pa.RecordBatch]:
    """Compute the next rows in a worker, from old rows and counts sorted by side and bucket."""
    for side, bucket, found in blocks.groups_of(blocks.values_of(batches)):
        yield from blocks.batches_with_figures(_Bucket(step, side, bucket, found).values())


class _Bucket:
    """Old rows and counts of one bucket."""

    def __init__(self, step: Step, side: int, bucket: int, found: dict[int, list[Value]]) -> None:
        self.step, self.side, self.bucket, self.found = step, side, bucket, found
        own = [kind for kind, place in zip(blocks.COUNTS, blocks.SIDE_OF_COUNTS, strict=True) if place == side]
        self.counts = {kind: self._learned(blocks.COUNTED + blocks.COUNTS.index(kind)) for kind in own}

    def values(self) -> Iterator[Value]:
        """Return the next rows and their figures."""
        yield from {blocks.STRINGS: self._strings, blocks.CONTEXTS: self._contexts}[self.side]()
        for kind, run in self.counts.items() if self.step.keeps_counts else ():
            yield self._value(blocks.COUNTED + blocks.COUNTS.index(kind), blocks.packed(rows_of_run(run)))

    def _learned(self, kind: int) -> Run:
        """S, from the counts of shards and from what was learned before."""
        new = self._sum([each for each in self.found.get(kind, []) if each.shard != blocks.NONE], kind)
        if self.step.is_first:
            return new
        old = self._sum([each for each in self.found.get(kind, []) if each.shard == blocks.NONE], kind)
        return add_up([scaled(old, 1.0 - self.step.rho), scaled(new, self.step.rho)])

    def _sum(self, values: list[Value], kind: int) -> Run:
        return add_up([_run_of_rows(blocks.unpacked(each.data, kind)) for each in values])

    def _rows(self, kind: int) -> Keyed:
        return blocks.rows_of_kind(self.found, kind)

    def _value(self, kind: int, data: bytes) -> Value:
        return Value(self.side, self.bucket, kind, blocks.NONE, data)

    def _report(self, **figures: float) -> Value:
        return self._value(blocks.REPORT, json.dumps(figures).encode())

    def _strings(self) -> Iterator[Value]:
        old, base = self._rows(blocks.LAMBDA), self._rows(packets.BASE)
        symbols = np.union1d(old.keys, self.counts[MENTIONS].symbols)
        counts = {kind: _within(self.counts[kind], symbols) for kind in (MENTIONS, BASE)}
        first, first_base = (parameters_of(each.of(symbols)) for each in (old, base))
        mentions, own = next_mentions(first, first_base, counts, self.step.settings.prior_weight)
        yield self._value(blocks.LAMBDA, blocks.packed(_blended(symbols, mentions)))
        yield self._value(packets.BASE, blocks.packed(_blended(symbols, own)))
        before = self._rows(packets.NIL)
        known = NilCounts(before.keys, before.entries["nil"], before.entries["texts"]) if self.step.has_nil else None
        nil = nil_table(known, self.counts["nil"])
        entries = np.empty(len(nil.symbols), blocks.ENTRY[packets.NIL])
        entries["nil"], entries["texts"] = nil.nil, nil.texts
        yield self._value(packets.NIL, blocks.packed(Keyed(nil.symbols, np.arange(len(entries) + 1), entries)))
        sums = {name: float(entries[name].sum(dtype=np.float64)) for name in ("nil", "texts")}
        yield self._report(
            parameters=len(mentions.topics), gained=int(mentions.gained), dropped=int(mentions.dropped), **sums
        )

    def _contexts(self) -> Iterator[Value]:
        topics, types = self._types()
        counts, expected = (
            in_contexts(
                self.counts[kind]._replace(topics=np.searchsorted(topics, self.counts[kind].topics).astype(np.uint32))
            )
            for kind in ("contexts", "expected")
        )
        made = counted_contexts(self._old_contexts(types), types, counts, expected)
        keys = (made.keys >> np.uint64(1)).astype(np.int64)
        entries = np.empty(len(made.words), blocks.ENTRY[packets.CONTEXT])
        entries["word"], entries["count"], entries["expected"] = made.words, made.counts, made.expected
        yield self._value(packets.CONTEXT, blocks.packed(Keyed(keys, offsets_of(made.lengths), entries)))
        yield self._value(packets.CONTEXT_SUM, blocks.packed(Keyed(keys, np.arange(len(keys) + 1), made.sums)))
        yield self._value(blocks.TOTALS, totals_of(made, self.step.types).tobytes())
        if self.step.keeps_counts:
            yield self._value(blocks.TOPIC_WORDS, _topic_words(topics, types).tobytes())

    def _types(self) -> tuple[NDArray[np.uint32], TopicTypes]:
        """The topics that were counted here, sorted, and their type words."""
        parts = [np.frombuffer(each.data, blocks.TOPIC_WORD) for each in self.found.get(blocks.TOPIC_WORDS, [])]
        pairs = np.concatenate([np.empty(0, blocks.TOPIC_WORD), *parts])
        both = np.unique(pairs["topic"].astype(np.uint64) << np.uint64(32) | pairs["word"])
        owners = (both >> np.uint64(32)).astype(np.uint32)
        counted = [self.counts[kind].topics for kind in ("contexts", "expected")]
        topics = np.unique(np.concatenate([owners, *counted])).astype(np.uint32)
        lengths = np.bincount(np.searchsorted(topics, owners), minlength=len(topics)).astype(np.int64)
        hashes = np.zeros(self.step.types, np.uint32)
        return topics, TopicTypes(offsets_of(lengths), both.astype(np.uint32), hashes)

    def _old_contexts(self, types: TopicTypes) -> ContextCounts:
        rows, sums = self._rows(packets.CONTEXT), self._rows(packets.CONTEXT_SUM)
        words, counts, expected = (np.ascontiguousarray(rows.entries[name]) for name in ("word", "count", "expected"))
        table = table_of(rows.keys.astype(np.uint64) << np.uint64(1))
        return empty_counts(types)._replace(
            symbols=table, offsets=rows.offsets, words=words, counts=counts, expected=expected, sums=sums.entries
        )


def rows_of_run(run: Run) -> Keyed:
    """Counts as rows."""
    entries = np.empty(len(run.topics), blocks.COUNT)
    entries["topic"], entries["sweeps"] = run.topics, run.sweeps
    return Keyed(run.symbols, run.offsets, entries)


def _run_of_rows(rows: Keyed) -> Run:
    """Rows as counts; the arrays are no views, for which kernels would be compiled once more."""
    topics, sweeps = (np.ascontiguousarray(rows.entries[name]) for name in ("topic", "sweeps"))
    return Run(rows.keys.copy(), rows.offsets.copy(), topics, sweeps)


def totals_of(made: CountedContexts, types: int) -> NDArray[np.void]:
    """Of the type words that rows of context symbols have: sums of counts in whole parts, and the number of rows."""
    totals, distinct = made.whole_totals(types), distinct_contexts(made.words, made.counts, types)
    words = np.flatnonzero((totals > 0) | (distinct > 0))
    found = np.empty(len(words), blocks.TOTAL)
    found["word"], found["total"], found["distinct"] = words, totals[words], distinct[words]
    return found


def _within(run: Run, symbols: Numbers) -> Run:
    """Counts with symbols numbered by their place among some."""
    return run._replace(symbols=np.searchsorted(symbols, run.symbols))


def _blended(keys: Numbers, made: Blended) -> Keyed:
    entries = np.empty(len(made.topics), PARAMETER)
    entries["topic"], entries["value"] = made.topics, made.values
    return Keyed(keys, offsets_of(made.lengths), entries)


def _topic_words(topics: NDArray[np.uint32], types: TopicTypes) -> NDArray[np.void]:
    pairs = np.empty(len(types.words), blocks.TOPIC_WORD)
    pairs["topic"], pairs["word"] = np.repeat(topics, np.diff(types.offsets)), types.words
    return pairs
