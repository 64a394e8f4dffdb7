"""Knowledge: look up titles, mentions and words in memory-mapped tables."""

import json
from collections.abc import Iterable
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, hash_table, rows, strings
from wikilda._core.arrays import HashTable, StringTable
from wikilda._core.artifact import MANIFEST, Artifact, kind_of
from wikilda._core.errors import ArtifactError, SettingsError
from wikilda.knowledge.categories import Categories, Lists
from wikilda.knowledge.context_counts import CONTEXTS, PARTS, ContextCounts, declared
from wikilda.knowledge.graph import Graph
from wikilda.knowledge.held_out import ARRAYS as SAMPLE_ARRAYS
from wikilda.knowledge.settings import BuildSettings
from wikilda.knowledge.types import TYPES, Types
from wikilda.mediawiki.site import Site
from wikilda.text import normalized

_TOPICS = Array(np.uint32, below="topics", increasing=True)
_NAMED = Array(np.uint32, below="topics")
_CATEGORIES = Array(np.uint32, below="categories", increasing=True)
WHOLE = 0xFFFFFFFF  # `described` of a topic with an article
_SITE: dict[str, Any] = {
    "name": str, "database": str, "language": str, "base": str, "first_letter_case": bool, "namespaces": dict[str, int],
}  # fmt: skip


