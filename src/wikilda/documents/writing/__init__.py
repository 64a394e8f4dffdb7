"""Results as JSON lines, TSV, Parquet or HTML. A writer turns rows (`Linked.to_dict`) into bytes."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from wikilda._core.errors import InputError
from wikilda.documents.writing._html import html_card, html_fragment, html_page
from wikilda.documents.writing.parquet import write_parquet

_MENTION = (
    "start", "end", "text", "id", "title", "page_id", "wikidata", "url", "type", "probability", "confidence", "nil",
    "candidates",
)  # fmt: skip
_TOPIC = ("id", "title", "page_id", "wikidata", "url", "type", "share")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def json_line(row: dict[str, Any]) -> bytes:
    """Return a row as JSON with a line break."""
    return encoded_line(json.dumps(row, ensure_ascii=False, separators=(",", ":")))


def encoded_line(written: str) -> bytes:
    """Return JSON with a line break in UTF-8. Lone surrogates, which UTF-8 cannot encode, are escaped."""
    return written.encode("utf-8", "backslashreplace") + b"\n"


def json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Yield one line per document."""
    return map(json_line, rows)


def tsv_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Yield a header and one line per mention, or per topic where rows have no mentions.

    Tabs, line breaks and backslashes in values are `\\t`, `\\n`, `\\r` and `\\\\`; unknown values are empty.
    """
    columns: tuple[str, ...] = ()
    for row in rows:
        within = "mentions" if "mentions" in row else "topics"
        if not columns:
            columns = _MENTION if within == "mentions" else _TOPIC
            yield ("\t".join(("document", *columns, "knowledge")) + "\n").encode()
        known = row["knowledge"]["wiki"] + " " + row["knowledge"]["identity"]
        for each in row[within]:
            values = (_value(value) for value in (row["id"], *(each[name] for name in columns), known))
            yield ("\t".join(values) + "\n").encode("utf-8", "replace")


def _value(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


__all__ = [
    "FORMATS",
    "HTML",
    "JSON_LINES",
    "MENTIONS",
    "PARQUET",
    "SUFFIXES",
    "TSV",
    "check_shown",
    "format_of",
    "html_card",
    "html_fragment",
    "write_file",
    "write_rows",
]

JSON_LINES, TSV, PARQUET, HTML = "jsonl", "tsv", "parquet", "html"
MENTIONS = "mentions"  # Parquet with one row per mention
FORMATS = (JSON_LINES, TSV, PARQUET, HTML, MENTIONS)
SUFFIXES = {".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".tsv": TSV, ".parquet": PARQUET, ".html": HTML, ".htm": HTML}

Row = dict[str, Any]
_STREAMS: dict[str, Callable[[Iterable[Row]], Iterator[bytes]]] = {
    JSON_LINES: json_lines, TSV: tsv_lines, HTML: html_page,
}  # fmt: skip


def format_of(path: Path | None, given: str | None) -> str:
    """Return the format of a file: the given one, or by the end of its name, which must be known."""
    if given or path is None:
        return given or JSON_LINES
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: the output is a file that ends in {', '.join(SUFFIXES)}; or give --output-format.")
    return SUFFIXES[path.suffix.lower()]


def check_shown(kind: str, *, with_text: bool, with_mentions: bool) -> None:
    """Refuse parts of results that a format cannot have, or always has."""
    if with_text and kind in (TSV, HTML, MENTIONS):
        raise InputError(f"with_text has no effect on {kind}. Remove it, or write JSON lines or Parquet.")
    if not with_mentions and kind in (HTML, MENTIONS):
        raise InputError(f"with_mentions=False has no effect on {kind}. Remove it, or write another format.")


def write_rows(rows: Iterable[Row], kind: str) -> Iterator[bytes]:
    """Write rows to a stream as they come."""
    if kind not in _STREAMS:
        raise InputError(f"{kind} cannot be written to standard output. Name a file with -o.")
    return _STREAMS[kind](rows)


def write_file(rows: Iterable[Row], path: Path, kind: str) -> None:
    """Write rows to a file."""
    if kind in (PARQUET, MENTIONS):
        write_parquet(rows, path, mentions=kind == MENTIONS)
        return
    with path.open("wb") as file:
        file.writelines(_STREAMS[kind](rows))
