"""Packets: everything that inference needs for some documents, as rows by key.

Rows come from tables that are keyed as in Figure 3 of the paper: by mention string and by word (`<V, <T>>`), by topic
(`<I, <E>>`), and by context symbol. `Tables` gathers them from memory-mapped arrays; a cluster joins them
(`wikilda.training.engines.spark`).

`view_of` turns a packet into tables of its own: topics, strings and words are numbered within the packet, in the order
of the model's numbers. Kernels compare numbers and use them as indices only, so that they give the same bits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import StringTable, offsets_of, table_of
from wikilda.knowledge.context_counts import ContextCounts, TopicTypes
from wikilda.knowledge.graph import Graph
from wikilda.knowledge.knowledge import NO_CASES
from wikilda.model.model import NilCounts, Parameters
from wikilda.model.weights import Weights
from wikilda.text.characters import characters
from wikilda.text.tokens import Strings
from wikilda.urn._candidates import Rows, gather
from wikilda.urn._find import read_names
from wikilda.urn._names import LinkCounts
from wikilda.urn._relatedness import neighbours_of
from wikilda.urn._title_match import capital_chances
from wikilda.urn._word_evidence import WordTable
from wikilda.urn.urn import Urn
from wikilda.urn.view import View

Numbers = NDArray[np.int64]
Topics = NDArray[np.uint32]

# Kinds of rows by mention string, by word, by topic, by context symbol; and what an entry of a row is.
STRING, LINKS, BY_WORDS, BASE, NIL, WORD, TITLE, TOPIC, TYPES, NEAR, CONTEXT, CONTEXT_SUM = range(12)
PARAMETER = np.dtype([("topic", np.uint32), ("value", np.float32)])
ENTRIES: dict[int, Any] = {
    STRING: np.dtype(np.uint8),
    LINKS: np.dtype(np.uint32),  # by topic of the string
    BY_WORDS: np.dtype([("topic", np.uint32), ("prior", np.float64)]),
    BASE: PARAMETER,
    NIL: np.dtype([("nil", np.float32), ("texts", np.float32)]),
    WORD: PARAMETER,
    TITLE: np.dtype(np.uint8),
    TOPIC: np.dtype([
        ("popularity", np.float32), ("norm", np.float32), ("degree", np.int64), ("described", np.uint32),
        ("person", np.uint8), ("organisation", np.uint8), ("capital", np.uint8),
    ]),
    TYPES: np.dtype(np.uint32),
    NEAR: np.dtype([("topic", np.uint32), ("norm", np.float32), ("degree", np.int64)]),
    CONTEXT: np.dtype([("word", np.uint32), ("count", np.float32), ("expected", np.float32)]),
    CONTEXT_SUM: np.dtype(np.float64),
}  # fmt: skip
_LEAST = 1e-30  # sum of a word's row
_AT_ONCE = 10_000  # strings whose names are read together


class Keyed(NamedTuple):
    """Rows by key (sorted): the entries of row i from offsets[i] on."""

    keys: Numbers
    offsets: Numbers
    entries: NDArray[Any]

    def of(self, keys: Numbers) -> "Keyed":
        """The rows of some keys, empty where there is none."""
        if np.array_equal(keys, self.keys):
            return self
        places = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        there = self.keys[places] == keys if len(self.keys) else np.zeros(len(keys), np.bool_)
        lengths = np.where(there, np.diff(self.offsets)[places] if len(self.keys) else 0, 0)
        starts = self.offsets[places] if len(self.keys) else np.zeros(len(keys), np.int64)
        return Keyed(keys, *_taken(starts, lengths, self.entries))


Packet = Mapping[int, Keyed]


class Asked(NamedTuple):
    """Requests of documents: distinct mention strings, words, context symbols, and further topics."""

    mentions: Numbers
    words: Numbers
    contexts: NDArray[np.uint64]
    topics: Topics


@dataclass(frozen=True)
class Shared:
    """Values that all packets of an iteration share. They do not grow with topics, strings or texts."""

    weights: Weights
    language: str
    nil_share: float
    totals: NDArray[np.float64]  # of context counts, by type word
    has: frozenset[int]  # of the optional kinds: BY_WORDS, NIL, CONTEXT
    has_types: bool
    is_described: bool
    of_links: bool  # whether context counts are those of the wiki's links

    @classmethod
    def of(cls, view: View) -> "Shared":
        """That of memory-mapped arrays."""
        has = {BY_WORDS: view.names, NIL: view.nil, CONTEXT: view.contexts}
        totals = np.asarray(view.contexts.totals) if view.contexts else np.zeros(0)
        there = frozenset(kind for kind, table in has.items() if table is not None)
        described = view.described is not None
        return cls(
            view.weights, view.language, view.nil_share, totals, there, len(view.persons) > 0, described, view.of_links
        )  # fmt: skip


def candidates_of(rows: Parameters, by_words: Keyed, keys: Numbers, most: int) -> Topics:
    """Return the candidates of mention strings: the `most` best of their `rows`, and those by words of titles."""
    found, _ = gather(np.arange(len(keys)), rows, most)
    return np.unique(np.concatenate((found.topics, by_words.of(keys).entries["topic"])))


class Tables:
    """Rows gathered from memory-mapped arrays: the packets of one machine, and what other engines' tables start as."""

    def __init__(self, urn: Urn, types: TopicTypes) -> None:
        """`types` are the type words of topics."""
        self.urn, self.view, self.types = urn, urn.view, types

    def packet(self, asked: Asked) -> Packet:
        """All rows that documents need."""
        strings = self.of_strings(asked.mentions) | self.candidates_of_strings(asked.mentions)
        strings |= self.learned_of_strings(asked.mentions)
        rows, most = strings[BASE], self.urn.limits.candidates
        values = np.ascontiguousarray(rows.entries["topic"]), np.ascontiguousarray(rows.entries["value"])
        candidates = candidates_of(Parameters(rows.offsets, *values), strings[BY_WORDS], asked.mentions, most)
        topics = np.union1d(candidates, asked.topics).astype(np.int64)
        return strings | self.of_topics(topics) | {WORD: self.words(asked.words)} | self.contexts(asked.contexts)

    def of_strings(self, symbols: Numbers) -> dict[int, Keyed]:
        """Return the rows of mention strings that no text changes."""
        view = self.view
        return {
            STRING: rows_of(symbols, view.strings.offsets, view.strings.data),
            LINKS: rows_of(symbols, view.links.offsets, view.links.counts),
        }

    def candidates_of_strings(self, symbols: Numbers) -> dict[int, Keyed]:
        """Return further rows for training, whose documents have mention strings in the dictionary's spelling only."""
        by_words = self._by_words(symbols)
        entries = np.empty(len(by_words.topics), ENTRIES[BY_WORDS])
        entries["topic"], entries["prior"] = by_words.topics, by_words.priors
        return {BY_WORDS: Keyed(symbols, by_words.offsets, entries)}

    def learned_of_strings(self, symbols: Numbers) -> dict[int, Keyed]:
        """Return the rows of mention strings that training changes."""
        nil = self.view.nil
        met = np.intersect1d(symbols, nil.symbols) if nil else np.empty(0, np.int64)
        entries = np.empty(len(met), ENTRIES[NIL])
        entries["nil"], entries["texts"] = nil.of(met) if nil else (0.0, 0.0)
        return {BASE: _parameters(symbols, self.view.base), NIL: Keyed(met, np.arange(len(met) + 1), entries)}

    def of_topics(self, topics: Numbers) -> dict[int, Keyed]:
        """Return the rows of topics that training does not change."""
        view = self.view
        plain = np.zeros(len(topics), ENTRIES[TOPIC])
        plain["popularity"], plain["norm"] = view.popularity[topics], view.words.lengths[topics]
        plain["degree"] = _degrees(view.degrees, topics)
        plain["capital"] = capital_chances(topics, view.capitals, view.titles, view.cases, characters())
        for name, column in (
            ("described", view.described), ("person", view.persons), ("organisation", view.organisations),
        ):  # fmt: skip
            if column is not None and len(column):
                plain[name] = column[topics]
        near = neighbours_of(view.graph, topics.astype(np.uint32), self.urn.limits.neighbours, -1)
        entries = np.empty(len(near.topics), ENTRIES[NEAR])
        entries["topic"], entries["norm"] = near.topics, view.words.lengths[near.topics]
        entries["degree"] = _degrees(view.degrees, near.topics.astype(np.int64))
        return {
            TITLE: rows_of(topics, view.titles.offsets, view.titles.data),
            TOPIC: Keyed(topics, np.arange(len(topics) + 1), plain),
            TYPES: rows_of(topics, self.types.offsets, self.types.words),
            NEAR: Keyed(topics, near.offsets, entries),
        }

    def known(self, symbols: Numbers) -> Keyed:
        """λ̂ of mention strings."""
        return _parameters(symbols, self.urn.model.mentions)

    def words(self, words: Numbers) -> Keyed:
        """Parameters of words."""
        return _parameters(words, self.view.words.rows)

    def contexts(self, symbols: NDArray[np.uint64]) -> dict[int, Keyed]:
        """The counts of context symbols, by half of the symbol, which is even: keys are signed."""
        known = self.view.contexts
        if known is None:
            return {kind: _nothing(kind) for kind in (CONTEXT, CONTEXT_SUM)}
        numbers = np.searchsorted(self._context_keys, symbols)
        there = self._context_keys[np.minimum(numbers, max(len(self._context_keys) - 1, 0))] == symbols
        numbers, keys = numbers[there], (symbols[there] >> np.uint64(1)).astype(np.int64)
        offsets, source = source_of(known.offsets[numbers], np.diff(known.offsets)[numbers])
        entries = np.empty(len(source), ENTRIES[CONTEXT])
        for name, column in (("word", known.words), ("count", known.counts), ("expected", known.expected)):
            entries[name] = column[source]
        sums = Keyed(keys, np.arange(len(keys) + 1), np.asarray(known.sums[numbers]))
        return {CONTEXT: Keyed(keys, offsets, entries), CONTEXT_SUM: sums}

    @cached_property
    def _context_keys(self) -> NDArray[np.uint64]:
        assert self.view.contexts is not None
        return self.view.contexts.keys  # in the order of numbers, they are sorted

    def _by_words(self, symbols: Numbers) -> Rows:
        """Candidates by the words of titles."""
        found = [Rows(np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0, np.float64))]
        for start in range(0, len(symbols), _AT_ONCE):
            some = symbols[start : start + _AT_ONCE]
            rows = rows_of(some, self.view.strings.offsets, self.view.strings.data)
            zeros, unmarked = np.zeros(len(some), np.int64), np.zeros(len(some), np.bool_)
            strings = Strings(rows.entries, rows.offsets)
            named = read_names(
                self.urn.name_tables, self.urn.limits.candidates, some, strings, zeros, unmarked, unmarked,
                np.arange(len(some)),
            )  # fmt: skip
            found.append(self.urn.back_off(named))
        lengths = np.concatenate([np.diff(each.offsets) for each in found])
        topics, priors = ([getattr(each, name) for each in found] for name in ("topics", "priors"))
        return Rows(offsets_of(lengths), np.concatenate(topics), np.concatenate(priors))