class Table(NamedTuple):
    """A sparse table of symbols: the topics of symbol v, sorted, and their counts, from offsets[v] on."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    counts: NDArray[np.uint32]

    def row(self, symbol: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """The topics of a symbol and their counts."""
        span = slice(self.offsets[symbol], self.offsets[symbol + 1])
        return self.topics[span], self.counts[span]


class WordCases(NamedTuple):
    """Capitals of words within sentences, by the numbers of a table of hashes; shares in 255ths."""

    table: HashTable
    capital: NDArray[np.uint8]  # share of the occurrences with a capital
    before: NDArray[np.uint8]  # of those: directly before another word with a capital
    after: NDArray[np.uint8]  # of those: directly after one


_NONE = np.zeros(1, np.uint8)
NO_CASES = WordCases(HashTable(np.zeros(1, np.uint64), np.full(1, -1, np.int32)), _NONE, _NONE, _NONE)


class Knowledge(Artifact):
    """The knowledge of one wiki. Topics, mentions and words are numbers. Arrays are loaded on first use."""

    kind = "knowledge"
    format = 1
    fields = {"site": dict, "source": dict, "settings": dict, "summary": dict[str, int], "complaints": list[str]}
    arrays = {
        **strings("topics/titles", "topics"),
        **strings("topics/sentences", "topics"),
        **strings("topics/ids", "topics", optional=True),
        **strings("topics/urls", "topics", optional=True),
        "topics/described": Array(np.uint32, "topics", optional=True),
        "topics/page_ids": Array(np.int64, "topics"),
        "topics/wikidata": Array(np.int64, "topics", minimum=0),
        **strings("redirects/titles", "redirects"),
        "redirects/topics": Array(np.uint32, "redirects", below="topics"),
        **strings("mentions/strings", "mentions"),
        **rows("mentions/", "mentions", filled=True, topics=_TOPICS, counts=Array(np.uint32, minimum=1)),
        **hash_table("mentions/trie_", below="mentions"),
        "mentions/linked": Array(np.uint32, "mentions"),
        "mentions/occurrences": Array(np.uint32, "mentions"),
        "mentions/lower": Array(np.bool_, "mentions", optional=True),
        "mentions/odds": Array(np.float64, optional=True, minimum=0),
        **rows("names/", "keys of names", optional=True, topics=_NAMED, sizes=Array(np.uint8)),
        **hash_table("names/words_", below="keys of names", optional=True),
        **hash_table("names/variants_", below="mentions", optional=True),
        "names/popularity": Array(np.float32, "topics", minimum=0, optional=True),
        **strings("words/strings", "words"),
        **rows("words/", "words", topics=_TOPICS, counts=Array(np.uint32, minimum=1)),
        **hash_table("words/table_", below="words"),
        "words/totals": Array(np.int64, "words", minimum=0),
        "words/frequencies": Array(np.uint32, "words"),
        **hash_table("case/", below="cased words", optional=True),
        **{f"case/{each}": Array(np.uint8, "cased words", optional=True) for each in ("capital", "before", "after")},
        **strings("categories/names", "categories", optional=True),
        "categories/hidden": Array(np.bool_, "categories", optional=True),
        **rows("categories/topics/", "topics", optional=True, numbers=_CATEGORIES),
        **rows("categories/members/", "categories", optional=True, numbers=_TOPICS),
        **rows("categories/parents/", "categories", optional=True, numbers=_CATEGORIES),
        **rows("categories/children/", "categories", optional=True, numbers=_CATEGORIES),
        **rows("instances/", "topics", optional=True, numbers=Array(np.uint32)),
        **{f"types/{each}": Array(np.uint8, "topics", optional=True) for each in TYPES},
        **rows("links/out/", "topics", topics=_TOPICS),
        **rows("links/in/", "topics", topics=_TOPICS),
        **SAMPLE_ARRAYS,
        **declared(f"{CONTEXTS}/"),
    }

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open knowledge, or that of a model.

        Examples
        --------
        >>> from wikilda import Knowledge
        >>> known = Knowledge.open(sample)
        >>> known
        Knowledge('samplewiki', 249 topics)
        >>> known.titles[known.find_topic("Robert_Croft")]
        'Robert Croft'
        """
        return super().open(_inside(Path(path)))

    def describe(self, term: str, most: int = 10) -> dict[str, Any]:
        """Look up a title or a mention string: `wikilda show`.

        Parameters
        ----------
        term
            A title, which may be that of a redirect, or a string.
        most
            How many candidates, words, links of each to give.

        Returns
        -------
        dict
            `mention`, with its candidates and link probability, and `topic`, with its words, links and nearest topics.

        Examples
        --------
        >>> from wikilda import Knowledge
        >>> found = Knowledge.open(sample).describe("Croft")
        >>> [each["title"] for each in found["mention"]["topics"]][:2]
        ['Lara Croft', 'Robert Croft']
        """
        from wikilda.knowledge.describe import describe

        return describe(self, term, most)

    def __repr__(self) -> str:
        return f"Knowledge({self.site.database or self.site.name!r}, {len(self.titles):,} topics)"

    def _repr_html_(self) -> str:
        counts = {
            "topics": len(self.titles), "redirects": len(self._redirect_titles), "mentions": len(self.mention_strings),
            "words": len(self.word_strings), "links": len(self.graph.out_topics), "categories": len(self.categories),
        }  # fmt: skip
        lines = "".join(
            f"<tr><th align='left'>{name}</th><td align='right'>{n:,}</td></tr>" for name, n in counts.items()
        )
        title = escape(f"{self.site.name or self.site.database or self.path.name} {self.site.language}")
        return f"<b>{title}</b><table>{lines}</table>"

    @cached_property
    def site(self) -> Site:
        """The wiki that it came from."""
        given = self.field("site", dict)
        known = {name: kind for name, kind in _SITE.items() if given.get(name) is not None}
        return Site(**{name: self.field(f"site.{name}", kind) for name, kind in known.items()})

    @cached_property
    def settings(self) -> BuildSettings:
        """The settings that it was built with."""
        try:
            return BuildSettings.from_mapping(self.field("settings", dict))
        except SettingsError as error:
            raise ArtifactError(f"{self.path / MANIFEST}: {error}. Make {self.path} again.") from None

    @property
    def source(self) -> dict[str, Any]:
        """The names of the files that it was built from, and updated with."""
        return self.field("source", dict)

    @property
    def found_links(self) -> bool:
        """Whether the links of the sample were found in the texts of tables, which do not mark them."""
        return "tables" in self.source

    @cached_property
    def titles(self) -> StringTable:
        """Titles by topic, sorted."""
        return self.strings("topics/titles")

    @cached_property
    def sentences(self) -> StringTable:
        """First sentences by topic."""
        return self.strings("topics/sentences")

    @cached_property
    def page_ids(self) -> NDArray[np.int64]:
        """The wiki's own page numbers by topic."""
        return self.array("topics/page_ids")

    @cached_property
    def context_counts(self) -> ContextCounts | None:
        """What is next to the wiki's links; None without links in texts."""
        if not self.has(f"{CONTEXTS}/offsets"):
            return None
        return ContextCounts.of({name: self.array(f"{CONTEXTS}/{name}") for name in PARTS})

    @cached_property
    def wikidata(self) -> NDArray[np.int64]:
        """Wikidata's item numbers by topic, 0 where none is known."""
        return self.array("topics/wikidata")

    @cached_property
    def mention_strings(self) -> StringTable:
        """Mention strings, sorted."""
        return self.strings("mentions/strings")

    @cached_property
    def mentions(self) -> Table:
        """Count(v, k) of mentions."""
        return self._table("mentions")

    @cached_property
    def mention_trie(self) -> HashTable:
        """Hashes of token sequences → mention, or −1 for the beginning of one."""
        return self._hashes("mentions/trie")

    @cached_property
    def linked(self) -> NDArray[np.uint32]:
        """The number of links in running text, by mention."""
        return self.array("mentions/linked")

    @cached_property
    def occurrences(self) -> NDArray[np.uint32]:
        """The number of occurrences in text, by mention."""
        return self.array("mentions/occurrences")

    @cached_property
    def word_strings(self) -> StringTable:
        """Words, sorted."""
        return self.strings("words/strings")

    @cached_property
    def words(self) -> Table:
        """Count(v, k) of words, the best topics of each."""
        return self._table("words")

    @cached_property
    def word_totals(self) -> NDArray[np.int64]:
        """Count(v) of words, over all topics."""
        return self.array("words/totals")

    @cached_property
    def word_frequencies(self) -> NDArray[np.uint32]:
        """The number of topics of each word."""
        return self.array("words/frequencies")

    @cached_property
    def word_table(self) -> HashTable:
        """Hashes of words → word."""
        return self._hashes("words/table")

    @cached_property
    def word_cases(self) -> WordCases:
        """The capitals of words within sentences; None if unknown."""
        if not self.has("case/capital"):
            return NO_CASES
        return WordCases(self._hashes("case/", ""), *(self.array(f"case/{each}") for each in WordCases._fields[1:]))

    @cached_property
    def graph(self) -> Graph:
        """The links between topics."""
        parts = [self.array(f"links/{way}/{part}") for way in ("out", "in") for part in ("offsets", "topics")]
        return Graph(*parts)

    @cached_property
    def categories(self) -> Categories:
        """The categories of topics, and their parents; there may be none."""
        if not self.has("categories/hidden"):
            none = np.empty(0, np.uint32)
            lists = [Lists(np.zeros(rows + 1, np.int64), none) for rows in (len(self.titles), 0, 0, 0)]
            return Categories(StringTable.of([]), np.empty(0, np.bool_), *lists)
        lists = [Lists(*(self.array(f"categories/{which}/{part}") for part in ("offsets", "numbers")))
                 for which in ("topics", "members", "parents", "children")]  # fmt: skip
        return Categories(self.strings("categories/names"), self.array("categories/hidden"), *lists)

    @cached_property
    def types(self) -> Types:
        """The coarse types of topics (person, place, …); there may be none."""
        return Types(tuple(self.array(f"types/{each}") for each in TYPES) if self.has(f"types/{TYPES[0]}") else ())

    def find_topic(self, title: str) -> int:
        """Return the topic of a title or redirect; −1 if there is none."""
        title = " ".join(title.replace("_", " ").split())
        for spelled in dict.fromkeys((title, title[:1].upper() + title[1:])):
            topic = self.titles.find(spelled)
            if topic >= 0:
                return topic
            redirect = self._redirect_titles.find(spelled)
            if redirect >= 0:
                return int(self._redirect_topics[redirect])
        return -1

    def find_mention(self, text: str) -> int:
        """Return the mention of a string in any case and spacing; −1 if there is none."""
        return self.mention_strings.find(normalized(text))

    def link_probability(self, mention: int) -> float:
        """Return the share of links among a mention's occurrences; 0 for one that never occurs."""
        occurs = int(self.occurrences[mention])
        return int(self.linked[mention]) / occurs if occurs else 0.0

    def url(self, topic: int) -> str:
        """Return the address of the article, or that of a listed entity."""
        given = self.urls[topic] if self.urls else ""
        return given or self.site.url(self.titles[topic])

    def id(self, topic: int) -> str | None:
        """The id that a list of entities gives; None for an article."""
        return (self.ids[topic] or None) if self.ids else None

    def topics_of_ids(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the topics of known ids of listed entities."""
        if self.ids is None:
            return {}
        lengths = np.diff(self.ids.offsets)
        every = {self.ids[topic]: topic for topic in np.flatnonzero(lengths).tolist()}
        return {each: every[each] for each in ids if each in every}

    @cached_property
    def lower_names(self) -> NDArray[np.bool_]:
        """Whether a list of entities has a mention in lower case, by mention; empty without such names."""
        return self.array("mentions/lower") if self.has("mentions/lower") else np.empty(0, np.bool_)

    @cached_property
    def described(self) -> NDArray[np.uint32] | None:
        """The number of described words by topic; `WHOLE` for an article. None without listed entities."""
        return self.array("topics/described") if self.has("topics/described") else None

    @cached_property
    def link_odds(self) -> float | None:
        """The odds that an occurrence of a string is a link in the wiki to which entities were added.

        None if none were added.
        """
        return float(self.array("mentions/odds")[0]) if self.has("mentions/odds") else None

    @cached_property
    def ids(self) -> StringTable | None:
        """Ids of listed entities by topic, empty for articles."""
        return self.strings("topics/ids") if self.has("topics/ids.offsets") else None

    @cached_property
    def urls(self) -> StringTable | None:
        """Addresses of listed entities by topic, empty where none is given."""
        return self.strings("topics/urls") if self.has("topics/urls.offsets") else None

    @property
    def redirects(self) -> tuple[StringTable, NDArray[np.uint32]]:
        """Titles of redirects, sorted, and the topics they lead to."""
        return self._redirect_titles, self._redirect_topics

    @cached_property
    def _redirect_titles(self) -> StringTable:
        return self.strings("redirects/titles")

    @cached_property
    def _redirect_topics(self) -> NDArray[np.uint32]:
        return self.array("redirects/topics")

    def _table(self, name: str) -> Table:
        return Table(*(self.array(f"{name}/{part}") for part in ("offsets", "topics", "counts")))

    def _hashes(self, name: str, joint: str = "_") -> HashTable:
        return HashTable(self.array(f"{name}{joint}keys"), self.array(f"{name}{joint}values"))


def _inside(path: Path) -> Path:
    """Return the knowledge inside of a model, or the path itself."""
    if kind_of(path) != "model":
        return path
    known = json.loads((path / MANIFEST).read_text("utf-8")).get("knowledge")
    hint = known.get("path") if isinstance(known, dict) else None
    if not isinstance(hint, str) or not (path / hint).is_dir():
        place = path / hint if isinstance(hint, str) else "any known place"
        raise ArtifactError(
            f"{path}: its knowledge is not at {place}. Give its place: wikilda verify {path} --knowledge DIR."
        )
    return (path / hint).resolve()
