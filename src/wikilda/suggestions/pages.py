"""Pages to suggest links in: their source, the prose in it, and the links that it has."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

Span = tuple[int, int]


class Link(NamedTuple):
    """A link: where its visible text is in the source, and its target as it is written there."""

    start: int
    end: int
    target: str


class Prose(NamedTuple):
    """The prose of a source: a text of the same length in which all markup is white space, and the links.

    `closed` are spans whose text may be read, but in which no link may be set.
    """

    text: str
    links: list[Link]
    closed: list[Span]


@dataclass(frozen=True)
class Page:
    """A page that can have links.

    Attributes
    ----------
    title
        Its name in links.
    name
        Its name in texts.
    place
        Its file, relative to the folder; for a dump its title.
    source
        Its text with all markup.
    prose
        Its prose and its links.
    aliases
        Other names, as the page itself gives them.
    """

    title: str
    name: str
    place: str
    source: str
    prose: Prose
    aliases: tuple[str, ...] = field(default=())


def blanked(source: str, spans: Iterable[Span]) -> str:
    """Return the source with spaces in place of some spans; line breaks stay, so lines and offsets do, too."""
    parts, at = [], 0
    for start, end in sorted(spans):
        if end <= at:
            continue
        start = max(start, at)
        parts += [source[at:start], "\n".join(" " * len(line) for line in source[start:end].split("\n"))]
        at = end
    return "".join([*parts, source[at:]])


def overlaps(span: Span, others: list[Span]) -> bool:
    """Whether a span overlaps any of sorted spans that do not overlap each other."""
    at = bisect_right(others, (span[0], float("inf")))
    return (at > 0 and others[at - 1][1] > span[0]) or (at < len(others) and others[at][0] < span[1])


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return sorted spans, merging those that overlap."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found