def view_of(packet: Packet, shared: Shared) -> tuple[View, Topics]:
    """A packet as tables, and which topics its numbers of topics are."""
    own = packet[TOPIC].keys
    mentioned = [packet[kind].entries["topic"] for kind in (NEAR, BASE, BY_WORDS)]
    mentioned.append(packet[TITLE].keys.astype(np.uint32))
    topics = np.unique(np.concatenate([own.astype(np.uint32), *mentioned]))
    number = np.full(int(topics[-1]) + 2 if len(topics) else 1, -1, np.int64)
    number[topics] = np.arange(len(topics))
    at, size = number[own], len(topics)
    near, plain = packet[NEAR].of(own), packet[TOPIC].entries
    neighbours = number[near.entries["topic"]]
    degrees, norms = np.zeros(size, np.int64), np.zeros(size, np.float32)
    for name, column in (("degree", degrees), ("norm", norms)):
        column[neighbours], column[at] = near.entries[name], plain[name]

    def by_topic(name: str, is_known: bool = True) -> NDArray[Any]:
        column = np.zeros(size if is_known else 0, ENTRIES[TOPIC][name])
        column[at if is_known else at[:0]] = plain[name] if is_known else 0
        return column

    strings = packet[STRING].keys
    texts, links, titles = packet[STRING], packet[LINKS].of(strings), packet[TITLE]
    none = np.zeros(size + 1, np.int64), np.empty(0, np.uint32)
    contexts = _contexts(packet, shared, _spread(packet[TYPES].of(own), at, size)) if CONTEXT in shared.has else None
    view = View(
        weights=shared.weights,
        language=shared.language,
        strings=StringTable(texts.entries, texts.offsets),
        base=_numbered(packet[BASE].of(strings), number),
        links=LinkCounts(links.offsets, links.entries),
        nil=_nil(packet[NIL].of(strings)) if NIL in shared.has else None,
        nil_share=shared.nil_share,
        words=_words(packet[WORD], number, norms),
        titles=Strings(titles.entries, _spread(titles, number[titles.keys], size).offsets),
        cases=NO_CASES,
        capitals=by_topic("capital"),
        popularity=by_topic("popularity"),
        persons=by_topic("person", shared.has_types),
        organisations=by_topic("organisation", shared.has_types),
        described=by_topic("described") if shared.is_described else None,
        graph=Graph(_spread(near, at, size).offsets, neighbours.astype(np.uint32), *none),
        degrees=Graph(offsets_of(degrees), none[1], *none),
        contexts=contexts,
        counted=float(shared.totals.sum()) if contexts else 0.0,
        of_links=shared.of_links,
        names=None,
        by_words=_by_words(packet[BY_WORDS].of(strings), number) if BY_WORDS in shared.has else None,
    )
    return view, topics


