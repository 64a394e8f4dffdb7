"""The world that a generated wiki describes: topics in clusters, their names, their popularity, their words.

Only a few integers are kept for each topic. All else is computed from its number, for many topics at once,
so that dumps, tables and documents of one seed tell of the same world.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.generate.chance import Numbers, Shuffle, mixed, uniform, zipf
from benchmarks.generate.spelling import joined, spelled, vocabulary

Topics = NDArray[np.int64]
PERSON, PLACE, WORK, CONCEPT = range(4)
FULL, SHORT, ALIAS = range(3)  # forms of a name
MOST_ALIASES = 8

_SHARES = np.cumsum([0.35, 0.25, 0.18])  # persons, places, works; the rest are concepts
_OCCUPATIONS = (
    "footballer", "politician", "actor", "musician", "writer", "painter", "cricketer", "judge", "bishop", "scientist",
    "engineer", "singer", "soldier", "cyclist", "historian", "architect", "journalist", "rower", "poet", "economist",
)  # fmt: skip
_WORKS = ("film", "novel", "album", "song", "magazine", "play", "band", "opera", "series", "game", "company", "ship")
_FIELDS = (
    "biology",
    "mathematics",
    "law",
    "music",
    "physics",
    "chemistry",
    "computing",
    "geology",
    "sport",
    "medicine",
)
_TYPES = (_OCCUPATIONS, ("town", "village", "river", "island", "province", "mountain", "lake", "port"), _WORKS, _FIELDS)
TYPES = pa.array([name for each in _TYPES for name in each])
_REGIONS: list[str] = pc.utf8_capitalize(spelled(300, "word")).to_pylist()
# What redirects put around a name ("…"), by kind of topic.
_WRAPPINGS = (
    ("Sir …", "… Jr.", "Dr. …", "… the Elder", "Lord …", "Saint …", "… II", "… of old"),
    ("City of …", "… Town", "Old …", "… District", "New …", "… City", "Port …", "Mount …"),
    ("… (work)", "…!", "… - A Story", "… & Co", "… I", "… Revisited", "… Live", "My …"),
    ("…s", "… theory", "Law of …", "… effect", "…ism", "Study of …", "… method", "… problem"),
)


@dataclass(frozen=True)
class Shape:
    """Numbers that give a world its shape."""

    topics_per_cluster: int = 200
    aliases: float = 1.0  # redirects a topic, on average
    inside: float = 0.7  # share of links that stay in their cluster
    beside: float = 0.12  # … that lead to a related cluster; the rest go to hubs of the whole wiki
    cluster_words: int = 1500
    topic_words: int = 60


class World:
    """Topics 0 … size-1. In each cluster, and in the whole, the first in order are the most popular."""

    def __init__(self, size: int, seed: int = 1, shape: Shape | None = None) -> None:
        self.size, self.seed, self.shape = size, seed, shape or Shape()
        clusters = max(4, size // self.shape.topics_per_cluster)
        # Sizes of clusters are long-tailed, too.
        self.bounds = np.unique((size * (np.arange(clusters + 1) / clusters) ** 1.6).astype(np.int64))
        self.clusters = len(self.bounds) - 1
        self._hubs = Shuffle(size, seed + 1)
        self.word_count = int(420 * max(size, 100) ** 0.55)
        self.words = vocabulary(self.word_count)
        self._given, self._surnames = spelled(1500, "given"), spelled(int(3 * size**0.7) + 50, "surname")
        self._places = spelled(int(2 * size**0.75) + 50, "place")
        self._firsts, self._seconds = self._name_tables()
        self._order_namesakes()

    # -- popularity and links -------------------------------------------------------------------------------

    def cluster(self, topics: Topics) -> NDArray[np.int64]:
        """The cluster of each topic."""
        return np.searchsorted(self.bounds, topics, side="right") - 1

    def popularity(self) -> NDArray[np.float32]:
        """The share of all links that leads to each topic, about."""
        topics = np.arange(self.size)
        cluster = self.cluster(topics)
        sizes = np.diff(self.bounds)
        share = _zipf_weight(topics - self.bounds[cluster], sizes[cluster], 1.0) * sizes[cluster] / self.size
        share *= self.shape.inside + self.shape.beside
        share[self._hubs(topics)] += (1 - self.shape.inside - self.shape.beside) * _zipf_weight(topics, self.size, 1.0)
        return share.astype(np.float32)

    def linked(self, sources: Topics, rng: np.random.Generator) -> Topics:
        """A topic that each source links to: mostly of its cluster, else of a related one, else a hub."""
        which, where = rng.random((2, len(sources)), np.float32)
        cluster = self.cluster(sources)
        beside = which >= self.shape.inside
        step = 1 + (mixed(sources[beside], 5) % np.uint64(3)).astype(np.int64)
        cluster[beside] = (cluster[beside] + step) % self.clusters
        first = self.bounds[cluster]
        targets = first + zipf(where, self.bounds[cluster + 1] - first)
        hubs = which >= self.shape.inside + self.shape.beside
        targets[hubs] = self._hubs(zipf(where[hubs], self.size))
        return targets

    # -- words ----------------------------------------------------------------------------------------------

    def used_words(self, topics: Topics, rng: np.random.Generator) -> NDArray[np.int64]:
        """A word that each topic's article uses: of the language, of its cluster, or its own."""
        which, draw = rng.random((2, len(topics)), np.float32)
        words = zipf(draw, self.word_count)
        shared = (which > 0.62) & (which <= 0.86)
        rank = zipf(draw[shared], self.shape.cluster_words)
        place = uniform(self.cluster(topics[shared]) * 65_536 + rank, 11)
        words[shared] = 100 + zipf(place, self.word_count - 100, offset=300.0)
        own = which > 0.86
        rank = zipf(draw[own], self.shape.topic_words)
        words[own] = 100 + mixed(topics[own] * 1024 + rank, 12) % np.uint64(self.word_count - 100)
        return words

    def types(self, topics: Topics) -> NDArray[np.int64]:
        """What sort of its kind each topic is: a row of TYPES."""
        kind = self.kind(topics)
        starts = np.cumsum([0, *(len(each) for each in _TYPES)])
        many = np.diff(starts)[kind]
        found: NDArray[np.int64] = starts[kind] + (mixed(topics, self.seed * 16 + 6) % many.astype(np.uint64)).astype(
            np.int64
        )
        return found

    # -- names ----------------------------------------------------------------------------------------------

    def kind(self, topics: Topics) -> NDArray[np.int64]:
        """PERSON, PLACE, WORK or CONCEPT."""
        return np.searchsorted(_SHARES, uniform(topics, self.seed * 16 + 1), side="right")

    def base(self, topics: Topics) -> pa.Array:
        """Names without what tells namesakes apart."""
        first, second, pattern = self._name_parts(topics)
        lead = pa.array(["", "The "]).take(pa.array(np.where(pattern == 1, 1, 0)))
        middle = pa.array([" ", "", " of ", ""]).take(pa.array(pattern))
        return joined(lead, self._firsts.take(pa.array(first)), middle, self._seconds.take(pa.array(second)))

    def titles(self, topics: Topics) -> pa.Array:
        """Titles, all different: "Jan Berg", "Jan Berg (judge)", "Springfield, Ohio"."""
        return joined(self.base(topics), self._qualifiers(topics))

    def short(self, topics: Topics) -> pa.Array:
        """What a topic is called in passing: a surname, a place without its region, a concept in lower case."""
        kind = self.kind(topics)
        _, second, _ = self._name_parts(topics)
        full = pc.if_else(pa.array(kind == CONCEPT), pc.utf8_lower(self.base(topics)), self.base(topics))
        return pc.if_else(pa.array(kind == PERSON), self._seconds.take(pa.array(second)), full)

    def alias_counts(self, topics: Topics) -> NDArray[np.int64]:
        """How many redirects lead to each topic."""
        share = self.shape.aliases / (1 + self.shape.aliases)
        drawn = np.log(1 - uniform(topics, self.seed * 16 + 2)) / np.log(share)
        return np.minimum(drawn.astype(np.int64), MOST_ALIASES)

    def alias(self, topics: Topics, number: Numbers) -> pa.Array:
        """The title of a topic's redirect, 0 ≤ number < MOST_ALIASES."""
        which = pa.array(self.kind(topics) * MOST_ALIASES + number)
        wrappings = [wrapping.split("…") for kind in _WRAPPINGS for wrapping in kind]
        before, after = (pa.array([wrapping[side] for wrapping in wrappings]).take(which) for side in (0, 1))
        return joined(before, self.base(topics), after, self._qualifiers(topics))

    def named(self, topics: Topics, forms: Numbers) -> pa.Array:
        """Each topic by the wanted form of its name; one that has no alias by its full name."""
        counts = self.alias_counts(topics)
        wanted = pa.array(np.where((forms == ALIAS) & (counts == 0), FULL, forms).astype(np.int8))
        first = self.alias(topics, np.zeros(len(topics), np.int64))
        return pc.choose(wanted, self.base(topics), self.short(topics), first)

    def namesakes(self, groups: Numbers) -> list[Topics]:
        """The topics of groups that share a name, most popular first."""
        starts, sizes = self._group_starts[groups], self._group_sizes[groups]
        return [self._by_name[start : start + size] for start, size in zip(starts, sizes, strict=True)]

    @property
    def group_count(self) -> int:
        """How many names have a disambiguation page: those of three topics or more."""
        return len(self._group_starts)

    def disambiguation_titles(self, groups: Numbers) -> pa.Array:
        """The bare name where no topic has it as its title, else with "(disambiguation)"."""
        first = self._by_name[self._group_starts[groups]]
        suffix = pa.array(["", " (disambiguation)"]).take(pa.array(self._has_primary(first).astype(np.int8)))
        return joined(self.base(first), suffix)

    def _name_tables(self) -> tuple[pa.Array, pa.Array]:
        capital, none = pc.utf8_capitalize(self.words), pa.array([""])
        self._first_at = np.cumsum([0, len(self._given), len(self._places)])
        self._second_at = np.cumsum([0, len(self._surnames), 1, len(capital)])
        firsts = pa.concat_arrays([pc.utf8_capitalize(self._given), pc.utf8_capitalize(self._places), capital])
        return firsts, pa.concat_arrays([pc.utf8_capitalize(self._surnames), none, capital, self.words])

    def _name_parts(self, topics: Topics) -> tuple[Topics, Topics, Topics]:
        """Rows of the tables of first and second parts, and how they are put together."""
        kind, draws = self.kind(topics), [uniform(topics, self.seed * 16 + purpose) for purpose in (3, 4, 5)]
        common = len(self.words) // 20
        word = 100 + zipf(draws[0], self.word_count - 100, 0.9, 50.0)
        other = 100 + zipf(draws[1], common, 0.9, 50.0)
        single = draws[2] < 0.35
        first = np.choose(kind, [
            zipf(draws[0], len(self._given), 0.9, 5.0),
            self._first_at[1] + zipf(draws[0], len(self._places), 0.7, 5.0),
            self._first_at[2] + word, self._first_at[2] + word,
        ])  # fmt: skip
        second = np.choose(kind, [
            zipf(draws[1], len(self._surnames), 0.8, 5.0), np.full(len(topics), self._second_at[1]),
            np.where(single, self._second_at[1], self._second_at[2] + other),
            np.where(single, self._second_at[1], self._second_at[3] + other),
        ])  # fmt: skip
        alone = second == self._second_at[1]
        pattern = np.where(alone, 3, np.where((kind == WORK) & (draws[2] > 0.7), 2, 0))
        return first, second, np.where((kind == WORK) & alone, 1, pattern)  # 0: A B, 1: The A, 2: A of B, 3: A

    def _order_namesakes(self) -> None:
        """Number the topics of one name by popularity."""
        topics = np.arange(self.size)
        first, second, pattern = self._name_parts(topics)
        key = ((first * (len(self._seconds) + 1) + second) * 4 + pattern) * 4 + self.kind(topics)
        order = np.lexsort((-self.popularity(), key))
        begins = np.flatnonzero(np.diff(key[order], prepend=-1))
        sizes = np.diff(np.append(begins, self.size))
        self._rank, self._namesakes = np.empty(self.size, np.int32), np.empty(self.size, np.int32)
        self._rank[order] = np.arange(self.size) - np.repeat(begins, sizes)
        self._namesakes[order] = np.repeat(sizes, sizes)
        self._by_name = order
        self._group_starts, self._group_sizes = begins[sizes >= 3], sizes[sizes >= 3]
        most = int(sizes.max()) + len(_REGIONS)
        self._qualifier_table = pa.concat_arrays([_qualifier_table(kind, most) for kind in range(4)])

    def _has_primary(self, topics: Topics) -> NDArray[np.bool_]:
        """Whether the most popular topic of a name has it without a qualifier."""
        return (self._namesakes[topics] < 3) | (uniform(np.asarray(self._name_parts(topics)[0]), 21) < 0.5)

    def _qualifiers(self, topics: Topics) -> pa.Array:
        rank = self._rank[topics].astype(np.int64)
        plain = (rank == 0) & self._has_primary(topics)
        kind = self.kind(topics)
        many = np.array([len(_OCCUPATIONS), len(_REGIONS), len(_WORKS), len(_FIELDS)])[kind]
        turned = (rank + mixed(self._name_parts(topics)[0], 22) % many.astype(np.uint64)).astype(np.int64) % many
        rows = kind * (len(self._qualifier_table) // 4) + np.where(plain, 0, rank - rank % many + turned + 1)
        return self._qualifier_table.take(pa.array(rows))


def _qualifier_table(kind: int, size: int) -> pa.Array:
    """What tells the 1st, 2nd … namesake apart; nothing in row 0."""
    kinds, pattern, later = {
        PERSON: (_OCCUPATIONS, " ({}{})", ", born {}"), PLACE: (_REGIONS, ", {}{}", " County {}"),
        WORK: (_WORKS, " ({}{})", " of {}"), CONCEPT: (_FIELDS, " ({}{})", " {}"),
    }[kind]  # fmt: skip
    turns = [later.format(1850 + turn) if turn else "" for turn in range(size // len(kinds) + 1)]
    return pa.array(["", *(pattern.format(kinds[n % len(kinds)], turns[n // len(kinds)]) for n in range(size))])


def _zipf_weight(rank: Numbers, size: Numbers | int, offset: float) -> NDArray[np.float64]:
    return np.log1p(1 / (rank + offset)) / np.log((size + offset) / offset)
