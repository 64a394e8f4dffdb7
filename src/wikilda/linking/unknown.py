"""Names that mean nothing in the knowledge, clustered: in a document and over many.

In a document, mentions that are NIL are one entity if they are the same name, but for accents, points and endings, or
one is short for the other (`Andrews` after `John Andrews`). Over documents, entities are one if their full names are.
"""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wikilda._core.atomic import write_text
from wikilda.linking.results import Linked, LinkedMention
from wikilda.urn import Name

_CONTEXTS = 5  # of an entity
_WIDTH = 60  # characters on either side of a mention


@dataclass
class Unknown:
    """An entity that the knowledge does not have.

    Attributes
    ----------
    name
        Its longest name, as it is written most often.
    variants
        All of its names, and how often each is.
    documents
        The ids of the documents that it is in.
    contexts
        A few mentions with the text around them.
    types
        The types of what its names may mean otherwise, which suggest its own.
    """

    variants: Counter[str] = field(default_factory=Counter)
    documents: list[str] = field(default_factory=list)
    contexts: list[str] = field(default_factory=list)
    types: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """Its longest name."""
        return min(self.variants, key=lambda each: (-len(each.split()), -self.variants[each], each))

    @property
    def count(self) -> int:
        """How often it is mentioned."""
        return sum(self.variants.values())

    @property
    def type(self) -> str | None:
        """The type that its names suggest."""
        return min(self.types, key=lambda each: (-self.types[each], each)) if self.types else None

    def to_dict(self) -> dict[str, Any]:
        """The entity as plain values."""
        return {
            "name": self.name, "type": self.type, "count": self.count, "variants": dict(self.variants.most_common()),
            "documents": self.documents, "contexts": self.contexts,
        }  # fmt: skip

    def add(self, other: "Unknown") -> None:
        """Take in another that is the same."""
        self.variants += other.variants
        self.documents += [each for each in other.documents if each not in self.documents]
        self.contexts = (self.contexts + other.contexts)[:_CONTEXTS]
        self.types += other.types


def unknown_in(linked: Linked) -> list[Unknown]:
    """The unknown entities of a document, in the order of their first mentions.

    Examples
    --------
    >>> [each.name for each in unknown_in(linker.link("We met Zebulon Quux. Quux told Croft of it."))]
    ['Zebulon Quux']
    """
    nil = [each for each in linked.mentions if each.entity is None]
    names = {string: Name.of(string) for string in dict.fromkeys(each.text for each in nil)}
    full = {string: _full(string, names) for string in names}
    found: dict[tuple[int, ...], Unknown] = {}
    for mention in nil:
        one = found.setdefault(names[full[mention.text]].words, Unknown(documents=[linked.id]))
        one.variants[mention.text] += 1
        one.contexts += [_context(linked.text, mention)] if len(one.contexts) < _CONTEXTS else []
        one.types.update(each.entity.type for each in mention.candidates if each.entity.type)
    return list(found.values())


def _full(string: str, names: dict[str, Name]) -> str:
    """The last name of a document that a string is short for; itself if there is none."""
    longer = [other for other, name in names.items() if names[string].is_short_for(name)]
    return longer[-1] if longer else string


def _context(text: str, mention: LinkedMention) -> str:
    return " ".join(text[max(mention.start - _WIDTH, 0) : mention.end + _WIDTH].split())


class UnknownNames:
    """Unknown entities over many documents."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, ...], Unknown] = {}

    def add(self, linked: Linked) -> None:
        """Take in the unknown entities of a document."""
        for one in unknown_in(linked):
            self._found.setdefault(Name.of(one.name).words, Unknown()).add(one)

    def clusters(self) -> list[Unknown]:
        """All of them, those that are mentioned most first."""
        return sorted(self._found.values(), key=lambda each: (-each.count, each.name))

    def write(self, path: str | Path) -> None:
        """Write them as JSON lines."""
        lines = (json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in self.clusters())
        write_text(Path(path), "".join(lines))


def unknown_names(results: Iterable[Linked]) -> list[Unknown]:
    """The unknown entities of many documents, those that are mentioned most first.

    Examples
    --------
    >>> found = unknown_names(linker.link_many(["We met Zebulon Quux.", "Zebulon Quux is here. Quux left."]))
    >>> [(each.name, each.count, len(each.documents)) for each in found]
    [('Zebulon Quux', 3, 1)]
    """
    names = UnknownNames()
    for linked in results:
        names.add(linked)
    return names.clusters()
