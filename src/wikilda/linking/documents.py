"""Documents to link: texts with mention spans, from JSON lines or from text marked like a wiki's."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from wikilda.errors import InputError

_MARK = re.compile(r"\[\[([^\[\]]+?)\]\]")


@dataclass(frozen=True)
class Text:
    """A text and the spans of its mentions, in characters; None where they are still to be found."""

    text: str
    mentions: list[tuple[int, int]] | None = None
    id: str = ""

    def __post_init__(self) -> None:
        for start, end in self.mentions or []:
            if not 0 <= start < end <= len(self.text):
                raise InputError(
                    f"document {self.id!r}: the mention [{start}, {end}) is empty or not inside its text of "
                    f"{len(self.text)} characters."
                )


def marked(text: str, id: str = "") -> Text:  # noqa: A002
    """A text whose mentions stand in double brackets: `[[Croft]] took five wickets`."""
    plain, spans, last, size = [], [], 0, 0
    for found in _MARK.finditer(text):
        before, mention = text[last : found.start()], found.group(1)
        size += len(before)
        spans.append((size, size + len(mention)))
        plain += [before, mention]
        size += len(mention)
        last = found.end()
    return Text("".join([*plain, text[last:]]), spans, id)


def read_documents(lines: Iterable[str], name: str = "input") -> Iterator[Text]:
    """Documents from JSON lines; or, when the first line is not JSON, all lines as one marked text."""
    lines = iter(lines)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise InputError(f"{name}: is empty. Give JSON lines, or text with [[mentions]] in double brackets.")
    if not first.lstrip().startswith("{"):
        yield _whole(first, lines, name)
        return
    yield _from_json(first, f"{name}: line 1", "1")
    for number, line in enumerate(lines, 2):
        if line.strip():
            yield _from_json(line, f"{name}: line {number}", str(number))


def _whole(first: str, lines: Iterable[str], name: str) -> Text:
    document = marked("".join([first, *lines]), "1")
    if not document.mentions:
        raise InputError(f"{name}: has no mentions. Put them in double brackets: [[Croft]] took five wickets.")
    return document


def _from_json(line: str, place: str, number: str) -> Text:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise InputError(f"{place}: is not JSON ({error}).") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise InputError(f'{place}: needs "text", a string.')
    name = str(row.get("id", number))
    if "mentions" not in row:
        return marked(row["text"], name)
    if not isinstance(row["mentions"], list):
        raise InputError(f'{place}: "mentions" is not a list.')
    try:
        return Text(row["text"], [_span(each, place) for each in row["mentions"]], name)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _span(mention: Any, place: str) -> tuple[int, int]:
    if isinstance(mention, dict):
        mention = (mention.get("start"), mention.get("end"))
    if isinstance(mention, list | tuple) and len(mention) == 2 and all(type(each) is int for each in mention):
        return mention[0], mention[1]
    raise InputError(f'{place}: a mention is {{"start": 0, "end": 5}} or [0, 5], in characters.')