def _numbered(rows: Keyed, number: Numbers) -> Parameters:
    """Return the parameters of the packet's topics."""
    topics = rows.entries["topic"]
    numbers = number[np.minimum(topics, len(number) - 1)]
    kept = numbers >= 0
    offsets = offsets_of(kept.astype(np.int64))[rows.offsets]
    return Parameters(
        offsets, numbers[kept].astype(np.uint32), np.ascontiguousarray(rows.entries["value"][kept])
    )  # fmt: skip


def _words(rows: Keyed, number: Numbers, norms: NDArray[np.float32]) -> WordTable:
    """Parameters of words, and the sums of whole rows, added up in their order as `total_of` does."""
    owners = np.repeat(np.arange(len(rows.keys)), np.diff(rows.offsets))
    totals = np.bincount(owners, rows.entries["value"].astype(np.float64), len(rows.keys))
    return WordTable(_numbered(rows, number), np.maximum(totals, _LEAST), norms)


def _by_words(rows: Keyed, number: Numbers) -> Rows:
    topics = number[rows.entries["topic"]].astype(np.uint32)
    return Rows(rows.offsets, topics, np.ascontiguousarray(rows.entries["prior"]))


def _nil(rows: Keyed) -> NilCounts:
    symbols = np.flatnonzero(np.diff(rows.offsets))
    nil, texts = (np.ascontiguousarray(rows.entries[name]) for name in ("nil", "texts"))
    return NilCounts(symbols, nil, texts)


