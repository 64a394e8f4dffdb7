"""Short regression texts with marks: what a linker must find in them, and what it must not.

`[[name]]` must be a mention of that article, `[[name|Title]]` of another, `[[name|]]` an unknown name (NIL); no mention
may overlap `{{text}}`. A text is right if all of its marks are.
"""

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wikilda.linking import Linker

TEXTS = Path(__file__).parents[2] / "tests" / "data" / "raw-texts.txt"
THIRDS = 3
# Lower bounds of the shares of texts that are right; docs/experiments/names.md has the measured shares.
LEAST = {"en": 0.9, "de": 0.5, "fr": 0.85, "es": 0.85, "nds-nl": 0.9, "min": 0.9}
_MARK = re.compile(r"\[\[([^\[\]|]+)(\|[^\[\]]*)?\]\]|\{\{([^{}]+)\}\}")


@dataclass(frozen=True)
class Mark:
    """What must be found at a span: a title, None for an unknown name; or nothing, if it is not a name."""

    start: int
    end: int
    is_name: bool
    title: str | None = None


@dataclass(frozen=True)
class Case:
    """A text, its marks, the wiki that it needs, and the third of the set that it belongs to."""

    wiki: str
    kind: str
    text: str
    marks: tuple[Mark, ...]
    third: int


def read_cases(path: Path = TEXTS) -> list[Case]:
    """The regression texts."""
    lines = path.read_text("utf-8").splitlines()
    return [_case(*line.split("\t", 2)) for line in lines if line and not line.startswith("#")]


def _case(wiki: str, kind: str, marked: str) -> Case:
    marked = marked.replace("\\n", "\n").replace("\\t", "\t")
    plain, marks, last, size = [], [], 0, 0
    for found in _MARK.finditer(marked):
        before, name, title, nothing = marked[last : found.start()], found.group(1), found.group(2), found.group(3)
        size += len(before)
        shown = name or nothing
        wanted = name if title is None else title[1:] or None
        marks.append(Mark(size, size + len(shown), nothing is None, wanted if name else None))
        plain += [before, shown]
        size += len(shown)
        last = found.end()
    text = "".join([*plain, marked[last:]])
    return Case(wiki, kind, text, tuple(marks), zlib.crc32(marked.encode()) % THIRDS)


def wrong_marks(linker: Linker, case: Case) -> list[str]:
    """What is wrong with the answers to a text, one line per mark."""
    found = linker.link(case.text, topics=0).mentions
    by_span = {(each.start, each.end): each for each in found}
    wrong = []
    for mark in case.marks:
        shown = case.text[mark.start : mark.end]
        over = [each for each in found if each.start < mark.end and mark.start < each.end]
        seen = ", ".join(f"{each.text!r} → {each.entity.title if each.entity else 'NIL'}" for each in over)
        if not mark.is_name:
            wrong += [f"{shown!r} is no name: {seen}"] if over else []
            continue
        answer = by_span.get((mark.start, mark.end))
        topic = _topic(linker, mark.title) if mark.title else -1
        got = answer.entity.topic if answer and answer.entity else -1
        if answer is None or got != topic:
            wrong.append(f"{shown!r} is {mark.title or 'NIL'}: {seen or 'nothing'}")
    return wrong


def _topic(linker: Linker, title: str) -> int:
    """The topic of a title, which may be written in capitals or without."""
    find = linker.knowledge.find_topic
    return max(find(title), find(title.title()), find(title.upper()) if title.islower() else -1)


def share_right(linker: Linker, cases: Iterable[Case]) -> float:
    """The share of the texts that are right."""
    right = [not wrong_marks(linker, case) for case in cases]
    return sum(right) / max(len(right), 1)
