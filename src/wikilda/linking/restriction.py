"""Answers restricted to some topics: by type, by category, by lists of titles and of strings."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import InputError
from wikilda.documents.document import Document
from wikilda.knowledge import Knowledge
from wikilda.knowledge.describe import topic_of
from wikilda.linking.results import Candidate, Entity, Linked, LinkedMention

if TYPE_CHECKING:
    from wikilda.linking.linker import Linker

CANDIDATES = 64  # of a mention that are looked at before most of them are ruled out
_DEPTH = 4  # steps below a category


@dataclass(frozen=True)
class Restriction:
    """Which topics may be answers: those of some types, in a category or below it, with some titles; all of it holds.

    Examples
    --------
    >>> wanted = Restriction(types=("person",))
    >>> linked = linker.link("Croft took five wickets for England.", candidates=64)
    >>> [each.entity.title for each in wanted.apply(linked, wanted.topics(linker.knowledge)).mentions]
    ['Robert Croft']
    """

    types: tuple[str, ...] = ()
    category: str = ""
    titles: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()  # mentions of these may mean anything, others what `titles` has
    except_titles: tuple[str, ...] = ()
    except_strings: tuple[str, ...] = ()  # no mention of these is linked

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def with_lists(self, only: Path | None, exclude: Path | None) -> "Restriction":
        """The same with lists: a title a line, or a string in double quotes."""
        titles, strings = read_list(only) if only else ((), ())
        except_titles, except_strings = read_list(exclude) if exclude else ((), ())
        return replace(
            self, titles=self.titles + titles, strings=self.strings + strings,
            except_titles=self.except_titles + except_titles, except_strings=self.except_strings + except_strings,
        )  # fmt: skip

    def topics(self, knowledge: Knowledge) -> NDArray[np.bool_]:
        """The topics that remain; an error if one of the conditions cannot hold for any."""
        allowed = np.ones(len(knowledge.titles), np.bool_)
        if self.types:
            allowed &= knowledge.types.topics(self.types)
        if self.category:
            allowed &= _within(knowledge, self.category)
        if self.titles or self.strings:
            allowed &= _named(knowledge, self.titles)
        if self.except_titles:
            allowed &= ~_named(knowledge, self.except_titles)
        if not allowed.any() and not self.strings:
            raise InputError("no topic is of these types, in this category and among these titles.")
        return allowed

    def link(
        self, linker: "Linker", document: Document | str, *, candidates: int = 5, topics: int = 10, **more: Any
    ) -> Linked:
        """Link a document, and apply this to the result."""
        if not self:
            return linker.link(document, candidates=candidates, topics=topics, **more)
        allowed = allowed_topics(self, linker.knowledge)
        return self.apply(linker.link(document, candidates=CANDIDATES, topics=topics, **more), allowed, candidates)

    def apply(self, linked: Linked, allowed: NDArray[np.bool_], most: int = 5) -> Linked:
        """A result with the posterior conditioned on what is allowed; mentions that cannot mean any of it are gone."""
        kept = (self.apply_to(each, allowed, most) for each in linked.mentions)
        return linked.with_mentions([each for each in kept if each.candidates])

    def apply_to(self, mention: LinkedMention, allowed: NDArray[np.bool_], most: int = 5) -> LinkedMention:
        """A mention with the candidates that are allowed; it has none if none of those is."""
        string = mention.text.casefold()
        if string in _folded(self.except_strings):
            return replace(mention, candidates=[])
        anything = string in _folded(self.strings)
        found = [each for each in mention.candidates if self._allows(each.entity, allowed, anything=anything)]
        total = sum(each.probability for each in found)
        if total <= 0:
            return replace(mention, candidates=[])
        scaled = [Candidate(each.entity, each.probability / total, each.prior) for each in found[:most]]
        return replace(mention, candidates=scaled)

    def _allows(self, entity: Entity, allowed: NDArray[np.bool_], *, anything: bool) -> bool:
        """Whether an entity may be an answer; one of the caller's own is, unless it is of another type."""
        if entity.topic < 0:
            return not self.types or entity.type in self.types
        return entity.title not in self.except_titles if anything else bool(allowed[entity.topic])


ALL = Restriction()


@lru_cache(maxsize=8)
def allowed_topics(restriction: Restriction, knowledge: Knowledge) -> NDArray[np.bool_]:
    """The topics that a restriction leaves, found once for many documents."""
    return restriction.topics(knowledge)


def read_list(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The titles and the strings of a list: a title a line, or a string in double quotes; # begins a comment."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8").split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a list of titles ({error}).") from None
    lines = [line for line in lines if line and not line.startswith("#")]
    strings = [line[1:-1] for line in lines if len(line) > 1 and line[0] == line[-1] == '"']
    titles = [line for line in lines if not (len(line) > 1 and line[0] == line[-1] == '"')]
    if not lines:
        raise InputError(f"{path}: the list is empty. Give a title a line, or a string in double quotes.")
    return tuple(titles), tuple(strings)


@lru_cache(maxsize=16)
def _folded(strings: tuple[str, ...]) -> frozenset[str]:
    return frozenset(each.casefold() for each in strings)


def _within(knowledge: Knowledge, name: str) -> NDArray[np.bool_]:
    category = knowledge.categories.find(name)
    if category < 0:
        raise InputError(f"there is no category {name!r}.")
    found = np.zeros(len(knowledge.titles), np.bool_)
    found[knowledge.categories.members_of(category, _DEPTH)] = True
    return found


def _named(knowledge: Knowledge, titles: Iterable[str]) -> NDArray[np.bool_]:
    found = np.zeros(len(knowledge.titles), np.bool_)
    for title in titles:
        found[topic_of(knowledge, title)] = True
    return found
