"""Match files of tables in bounded memory: batch by batch, then clusters over all.

`OUTPUT.partial` holds one Parquet file per batch and the inputs of the run. A run with the same inputs continues after
the last batch. Clusters need all cells, so they are numbered at the end.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from wikilda._core.atomic import check_output, new_file, work_directory, write_text
from wikilda._core.compression import json_objects
from wikilda._core.errors import InputError
from wikilda._core.parquet import ParquetError, open_parquet, parquet_batches
from wikilda._core.progress import bar
from wikilda.documents.reading.tables import check_quotes
from wikilda.linking.match import CELL, Clusters, Thresholds, check_table, match_table

if TYPE_CHECKING:
    from wikilda.linking.linker import Linker

ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl")
_BATCH = 8192  # rows
_FORMULA = r"^([=+\-@\t\r])"  # characters that begin formulas
_BLOCK = 1 << 22  # bytes of text files; a cell is shorter


@dataclass
class Matched:
    """The number of rows by decision, and of distinct things."""

    rows: int = 0
    clusters: int = 0
    decisions: Counter[str] = field(default_factory=Counter)


def match_file(
    linker: "Linker", table: str | Path, output: str | Path | None, column: str, *, context: Sequence[str] = (),
    types: Sequence[str] = (), thresholds: Thresholds | None = None, workers: int = 1, escape_formulas: bool = False,
    stream: IO[bytes] | None = None, overwrite: bool = False,
) -> Matched:  # fmt: skip
    """Match the cells of a column of a file with entities: `wikilda match`. An interrupted run resumes.

    Parameters
    ----------
    linker
        A linker.
    table
        A file: CSV, TSV, Parquet or JSON lines, of any length.
    output
        The file to write, or None to write CSV to `stream`.
    column, context, types, workers
        As in `Linker.match_frame`.
    thresholds
        The confidences of the decisions `match` and `new`.
    escape_formulas
        Whether to write a quote before cells that a spreadsheet would run.
    overwrite
        Whether to replace an output that exists.

    Examples
    --------
    >>> from wikilda import match_file
    >>> table = scratch / "names.csv"
    >>> _ = table.write_text("name\\nBrian Lara\\nZyx Holdings\\n")
    >>> match_file(linker, table, scratch / "matched.csv", "name").rows
    2
    """
    table, output = Path(table), Path(output) if output is not None else None
    for path in (table, output) if output else (table,):
        if path.suffix.lower() not in ENDINGS:
            raise InputError(f"{path}: is not a table by its name. Use a file that ends in {', '.join(ENDINGS)}.")
    if not table.is_file():
        raise InputError(f"{table}: no such file. Check the path.")
    if output is not None:
        check_output(output, overwrite=overwrite, inputs=[table])
    limits = thresholds or Thresholds()
    inputs = {
        "table": [str(table.resolve()), table.stat().st_size, table.stat().st_mtime_ns], "column": column,
        "context": list(context), "types": list(types), "thresholds": [limits.match, limits.new],
        "model": linker.model.identity, "method": linker.settings.to_mapping(),
    }  # fmt: skip
    with _explained(table), _work(output, inputs) as work:
        with bar(f"matching {table.name}", None, unit="rows") as shown:
            for number, batch in enumerate(_batches(table)):
                part = work / f"{number:06d}.parquet"
                if number == 0:
                    check_table(batch.column_names, [column, *context])
                if not _is_whole(part):
                    done = match_table(
                        linker, batch, column, context=context, types=types, thresholds=limits, workers=workers
                    )  # fmt: skip
                    with new_file(part) as made:
                        pq.write_table(done, made)
                    write_text(part.with_suffix(".digest"), _digest(part))
                shown.advance(len(batch))
        parts = sorted(work.glob("[0-9]*.parquet"))
        if output is None:
            assert stream is not None
            return _write(parts, stream, ".csv", escape_formulas=escape_formulas)
        with new_file(output) as made, made.open("wb") as file:
            return _write(parts, file, output.suffix.lower(), escape_formulas=escape_formulas)


def _digest(part: Path) -> str:
    with part.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def _is_whole(part: Path) -> bool:
    """Whether an earlier run has finished a part, and it is unchanged."""
    note = part.with_suffix(".digest")
    return part.is_file() and note.is_file() and note.read_bytes() == _digest(part).encode()


@contextmanager
def _work(output: Path | None, inputs: dict[str, Any]) -> Iterator[Path]:
    if output is None:
        with TemporaryDirectory(prefix="wikilda-match-") as place:
            yield Path(place)
    else:
        with work_directory(output, "partial", inputs) as work:
            yield work


@contextmanager
def _explained(table: Path) -> Iterator[None]:
    """Name the file in errors."""
    try:
        yield
    except pa.ArrowInvalid as error:
        kind = table.suffix[1:].lower()
        raise InputError(
            f"{table}: cannot be read as {kind} ({str(error).partition(chr(10))[0]}). Correct the file."
        ) from None
    except ParquetError as error:
        raise InputError(f"{table}: {error}") from None
    except InputError as error:
        raise error if str(error).startswith(str(table)) else InputError(f"{table}: {error}") from None


def _batches(path: Path) -> Iterator[pa.Table]:
    """Yield the rows of a table in batches, at least one. Cells of CSV stay strings."""
    kind, any_rows = path.suffix.lower(), False
    if kind == ".parquet":
        with open_parquet(path) as file:
            for batch in parquet_batches(file, _BATCH, file.schema_arrow.names):
                any_rows = True
                yield pa.Table.from_batches([batch])
            if not any_rows:
                yield file.schema_arrow.empty_table()
        return
    rows = _json_lines(path) if kind == ".jsonl" else _delimited(path, "\t" if kind == ".tsv" else ",")
    for table in rows:
        for at in range(0, max(len(table), 1), _BATCH):
            any_rows = True
            yield table.slice(at, _BATCH).combine_chunks()
    if not any_rows:
        raise InputError(f"{path}: has no rows. Give a table with at least one row.")


def _delimited(path: Path, delimiter: str) -> Iterator[pa.Table]:
    parse = pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    read = pa.csv.ReadOptions(block_size=_BLOCK)
    check_quotes(path, delimiter)
    with pa.csv.open_csv(path, read_options=read, parse_options=parse) as reader:
        names = reader.schema.names
    strings = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    waiting: list[pa.RecordBatch] = []
    any_rows = False
    with pa.csv.open_csv(path, read_options=read, parse_options=parse, convert_options=strings) as reader:
        empty = pa.Table.from_batches([], reader.schema)
        for batch in reader:
            waiting.append(batch)
            if sum(map(len, waiting)) >= _BATCH:
                yield pa.Table.from_batches(waiting)
                waiting, any_rows = [], True
    if waiting or not any_rows:
        yield pa.Table.from_batches(waiting) if waiting else empty


def _json_lines(path: Path) -> Iterator[pa.Table]:
    """Yield rows of JSON lines with the fields of the first rows."""
    rows: list[dict[str, Any]] = []
    schema: pa.Schema | None = None
    with path.open("rb") as lines:
        for number, row in json_objects(lines, path):
            rows.append(row)
            if len(rows) == _BATCH:
                table = _rows_as_table(rows, schema, f"{path}: lines up to {number}")
                schema, rows = table.schema, []
                yield table
    if rows:
        yield _rows_as_table(rows, schema, f"{path}: lines up to its end")


def _rows_as_table(rows: list[dict[str, Any]], schema: pa.Schema | None, place: str) -> pa.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    try:
        if schema is not None and names.keys() <= set(schema.names):
            return pa.Table.from_pylist(rows, schema)
        return pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"{place}: a field has values of several types ({error}). Convert them to one.") from None


def _write(parts: list[Path], stream: IO[bytes], kind: str, *, escape_formulas: bool) -> Matched:
    """Write all parts with their clusters."""
    pairs = (pair for part in parts for pair in _pairs(pq.read_table(part, columns=[CELL, "match_topic"])))
    numbers = Clusters(pairs)  # holds the distinct cells only
    found, writer = Matched(), cast(Any, None)
    for part in parts:
        table = pq.read_table(part)
        clusters = [numbers(pair) for pair in _pairs(table)]
        place = table.column_names.index("match_cluster")
        table = table.set_column(place, "match_cluster", pa.array(clusters, pa.int64())).drop_columns([CELL])
        found.rows += len(table)
        found.decisions.update(each for each in table.column("match_decision").to_pylist() if each)
        found.clusters = max(found.clusters, 1 + max((each for each in clusters if each is not None), default=-1))
        if kind == ".jsonl":
            stream.writelines(
                (json.dumps(row, ensure_ascii=False, default=str) + "\n").encode() for row in table.to_pylist()
            )
            continue
        if escape_formulas and kind in (".csv", ".tsv"):
            table = _without_formulas(table)
        if writer is None:
            options = pa.csv.WriteOptions(delimiter="\t" if kind == ".tsv" else ",")
            schema = table.schema
            if kind == ".parquet":
                writer = pq.ParquetWriter(stream, schema)
            else:
                writer = pa.csv.CSVWriter(stream, schema, write_options=options)
        writer.write_table(table.cast(schema))
    if writer is not None:
        writer.close()
    return found


def _pairs(table: pa.Table) -> list[tuple[str, int | None]]:
    return list(zip(table.column(CELL).to_pylist(), table.column("match_topic").to_pylist(), strict=True))


def _without_formulas(table: Any) -> Any:
    """Return a table whose strings a spreadsheet takes for text."""
    for at, each in enumerate(table.schema):
        if pa.types.is_string(each.type) or pa.types.is_large_string(each.type):
            cells = pc.replace_substring_regex(table.column(at), _FORMULA, r"'\1")
            table = table.set_column(at, each, cells)
    names = pc.replace_substring_regex(pa.array(table.column_names), _FORMULA, r"'\1")
    return table.rename_columns(names.to_pylist())
