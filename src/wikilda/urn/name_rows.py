"""The index of names as rows by key: what mention strings need that may mean topics by the words of their titles.

`NameRows` gathers the rows of some keys from the files of the knowledge, `NameParts` makes an index of them again, for
which the kernels give the same candidates.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, offsets_of, table_of
from wikilda._core.jit import njit
from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.name_index import NO_NAMES, NameIndex, cut, name_index, stem_key
from wikilda.model.model import Parameters
from wikilda.text.characters import Characters, characters
from wikilda.text.folding import Folds, fold_words, folds, sequence_of
from wikilda.text.tokens import Hashes, Strings
from wikilda.urn._backoff import INSIDE_MOST, back_off, initials_of
from wikilda.urn._find import NameTables, read_names
from wikilda.urn._names import LinkCounts, resolve
from wikilda.urn.packet import PARAMETER, Keyed, Numbers, Topics, rows_of, source_of

# Kinds of rows by key of the index, and by folded string. Keys are halves of hashes; entries have the hashes.
NAME, NAME_TITLE, VARIANT, MEANT, MEANT_TITLE = range(70, 75)
NAME_ENTRIES: dict[int, Any] = {
    NAME: np.dtype([
        ("key", np.uint64), ("topic", np.uint32), ("popularity", np.float32), ("title", np.int32), ("size", np.uint8),
    ]),
    NAME_TITLE: np.dtype(np.uint8),  # of the entries, one after the other; `title` is their length
    VARIANT: np.dtype([("key", np.uint64), ("mention", np.int32)]),
    MEANT: np.dtype([
        ("mention", np.int32), ("topic", np.uint32), ("value", np.float32), ("popularity", np.float32),
        ("title", np.int32),
    ]),
    MEANT_TITLE: np.dtype(np.uint8),
}  # fmt: skip
_UNKNOWN = np.empty(0, np.uint8)
_NO_LINKS = LinkCounts(np.zeros(1, np.int64), np.empty(0, np.uint32))


def halves(keys: NDArray[np.uint64]) -> Numbers:
    """Return hashes as keys of rows, which are signed."""
    return (keys >> np.uint64(1)).astype(np.int64)


def by_half(keys: NDArray[np.uint64], lengths: Numbers, entries: NDArray[Any]) -> Keyed:
    """Return entries of hashes as rows by their halves: `lengths` of each of the sorted hashes."""
    found, starts = np.unique(halves(keys), return_index=True)
    return Keyed(found, np.append(offsets_of(lengths)[starts], len(entries)).astype(np.int64), entries)


class NameRows:
    """Rows of the index of knowledge, by sorted hashes."""

    def __init__(self, knowledge: Knowledge, base: Parameters) -> None:
        self.index, self.base, self.titles = name_index(knowledge) or NO_NAMES, base, knowledge.titles
        self.names, self._rows = _entries(self.index.table)
        self.variants, self._mentions = _entries(self.index.variants)

    def of_names(self, some: slice) -> dict[int, Keyed]:
        """Return the rows of some keys of the index."""
        index, rows = self.index, self._rows[some]
        lengths = np.diff(index.offsets)[rows]
        _, source = source_of(index.offsets[rows], lengths)
        topics = index.topics[source]
        entries = np.empty(len(source), NAME_ENTRIES[NAME])
        entries["key"], entries["topic"] = np.repeat(self.names[some], lengths), topics
        entries["size"], entries["popularity"] = index.sizes[source], index.popularity[topics]
        titles = rows_of(topics.astype(np.int64), self.titles.offsets, self.titles.data)
        entries["title"] = np.diff(titles.offsets)
        bytes_of = np.diff(titles.offsets[offsets_of(lengths)])
        return {
            NAME: by_half(self.names[some], lengths, entries),
            NAME_TITLE: by_half(self.names[some], bytes_of, titles.entries),
        }

    def of_variants(self, some: slice) -> dict[int, Keyed]:
        """Return the rows of some folded strings: their mentions, and what these mean."""
        keys, mentions, base = self.variants[some], self._mentions[some], self.base
        entries = np.empty(len(keys), NAME_ENTRIES[VARIANT])
        entries["key"], entries["mention"] = keys, mentions
        lengths = base.offsets[mentions + 1] - base.offsets[mentions]
        offsets, source = source_of(base.offsets[mentions], lengths)
        meant = np.empty(len(source), NAME_ENTRIES[MEANT])
        meant["mention"], meant["topic"] = np.repeat(mentions, lengths), base.topics[source]
        meant["value"], meant["popularity"] = base.values[source], self.index.popularity[meant["topic"]]
        first = np.arange(len(source)) - np.repeat(offsets[:-1], lengths) < INSIDE_MOST
        titles = rows_of(meant["topic"][first].astype(np.int64), self.titles.offsets, self.titles.data)
        meant["title"] = -1
        meant["title"][first] = np.diff(titles.offsets)
        bytes_of = np.add.reduceat(np.append(np.maximum(meant["title"], 0), 0), offsets[:-1]) if len(keys) else lengths
        return {
            VARIANT: by_half(keys, np.ones(len(keys), np.int64), entries),
            MEANT: by_half(keys, lengths, meant),
            MEANT_TITLE: by_half(keys, np.where(lengths > 0, bytes_of, 0), titles.entries),
        }


def _entries(table: HashTable) -> tuple[NDArray[np.uint64], Numbers]:
    """Return the keys of a table, sorted, and their values."""
    used = table.keys != 0
    keys, values = table.keys[used], table.values[used]
    order = np.argsort(keys)
    return keys[order], values[order].astype(np.int64)


def keys_of_names(strings: Strings) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the keys of the index that strings need, and the folded strings that they and their parts are."""
    size = 3 * len(strings.data) + 8 * len(strings.offsets)
    names, variants = np.empty(size, np.uint64), np.empty(size, np.uint64)
    ends = _keys_of_names(strings, characters(), folds(), names, variants)
    found = np.unique(names[: ends[0]]), np.unique(variants[: ends[1]])
    return found[0][found[0] != 0], found[1][found[1] != 0]


