"""Answers as JSON lines, TSV, Parquet, or a page to read. A writer turns rows (`Linked.to_json`) into bytes."""

from wikilda.documents.writing.formats import FORMATS, HTML, JSON_LINES, PARQUET, TSV, format_of, write_file, write_rows

__all__ = ["FORMATS", "HTML", "JSON_LINES", "PARQUET", "TSV", "format_of", "write_file", "write_rows"]
