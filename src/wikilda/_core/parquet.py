"""Read Parquet in batches of rows, with bounded memory: a small file may expand to any size."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wikilda._core.errors import InputError

MAX_GROUP_BYTES = 1 << 31  # of a row group, decompressed, as declared by the file
MAX_BATCH_BYTES = 1 << 30  # of strings in the rows of a batch
MAX_LIST_VALUES = 1 << 26  # in the lists of a row group
FREE_VALUES, MAX_VALUE_RATIO = 1_000_000, 50  # values of a table in memory: at least, and per byte of its file
_BATCH = 1 << 14  # rows


class ParquetError(InputError):
    """A Parquet file cannot be read; the message does not name it."""


def open_parquet(source: Path | IO[bytes]) -> pq.ParquetFile:
    """Open a Parquet file whose strings stay in dictionaries.

    Row groups of more than 2 GB, and lists with more than 64 million values in a row group, are refused.
    """
    try:
        kinds = {each.name: each.type for each in pq.ParquetFile(source, pre_buffer=False).schema_arrow}
        if not isinstance(source, Path):
            source.seek(0)
        texts = [name for name, kind in kinds.items() if _is_text(kind)]
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
                f"row group {number} has {group.total_byte_size:,} bytes, more than {MAX_GROUP_BYTES:,}."
            )
        for at in lists:
            if (values := group.column(at).num_values) > MAX_LIST_VALUES:
                raise ParquetError(f"row group {number} has lists of {values:,} values, more than {MAX_LIST_VALUES:,}.")
    return file


def read_table(path: Path) -> pa.Table:
    """Read a whole Parquet file that has to fit into memory: its values in proportion to its size, 1 GB at most."""
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
    """Yield batches of some columns. More than 1 GB of strings in one batch is an error."""
    try:
        for batch in file.iter_batches(rows, columns=list(columns), row_groups=groups):
            yield pa.RecordBatch.from_arrays([_expanded(each) for each in batch.columns], names=batch.schema.names)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(error) from None


def _unreadable(error: Exception) -> ParquetError:
    return ParquetError(f"is not a Parquet file that can be read ({str(error).partition(chr(10))[0][:200]}).")


def _is_text(kind: pa.DataType) -> bool:
    tests: tuple[Callable[[pa.DataType], bool], ...] = (pa.types.is_string, pa.types.is_binary)
    return any(test(kind) for test in tests)


def _expanded(column: pa.Array) -> pa.Array:
    if not pa.types.is_dictionary(column.type):
        return column
    lengths = pc.binary_length(column.dictionary)
    total = pc.sum(pc.cast(pc.take(lengths, column.indices), pa.int64())).as_py() or 0
    if total > MAX_BATCH_BYTES:
        raise ParquetError(f"{len(column):,} rows hold {total:,} bytes of text, more than {MAX_BATCH_BYTES:,}.")
    return column.dictionary_decode()
