"""A linker over a packet: the rows that some documents have asked for, in place of model and knowledge.

It is the linker of this machine with other tables: topics, strings and words are numbered within the packet.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, StringTable
from wikilda.documents.detection import DetectorSettings, DictionaryDetector, average_odds
from wikilda.joins import blocks
from wikilda.knowledge import Knowledge
from wikilda.knowledge.knowledge import WordCases
from wikilda.knowledge.types import Types
from wikilda.linking.linker import Linker
from wikilda.linking.restriction import Allowed
from wikilda.linking.results import Source
from wikilda.mediawiki.site import Site
from wikilda.text.tokens import mention_key
from wikilda.urn import Urn, UrnSettings
from wikilda.urn import packet as packets
from wikilda.urn.method import UrnMethod
from wikilda.urn.name_rows import NameParts, table_with
from wikilda.urn.packet import Keyed, Numbers, Shared, view_of
from wikilda.urn.view import View

_ALL = 1 << 62
_KNOWN_WORDS = 20_000  # from which on detection does not count the words whose case is known

Rows = Mapping[int, Keyed]


@dataclass(frozen=True)
class Everywhere:
    """Values that all packets share. They do not grow with topics, strings or texts."""

    shared: Shared
    settings: UrnSettings
    detection: DetectorSettings
    source: Source
    site: Site
    link_odds: float
    cased_words: int
    has_lower_names: bool
    has_types: bool
    has_names: bool
    has_addresses: bool
    has_ids: bool
    needs_contexts: bool

    @classmethod
    def of(cls, urn: Urn, knowledge: Knowledge, detection: DetectorSettings) -> "Everywhere":
        """Those of the files of the driver."""
        return cls(
            shared=Shared.of(urn.view), settings=urn.settings, detection=detection, source=Source.of(knowledge),
            site=replace(knowledge.site, language=urn.view.language), link_odds=average_odds(knowledge),
            cased_words=min(len(knowledge.word_cases.capital), _KNOWN_WORDS),
            has_lower_names=len(knowledge.lower_names) > 0, has_types=bool(knowledge.types.shares),
            has_names=urn.view.names is not None and urn.limits.backoff > 0,
            has_addresses=knowledge.urls is not None, has_ids=knowledge.ids is not None,
            needs_contexts=urn.contexts is not None,
        )  # fmt: skip


class PacketKnowledge(Knowledge):
    """Parts of knowledge, in memory: mention strings and words by their hashes, and what answers say of entities."""

    words_here: Numbers
    mentions_here: Numbers

    @classmethod
    def of(cls, rows: Rows, everywhere: Everywhere, more: Numbers | None = None) -> "PacketKnowledge":
        """Make it of what tokens have asked for. Mention strings are numbered together with `more`."""
        made = cls.__new__(cls)
        nodes, spelt = rows[blocks.NODE].entries, rows[blocks.SPELLING].entries
        there = nodes["mention"] >= 0
        found = nodes["mention"][there].astype(np.int64)
        mentions = np.unique(found if more is None else np.concatenate((found, more)))
        words = np.unique(spelt["word"][spelt["word"] >= 0]).astype(np.int64)
        numbers = np.full(len(nodes), -1, np.int32)
        numbers[there] = np.searchsorted(mentions, found)
        sizes = {name: np.zeros(len(mentions), nodes.dtype[name]) for name in ("linked", "occurrences", "lower")}
        for name, column in sizes.items():
            column[numbers[there]] = nodes[name][there]
        none = np.empty(0, np.bool_)
        made.__dict__ |= {
            "mentions_here": mentions,
            "words_here": words,
            "mention_trie": table_with(np.ascontiguousarray(nodes["key"]), numbers),
            "linked": sizes["linked"],
            "occurrences": sizes["occurrences"],
            "lower_names": sizes["lower"] if everywhere.has_lower_names else none,
            "word_table": _word_table(spelt, words),
            "word_cases": _cases(spelt, everywhere.cased_words),
            "link_odds": everywhere.link_odds,
            "site": everywhere.site,
        }
        return made

    def find_mention(self, text: str) -> int:
        """Return the mention of a string in any case and spacing; −1 if there is none."""
        from wikilda._core.arrays import lookup

        return lookup(self.mention_trie, np.uint64(mention_key(text)[1]))

    def describe_topics(self, rows: Rows, view: View, topics: Numbers, everywhere: Everywhere) -> None:
        """Add what answers say of entities, which have the packet's numbers."""
        size, keys = len(topics), rows[blocks.ENTITY].keys
        at, entities = np.searchsorted(topics, keys), rows[blocks.ENTITY].entries
        pages, items = np.zeros((2, size), np.int64)
        pages[at], items[at] = entities["page"], entities["wikidata"]
        types = np.zeros((size, entities["types"].shape[1]), np.uint8)
        types[at] = entities["types"]
        self.__dict__ |= {
            "titles": StringTable(view.titles.data, view.titles.offsets),
            "page_ids": pages,
            "wikidata": items,
            "types": Types(tuple(np.ascontiguousarray(each) for each in types.T) if everywhere.has_types else ()),
            "urls": _strings(rows[blocks.ADDRESS], topics) if everywhere.has_addresses else None,
            "ids": _strings(rows[blocks.ID], topics) if everywhere.has_ids else None,
        }


