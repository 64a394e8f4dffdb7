"""Differences between two states of a wiki: topics, and the most frequent meanings of names."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from wikilda._core.arrays import StringTable
from wikilda._core.atomic import new_file, write_text
from wikilda._core.errors import InputError
from wikilda._core.html_page import items, page, table
from wikilda.knowledge._text_kernels import as_strings
from wikilda.knowledge.knowledge import Knowledge, Table

JSON_FILE, HTML_FILE, MAP_FILE = "update-report.json", "update-report.html", "topic-map.parquet"
_LEAST_SHARED = 0.5  # of topics with equal titles: where fewer have equal ids, ids are not the wiki's own
_SHOWN = 500  # rows of a table on the page


class Renamed(NamedTuple):
    """A topic that has another title."""

    before: str
    after: str


class Meaning(NamedTuple):
    """A name whose most frequent meaning has changed, and its share before and after."""

    name: str
    before: str
    share_before: float
    after: str
    share_after: float
    links: int


@dataclass(frozen=True)
class Diff:
    """The differences between two states of a wiki."""

    counts: dict[str, tuple[int, int]]
    added: list[str]
    gone: list[str]
    renamed: list[Renamed]
    meanings: list[Meaning]

    def to_json(self) -> str:
        """Return the differences as JSON."""
        known = {**asdict(self), "renamed": [each._asdict() for each in self.renamed]}
        known["meanings"] = [each._asdict() for each in self.meanings]
        return json.dumps(known, ensure_ascii=False, indent=1) + "\n"

    def to_html(self, title: str = "What has changed") -> str:
        """Return the differences as a page of HTML."""
        numbers = [(name, before, after, after - before) for name, (before, after) in self.counts.items()]
        shares = [
            (each.name, each.before, f"{each.share_before:.0%}", each.after, f"{each.share_after:.0%}", each.links)
            for each in self.meanings[:_SHOWN]
        ]
        return page(title, "", [
            table("Counts", ("", "before", "after", "difference"), numbers),
            table(f"Names with another dominant meaning: {len(self.meanings):,}",
                  ("name", "meant", "share", "means", "share", "links"), shares),
            table(f"Renamed topics: {len(self.renamed):,}", ("before", "after"), self.renamed[:_SHOWN]),
            items(f"New topics: {len(self.added):,}", self.added[:_SHOWN]),
            items(f"Topics that are gone: {len(self.gone):,}", self.gone[:_SHOWN]),
        ])  # fmt: skip

    def rows(self, examples: int = 5) -> Iterator[tuple[str, str, str]]:
        """The rows of a short table: names, numbers, examples."""
        for name, (before, after) in self.counts.items():
            yield name, f"{before:,} → {after:,}", ""
        meanings = [f"{each.name}: {each.before} → {each.after}" for each in self.meanings[:examples]]
        renamed = [f"{each.before} → {each.after}" for each in self.renamed[:examples]]
        yield "new topics", f"{len(self.added):,}", ", ".join(self.added[:examples])
        yield "topics that are gone", f"{len(self.gone):,}", ", ".join(self.gone[:examples])
        yield "renamed topics", f"{len(self.renamed):,}", ", ".join(renamed)
        yield "names with another dominant meaning", f"{len(self.meanings):,}", "; ".join(meanings)

    def save(self, directory: Path) -> None:
        """Write the report into a model."""
        write_text(directory / JSON_FILE, self.to_json())
        write_text(directory / HTML_FILE, self.to_html())


class Comparison:
    """Two states of a wiki, with the mapping of topics and strings.

    A topic is the same if its page id is, where ids are the wiki's own, or else its title. A title that is now a
    redirect to a topic that is new was renamed.
    """

    def __init__(self, before: Knowledge, after: Knowledge) -> None:
        self.before, self.after = before, after
        names = [(each.site.database or each.site.base) for each in (before, after)]
        if all(names) and names[0] != names[1]:
            raise InputError(
                f"{after.path}: is of another wiki ({names[1]}) than {before.path} ({names[0]}). Compare models of one."
            )

    @cached_property
    def topics(self) -> NDArray[np.int64]:
        """The new number of each old topic; -1 for removed topics."""
        before, after = self.before, self.after
        by_title = _places(before.titles, after.titles)
        found = by_title.copy()
        both = by_title >= 0
        same = before.page_ids[both] == after.page_ids[by_title[both]]
        if same.sum() > _LEAST_SHARED * max(len(same), 1):
            ids = np.asarray(after.page_ids)
            order = np.argsort(ids, kind="stable")
            at = np.minimum(np.searchsorted(ids[order], before.page_ids), len(ids) - 1)
            is_same = (ids[order][at] == before.page_ids) & (np.asarray(before.page_ids) != 0)
            by_id = np.where(is_same, order[at], -1)
            taken = np.zeros(len(ids), np.bool_)
            taken[by_id[by_id >= 0]] = True
            by_title[(by_title >= 0) & taken[by_title]] = -1
            found = np.where(by_id >= 0, by_id, by_title)
        titles, targets = after.redirects
        redirect = _places(before.titles, titles)
        led = np.where(redirect >= 0, np.asarray(targets, np.int64)[redirect] if len(targets) else -1, -1)
        taken = np.zeros(len(after.titles), np.bool_)
        taken[found[found >= 0]] = True
        for topic in np.flatnonzero((found < 0) & (led >= 0)).tolist():
            if not taken[led[topic]]:
                found[topic] = led[topic]
                taken[led[topic]] = True
        return found

    @cached_property
    def mentions(self) -> NDArray[np.int64]:
        """The new number of each old mention string; -1 for removed ones."""
        return _places(self.before.mention_strings, self.after.mention_strings)

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """The new number of each old word; -1 for removed ones."""
        return _places(self.before.word_strings, self.after.word_strings)

    def diff(self) -> Diff:
        """Compare topics and the dominant meanings of names."""
        before, after, topics = self.before, self.after, self.topics
        counts = {
            "topics": (len(before.titles), len(after.titles)),
            "redirects": (len(before.redirects[0]), len(after.redirects[0])),
            "names": (len(before.mention_strings), len(after.mention_strings)),
            "links": (len(before.graph.out_topics), len(after.graph.out_topics)),
        }
        is_new = np.ones(len(after.titles), np.bool_)
        is_new[topics[topics >= 0]] = False
        kept = np.flatnonzero(topics >= 0)
        unlike = kept[_places(before.titles, after.titles)[kept] != topics[kept]]
        renamed = [Renamed(before.titles[at], after.titles[int(topics[at])]) for at in unlike.tolist()]
        added = [after.titles[at] for at in np.flatnonzero(is_new).tolist()]
        gone = [before.titles[at] for at in np.flatnonzero(topics < 0).tolist()]
        return Diff(counts, added, gone, renamed, self._meanings())

    def _meanings(self) -> list[Meaning]:
        """Return names with a new most frequent meaning, the most linked first."""
        olds, news = (_dominant(each.mentions) for each in (self.before, self.after))
        both = np.flatnonzero(self.mentions >= 0)
        now = self.mentions[both]
        was = self.topics[olds.topics[both]]
        other = (was != news.topics[now]) & (olds.ratio[both] > 1) & (news.ratio[now] > 1)
        changed, linked = both[other], self.after.linked[now[other]].astype(np.int64)
        order = np.lexsort((changed, -linked))
        return [
            Meaning(
                name=self.before.mention_strings[old],
                before=self.before.titles[int(olds.topics[old])],
                share_before=float(olds.share[old]),
                after=self.after.titles[int(news.topics[new])],
                share_after=float(news.share[new]),
                links=int(self.after.linked[new]),
            )
            for old in changed[order].tolist()
            for new in [int(self.mentions[old])]
        ]

    def save_map(self, file: Path) -> None:
        """Write a table of topics: number and title before and after, null for removed ones."""
        there = self.topics >= 0
        numbers = pa.array(self.topics, mask=~there)
        titles = _array(self.after.titles).cast(pa.string()).take(numbers)
        columns = {"before": np.arange(len(there)), "after": numbers, "title_before": _array(self.before.titles)}
        with new_file(file) as made:
            pq.write_table(pa.table({**columns, "title_after": titles}), made, compression="zstd")


def diff(old: str | Path, new: str | Path) -> Diff:
    """Return what differs between two models of one wiki: `wikilda diff`.

    Parameters
    ----------
    old, new
        Models, or knowledge.

    Examples
    --------
    >>> from wikilda import diff
    >>> diff(sample, sample).counts["topics"]
    (249, 249)
    """
    return Comparison(Knowledge.open(old), Knowledge.open(new)).diff()


class _Dominant(NamedTuple):
    topics: NDArray[np.int64]
    share: NDArray[np.float64]
    ratio: NDArray[np.float64]  # of the most frequent meaning to the next; a tie has no dominant meaning


def _dominant(mentions: Table) -> _Dominant:
    """The most frequent meaning of each name."""
    offsets, counts = np.asarray(mentions.offsets), np.asarray(mentions.counts).astype(np.int64)
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((mentions.topics, -counts, rows))  # rows stay in place, within them the most frequent first
    first = order[offsets[:-1]]
    second = np.where(np.diff(offsets) > 1, counts[order[np.minimum(offsets[:-1] + 1, len(order) - 1)]], 0)
    total = np.add.reduceat(counts, offsets[:-1])
    return _Dominant(
        np.asarray(mentions.topics)[first].astype(np.int64),
        counts[first] / total,
        counts[first] / np.maximum(second, 0.5),
    )


def _array(strings: StringTable) -> pa.Array:
    return as_strings(np.asarray(strings.data), np.asarray(strings.offsets))


def _places(strings: StringTable, among: StringTable) -> NDArray[np.int64]:
    """Return the indices of strings in another table; -1 for missing ones."""
    if not len(strings) or not len(among):
        return np.full(len(strings), -1, np.int64)
    kind = pa.large_string()
    found = pc.index_in(_array(strings).cast(kind), value_set=_array(among).cast(kind))
    places: NDArray[np.int64] = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places