@njit
def _keys_of_names(
    strings: Strings, table: Characters, fold: Folds, names: Hashes, variants: Hashes
) -> tuple[np.int64, np.int64]:
    data, named, varied = strings.data, np.int64(0), np.int64(0)
    for row in range(len(strings.offsets) - 1):
        start, end = strings.offsets[row], strings.offsets[row + 1]
        words = np.empty(end - start + 1, np.uint64)
        variants[varied] = sequence_of(words, np.int64(fold_words(data, start, end, table, fold, words)))
        varied += 1
        last = cut(data, start, end)
        count = np.int64(fold_words(data, start, last, table, fold, words))
        for at in range(count):
            names[named] = words[at]
            named += 1
        if count == 1:
            names[named] = initials_of(data[start:last], table, fold)
            names[named + 1] = stem_key(data, start, last, table, fold)
            named += 2
        for size in range(1, count):
            for first in (count - size, np.int64(0)):
                variants[varied] = sequence_of(words[first : first + size], np.int64(size))
                varied += 1
    return named, varied


class NameParts(NamedTuple):
    """Rows of the index of names that came in a packet."""

    names: Keyed
    name_titles: Keyed
    variants: Keyed
    meant: Keyed
    meant_titles: Keyed

    @classmethod
    def of(cls, rows: Mapping[int, Keyed]) -> "NameParts":
        """Those of a packet."""
        return cls(*(rows[kind] for kind in (NAME, NAME_TITLE, VARIANT, MEANT, MEANT_TITLE)))

    @property
    def topics(self) -> Topics:
        """The topics of all entries, sorted."""
        return np.unique(np.concatenate((self.names.entries["topic"], self.meant.entries["topic"])))

    @property
    def mentions(self) -> Numbers:
        """The mentions of all folded strings, sorted."""
        return np.unique(self.variants.entries["mention"]).astype(np.int64)

    def titles(self) -> Keyed:
        """Return titles by topic."""
        parts = [(self.names.entries, self.name_titles.entries), (self.meant.entries, self.meant_titles.entries)]
        topics, lengths = [np.empty(0, np.uint32)], [np.empty(0, np.int64)]
        for entries, _ in parts:
            there = entries["title"] >= 0
            topics.append(entries["topic"][there])
            lengths.append(entries["title"][there].astype(np.int64))
        data = np.concatenate([each for _, each in parts])
        found, first = np.unique(np.concatenate(topics), return_index=True)
        sizes = np.concatenate(lengths)
        offsets, source = source_of(offsets_of(sizes)[:-1][first], sizes[first])
        return Keyed(found.astype(np.int64), offsets, data[source])

    def base(self) -> Keyed:
        """Return the parameters of the mentions of folded strings."""
        entries = self.meant.entries
        order = np.argsort(entries["mention"], kind="stable")
        mentions, starts = np.unique(entries["mention"][order], return_index=True)
        rows = np.empty(len(entries), PARAMETER)
        rows["topic"], rows["value"] = entries["topic"][order], entries["value"][order]
        return Keyed(mentions.astype(np.int64), np.append(starts, len(rows)).astype(np.int64), rows)

    def as_index(self, topics: Topics, mentions: Numbers) -> NameIndex:
        """Return an index whose topics and mentions are numbered by their places among some."""
        entries, meant = self.names.entries, self.meant.entries
        order = np.argsort(entries["key"], kind="stable")
        entries = entries[order]
        keys, starts = np.unique(entries["key"], return_index=True)
        popularity = np.zeros(len(topics), np.float32)
        for some in (entries, meant):
            popularity[np.searchsorted(topics, some["topic"])] = some["popularity"]
        variants = self.variants.entries
        numbers = np.searchsorted(mentions, variants["mention"]).astype(np.int32)
        return NameIndex(
            table=table_of(keys), offsets=np.append(starts, len(entries)).astype(np.int64),
            topics=np.searchsorted(topics, entries["topic"]).astype(np.uint32),
            sizes=np.ascontiguousarray(entries["size"]), popularity=popularity,
            variants=table_with(np.ascontiguousarray(variants["key"]), numbers),
        )  # fmt: skip


