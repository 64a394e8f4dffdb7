"""Gold: documents whose mentions have known entities, and their topics in the knowledge."""

import html
import re
from dataclasses import dataclass, field
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from wikilda.knowledge import Knowledge
from wikilda.linking import Document

# Instead of a topic: NIL; an entity that the knowledge lacks; no answer of a method.
NIL, ABSENT, NO_ANSWER = -1, -2, -3

_WIKI = re.compile(r"https?://(?:([a-z][a-z-]*)\.)?(?:m\.)?(?:wikipedia\.org/wiki|dbpedia\.org/(?:resource|page))/(.+)")
_ITEM = re.compile(r"(?:https?://(?:www\.)?wikidata\.org/(?:wiki|entity)/)?Q([1-9]\d*)")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")  # in the names of YAGO2
LABEL = "label:"


@dataclass(frozen=True)
class GoldDocument(Document):
    """A document with the names of each mention's entity; without a name, gold is NIL.

    A name is a title, an address in Wikipedia, DBpedia or Wikidata, an item (Q42), or a `label:` of one that is
    used as a title where the knowledge has no items. Several names are of the same entity.
    """

    gold: list[tuple[str, ...]] = field(default_factory=list)
    split: str = ""


class Resolver:
    """Finds the topics of gold's names in the knowledge, through redirects."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._known: dict[tuple[str, ...], int] = {}
        order = np.argsort(knowledge.wikidata, kind="stable")
        self._items: NDArray[np.int64] = np.asarray(knowledge.wikidata)[order]
        self._order = order

    def topics(self, document: GoldDocument) -> list[int]:
        """For each mention its topic, NIL or ABSENT."""
        return [self.topic(names) for names in document.gold]

    def topic(self, names: tuple[str, ...]) -> int:
        """The topic that has one of the names."""
        if not names:
            return NIL
        if names not in self._known:
            self._known[names] = next((topic for name in names if (topic := self._find(name)) >= 0), ABSENT)
        return self._known[names]

    def _find(self, name: str) -> int:
        item = _ITEM.fullmatch(name)
        if item and self._has_items:
            at = int(np.searchsorted(self._items, int(item.group(1))))
            return int(self._order[at]) if at < len(self._items) and self._items[at] == int(item.group(1)) else -1
        if name.startswith(LABEL):
            return -1 if self._has_items else self.knowledge.find_topic(name[len(LABEL) :])
        page = _WIKI.fullmatch(name)
        if page:
            return self._find_title(unquote(page.group(2))) if self._is_our_language(page.group(1)) else -1
        return -1 if "://" in name else self._find_title(_ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), name))

    def _find_title(self, title: str) -> int:
        topic = self.knowledge.find_topic(title)
        return topic if topic >= 0 or "&" not in title else self.knowledge.find_topic(html.unescape(title))

    @property
    def _has_items(self) -> bool:
        return bool(len(self._items)) and bool(self._items[-1] > 0)

    def _is_our_language(self, language: str | None) -> bool:
        ours = self.knowledge.site.language  # tables may lack it
        return not ours or ours == ("en" if language in (None, "www") else language)


NEAR = 100  # characters around its offset in which a mention is looked for


def place(text: str, start: int, end: int, surface: str) -> tuple[int, int] | None:
    """Return the span of an annotation: at its offset if the string is there, else nearby; None if nowhere."""
    if 0 <= start < end <= len(text) and (not surface or text[start:end].split() == surface.split()):
        return start, end  # a line may end inside a mention
    counted = _from_utf16(text, start, end)
    if counted and text[slice(*counted)] == surface:
        return counted
    if not surface:
        return None
    found = _occurrences(text, surface, start)
    if not found:
        return None
    nearest = min(found, key=lambda at: (abs(at - start), at))
    return nearest, nearest + len(surface)


def _from_utf16(text: str, start: int, end: int) -> tuple[int, int] | None:
    units = text.encode("utf-16-le", "surrogatepass")
    if not 0 <= start < end <= len(units) // 2:
        return None
    before = len(units[: 2 * start].decode("utf-16-le", "replace"))
    return before, before + len(units[2 * start : 2 * end].decode("utf-16-le", "replace"))


def _occurrences(text: str, surface: str, start: int) -> list[int]:
    first, last = max(0, start - NEAR), start + NEAR
    found, at = [], text.find(surface, first, last + len(surface))
    while at >= 0:
        found.append(at)
        at = text.find(surface, at + 1, last + len(surface))
    return found
