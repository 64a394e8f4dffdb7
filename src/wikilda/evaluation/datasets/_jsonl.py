"""JSON lines: our own, and those of ELEVANT and ZELDA."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wikilda._core.compression import open_compressed
from wikilda._core.errors import InputError
from wikilda.documents.reading import ReadSettings
from wikilda.documents.reading.rows import row_of
from wikilda.evaluation.gold import LABEL, GoldDocument

_READING = ReadSettings()
_NO_ENTITIES = {"QUANTITY", "DATETIME"}


def is_elevant(head: str) -> bool:
    """Whether a file that begins like this is ELEVANT's: its gold is called `labels`."""
    return head.startswith("{") and '"labels"' in head and '"mentions"' not in head


def is_zelda(head: str) -> bool:
    """Whether a file that begins like this is ZELDA's: spans are called `index`, in parallel with titles."""
    return head.startswith("{") and '"index"' in head and '"wikipedia_titles"' in head


def is_lines(head: str) -> bool:
    """Whether a file that begins like this has our own JSON lines."""
    return head.startswith("{")


def read_lines(path: Path, _complaints: list[str]) -> Iterator[GoldDocument]:
    """Our own: what `wikilda link` reads, and a mention's `title` (or `wikidata`, or `url`); null or none is NIL.

    {"id": "1", "text": "Croft took five wickets", "split": "dev", "mentions": [{"start": 0, "end": 5, "title": "…"}]}
    """
    for number, row in _rows(path):
        where = f"{path}: line {number}"
        mentions = _objects(row, "mentions", where)
        spans = [_span((each.get("start"), each.get("end")), where) for each in mentions]
        names = [tuple(str(each[key]) for key in ("wikidata", "title", "url") if each.get(key)) for each in mentions]
        split = str(row.get("split") or "")
        yield _gold(row, spans, names, split, number, where)


def read_elevant(path: Path, _complaints: list[str]) -> Iterator[GoldDocument]:
    """ELEVANT's: the outermost labels of those not optional, inside the span that is to be evaluated."""
    for number, row in _rows(path):
        where = f"{path}: line {number}"
        labels = _objects(row, "labels", where)
        labels = _wanted(labels)
        spans = [_span(each.get("span") or (each.get("start_char"), each.get("end_char")), where) for each in labels]
        first, last = _span(row.get("evaluation_span") or (0, len(row["text"])), where)
        inside = [at for at, (start, end) in enumerate(spans) if first <= start and end <= last]
        names = [_names(labels[at]) for at in inside]
        yield _gold(row, [spans[at] for at in inside], names, "test", number, where)


def read_zelda(path: Path, _complaints: list[str]) -> Iterator[GoldDocument]:
    """ZELDA's: `index` has the spans, `wikipedia_titles` the title of each; an empty one is NIL.

    {"id": 1, "text": "Croft took five wickets", "index": [[0, 5]], "wikipedia_ids": [7], "wikipedia_titles": ["…"]}
    """
    for number, row in _rows(path):
        where = f"{path}: line {number}"
        index, titles = row.get("index"), row.get("wikipedia_titles")
        if not isinstance(index, list) or not isinstance(titles, list) or len(index) != len(titles):
            raise InputError(f'{where}: needs "index" and "wikipedia_titles", two lists of the same length.')
        spans = [_span(each, where) for each in index]
        split = "train" if "train" in path.name else "test"
        yield _gold(row, spans, [(str(title),) if title else () for title in titles], split, number, where)


def _wanted(labels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Labels of entities that are not optional and in no other such label; dates and quantities are no entities."""
    by_id = {each["id"]: each for each in labels if "id" in each}

    def counts(label: dict[str, Any]) -> bool:
        return not label.get("optional") and not {label.get("type"), label.get("entity_id")} & _NO_ENTITIES

    def inside(label: dict[str, Any], steps: int = 100) -> bool:
        parent = by_id.get(label.get("parent"))
        return parent is not None and steps > 0 and (counts(parent) or inside(parent, steps - 1))

    return [each for each in labels if counts(each) and not inside(each)]


def _names(label: dict[str, Any]) -> tuple[str, ...]:
    if label.get("entity_reference"):  # the simple form
        return (str(label["entity_reference"]),)
    item = str(label.get("entity_id") or "")
    if not (item.startswith("Q") and item[1:].isdigit()):
        return ()  # `Unknown…`
    return (item, LABEL + str(label["name"])) if label.get("name") else (item,)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open_compressed(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                row = row_of(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, _READING)
            except InputError as error:
                raise InputError(f"{path}: line {number}: {error}") from None
            if not isinstance(row.get("text"), str):
                raise InputError(f'{path}: line {number}: needs "text", a string.')
            yield number, row


def _objects(row: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    found = row.get(key)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InputError(f'{where}: needs "{key}", a list of objects.')
    return found


def _span(span: Any, where: str) -> tuple[int, int]:
    if isinstance(span, list | tuple) and len(span) == 2 and all(type(each) is int for each in span):
        return span[0], span[1]
    raise InputError(f"{where}: a mention has a start and an end, in characters, not {span!r}.")


def _gold(
    row: dict[str, Any], spans: list[tuple[int, int]], names: list[tuple[str, ...]], split: str, number: int, where: str
) -> GoldDocument:
    order = sorted(range(len(spans)), key=lambda at: spans[at])
    name = str(row.get("id", number))
    try:
        return GoldDocument(row["text"], [spans[at] for at in order], name, [names[at] for at in order], split)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
