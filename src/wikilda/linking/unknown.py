"""Names that mean nothing in the knowledge, clustered: in a document and over many.

In a document, mentions that are NIL are one entity if they are the same name, but for accents, points and endings, or
one is short for the other (`Andrews` after `John Andrews`). Over documents, entities are one if their full names are;
one that has only a surname joins the full name that ends with it, if there is exactly one.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wikilda._core.atomic import new_file
from wikilda.documents.detection.framing import is_titled
from wikilda.documents.writing import json_line
from wikilda.linking.results import Linked, LinkedMention
from wikilda.urn import Name

PERSON = "person"
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
        All of its names, with their counts.
    documents
        The ids of the documents that mention it; a dict without values, which keeps their order.
    contexts
        A few mentions with the text around them.
    types
        What suggests its type: `person` for each mention after an honorific, and the types of articles that its names
        resemble: people with its first name, other things with its last word.
    """

    variants: Counter[str] = field(default_factory=Counter)
    documents: dict[str, None] = field(default_factory=dict)  # a set that keeps its order
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
            "documents": list(self.documents), "contexts": self.contexts,
        }  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return everything that `from_json` needs."""
        return self.to_dict() | {"types": self.types}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "Unknown":
        """Return the entity that `to_json` was called on."""
        documents = dict.fromkeys(row["documents"])
        return cls(Counter(row["variants"]), documents, row["contexts"], Counter(row["types"]))

    def add(self, other: "Unknown") -> None:
        """Merge another description of the same entity."""
        self.variants.update(other.variants)
        self.documents |= other.documents
        self.contexts = (self.contexts + other.contexts)[:_CONTEXTS]
        self.types.update(other.types)


def unknown_in(linked: Linked) -> list[Unknown]:
    """The unknown entities of a document, in the order of their first mentions.

    Examples
    --------
    >>> [each.name for each in unknown_in(linker.link("We met Zebulon Quux. Quux told Croft of it."))]
    ['Zebulon Quux']
    """
    nil = [each for each in linked.mentions if each.entity is None]
    full, names = _full_names(dict.fromkeys(each.text for each in nil))
    found: dict[tuple[int, ...], Unknown] = {}
    for mention in nil:
        one = found.setdefault(names[full[mention.text]].words, Unknown(documents={linked.id: None}))
        one.variants[mention.text] += 1
        one.contexts += [_context(linked.text, mention)] if len(one.contexts) < _CONTEXTS else []
        one.types.update(_suggested(linked.text, mention, names[full[mention.text]]))
    return list(found.values())


def _full_names(strings: Iterable[str]) -> tuple[dict[str, str], dict[str, Name]]:
    """For each string the last name of the document that it is short for, or itself; and the names.

    It is `Name.is_short_for` for all pairs at once: each name is looked up by the words that it begins or ends with.
    """
    names = {string: Name.of(string) for string in strings}
    longer: dict[tuple[int, ...], tuple[int, str]] = {}  # the last name that begins or ends with some words
    spelt: dict[int, tuple[int, str]] = {}  # and the last one with some initials
    for at, (string, name) in enumerate(names.items()):
        for size in range(1, len(name.words)):
            longer[name.words[:size]] = longer[name.words[-size:]] = at, string
        if name.initials and len(name.words) > 1:
            spelt[name.initials] = at, string
    full = {}
    for string, name in names.items():
        found = longer.get(name.words, (-1, string))
        if len(name.words) == 1 and name.letters:
            found = max(found, spelt.get(name.letters, found))
        full[string] = found[1]
    return full, names


def _suggested(text: str, mention: LinkedMention, name: Name) -> Iterator[str]:
    """The types that a mention suggests."""
    before = text[: mention.start].rsplit(maxsplit=1)
    if before and is_titled(f"{before[-1]} {mention.text}"):
        yield PERSON
    for each in mention.candidates if len(name.words) > 1 else ():
        title, kind = Name.of(each.entity.title.partition(" (")[0]).words, each.entity.type
        same = title[:1] == name.words[:1] if kind == PERSON else title[-1:] == name.words[-1:]
        if kind and same:
            yield kind


def _context(text: str, mention: LinkedMention) -> str:
    return " ".join(text[max(mention.start - _WIDTH, 0) : mention.end + _WIDTH].split())


class UnknownNames:
    """Unknown entities over many documents."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, ...], Unknown] = {}

    def add(self, linked: Linked) -> None:
        """Add the unknown entities of a document."""
        for one in unknown_in(linked):
            self.add_one(one)

    def add_one(self, one: Unknown) -> None:
        """Add an unknown entity."""
        self._found.setdefault(Name.of(one.name).words, Unknown()).add(one)

    def clusters(self) -> list[Unknown]:
        """Return all entities, those that are mentioned most first."""
        found = self._with_surnames()
        return sorted(found.values(), key=lambda each: (-each.count, each.name))

    def _with_surnames(self) -> dict[tuple[int, ...], Unknown]:
        """The entities; one whose name only one other ends with is a part of that."""
        longer: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
        for words in self._found:
            for size in range(1, len(words)):
                longer.setdefault(words[-size:], []).append(words)
        joined: dict[tuple[int, ...], Unknown] = {}
        for words, one in sorted(self._found.items(), key=lambda each: (-len(each[0]), each[0])):
            full = words
            while len(longer.get(full, [])) == 1:
                [full] = longer[full]
            joined.setdefault(full, Unknown()).add(one)
        return joined

    def write(self, path: str | Path) -> None:
        """Write the entities as JSON lines."""
        with new_file(Path(path)) as made, made.open("wb") as file:
            file.writelines(json_line(each.to_dict()) for each in self.clusters())


class UnknownFile:
    """The side output of `--unknown`: unknown names, clustered over all documents of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, linked: Linked) -> bytes:
        """Return the unknown entities of a document."""
        return b"".join(json_line(each.to_json()) for each in unknown_in(linked))

    def write(self, journal: Path, target: Path) -> None:
        """Cluster what the journal has, and write it."""
        names = UnknownNames()
        with journal.open("rb") as lines:
            for line in lines:
                names.add_one(Unknown.from_json(json.loads(line)))
        with target.open("wb") as file:
            file.writelines(json_line(each.to_dict()) for each in names.clusters())


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