def _word_table(spelt: NDArray[np.void], words: Numbers) -> HashTable:
    known = spelt[spelt["word"] >= 0]
    return table_with(np.ascontiguousarray(known["key"]), np.searchsorted(words, known["word"]).astype(np.int32))


def _cases(spelt: NDArray[np.void], least: int) -> WordCases:
    """Return how articles write the words that are here; detection asks how many words are known at all."""
    cased = spelt[spelt["cased"]]
    columns = [np.zeros(max(least, len(cased)), np.uint8) for _ in range(3)]
    for name, column in zip(("capital", "before", "after"), columns, strict=True):
        column[: len(cased)] = cased[name]
    numbers = np.arange(len(cased), dtype=np.int32)
    return WordCases(table_with(np.ascontiguousarray(cased["key"]), numbers), *columns)


def _strings(rows: Keyed, topics: Numbers) -> StringTable:
    some = rows.of(topics)
    return StringTable(some.entries, some.offsets)


def linker_of(rows: Rows, everywhere: Everywhere) -> Linker:
    """Return the linker for the documents that a packet is for."""
    names = NameParts.of(rows)
    knowledge = PacketKnowledge.of(rows, everywhere, np.concatenate((names.mentions, rows[packets.STRING].keys)))
    strings, words = knowledge.mentions_here, np.union1d(knowledge.words_here, rows[packets.WORD].keys)
    whole = dict(rows)
    whole[packets.STRING] = rows[packets.STRING].of(strings)
    whole[packets.WORD] = rows[packets.WORD].of(knowledge.words_here)
    assert np.array_equal(words, knowledge.words_here)
    whole[packets.BASE] = _with_more(rows[packets.BASE], names.base())
    whole[packets.TITLE] = _with_more(rows[packets.TITLE], names.titles())
    view, topics = view_of(whole, everywhere.shared)
    view = replace(
        view, names=names.as_index(topics, strings) if everywhere.has_names else None, by_words=None,
    )  # fmt: skip
    knowledge.describe_topics(rows, view, topics.astype(np.int64), everywhere)
    # Of a hub's neighbours the packet has but some.
    urn = Urn.of_view(view, replace(everywhere.settings, max_neighbours=_ALL))
    detector = DictionaryDetector(knowledge, everywhere.detection)
    allowed = _allowed(rows[blocks.ALLOWED], topics.astype(np.int64))
    return Linker.of_parts(UrnMethod.over(urn), knowledge, detector, everywhere.source, allowed)


def _with_more(rows: Keyed, more: Keyed) -> Keyed:
    """Return rows with those of other keys that it lacks."""
    new = more.of(np.setdiff1d(more.keys, rows.keys))
    keys = np.concatenate((rows.keys, new.keys))
    order = np.argsort(keys)
    both = Keyed(
        keys, np.append(rows.offsets, rows.offsets[-1] + new.offsets[1:]), np.concatenate((rows.entries, new.entries))
    )
    lengths = np.diff(both.offsets)[order]
    offsets, source = packets.source_of(both.offsets[:-1][order], lengths)
    return Keyed(keys[order], offsets, both.entries[source])


def _allowed(rows: Keyed, topics: Numbers) -> Allowed | None:
    """Return which of the packet's topics a restriction leaves; those that have no row are no candidates."""
    flags = np.zeros(len(topics), rows.entries.dtype)
    flags[np.searchsorted(topics, rows.keys)] = rows.entries
    return Allowed(np.ascontiguousarray(flags["topic"]), np.ascontiguousarray(flags["possible"]))