def table_with(keys: NDArray[np.uint64], values: NDArray[np.int32]) -> HashTable:
    """Return a hash table with values."""
    table = table_of(keys)
    filled = table.values >= 0
    table.values[filled] = values[table.values[filled]]
    return table


def named_candidates(strings: Strings, known: NDArray[np.bool_], parts: NameParts, most: int) -> tuple[Numbers, Topics]:
    """Return what strings may mean by the words of titles, and the mentions that differ from them in accents only.

    `known` are the strings that are mentions themselves.
    """
    topics, mentions = parts.topics, parts.mentions
    index, titles = parts.as_index(topics, mentions), parts.titles().of(topics.astype(np.int64))
    base = numbered(parts.base().of(mentions), topics)
    links = _NO_LINKS._replace(offsets=np.zeros(len(mentions) + 1, np.int64))
    tables = NameTables(
        base=base, links=links, index_of_names=index, titles=Strings(titles.entries, titles.offsets),
        characters=characters(), folds=folds(), persons=_UNKNOWN, organisations=_UNKNOWN,
    )  # fmt: skip
    count = len(strings.offsets) - 1
    variants = resolve(np.full(count, -1), strings, index.variants, tables.characters, tables.folds, True)
    variants[known] = -1
    own, marks = -2 - np.arange(count), np.zeros(count, np.bool_)  # each is read for itself
    named = read_names(tables, 1, own, strings, np.zeros(count, np.int64), marks, marks, np.arange(count))
    symbols = np.where(known | (variants >= 0), 0, own)
    found = back_off(
        named.names, named.strings, symbols, most, index, tables.titles, base, tables.characters, tables.folds
    )  # fmt: skip
    return mentions[np.unique(variants[variants >= 0])], np.unique(topics[found.topics])


def numbered(rows: Keyed, topics: Topics) -> Parameters:
    """Return parameters whose topics are numbered by their places among some, which have all of them."""
    numbers = np.searchsorted(topics, rows.entries["topic"]).astype(np.uint32)
    return Parameters(rows.offsets, numbers, np.ascontiguousarray(rows.entries["value"]))
