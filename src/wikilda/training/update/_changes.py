"""Changes to knowledge, read from pages of a wiki or from a list of entities: in terms of titles and strings."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wikilda._core.compression import uncompressed_suffix
from wikilda._core.errors import InputError, Report
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.entities import ENDINGS, EXPLICIT, EntityList, ListedEntity, read_entities, type_of
from wikilda.knowledge.first_sentence import first_sentence
from wikilda.knowledge.from_dump import PARENTHESIS
from wikilda.knowledge.knowledge import WHOLE
from wikilda.mediawiki.dump import cut, read_piece, site_of
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.site import MAIN
from wikilda.mediawiki.wikitext import Dialect, dialect_of, read_page
from wikilda.text import normalized

_PIECE = 1 << 24


@dataclass
class Entity:
    """What is said of a topic that is new, or whose page has changed."""

    page_id: int = 0
    wikidata: int = 0
    sentence: str = ""
    described: int = WHOLE  # words, of a listed entity
    type: int = -1  # the number of the type that a list gives


@dataclass
class Changes:
    """All changes; titles are as they will be, words are numbers in the knowledge."""

    entities: dict[str, Entity] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    mentions: Counter[tuple[str, str]] = field(default_factory=Counter)  # (string, title)
    linked: Counter[str] = field(default_factory=Counter)  # how often a string is a link in the changed pages
    own: set[str] = field(default_factory=set)  # strings that lists of entities name: names wherever they occur
    lower: set[str] = field(default_factory=set)  # those of them that are names in lower case, too
    ids: dict[str, tuple[str, str]] = field(default_factory=dict)  # ids and addresses of listed entities, by title
    words: Counter[tuple[int, str]] = field(default_factory=Counter)
    links: set[tuple[str, str]] = field(default_factory=set)
    categories: set[tuple[str, str]] = field(default_factory=set)  # (title, category)
    rewritten: set[str] = field(default_factory=set)  # pages whose words and links replace the old ones
    report: Report = field(default_factory=Report)


def read_changes(files: list[Path], knowledge: Knowledge) -> Changes:
    """Read dumps of changed pages (.xml, .xml.bz2, .xml.gz, .xml.xz) and lists of entities (.csv, .jsonl, …)."""
    changes = Changes()
    for path in files:
        if not path.is_file():
            raise InputError(f"{path}: no such file.")
        if uncompressed_suffix(path) == ".xml":
            _Pages(path, knowledge, changes).read()
        elif uncompressed_suffix(path) in ENDINGS:
            _read_list(path, knowledge, changes)
        else:
            endings = ", ".join(ENDINGS)
            raise InputError(f"{path}: is neither a dump of pages (.xml) nor a list of entities ({endings}).")
    return changes


def name(changes: Changes, text: str, title: str, count: int = 1, *, linked: int = 0) -> None:
    """Let a string mean a title so many times more."""
    key = normalized(text)
    if len(key) < 2:
        changes.report.count("names too short")
        return
    changes.mentions[key, title] += count
    changes.linked[key] += linked


def _name_by_title(changes: Changes, title: str, target: str) -> None:
    name(changes, title, target)
    short = PARENTHESIS.match(title)
    if short:
        name(changes, short.group(1), target)


def _count_words(changes: Changes, text: str, title: str, knowledge: Knowledge) -> None:
    words = np.asarray(encode(Document(text, []), knowledge).words)
    changes.report.count("words not in the knowledge", int((words < 0).sum()))
    for word, count in zip(*np.unique(words[words >= 0], return_counts=True), strict=True):
        changes.words[int(word), title] += int(count)


class _Pages:
    """Reads the pages of a dump."""

    def __init__(self, path: Path, knowledge: Knowledge, changes: Changes) -> None:
        self.path, self.knowledge, self.changes = path, knowledge, changes
        site = site_of(path)
        self.namespaces, self.language = site.namespaces, site.words
        self.dialect: Dialect = dialect_of(site)
        self.least = knowledge.settings.min_text

    def read(self) -> None:
        """All pages: first which there are, then what they link to."""
        pages = [page for piece in cut(self.path, _PIECE) for page in pages_in(read_piece(piece), self.namespaces)]
        articles = []
        for page in pages:
            self.changes.report.count("pages")
            if not isinstance(page, RawPage):
                self.changes.report.complain("unreadable pages", f"{self.path}: page {page.title!r}: {page.reason}")
            elif page.namespace == MAIN and page.redirect:
                self.changes.redirects[page.title] = page.redirect
            elif page.namespace == MAIN and page.wikitext:
                articles.append((page, read_page(page.text.decode("utf-8", "replace"), self.dialect)))
        kept = [(page, read) for page, read in articles if self._is_topic(page, read.text)]
        for page, read in kept:
            self._take(page, read.text)
            self.changes.categories |= {(page.title, self._normalized(each)) for each in read.categories}
        for title, target in self.changes.redirects.items():
            found = self._title(target)
            if found:
                _name_by_title(self.changes, title, found)
        for page, read in kept:
            self._link(page.title, read.links)

    def _is_topic(self, page: RawPage, text: str) -> bool:
        lower = page.title.lower()
        listed = lower.startswith(tuple(each.lower() for each in self.language.list_prefixes))
        unclear = lower.endswith(tuple(each.lower() for each in self.language.disambiguation_suffixes))
        if len(text) <= self.least or listed or unclear:
            self.changes.report.count("pages that are no topics")
            return False
        return True

    def _take(self, page: RawPage, text: str) -> None:
        changes, known = self.changes, self.knowledge.titles.find(page.title) >= 0
        changes.report.count("pages changed" if known else "pages added")
        changes.entities[page.title] = Entity(page.id, 0, first_sentence(text[:1500]))
        changes.rewritten.add(page.title)
        _count_words(changes, text, page.title, self.knowledge)
        if not known:
            _name_by_title(changes, page.title, page.title)

    def _title(self, target: str) -> str | None:
        """The topic that a link leads to, new or old."""
        title = self._normalized(target)
        title = self.changes.redirects.get(title, title)
        if title in self.changes.entities:
            return title
        topic = self.knowledge.find_topic(title)
        return self.knowledge.titles[topic] if topic >= 0 else None

    def _normalized(self, title: str) -> str:
        title = " ".join(title.split("#")[0].replace("_", " ").split())
        return title[:1].upper() + title[1:]

    def _link(self, title: str, links: list[tuple[str, str, bool]]) -> None:
        """Links of a page; names count where the page did not link to their topic before."""
        before = set(linked_titles(self.knowledge, title))
        for target, anchor, in_text in links:
            found = self._title(target)
            if found is None or found == title:
                continue
            self.changes.links.add((title, found))
            if found not in before:
                name(self.changes, anchor, found, linked=int(in_text))


def linked_titles(knowledge: Knowledge, title: str) -> list[str]:
    """The titles that a topic links to."""
    topic = knowledge.titles.find(title)
    if topic < 0:
        return []
    graph = knowledge.graph
    targets = graph.out_topics[graph.out_offsets[topic] : graph.out_offsets[topic + 1]]
    return [knowledge.titles[int(target)] for target in targets]


def _read_list(path: Path, knowledge: Knowledge, changes: Changes) -> None:
    """Take a list of entities in: those that the wiki has, by id or Wikidata item, gain names; others are new."""
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
