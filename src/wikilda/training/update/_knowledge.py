"""Apply changes to knowledge: every table is copied once, with new rows inserted."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, StringTable
from wikilda._core.artifact import Writer
from wikilda.documents.detection import average_odds
from wikilda.knowledge import Knowledge
from wikilda.knowledge.categories import Lists
from wikilda.knowledge.entities import COMMON, function_words
from wikilda.knowledge.knowledge import WHOLE
from wikilda.knowledge.mention_trie import fill_trie, trie_capacity
from wikilda.knowledge.name_index import write_name_index
from wikilda.knowledge.types import write_types
from wikilda.training.update._changes import Changes
from wikilda.training.update._merge import (
    Delta,
    Numbering,
    Rows,
    delta_of,
    insert,
    merge_rows,
    number_of,
    replaced,
    write_column,
    write_strings,
)  # fmt: skip

Change = dict[tuple[int, int], float]


@dataclass(frozen=True)
class Mapping:
    """How numbers in old knowledge became numbers in new, and what was added: by row and topic, in new numbers."""

    topics: Numbering
    mentions: Numbering
    mention_changes: Change
    word_changes: Change


def update_knowledge(old: Knowledge, changes: Changes, target: Path, source: list[str]) -> tuple[Knowledge, Mapping]:
    """Write new knowledge."""
    topics = insert(old.titles, set(changes.entities))
    mentions = insert(old.mention_strings, {string for string, _ in changes.mentions})
    title_number = _Titles(old, topics)
    named: Change = {}
    for (string, title), count in changes.mentions.items():
        named[number_of(string, old.mention_strings, mentions), title_number(title)] = float(count)
    worded = _word_changes(changes, title_number)
    mapping = Mapping(topics, mentions, named, worded)
    with Knowledge.writer(target) as writer:
        _write_topics(writer, old, changes, topics)
        _write_redirects(writer, old, topics)
        _write_table(writer, "mentions", old.mentions, mentions.old_of_new, topics, named)
        _write_mentions(writer, old, changes, mentions)
        write_name_index(writer)
        _write_table(writer, "words", old.words, np.arange(len(old.word_strings)), topics, worded)
        _write_words(writer, old, worded)
        _copy_cases(writer, old)
        _write_links(writer, old, changes, topics, title_number)
        _write_categories(writer, old, changes, topics, title_number)
        _write_types(writer, old, changes, topics)
        _write_given(writer, old, changes, topics, mentions)
        about = {name: old.manifest[name] for name in ("site", "settings")}
        summary = {**old.summary, "topics": topics.size, "mentions": mentions.size}
        made = writer.finish({
            **about, "source": {**old.source, "updates": source},
            "summary": {**summary, **changes.report.counts}, "complaints": changes.report.examples,
            "before": old.identity,
        })  # fmt: skip
    return made, mapping


def _instances(old: Knowledge, topics: Numbering) -> Lists | None:
    """Copy the classes of topics, if they are known. New topics have none."""
    if not old.has("instances/offsets"):
        return None
    lengths = np.zeros(topics.size, np.int64)
    lengths[topics.new_of_old] = np.diff(old.array("instances/offsets"))
    return Lists(np.concatenate(([0], np.cumsum(lengths))), old.array("instances/numbers"))


def _write_types(writer: Writer[Knowledge], old: Knowledge, changes: Changes, topics: Numbering) -> None:
    """The types of all topics; what lists add leaves those of other topics as they were."""
    given = np.full(topics.size, -1, np.int64)
    given[topics.places] = [changes.entities[title].type for title in topics.strings]
    kept = (old.types.shares, topics.new_of_old) if old.types.shares else None
    write_types(writer, old.site.language, _instances(old, topics), given=given, kept=kept)


def _write_given(
    writer: Writer[Knowledge], old: Knowledge, changes: Changes, topics: Numbering, mentions: Numbering
) -> None:
    """Write the other columns of lists of entities, if there are lists."""
    if not changes.ids and old.ids is None:
        return
    none = StringTable(np.empty(0, np.uint8), np.zeros(len(old.titles) + 1, np.int64))
    known = {title: given for title, given in changes.ids.items() if title not in changes.entities}
    for at, (part, table) in enumerate((("ids", old.ids), ("urls", old.urls))):
        changed = {old.titles.find(title): given[at] for title, given in known.items() if given[at]}
        new = [changes.ids.get(title, ("", ""))[at] for title in topics.strings]
        write_strings(writer, f"topics/{part}", replaced(table or none, changed), new, topics.places)
    described = old.described if old.described is not None else np.full(len(old.titles), WHOLE, np.uint32)
    sizes = np.array([changes.entities[title].described for title in topics.strings], np.uint32)
    write_column(writer, "topics/described", described, topics, sizes)
    lower = old.lower_names if len(old.lower_names) else np.zeros(len(old.mention_strings), np.bool_)
    column = write_column(writer, "mentions/lower", lower, mentions, np.zeros(len(mentions.strings), np.bool_))
    for string in changes.lower:
        place = number_of(string, old.mention_strings, mentions)
        if place >= 0:
            column[place] = True
    writer.array("mentions/odds", np.array([average_odds(old)]))


class _Titles:
    """New numbers of titles."""

    def __init__(self, old: Knowledge, topics: Numbering) -> None:
        self.old, self.topics = old, topics

    def __call__(self, title: str) -> int:
        return number_of(title, self.old.titles, self.topics)


def _word_changes(changes: Changes, number: _Titles) -> Change:
    """Counts of words in the texts of lists."""
    return {(word, number(title)): float(count) for (word, title), count in changes.words.items()}


def _write_topics(writer: Writer[Knowledge], old: Knowledge, changes: Changes, topics: Numbering) -> None:
    new = [changes.entities[title] for title in topics.strings]
    write_strings(writer, "topics/titles", old.titles, topics.strings, topics.places)
    write_strings(writer, "topics/sentences", old.sentences, [each.sentence for each in new], topics.places)
    for name, column, values in (
        ("page_ids", old.page_ids, [each.page_id for each in new]),
        ("wikidata", old.wikidata, [each.wikidata for each in new]),
    ):
        write_column(writer, f"topics/{name}", column, topics, np.array(values, np.int64))


def _write_redirects(writer: Writer[Knowledge], old: Knowledge, topics: Numbering) -> None:
    titles, targets = old.redirects
    writer.strings("redirects/titles", titles)
    writer.array("redirects/topics", topics.new_of_old[np.asarray(targets, np.int64)].astype(np.uint32))


def _write_table(
    writer: Writer[Knowledge], name: str, table: Any, rows: NDArray[np.int64], topics: Numbering, changes: Change
) -> None:
    _write_rows(
        writer, name, Rows(table.offsets, table.topics, table.counts), rows, topics, delta_of(changes), "counts"
    )


def _write_rows(
    writer: Writer[Knowledge],
    name: str,
    old: Rows,
    rows: NDArray[np.int64],
    topics: Numbering,
    delta: Delta,
    values: str | None,
) -> None:
    offsets, fill = merge_rows(old, rows, topics.new_of_old, delta, np.uint32)
    writer.array(f"{name}/offsets", offsets)
    size = int(offsets[-1])
    counts = writer.create(f"{name}/{values}", np.uint32, size) if values else np.empty(size, np.uint8)
    fill.into(writer.create(f"{name}/topics", np.uint32, size), counts)


def _write_mentions(writer: Writer[Knowledge], old: Knowledge, changes: Changes, mentions: Numbering) -> None:
    write_strings(writer, "mentions/strings", old.mention_strings, mentions.strings, mentions.places)
    none = np.zeros(len(mentions.strings), np.uint32)
    linked = write_column(writer, "mentions/linked", old.linked, mentions, none)
    occurs = write_column(writer, "mentions/occurrences", old.occurrences, mentions, none)
    for string, count in changes.linked.items():
        place = number_of(string, old.mention_strings, mentions)
        linked[place] += count
        occurs[place] += count
    common = function_words()
    for string in changes.own:
        place = number_of(string, old.mention_strings, mentions)
        if place >= 0:
            linked[place] = occurs[place] = max(linked[place], occurs[place])
            occurs[place] *= COMMON if string in common else 1
    strings = StringTable(
        *(np.load(writer.path / f"mentions/strings.{part}.npy", mmap_mode="c") for part in ("bytes", "offsets"))
    )
    capacity = trie_capacity(strings)
    trie = HashTable(
        writer.create("mentions/trie_keys", np.uint64, capacity),
        writer.create("mentions/trie_values", np.int32, capacity),
    )
    fill_trie(strings, trie)


def _write_words(writer: Writer[Knowledge], old: Knowledge, changes: Change) -> None:
    """Write words. The vocabulary does not change."""
    writer.strings("words/strings", old.word_strings)
    totals, frequencies = np.array(old.word_totals), np.array(old.word_frequencies)
    for (word, _), change in changes.items():
        totals[word] += int(change)
    offsets = np.load(writer.path / "words/offsets.npy", mmap_mode="c")
    frequencies = np.maximum(frequencies, np.diff(offsets)).astype(np.uint32)
    writer.array("words/totals", np.maximum(totals, 1))
    writer.array("words/frequencies", frequencies)
    writer.array("words/table_keys", old.word_table.keys)
    writer.array("words/table_values", old.word_table.values)


def _copy_cases(writer: Writer[Knowledge], old: Knowledge) -> None:
    """Copy the capitals of words, which hardly change with few pages."""
    for name in ("keys", "values", "capital", "before", "after") if old.has("case/keys") else ():
        writer.array(f"case/{name}", old.array(f"case/{name}"))


def _write_links(
    writer: Writer[Knowledge], old: Knowledge, changes: Changes, topics: Numbering, number: _Titles
) -> None:
    """The links of lists, besides those that are there."""
    now = {(number(source), number(target)) for source, target in changes.links}
    graph, change = old.graph, dict.fromkeys(now - _existing(old, topics, now), 1.0)
    for way, offsets, lists in (
        ("out", graph.out_offsets, graph.out_topics),
        ("in", graph.in_offsets, graph.in_topics),
    ):
        pairs = change if way == "out" else {(target, source): value for (source, target), value in change.items()}
        ones = np.ones(len(lists), np.uint8)
        _write_rows(
            writer, f"links/{way}", Rows(offsets, lists, ones), topics.old_of_new, topics, delta_of(pairs), None
        )


def _write_categories(
    writer: Writer[Knowledge], old: Knowledge, changes: Changes, topics: Numbering, number: _Titles
) -> None:
    """The categories of lists, besides those that are there; new ones have no parents."""
    before = old.categories
    names = insert(before.names, {name for _, name in changes.categories})
    if not names.size:
        return
    filed, under = before.topics.pairs()
    now = [(number(title), number_of(name, before.names, names)) for title, name in changes.categories]
    new = np.array(now, np.int64).reshape(-1, 2)
    rows = np.append(topics.new_of_old[filed], new[:, 0])
    numbers = np.append(names.new_of_old[under], new[:, 1])
    child, parent = (names.new_of_old[each] for each in before.parents.pairs())
    write_strings(writer, "categories/names", before.names, names.strings, names.places)
    write_column(writer, "categories/hidden", before.hidden, names, np.zeros(len(names.strings), np.bool_))
    for name, lists in (
        ("topics", Lists.of(rows, numbers, topics.size)),
        ("members", Lists.of(numbers, rows, names.size)),
        ("parents", Lists.of(child, parent, names.size)),
        ("children", Lists.of(parent, child, names.size)),
    ):
        writer.array(f"categories/{name}/offsets", lists.offsets)
        writer.array(f"categories/{name}/numbers", lists.numbers)


def _existing(old: Knowledge, topics: Numbering, links: set[tuple[int, int]]) -> set[tuple[int, int]]:
    graph, found = old.graph, set()
    for source, target in links:
        a, b = int(topics.old_of_new[source]), int(topics.old_of_new[target])
        if a >= 0 and b >= 0:
            row = graph.out_topics[graph.out_offsets[a] : graph.out_offsets[a + 1]]
            place = int(np.searchsorted(row, b))
            if place < len(row) and row[place] == b:
                found.add((source, target))
    return found
