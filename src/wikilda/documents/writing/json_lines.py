"""Rows as JSON lines, and as tab-separated lines, one a mention or a topic."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

_MENTION = (
    "start", "end", "text", "title", "page_id", "wikidata", "url", "type", "probability", "confidence", "nil",
    "candidates",
)  # fmt: skip
_TOPIC = ("title", "page_id", "wikidata", "url", "type", "share")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def json_line(row: dict[str, Any]) -> bytes:
    """One row and a line break. Lone surrogates, which UTF-8 does not have, are escaped."""
    try:
        return (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(row, separators=(",", ":")) + "\n").encode()


def json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """A line a document."""
    return map(json_line, rows)


def tsv_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """A line a mention, or a line a topic where rows have no mentions; after a line with the names of the columns.

    Tabs, line breaks and backslashes in values are `\\t`, `\\n`, `\\r` and `\\\\`; what is not known is empty.
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
