"""Results as JSON lines, TSV, Parquet or HTML. A writer turns rows (`Linked.to_dict`) into bytes."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from wikilda._core.errors import InputError
from wikilda.documents.writing._html import html_card, html_fragment, html_page
from wikilda.documents.writing.json_lines import json_lines, tsv_lines
from wikilda.documents.writing.parquet import write_parquet

__all__ = [
    "FORMATS",
    "HTML",
    "JSON_LINES",
    "MENTIONS",
    "PARQUET",
    "SUFFIXES",
    "TSV",
    "format_of",
    "html_card",
    "html_fragment",
    "write_file",
    "write_rows",
]

JSON_LINES, TSV, PARQUET, HTML = "jsonl", "tsv", "parquet", "html"
FORMATS = (JSON_LINES, TSV, PARQUET, HTML)
MENTIONS = "parquet with a row a mention"
SUFFIXES = {".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".tsv": TSV, ".parquet": PARQUET, ".html": HTML, ".htm": HTML}

Row = dict[str, Any]
_STREAMS: dict[str, Callable[[Iterable[Row]], Iterator[bytes]]] = {
    JSON_LINES: json_lines, TSV: tsv_lines, HTML: html_page,
}  # fmt: skip


def format_of(path: Path | None, given: str | None) -> str:
    """The format of a file: the given one, or that of the end of its name, which must be known."""
    if given or path is None:
        return given or JSON_LINES
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the output is a file that ends in {', '.join(SUFFIXES)}; or give --output-format.")
    return SUFFIXES[path.suffix.lower()]


def write_rows(rows: Iterable[Row], kind: str) -> Iterator[bytes]:
    """Rows as a stream of bytes, written as they come."""
    if kind not in _STREAMS:
        raise InputError(f"{kind} cannot be written to standard output. Name a file with -o.")
    return _STREAMS[kind](rows)


def write_file(rows: Iterable[Row], path: Path, kind: str) -> None:
    """Rows as a file."""
    if kind in (PARQUET, MENTIONS):
        write_parquet(rows, path, mentions=kind == MENTIONS)
        return
    with path.open("wb") as file:
        file.writelines(_STREAMS[kind](rows))
