"""`wikilda match`."""

import sys
from pathlib import Path
from typing import Any

import click

from wikilda._core.atomic import check_output
from wikilda._core.errors import InputError
from wikilda.cli._options import ANY_PATH, method_option, model_argument, settings_options, workers_option
from wikilda.documents.reading.tables import check_quotes
from wikilda.linking import Linker
from wikilda.linking.methods import METHODS, MethodSettings

_KINDS = (".csv", ".tsv", ".parquet", ".jsonl")


@click.command()
@model_argument
@click.argument("table", type=ANY_PATH, metavar="TABLE")
@click.option("--column", required=True, metavar="NAME", help="The column whose cells are matched.")
@click.option("--context", multiple=True, metavar="NAME", help="Another column that tells cells apart; repeatable.")
@click.option("--type", "types", metavar="TYPE,…", help="Match with topics of these types alone: person, place, …")
@click.option("-o", "--output", type=ANY_PATH, metavar="FILE",
              help="Write to a file: .csv, .tsv, .parquet or .jsonl.  [default: CSV to standard output]")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace an output that exists.")
@click.option("--escape-formulas", is_flag=True,
              help="Write a quote before CSV and TSV cells that a spreadsheet would run: =, +, -, @.")  # fmt: skip
@method_option
@settings_options(method=METHODS)
@workers_option("Threads")
def command(
    model: Path, table: Path, column: str, context: tuple[str, ...], types: str | None, output: Path | None,
    overwrite: bool, escape_formulas: bool, knowledge: Path | None, method: MethodSettings, workers: int,
) -> None:  # fmt: skip
    """Match the cells of a column of TABLE with entities, and with each other.

    TABLE is CSV, TSV, Parquet or JSON lines. It is written again with columns match_title, match_topic,
    match_wikidata, match_type, match_confidence, match_posterior, match_nil and match_cluster, which is the same for
    cells that mean the same entity, or the same unknown thing.
    """
    kind = _kind(output) if output else ".csv"
    if output is not None:
        check_output(output, overwrite=overwrite, inputs=[table])
    given = _read(table)
    linker = Linker.open(model, knowledge=knowledge, settings=method)
    wanted = tuple(each.strip() for each in types.split(",")) if types else ()
    try:
        found = linker.match_frame(given, column, context=context, types=wanted, workers=workers)
    except InputError as error:
        raise InputError(f"{table}: {error}") from None
    if escape_formulas and kind in (".csv", ".tsv"):
        found = _without_formulas(found)
    if output is None:
        _write(found, sys.stdout.buffer, kind)
        return
    from wikilda._core.atomic import new_file

    with new_file(output) as made, made.open("wb") as stream:
        _write(found, stream, kind)
    linked, clusters = found.num_rows - found.column("match_title").null_count, found.column("match_cluster").unique()
    known = len(clusters.drop_null())
    click.echo(f"{found.num_rows:,} rows, {linked:,} matched, {known:,} different things → {output}", err=True)


def _kind(path: Path) -> str:
    if path.suffix.lower() not in _KINDS:
        raise InputError(f"{path}: a table is a file that ends in {', '.join(_KINDS)}.")
    return path.suffix.lower()


def _read(path: Path) -> Any:
    """A table with its cells as they are: numbers of a CSV file stay strings."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.json

    from wikilda._core.parquet import ParquetError, read_table

    kind = _kind(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file.")
    try:
        if kind == ".parquet":
            return read_table(path)
        if kind == ".jsonl":
            return pa.json.read_json(path)
        parse = pa.csv.ParseOptions(delimiter="\t" if kind == ".tsv" else ",", newlines_in_values=True)
        names = pa.csv.open_csv(path, parse_options=parse).schema.names
        strings = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
        found = pa.csv.read_csv(path, parse_options=parse, convert_options=strings)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: cannot be read as {kind[1:]} ({str(error).partition(chr(10))[0]}).") from None
    except ParquetError as error:
        raise InputError(f"{path}: {error}") from None
    check_quotes(path, parse.delimiter)  # after: Arrow has told what else is wrong
    return found


def _without_formulas(table: Any) -> Any:
    """A table whose strings a spreadsheet takes for text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for at, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            cells = pc.replace_substring_regex(table.column(at), r"^([=+\-@\t\r])", r"'\1")
            table = table.set_column(at, field, cells)
    return table


def _write(table: Any, stream: Any, kind: str) -> None:
    import json

    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    if kind == ".parquet":
        pq.write_table(table, stream)
    elif kind == ".jsonl":
        stream.writelines(
            (json.dumps(row, ensure_ascii=False, default=str) + "\n").encode() for row in table.to_pylist()
        )
    else:
        pa.csv.write_csv(table, stream, pa.csv.WriteOptions(delimiter="\t" if kind == ".tsv" else ","))
