"""Answers as JSON lines, TSV, Parquet or HTML. A writer turns rows (`Linked.to_dict`) into bytes."""

from wikilda.documents.writing._html import html_card, html_fragment
from wikilda.documents.writing.formats import (
    FORMATS,
    HTML,
    JSON_LINES,
    MENTIONS,
    PARQUET,
    SUFFIXES,
    TSV,
    format_of,
    write_file,
    write_rows,
)

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
