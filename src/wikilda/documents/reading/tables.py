"""Rows of CSV, TSV and Parquet files."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from wikilda._core.compression import MAX_LINE
from wikilda._core.errors import InputError
from wikilda.documents.reading.rows import CSV, ReadSettings, unescape

_BATCH = 16  # rows of Parquet held at a time
_DELIMITERS = (",", ";", "\t")

Row = dict[str, Any] | InputError


def separated_rows(stream: IO[bytes], format: str, settings: ReadSettings) -> Iterator[Row]:  # noqa: A002
    """Yield the rows of a CSV file (quoted as by spreadsheets) or a TSV file (without quoting)."""
    csv.field_size_limit(max(settings.largest, csv.field_size_limit()))
    lines = _lines(stream, settings)
    first = next(lines, None)
    if first is None:
        raise InputError("is empty. Write a header and rows into it.")
    source = Lines(_again(first, lines))
    if format == CSV:
        rows = csv.reader(source, delimiter=_delimiter(first, settings), strict=True)
    else:
        rows = csv.reader(source, delimiter="\t", quoting=csv.QUOTE_NONE)
    begun = 1
    try:
        header = next(rows)
        check_columns(header, settings)
        begun = rows.line_num + 1
        for row in rows:
            if row:
                yield _row(header, row, settings)
            begun = rows.line_num + 1
    except csv.Error as error:
        raise source.error(error, begun, rows.line_num) from None


class Lines:
    """Lines for a CSV reader, which asks for more lines than exist only within a quoted field."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines, self._ended = lines, False

    def __iter__(self) -> Iterator[str]:
        yield from self._lines
        self._ended = True

    def error(self, error: csv.Error, first: int, last: int) -> InputError:
        """Return the error of a row that begins at one line and was found at another."""
        place = f"line {first:,}" if first >= last else f"lines {first:,} to {last:,}"
        if self._ended:
            return InputError(
                f"line {first:,}: unclosed quote. Close it, or use --format tsv for a file without quotes."
            )
        if "expected after" in str(error):
            return InputError(f"{place}: text after a closing quote. Close quotes, and write a quote in a cell twice.")
        return InputError(f"{place}: {error}. Is the format right? See --format.")


def check_quotes(path: Path, delimiter: str) -> None:
    """Refuse a file of separated values with an unclosed quote, which most readers take for one large cell."""
    before = csv.field_size_limit(MAX_LINE)
    with path.open(encoding="utf-8", errors="replace", newline="") as stream:
        source = Lines(stream)
        rows, begun = csv.reader(source, delimiter=delimiter, strict=True), 1
        try:
            for _ in rows:
                begun = rows.line_num + 1
        except csv.Error as error:
            raise source.error(error, begun, rows.line_num) from None
        finally:
            csv.field_size_limit(before)


def _lines(stream: IO[bytes], settings: ReadSettings) -> Iterator[str]:
    encoding = settings.encoding.lower().replace("_", "-")
    plain = "utf-8-sig" if encoding in ("utf-8", "utf8") else encoding
    wrapped = io.TextIOWrapper(stream, plain, "surrogateescape", newline="")
    most, number = 4 * settings.largest, 0
    try:
        while line := wrapped.readline(most + 1):
            number += 1
            if len(line) > most:
                raise InputError(f"line {number:,} is longer than {most:,} characters. Check that quotes are closed.")
            yield line
    finally:
        if not stream.closed:
            wrapped.detach()  # the caller closes the stream


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _delimiter(header: str, settings: ReadSettings) -> str:
    """Return the delimiter that yields the column of texts in the header, else the one with the most columns."""
    columns = {mark: next(csv.reader([header], delimiter=mark), []) for mark in _DELIMITERS}
    for mark, names in columns.items():
        if settings.text_column in names:
            return mark
    return max(_DELIMITERS, key=lambda mark: len(columns[mark]))


def _row(header: list[str], row: list[str], settings: ReadSettings) -> Row:
    if len(row) != len(header):
        return InputError(f"has {len(row)} columns, and the header has {len(header)}. Correct or remove the row.")
    wanted = (settings.text_column, settings.id_column or "id", settings.source_column)
    try:
        return {name: unescape(value, settings) for name, value in zip(header, row, strict=True) if name in wanted}
    except InputError as error:
        return error


def parquet_rows(stream: IO[bytes], settings: ReadSettings, group: int | None = None) -> Iterator[Row]:
    """Rows of a Parquet file, or of one of its row groups, a few at a time."""
    from wikilda._core.parquet import open_parquet, parquet_batches

    file = open_parquet(stream)
    names = file.schema_arrow.names
    check_columns(names, settings)
    columns = (settings.text_column, settings.id_column or "id", settings.source_column, "mentions")
    wanted = [name for name in columns if name and name in names]
    for batch in parquet_batches(file, _BATCH, wanted, None if group is None else [group]):
        yield from batch.to_pylist()


def row_groups(stream: IO[bytes]) -> list[int]:
    """The number of rows of each row group of a Parquet file."""
    from wikilda._core.parquet import open_parquet

    about = open_parquet(stream).metadata
    return [about.row_group(at).num_rows for at in range(about.num_row_groups)]


def check_columns(names: list[str], settings: ReadSettings) -> None:
    """Refuse a table without the columns that the settings name."""
    for name, option in (
        (settings.text_column, "--text-column"),
        (settings.id_column, "--set id_column"),
        (settings.source_column, "--set source_column"),
    ):
        if name is not None and name not in names:
            shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise InputError(f"has no column {name!r}; it has: {shown}. Name one with {option}.")
