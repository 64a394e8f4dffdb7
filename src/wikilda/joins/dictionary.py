"""Rows for linking raw text: mention strings by how they begin, spellings of words, names, and what entities are.

A mention string is found by the first two of its tokens: the row of a beginning has all strings that begin so, with the
sequences that these go through. So a text asks for each of its tokens and each pair of tokens, and detection in what
comes back gives the same mentions as in the whole dictionary.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, lookup
from wikilda._core.jit import Whole, njit
from wikilda.joins import blocks
from wikilda.joins.blocks import Buckets, Value
from wikilda.knowledge import Knowledge
from wikilda.knowledge.mention_trie import LONGEST
from wikilda.model import Model
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import BREAK, FLAGS, Bytes, Hashes, Offsets, chain, tokenize
from wikilda.urn.name_rows import NameRows, by_half, halves
from wikilda.urn.packet import Keyed, Numbers, rows_of

_AT_ONCE = 1 << 24  # sequences of tokens

Keys = NDArray[np.uint64]


class DictionaryRows:
    """The rows that linking needs besides those of training, gathered from the files of the driver."""

    def __init__(self, model: Model, knowledge: Knowledge, buckets: Buckets) -> None:
        self.knowledge, self.buckets = knowledge, buckets
        self.names = NameRows(knowledge, model.base)

    def values(self, bucket: int) -> Iterator[Value]:
        """Yield the rows of a bucket."""
        yield from self._values(blocks.PREFIXES, self._nodes(bucket))
        yield from self._values(
            blocks.SPELLINGS, self._of_spellings(self._part(blocks.SPELLINGS, bucket, self._spellings))
        )
        yield from self._values(blocks.NAMES, self.names.of_names(self._part(blocks.NAMES, bucket, self.names.names)))
        yield from self._values(
            blocks.VARIANTS, self.names.of_variants(self._part(blocks.VARIANTS, bucket, self.names.variants))
        )
        yield from self._values(blocks.TOPICS, self._of_topics(bucket))

    def _values(self, side: int, rows: dict[int, Keyed]) -> Iterator[Value]:
        for kind, each in rows.items():
            yield from blocks.blocks_of(kind, each, self.buckets, side)

    def _part(self, side: int, bucket: int, keys: Keys) -> slice:
        return self.buckets.within(side, bucket, halves(keys))

    def _nodes(self, bucket: int) -> dict[int, Keyed]:
        """Return the sequences of tokens in mention strings, by the first two tokens."""
        first = bucket - bucket % self._together
        if self._gathered[0] != first:
            self._gathered = first, self._gather(first)
        prefixes, keys = self._gathered[1]
        part = self._part(blocks.PREFIXES, bucket, prefixes)
        prefixes, keys = prefixes[part], keys[part]
        entries, known = np.zeros(len(keys), blocks.ENTRY[blocks.NODE]), self.knowledge
        mentions = lookup_all(known.mention_trie, keys)
        there = mentions >= 0
        entries["key"], entries["mention"] = keys, mentions
        entries["linked"][there] = known.linked[mentions[there]]
        entries["occurrences"][there] = known.occurrences[mentions[there]]
        if len(known.lower_names):
            entries["lower"][there] = known.lower_names[mentions[there]]
        return {blocks.NODE: by_half(prefixes, np.ones(len(keys), np.int64), entries)}

    _gathered: tuple[int, tuple[Keys, Keys]] = -1, (np.empty(0, np.uint64), np.empty(0, np.uint64))

    @cached_property
    def _together(self) -> int:
        """How many buckets fit into memory: each is a pass over all strings."""
        return max(self.buckets.ranges * _AT_ONCE // max(len(self.knowledge.mention_trie.keys), 1), 1)

    def _gather(self, first: int) -> tuple[Keys, Keys]:
        """Return the sequences of the mention strings of some buckets: their beginnings, sorted, and hashes."""
        strings, width = self.knowledge.mention_strings, self.buckets.width(blocks.PREFIXES)
        low = min(first * width, (1 << 63) - 1)
        high = min((first + self._together) * width, 1 << 63)
        found = [np.empty(0, np.uint64)] * 2
        for _ in range(2):  # first to count them
            size = trie_nodes(strings.data, strings.offsets, characters(), np.uint64(low), np.uint64(high), *found)
            if len(found[0]) < size:
                found = [np.empty(size, np.uint64) for _ in found]
        prefixes, keys = found
        order = np.lexsort((keys, prefixes))
        prefixes, keys = prefixes[order], keys[order]
        new = np.append(True, (prefixes[1:] != prefixes[:-1]) | (keys[1:] != keys[:-1]))[: len(keys)]
        return prefixes[new], keys[new]

    @cached_property
    def _spellings(self) -> Keys:
        known = self.knowledge
        found: Keys = np.union1d(*(table.keys[table.keys != 0] for table in (known.word_table, known.word_cases.table)))
        return found

    def _of_spellings(self, some: slice) -> dict[int, Keyed]:
        """Return the number of words, and how articles write them."""
        keys, known = self._spellings[some], self.knowledge
        entries, cases = np.zeros(len(keys), blocks.ENTRY[blocks.SPELLING]), known.word_cases
        numbers = lookup_all(cases.table, keys)
        entries["key"], entries["word"], entries["cased"] = keys, lookup_all(known.word_table, keys), numbers >= 0
        for name in ("capital", "before", "after"):
            entries[name] = np.where(numbers >= 0, getattr(cases, name)[numbers], 0)
        return {blocks.SPELLING: by_half(keys, np.ones(len(keys), np.int64), entries)}

    def _of_topics(self, bucket: int) -> dict[int, Keyed]:
        """Return what answers say of entities."""
        known, width = self.knowledge, self.buckets.width(blocks.TOPICS)
        topics = np.arange(*(min(each * width, len(known.titles)) for each in (bucket, bucket + 1)))
        entries = np.zeros(len(topics), blocks.ENTRY[blocks.ENTITY])
        entries["page"], entries["wikidata"] = known.page_ids[topics], known.wikidata[topics]
        if known.types.shares:
            entries["types"] = np.stack([each[topics] for each in known.types.shares], axis=1)
        rows = {blocks.ENTITY: Keyed(topics, np.arange(len(topics) + 1), entries)}
        for kind, table in ((blocks.ADDRESS, known.urls), (blocks.ID, known.ids)):
            if table is not None:
                rows[kind] = rows_of(topics, table.offsets, table.data)
        return rows


def asked_by_tokens(hashes: Hashes) -> tuple[Keys, Keys]:
    """Return what a tokenised text asks for: the beginnings that it has, and its words. Both repeat themselves."""
    tokens = hashes[hashes != BREAK]
    beginnings = np.empty(2 * len(tokens), np.uint64)
    return beginnings[: fill_beginnings(tokens, beginnings)], tokens & ~FLAGS


@njit
def fill_beginnings(tokens: Hashes, found: Keys) -> int:
    """Write the hash of each token, and of each and the next."""
    size = 0
    for at in range(len(tokens)):
        found[size] = chain(BREAK, tokens[at])
        size += 1
        if at + 1 < len(tokens):
            found[size] = chain(found[size - 1], tokens[at + 1])
            size += 1
    return size


@njit
def trie_nodes(
    data: Bytes, offsets: Offsets, table: Characters, low: np.uint64, high: np.uint64, prefixes: Keys, keys: Keys
) -> Whole:
    """Write the sequences of tokens that strings go through, each with the first two tokens; returns their number.

    Those whose beginnings have halves from `low` to `high`; only their number if there is no place for them.
    """
    hashes, places = np.empty(LONGEST, np.uint64), np.empty((2, LONGEST), np.int64)
    size = np.int64(0)
    for mention in range(len(offsets) - 1):
        end = min(offsets[mention + 1], offsets[mention] + LONGEST)
        count = tokenize(data, offsets[mention], end, table, hashes, places[0], places[1])
        sequence = prefix = BREAK
        for at in range(count):
            sequence = chain(sequence, hashes[at])
            prefix = sequence if at < 2 else prefix
            half = prefix >> np.uint64(1)
            if low <= half < high:
                if size < len(keys):
                    prefixes[size], keys[size] = prefix, sequence
                size += 1
    return size


@njit
def lookup_all(table: HashTable, keys: Keys) -> Numbers:
    """The numbers of keys, or −1."""
    found = np.empty(len(keys), np.int64)
    for at in range(len(keys)):
        found[at] = lookup(table, keys[at])
    return found