def _contexts(packet: Packet, shared: Shared, types: Keyed) -> ContextCounts:
    rows, none = packet[CONTEXT], np.empty(0, np.uint64)
    words, counts, expected = (np.ascontiguousarray(rows.entries[name]) for name in ("word", "count", "expected"))
    kinds = TopicTypes(types.offsets, types.entries, np.empty(0, np.uint32))
    table = table_of(rows.keys.astype(np.uint64) << np.uint64(1))
    sums = packet[CONTEXT_SUM].entries
    return ContextCounts(
        types=kinds,
        symbols=table,
        offsets=rows.offsets,
        words=words,
        counts=counts,
        expected=expected,
        sums=sums,
        totals=shared.totals,
        texts=none,
    )


def _spread(rows: Keyed, at: Numbers, size: int) -> Keyed:
    """Rows of the topics of a packet that have any, as rows of all of them."""
    lengths = np.zeros(size, np.int64)
    lengths[at] = np.diff(rows.offsets)
    return Keyed(np.arange(size), offsets_of(lengths), rows.entries)


def _parameters(keys: Numbers, table: Parameters) -> Keyed:
    offsets, source = source_of(table.offsets[keys], table.offsets[keys + 1] - table.offsets[keys])
    entries = np.empty(len(source), PARAMETER)
    entries["topic"], entries["value"] = table.topics[source], table.values[source]
    return Keyed(keys, offsets, entries)


def rows_of(keys: Numbers, offsets: Numbers, values: NDArray[Any]) -> Keyed:
    """Return the rows of keys of a table."""
    return Keyed(keys, *_taken(offsets[keys], offsets[keys + 1] - offsets[keys], values))


def _taken(starts: Numbers, lengths: Numbers, values: NDArray[Any]) -> tuple[Numbers, NDArray[Any]]:
    offsets, source = source_of(starts, lengths)
    return offsets, np.asarray(values[source])


def source_of(starts: Numbers, lengths: Numbers) -> tuple[Numbers, Numbers]:
    """Where rows that are taken begin, and where their entries were."""
    offsets = offsets_of(lengths)
    return offsets, np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


def _degrees(graph: Graph, topics: Numbers) -> Numbers:
    out, back = (offsets[topics + 1] - offsets[topics] for offsets in (graph.out_offsets, graph.in_offsets))
    found: Numbers = out + back
    return found


def _nothing(kind: int) -> Keyed:
    return Keyed(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, ENTRIES[kind]))
