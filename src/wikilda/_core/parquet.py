"""Parquet files in batches of rows, with bounded memory: a few kilobytes may stand for any number of gigabytes."""

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wikilda._core.errors import InputError

MAX_GROUP_BYTES = 1 << 31  # of a row group, decompressed, as the file says
MAX_BATCH_BYTES = 1 << 30  # of strings in the rows that are held at a time


class ParquetError(InputError):
    """A Parquet file cannot be read; the message does not name it."""


def open_parquet(source: Path | IO[bytes]) -> pq.ParquetFile:
    """Open a Parquet file whose strings stay in dictionaries; row groups of more than 2 GB are refused."""
    again = source if isinstance(source, Path) or source.seekable() else io.BytesIO(source.read())
    try:
        kinds = {each.name: each.type for each in pq.ParquetFile(again, pre_buffer=False).schema_arrow}
        if not isinstance(again, Path):
            again.seek(0)
        texts = [name for name, kind in kinds.items() if _is_text(kind)]
        file = pq.ParquetFile(again, pre_buffer=False, read_dictionary=texts)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ParquetError(f"is not a Parquet file that can be read ({str(error).splitlines()[0][:200]}).") from None
    for number in range(file.metadata.num_row_groups):
        if (size := file.metadata.row_group(number).total_byte_size) > MAX_GROUP_BYTES:
            raise ParquetError(f"row group {number} has {size:,} bytes, more than {MAX_GROUP_BYTES:,}.")
    return file


def parquet_batches(
    file: pq.ParquetFile, rows: int, columns: Sequence[str], groups: Sequence[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Batches of some columns; strings that would take more than 1 GB in one batch are refused."""
    try:
        for batch in file.iter_batches(rows, columns=list(columns), row_groups=groups):
            yield pa.RecordBatch.from_arrays([_expanded(each) for each in batch.columns], names=batch.schema.names)
    except (pa.ArrowException, OSError) as error:
        raise ParquetError(f"is not a Parquet file that can be read ({str(error).splitlines()[0][:200]}).") from None


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
