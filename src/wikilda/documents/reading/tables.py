"""Rows of CSV, TSV and Parquet files."""

import csv
from collections.abc import Iterator
from typing import IO, Any

from wikilda._core.compression import lines_up_to
from wikilda._core.errors import InputError
from wikilda.documents.reading._decode import unescape
from wikilda.documents.reading.settings import CSV, ReadSettings

_BATCH = 16  # rows of Parquet held at a time


def separated_rows(stream: IO[bytes], format: str, settings: ReadSettings) -> Iterator[dict[str, Any] | InputError]:  # noqa: A002
    """Rows of a CSV file (quoted as spreadsheets do) or a TSV file (where quotation marks are plain characters)."""
    csv.field_size_limit(max(settings.largest, csv.field_size_limit()))
    lines = _lines(stream, settings)
    rows = csv.reader(lines) if format == CSV else csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        header = next(rows, None)
        if header is None:
            raise InputError("is empty.")
        check_columns(header, settings)
        for row in rows:
            if row:
                yield _row(header, row, settings)
    except csv.Error as error:
        raise InputError(
            f"line {rows.line_num:,}: {error}. Is it {format.upper()}? Say --from to name the format."
        ) from None


def _row(header: list[str], row: list[str], settings: ReadSettings) -> dict[str, Any] | InputError:
    if len(row) != len(header):
        return InputError(f"has {len(row)} columns, and the header has {len(header)}.")
    wanted = (settings.text_column, settings.id_column or "id")
    try:
        return {name: unescape(value, settings) for name, value in zip(header, row, strict=True) if name in wanted}
    except InputError as error:
        return error


def _lines(stream: IO[bytes], settings: ReadSettings) -> Iterator[str]:
    for number, line in enumerate(lines_up_to(stream, 4 * settings.largest), 1):
        if line is None:
            raise InputError(f"line {number:,} is longer than {4 * settings.largest:,} bytes.")
        yield line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")


def parquet_rows(stream: IO[bytes], settings: ReadSettings) -> Iterator[dict[str, Any]]:
    """Rows of a Parquet file, a few at a time."""
    from wikilda._core.parquet import open_parquet, parquet_batches

    file = open_parquet(stream)
    names = file.schema_arrow.names
    check_columns(names, settings)
    wanted = [name for name in (settings.text_column, settings.id_column or "id", "mentions") if name in names]
    for batch in parquet_batches(file, _BATCH, wanted):
        yield from batch.to_pylist()


def check_columns(names: list[str], settings: ReadSettings) -> None:
    """Refuse a table without the columns that settings name."""
    for name, option in ((settings.text_column, "--text-column"), (settings.id_column, "--id-column")):
        if name is not None and name not in names:
            shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
            raise InputError(f"has no column {name!r}; it has: {shown}. Name one with {option}.")
