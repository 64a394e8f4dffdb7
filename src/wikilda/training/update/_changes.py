"""Changes to knowledge, read from pages of a wiki or from a list of entities: in terms of titles and strings.

An entity is a line of JSON:

    {"title": "Acme Corp", "aliases": ["Acme"], "description": "…", "text": "…", "links": ["Anvil"], "wikidata": "Q1",
     "categories": ["Companies"]}

Only the title is needed. `aliases` may give counts: {"Acme": 20}. An entity whose title is a topic already gets
the aliases, links and text in addition to what it has.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wikilda._core.compression import open_compressed, uncompressed_suffix, whole_lines
from wikilda._core.errors import InputError, Report
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.first_sentence import first_sentence
from wikilda.knowledge.from_dump import PARENTHESIS
from wikilda.mediawiki.dump import cut, read_piece, site_of
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.site import MAIN
from wikilda.mediawiki.wikitext import Dialect, dialect_of, read_page
from wikilda.text import normalized

_PIECE = 1 << 24
_ITEM = re.compile(r"Q?(\d{1,12})")


@dataclass
class Entity:
    """What is said of a topic that is new, or whose page has changed."""

    page_id: int = 0
    wikidata: int = 0
    sentence: str = ""


@dataclass
class Changes:
    """All changes; titles are as they will be, words are numbers in the knowledge."""

    entities: dict[str, Entity] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    mentions: Counter[tuple[str, str]] = field(default_factory=Counter)  # (string, title)
    linked: Counter[str] = field(default_factory=Counter)  # how often a string is a link in the changed pages
    own: set[str] = field(default_factory=set)  # strings that lists of entities name: names wherever they occur
    words: Counter[tuple[int, str]] = field(default_factory=Counter)
    links: set[tuple[str, str]] = field(default_factory=set)
    categories: set[tuple[str, str]] = field(default_factory=set)  # (title, category)
    rewritten: set[str] = field(default_factory=set)  # pages whose words and links replace the old ones
    report: Report = field(default_factory=Report)


def read_changes(files: list[Path], knowledge: Knowledge) -> Changes:
    """Read dumps of changed pages (.xml, .xml.bz2, .xml.gz, .xml.xz) and lists of entities (.jsonl)."""
    changes = Changes()
    for path in files:
        if not path.is_file():
            raise InputError(f"{path}: no such file.")
        if uncompressed_suffix(path) == ".xml":
            _Pages(path, knowledge, changes).read()
        elif uncompressed_suffix(path) in (".jsonl", ".ndjson"):
            _read_entities(path, knowledge, changes)
        else:
            raise InputError(f"{path}: is neither a dump of pages (.xml) nor a list of entities (.jsonl).")
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
    words = np.asarray(encode(Document(text), knowledge).words)
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


def _read_entities(path: Path, knowledge: Knowledge, changes: Changes) -> None:
    rows = []
    with open_compressed(path) as lines:
        for number, line in enumerate(whole_lines(lines, path), 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise InputError(f"{path}: line {number} is not JSON ({error}).") from None
            rows.append((f"{path}: line {number}", _checked(row, f"{path}: line {number}")))
    titles = {row["title"]: _canonical(row["title"], knowledge) for _, row in rows}
    for _, row in rows:
        _take_entity(row, titles[row["title"]], knowledge, changes)
    for place, row in rows:
        _link_entity(row, place, titles, knowledge, changes)


def _canonical(title: str, knowledge: Knowledge) -> str:
    topic = knowledge.find_topic(title)
    return knowledge.titles[topic] if topic >= 0 else title


def _checked(row: Any, place: str) -> dict[str, Any]:
    if not isinstance(row, dict) or not isinstance(row.get("title"), str) or not row["title"].strip():
        raise InputError(f'{place}: an entity needs a "title".')
    kinds: dict[str, tuple[type, ...]] = {
        "aliases": (list, dict), "links": (list,), "categories": (list,), "text": (str,), "description": (str,),
        "wikidata": (str, int),
    }  # fmt: skip
    for key, kind in kinds.items():
        if not isinstance(row.get(key, kind[0]()), kind):
            raise InputError(f'{place}: "{key}" is not a {" or ".join(each.__name__ for each in kind)}.')
    aliases = row.get("aliases", {})
    counts = aliases.values() if isinstance(aliases, dict) else [1] * len(aliases)
    if any(type(count) is not int or count < 1 for count in counts) or any(type(each) is not str for each in aliases):
        raise InputError(f'{place}: "aliases" are strings, or strings with whole numbers over 0.')
    if not set(row) <= {"title", *kinds}:
        raise InputError(f"{place}: unknown {', '.join(sorted(set(row) - {'title', *kinds}))}; see docs/training.md.")
    return {**row, "title": " ".join(row["title"].replace("_", " ").split())}


def _take_entity(row: dict[str, Any], title: str, knowledge: Knowledge, changes: Changes) -> None:
    known = knowledge.titles.find(title) >= 0
    changes.report.count("entities changed" if known else "entities added")
    text = row.get("text", "")
    if not known:
        item = _ITEM.fullmatch(str(row.get("wikidata", "")))
        sentence = row.get("description", "") or first_sentence(text[:1500])
        changes.entities[title] = Entity(0, int(item.group(1)) if item else 0, sentence)
        _name_by_title(changes, title, title)
    aliases = row.get("aliases", {})
    counts = aliases if isinstance(aliases, dict) else dict.fromkeys(aliases, 1)
    changes.own |= {normalized(each) for each in (title, *counts)}
    for alias, count in counts.items():
        name(changes, alias, title, count, linked=count)
    changes.categories |= {(title, str(each)) for each in row.get("categories", [])}
    if text:
        _count_words(changes, text, title, knowledge)


def _link_entity(
    row: dict[str, Any], place: str, titles: dict[str, str], knowledge: Knowledge, changes: Changes
) -> None:
    source = titles[row["title"]]
    for target in row.get("links", []):
        found = titles.get(str(target)) or _canonical(str(target), knowledge)
        if found not in changes.entities and knowledge.titles.find(found) < 0:
            changes.report.complain("links to nothing", f"{place}: {target!r} is no topic")
        else:
            # Similarity comes from common in-links, so that a link counts both ways.
            changes.links |= {(source, found), (found, source)}
