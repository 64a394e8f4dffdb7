"""Which writer a format has."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from wikilda._core.errors import InputError
from wikilda.documents.writing._html import html_page
from wikilda.documents.writing.json_lines import json_lines, tsv_lines
from wikilda.documents.writing.parquet import write_parquet

JSON_LINES, TSV, PARQUET, HTML = "jsonl", "tsv", "parquet", "html"
FORMATS = (JSON_LINES, TSV, PARQUET, HTML)
SUFFIXES = {".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".tsv": TSV, ".parquet": PARQUET, ".html": HTML, ".htm": HTML}

Row = dict[str, Any]
_STREAMS: dict[str, Callable[[Iterable[Row]], Iterator[bytes]]] = {
    JSON_LINES: json_lines, TSV: tsv_lines, HTML: html_page,
}  # fmt: skip


def format_of(path: Path | None, given: str | None) -> str:
    """The format of a file: as it was said, or by the end of its name."""
    if given:
        return given
    return SUFFIXES.get(path.suffix.lower(), JSON_LINES) if path else JSON_LINES


def write_rows(rows: Iterable[Row], kind: str) -> Iterator[bytes]:
    """Rows as a stream of bytes, written as they come."""
    if kind not in _STREAMS:
        raise InputError(f"{kind} cannot be written to standard output. Name a file with -o.")
    return _STREAMS[kind](rows)


def write_file(rows: Iterable[Row], path: Path, kind: str) -> None:
    """Rows as a file."""
    if kind == PARQUET:
        write_parquet(rows, path)
        return
    with path.open("wb") as file:
        file.writelines(_STREAMS[kind](rows))
