"""Changes to knowledge from lists of entities, by titles and strings."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wikilda._core.errors import Report
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.entities import EXPLICIT, EntityList, ListedEntity, read_entities, type_of
from wikilda.knowledge.first_sentence import first_sentence
from wikilda.knowledge.knowledge import WHOLE
from wikilda.text import normalized


@dataclass
class Entity:
    """A listed entity as a new topic."""

    page_id: int = 0
    wikidata: int = 0
    sentence: str = ""
    described: int = WHOLE  # words, of a listed entity
    type: int = -1  # the number of the type that a list gives


@dataclass
class Changes:
    """All changes; titles are as they will be, words are numbers in the knowledge."""

    entities: dict[str, Entity] = field(default_factory=dict)
    mentions: Counter[tuple[str, str]] = field(default_factory=Counter)  # (string, title)
    linked: Counter[str] = field(default_factory=Counter)  # how often a string counts as a link
    own: set[str] = field(default_factory=set)  # strings that lists of entities name: names wherever they occur
    lower: set[str] = field(default_factory=set)  # those of them that are names in lower case, too
    ids: dict[str, tuple[str, str]] = field(default_factory=dict)  # ids and addresses of listed entities, by title
    words: Counter[tuple[int, str]] = field(default_factory=Counter)
    links: set[tuple[str, str]] = field(default_factory=set)
    categories: set[tuple[str, str]] = field(default_factory=set)  # (title, category)
    report: Report = field(default_factory=Report)


def read_changes(files: list[Path], knowledge: Knowledge) -> Changes:
    """Read lists of entities (.csv, .jsonl, …)."""
    changes = Changes()
    for path in files:
        _read_list(path, knowledge, changes)
    return changes


def name(changes: Changes, text: str, title: str, count: int = 1, *, linked: int = 0) -> None:
    """Add to the count of a string for a title."""
    key = normalized(text)
    if len(key) < 2:
        changes.report.count("names too short")
        return
    changes.mentions[key, title] += count
    changes.linked[key] += linked


def _count_words(changes: Changes, text: str, title: str, knowledge: Knowledge) -> None:
    words = np.asarray(encode(Document(text, []), knowledge).words)
    changes.report.count("words not in the knowledge", int((words < 0).sum()))
    for word, count in zip(*np.unique(words[words >= 0], return_counts=True), strict=True):
        changes.words[int(word), title] += int(count)


def _read_list(path: Path, knowledge: Knowledge, changes: Changes) -> None:
    """Read a list of entities. Those that the wiki has, by id or Wikidata item, gain names; others are new."""
    listed = read_entities(path)
    changes.report.add(listed.report)
    changes.report.counts.pop("entities", None)
    by_item = _by_item(knowledge, {each.wikidata for each in listed.rows} - {0})
    by_id = knowledge.topics_of_ids(each.id for each in listed.rows)
    known = {
        each.id: knowledge.titles[topic] for each in listed.rows
        if (topic := by_id.get(each.id, by_item.get(each.wikidata, knowledge.titles.find(each.id)))) >= 0
    }  # fmt: skip
    new = EntityList(listed.source, [each for each in listed.rows if each.id not in known])
    titles = known | new.titles(lambda title: knowledge.find_topic(title) >= 0)
    for each in listed.rows:
        _take(each, titles[each.id], knowledge, changes, is_new=each.id not in known)
    for each in listed.rows:
        for other in each.related:
            if other in titles and other != each.id:  # similarity comes from common in-links: a link counts both ways
                changes.links |= {(titles[each.id], titles[other]), (titles[other], titles[each.id])}
    changes.lower |= listed.lower_case()


def _by_item(knowledge: Knowledge, items: set[int]) -> dict[int, int]:
    places = np.flatnonzero(np.isin(knowledge.wikidata, list(items))) if items else np.empty(0, np.int64)
    return dict(zip(knowledge.wikidata[places].tolist(), places.tolist(), strict=True))


def _take(row: ListedEntity, title: str, knowledge: Knowledge, changes: Changes, *, is_new: bool) -> None:
    changes.report.count("entities added" if is_new else "entities changed")
    text = f"{row.description}\n{row.text}"
    if is_new:
        sentence = row.description or first_sentence(row.text[:1500])
        kind = type_of(row.type) if row.type else -1
        changes.entities[title] = Entity(0, row.wikidata, sentence, len(text.split()), kind)
        _count_words(changes, text, title, knowledge)
    changes.ids[title] = row.id, row.url
    for each in row.names:
        key = normalized(each)
        mention = knowledge.mention_strings.find(key)
        others = int(knowledge.mentions.row(mention)[1].sum()) if mention >= 0 else 0
        name(changes, each, title, max(EXPLICIT, others), linked=EXPLICIT)
        changes.own.add(key)
    changes.categories |= {(title, each) for each in (*row.categories, row.type) if each}
