"""Tables read a batch of rows at a time, however large their files are: TSV, compressed or not, and Parquet."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from wikilda._core.compression import open_compressed
from wikilda._core.errors import InputError
from wikilda._core.parquet import ParquetError, open_parquet, parquet_batches

BATCH_ROWS = 1 << 17
_BLOCK_BYTES = 1 << 22
Kinds = dict[str, pa.DataType]


def read_batches(path: Path, needed: Kinds, more: Kinds) -> Iterator[pa.RecordBatch]:
    """The columns that a table must and may have, in batches, one at least; other columns are left alone."""
    row, kinds = 0, needed | more
    with worded(path):
        names = [name for name in _columns(path) if name in kinds]
        check_columns(path, _columns(path), needed, more)
        schema = pa.schema([(name, kinds[name]) for name in names])
        for batch in _parquet(path, names) if path.suffix == ".parquet" else _tsv(path, schema):
            cast = batch.cast(schema)
            for name in needed:
                if cast[name].null_count:
                    first = row + int(np.flatnonzero(pc.is_null(cast[name]))[0]) + 1
                    raise InputError(f"{path}: row {first} has no {name}.")
            yield cast
            row += len(cast)
        if not row:
            yield empty_batch(schema)


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """A batch without rows."""
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)


def check_columns(path: Path, found: list[str], needed: Kinds, more: Kinds) -> None:
    """Refuse a table that lacks a column."""
    missing = [name for name in needed if name not in found]
    if missing:
        raise InputError(
            f"{path}: has no column {', '.join(missing)}. Its columns are {', '.join(found)[:200]}; "
            f"needed are {', '.join(needed)}" + (f", and there may be {', '.join(more)}." if more else ".")
        )


@contextmanager
def worded(path: Path) -> Iterator[None]:
    """Say in words which file and row a library stumbled over."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, ParquetError) as error:
        raise InputError(f"{path}: {error}") from None


def _columns(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        return list(pq.read_schema(path).names)
    with open_compressed(path) as stream:
        return stream.readline(_BLOCK_BYTES).decode("utf-8", "replace").rstrip("\r\n").split("\t")


def _parquet(path: Path, names: list[str]) -> Iterator[pa.RecordBatch]:
    with open_parquet(path) as file:
        yield from parquet_batches(file, BATCH_ROWS, names)


def _tsv(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with open_compressed(path) as stream:
        yield from pa.csv.open_csv(
            pa.PythonFile(stream, "r"),
            read_options=pa.csv.ReadOptions(block_size=_BLOCK_BYTES),
            parse_options=pa.csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=pa.csv.ConvertOptions(
                column_types=schema, include_columns=schema.names, null_values=[""], strings_can_be_null=False
            ),
        )  # fmt: skip
