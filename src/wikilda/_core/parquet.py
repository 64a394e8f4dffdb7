"""Read Parquet in batches of rows, with bounded memory: a small file may expand to any size."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wikilda._core.errors import InputError

MAX_GROUP_BYTES = 1 << 31  # of a row group, decompressed, as declared by the file
MAX_BATCH_BYTES = 1 << 29  # of strings in the rows of a batch
MAX_LIST_VALUES = 1 << 26  # in the lists of a row group
FREE_VALUES, MAX_VALUE_RATIO = 1_000_000, 50  # values of a table in memory: at least, and per byte of its file
_BATCH = 1 << 14  # rows
_ANY = 1 << 62


class ParquetError(InputError):
    """A Parquet file cannot be read; the message does not name it."""


def open_parquet(source: Path | IO[bytes]) -> pq.ParquetFile:
    """Open a Parquet file whose strings, also those in lists and structures, stay in dictionaries.

    Row groups of more than 2 GB, and lists with more than 64 million values in a row group, are refused.
    """
    try:
        texts = [path for path, column in _columns(pq.ParquetFile(source, pre_buffer=False)) if column.in_dictionary]
        if not isinstance(source, Path):
            source.seek(0)
        file = pq.ParquetFile(source, pre_buffer=False, read_dictionary=texts)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise _unreadable(error) from None
    lists = [at for at in range(file.metadata.num_columns) if file.schema.column(at).max_repetition_level]
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        if group.total_byte_size > MAX_GROUP_BYTES:
            raise ParquetError(
                f"row group {number} has {group.total_byte_size:,} bytes, more than {MAX_GROUP_BYTES:,}. "
                "Write smaller row groups."
            )
        for at in lists:
            if (values := group.column(at).num_values) > MAX_LIST_VALUES:
                raise ParquetError(
                    f"row group {number} has lists of {values:,} values, more than {MAX_LIST_VALUES:,}. "
                    "Write smaller row groups."
                )
    return file


class _Column(NamedTuple):
    """How strings of a column are stored: as dictionaries, or each as an extension of the one before."""

    in_dictionary: bool
    nested: bool
    values: int  # the most in a row group
    size: int  # the most bytes in a row group, decompressed: no string is longer


def _columns(file: pq.ParquetFile) -> Iterator[tuple[str, _Column]]:
    """The columns of strings, by their paths."""
    about = file.metadata
    for at in range(about.num_columns):
        kind = file.schema.column(at)
        if kind.physical_type != "BYTE_ARRAY" or kind.logical_type.type == "DECIMAL":
            continue
        parts = [about.row_group(number).column(at) for number in range(about.num_row_groups)]
        values, size = (max((getattr(each, name) for each in parts), default=0)
                        for name in ("num_values", "total_uncompressed_size"))  # fmt: skip
        delta = any(name.startswith("DELTA_") for each in parts for name in each.encodings)
        yield kind.path, _Column(not delta, bool(kind.max_repetition_level), values, size)


def read_table(path: Path) -> pa.Table:
    """Read a whole Parquet file that has to fit into memory: its values in proportion to its size, 512 MB at most."""
    file = open_parquet(path)
    groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    values = sum(group.column(at).num_values for group in groups for at in range(file.metadata.num_columns))
    values, most = max(values, file.metadata.num_rows), max(FREE_VALUES, MAX_VALUE_RATIO * path.stat().st_size)
    if values > most:
        raise ParquetError(f"expands to {values:,} values, more than {most:,}. If it is meant to, split it.")
    batches, size, rows = [], 0, 0
    for batch in parquet_batches(file, _BATCH, file.schema_arrow.names):
        size, rows = size + batch.nbytes, rows + len(batch)
        if size > MAX_BATCH_BYTES or rows > file.metadata.num_rows:
            raise ParquetError(f"holds more than {MAX_BATCH_BYTES:,} bytes. Split it.")
        batches.append(batch)
    return pa.Table.from_batches(batches) if batches else file.read()


def parquet_batches(
    file: pq.ParquetFile, rows: int, columns: Sequence[str], groups: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield batches of some columns. More than 512 MB of strings in one batch is an error."""
    most = min([rows, *(_rows(path, each) for path, each in _columns(file) if path.split(".")[0] in columns)])
    waiting: list[pa.RecordBatch] = []
    count = size = 0
    try:
        for batch in file.iter_batches(most, columns=list(columns), row_groups=groups):
            waiting.append(batch)
            count, size = count + len(batch), size + sum(map(_text_bytes, batch.columns))
            if size > MAX_BATCH_BYTES:
                raise ParquetError(
                    f"{count:,} rows hold {size:,} bytes of text, more than {MAX_BATCH_BYTES:,}. Split the texts."
                )
            if count + most > rows:
                yield _joined(waiting)
                waiting, count, size = [], 0, 0
        if waiting:
            yield _joined(waiting)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(error) from None


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of several, whose strings are no longer in dictionaries."""
    plain = [
        pa.RecordBatch.from_arrays(
            [column.cast(_without_dictionaries(column.type)) for column in each.columns], names=each.schema.names
        )
        for each in batches
    ]
    return plain[0] if len(plain) == 1 else pa.Table.from_batches(plain).combine_chunks().to_batches()[0]


def _rows(path: str, column: _Column) -> int:
    """The number of rows whose strings fit into a batch, if all are as long as can be."""
    if column.in_dictionary:  # these are counted before they are made
        return _ANY
    if column.nested and column.values * column.size > MAX_BATCH_BYTES:
        raise ParquetError(f"has lists of strings ({path}) in delta encoding. Write them with dictionaries.")
    return max(1, MAX_BATCH_BYTES // (4 * max(column.size, 1)))


def _unreadable(error: Exception) -> ParquetError:
    return ParquetError(
        f"is not a Parquet file that can be read ({str(error).partition(chr(10))[0][:200]}). Write it again."
    )


def _text_bytes(column: pa.Array) -> int:
    """The bytes that the values of a column take when each string has its own copy."""
    if pa.types.is_dictionary(column.type):
        lengths = pc.binary_length(column.dictionary)
        return pc.sum(pc.cast(pc.take(lengths, column.indices), pa.int64())).as_py() or 0
    if not pa.types.is_nested(column.type):
        return int(column.nbytes)
    if pa.types.is_map(column.type):
        return _text_bytes(column.keys) + _text_bytes(column.items)
    if pa.types.is_struct(column.type):
        return sum(map(_text_bytes, column.flatten()))
    return _text_bytes(column.flatten())


def _without_dictionaries(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        return pa.struct([each.with_type(_without_dictionaries(each.type)) for each in kind])
    if pa.types.is_map(kind):
        return pa.map_(
            *(each.with_type(_without_dictionaries(each.type)) for each in (kind.key_field, kind.item_field))
        )
    if not pa.types.is_nested(kind):
        return kind
    inside = kind.value_field.with_type(_without_dictionaries(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(inside, kind.list_size)
    return pa.large_list(inside) if pa.types.is_large_list(kind) else pa.list_(inside)
