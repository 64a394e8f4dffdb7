"""JSON lines: our own, and those of ELEVANT and ZELDA."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from wikilda._core.compression import open_compressed
from wikilda._core.errors import InputError
from wikilda.documents.reading import ReadSettings
from wikilda.documents.reading.rows import plain, row_of
from wikilda.evaluation.gold import LABEL, GoldDocument

_READING = ReadSettings()
_NO_ENTITIES = {"QUANTITY", "DATETIME"}


def is_elevant(head: str) -> bool:
    """Whether the beginning of a file is ELEVANT's: gold is called `labels`."""
    return head.startswith("{") and '"labels"' in head and '"mentions"' not in head


def is_zelda(head: str) -> bool:
    """Whether the beginning of a file is ZELDA's: spans are called `index`, parallel to titles."""
    return head.startswith("{") and '"index"' in head and '"wikipedia_titles"' in head


def is_lines(head: str) -> bool:
    """Whether the beginning of a file is our own JSON lines."""
    return head.startswith("{")


def read_lines(path: Path, complaints: list[str]) -> Iterator[GoldDocument]:
    """Read our own format: that of `wikilda link`, with a mention's `title`, `wikidata` or `url`; null or none is NIL.

    {"id": "1", "text": "Croft took five wickets", "split": "dev", "mentions": [{"start": 0, "end": 5, "title": "…"}]}
    """
    return _documents(path, complaints, _of_ours)


def read_elevant(path: Path, complaints: list[str]) -> Iterator[GoldDocument]:
    """Read ELEVANT's: the outermost labels that are not optional, inside the evaluated span."""
    return _documents(path, complaints, _of_elevant)


def read_zelda(path: Path, complaints: list[str]) -> Iterator[GoldDocument]:
    """Read ZELDA's: `index` has the spans, `wikipedia_titles` their titles; an empty title is NIL.

    {"id": 1, "text": "Croft took five wickets", "index": [[0, 5]], "wikipedia_ids": [7], "wikipedia_titles": ["…"]}
    """
    return _documents(path, complaints, partial(_of_zelda, "train" if "train" in path.name else "test"))


Record = Callable[[dict[str, Any], int], GoldDocument]


def _documents(path: Path, complaints: list[str], make: Record) -> Iterator[GoldDocument]:
    """Read the documents of a file. Unusable records are complaints."""
    with open_compressed(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                row = plain(row_of(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, _READING))
                if not isinstance(row.get("text"), str):
                    raise InputError('needs "text", a string. Add it.')
                yield make(row, number)
            except InputError as error:
                complaints.append(f"{path}: line {number}: {error} Skipped.")


def _of_ours(row: dict[str, Any], number: int) -> GoldDocument:
    mentions = _objects(row, "mentions")
    spans = [_span((each.get("start"), each.get("end"))) for each in mentions]
    names = [tuple(str(each[key]) for key in ("wikidata", "title", "url") if each.get(key)) for each in mentions]
    return _gold(row, spans, names, str(row.get("split") or ""), number)


def _of_elevant(row: dict[str, Any], number: int) -> GoldDocument:
    labels = _wanted(_objects(row, "labels"))
    spans = [_span(each.get("span") or (each.get("start_char"), each.get("end_char"))) for each in labels]
    first, last = _span(row.get("evaluation_span") or (0, len(row["text"])))
    inside = [at for at, (start, end) in enumerate(spans) if first <= start and end <= last]
    return _gold(row, [spans[at] for at in inside], [_names(labels[at]) for at in inside], "test", number)


def _of_zelda(split: str, row: dict[str, Any], number: int) -> GoldDocument:
    index, titles = row.get("index"), row.get("wikipedia_titles")
    if not isinstance(index, list) or not isinstance(titles, list) or len(index) != len(titles):
        raise InputError('needs "index" and "wikipedia_titles", two lists of the same length. Correct the line.')
    names: list[tuple[str, ...]] = [(str(title),) if title else () for title in titles]
    return _gold(row, [_span(each) for each in index], names, split, number)


def _wanted(labels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the outermost labels of entities that are not optional, without dates and quantities."""
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


def _objects(row: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = row.get(key)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InputError(f'needs "{key}", a list of objects. Correct the line.')
    return found


def _span(span: Any) -> tuple[int, int]:
    if isinstance(span, list | tuple) and len(span) == 2 and all(type(each) is int for each in span):
        return span[0], span[1]
    raise InputError(f"a mention must be a start and an end in characters, not {span!r}.")


def _gold(
    row: dict[str, Any], spans: list[tuple[int, int]], names: list[tuple[str, ...]], split: str, number: int
) -> GoldDocument:
    order = sorted(range(len(spans)), key=lambda at: spans[at])
    name = str(row.get("id", number))
    return GoldDocument(row["text"], [spans[at] for at in order], name, [names[at] for at in order], split)
