"""Restrictions on answers: by type, by category, by lists of titles and mention strings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import InputError
from wikilda.knowledge import Knowledge
from wikilda.knowledge.describe import topic_of
from wikilda.linking._ranking import Rows

_DEPTH = 4  # steps below a category

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Restriction:
    """Which entities may be answers. All conditions must hold.

    Attributes
    ----------
    types
        Coarse types: person, organisation, place, …
    category
        A category of the wiki; those below it count, too.
    only
        Titles that may be answers. A mention string in double quotes lets mentions of that string mean anything.
    exclude
        Titles that are never answers. A mention string in double quotes excludes the mentions of that string.

    Examples
    --------
    >>> linked = linker.link("Croft took five wickets for England.", restriction=Restriction(types=("person",)))
    >>> [each.entity.title for each in linked.mentions]
    ['Robert Croft']
    """

    types: tuple[str, ...] = ()
    category: str = ""
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("types", "only", "exclude"):
            if isinstance(getattr(self, name), str):
                raise InputError(f"restriction: {name} must be a list of strings, not one string.")
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def __bool__(self) -> bool:
        return any(vars(self).values())

    def with_lists(self, only: Path | None, exclude: Path | None) -> "Restriction":
        """Return the same with lists from files: one title, or one string in double quotes, per line."""
        more = read_list(only) if only else ()
        less = read_list(exclude) if exclude else ()
        return replace(self, only=self.only + more, exclude=self.exclude + less)

    def check(self, knowledge: Knowledge) -> None:
        """Raise an error if a condition names something unknown, or nothing is left."""
        if self:
            _allowed(self, knowledge)

    def topics(self, knowledge: Knowledge) -> Flags:
        """Return which topics are allowed for any mention."""
        return _allowed(self, knowledge).topics

    def allowed(self, knowledge: Knowledge) -> "Allowed":
        """Return which topics are allowed."""
        return _allowed(self, knowledge)

    def apply(
        self, allowed: "Allowed", rows: Rows, strings: Sequence[str], own_types: Sequence[str | None] = ()
    ) -> Rows:
        """Return the candidates of mentions that are allowed; none where the posterior of all of them is 0.

        `strings` are those of the mentions, `own_types` the types of the caller's own entities.
        """
        own = [not self.types or each in self.types for each in own_types]
        flags = np.append(allowed.topics, np.array(own, np.bool_))[rows.topics]
        free, barred = _strings(self.only), _strings(self.exclude)
        if free or barred:
            possible = np.append(allowed.possible, np.ones(len(own), np.bool_))
            for number, string in enumerate(strings):
                span = slice(rows.offsets[number], rows.offsets[number + 1])
                if string.casefold() in barred:
                    flags[span] = False
                elif string.casefold() in free:
                    flags[span] = possible[rows.topics[span]]
        owners = np.repeat(np.arange(len(strings)), np.diff(rows.offsets))
        mass = np.bincount(owners, rows.posterior * flags, minlength=len(strings))
        return rows.some(flags & (mass[owners] > 0))


ALL = Restriction()


class Allowed(NamedTuple):
    """The topics that a restriction leaves: for any mention, and for strings that may mean anything."""

    topics: Flags
    possible: Flags


@lru_cache(maxsize=8)
def _allowed(restriction: Restriction, knowledge: Knowledge) -> Allowed:
    """The topics that a restriction leaves."""
    allowed = np.ones(len(knowledge.titles), np.bool_)
    possible = ~_named(knowledge, _titles(restriction.exclude))
    if restriction.types:
        allowed &= knowledge.types.topics(restriction.types)
    if restriction.category:
        allowed &= _within(knowledge, restriction.category)
    if restriction.only:
        allowed &= _named(knowledge, _titles(restriction.only))
    allowed &= possible
    if not allowed.any() and not _strings(restriction.only):
        raise InputError("no topic is of these types, in this category and among these titles. Remove a restriction.")
    return Allowed(allowed, possible)


def read_list(path: Path) -> tuple[str, ...]:
    """Read a list: one title, or one string in double quotes, per line; # begins a comment."""
    try:
        lines = [line.strip() for line in path.read_text("utf-8").split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a list of titles ({error}). Save it as UTF-8 text.") from None
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines:
        raise InputError(f"{path}: the list is empty. Write one title, or one string in double quotes, per line.")
    return tuple(lines)


def _is_string(entry: str) -> bool:
    return len(entry) > 1 and entry[0] == entry[-1] == '"'


def _titles(entries: tuple[str, ...]) -> list[str]:
    return [each for each in entries if not _is_string(each)]


@lru_cache(maxsize=16)
def _strings(entries: tuple[str, ...]) -> frozenset[str]:
    return frozenset(each[1:-1].casefold() for each in entries if _is_string(each))


def _within(knowledge: Knowledge, name: str) -> Flags:
    category = knowledge.categories.find(name)
    if category < 0:
        raise InputError(f"there is no category {name!r}. Check its name, without `Category:`.")
    found = np.zeros(len(knowledge.titles), np.bool_)
    found[knowledge.categories.members_of(category, _DEPTH)] = True
    return found


def _named(knowledge: Knowledge, titles: Iterable[str]) -> Flags:
    found = np.zeros(len(knowledge.titles), np.bool_)
    for title in titles:
        found[topic_of(knowledge, title)] = True
    return found
