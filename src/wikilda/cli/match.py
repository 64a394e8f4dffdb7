"""`wikilda match`."""

import sys
from pathlib import Path

import click

from wikilda.cli._options import (
    ANY_PATH,
    list_option,
    method_option,
    model_argument,
    refuse,
    settings_options,
    workers_option,
)
from wikilda.linking import Linker
from wikilda.linking.match import Thresholds
from wikilda.linking.match_files import match_file
from wikilda.linking.methods import METHODS, MethodSettings


@click.command()
@model_argument
@click.argument("table", type=ANY_PATH, metavar="TABLE")
@click.option("--column", required=True, metavar="NAME", help="The column whose cells are matched.")
@click.option("--context", multiple=True, metavar="NAME", help="Another column that tells cells apart; repeatable.")
@click.option("--type", "types", metavar="TYPE,…", help="Match with entities of these types only: person, place, …")
@click.option("--match", "match_from", type=click.FloatRange(0, 1), default=Thresholds.match, show_default=True,
              help="Least confidence of the decision `match`.")  # fmt: skip
@click.option("--new", "new_below", type=click.FloatRange(0, 1), default=Thresholds.new, show_default=True,
              help="Confidence below which the decision is `new`; between the two it is `review`.")  # fmt: skip
@click.option("-o", "--output", type=ANY_PATH, metavar="FILE",
              help="Write to a file: .csv, .tsv, .parquet or .jsonl.  [default: CSV to standard output]")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace an output that exists.")
@click.option("--escape-formulas", is_flag=True,
              help="Write a quote before CSV and TSV cells that a spreadsheet would run: =, +, -, @.")  # fmt: skip
@method_option
@settings_options(method=METHODS)
@workers_option("Threads")
def command(
    model: Path, table: Path, column: str, context: tuple[str, ...], types: str | None, match_from: float,
    new_below: float, output: Path | None, overwrite: bool, escape_formulas: bool,
    method: MethodSettings, workers: int,
) -> None:  # fmt: skip
    """Match the cells of a column of TABLE with entities, and with each other.

    TABLE is CSV, TSV, Parquet or JSON lines, of any length. It is written again with more columns: match_title and
    match_id where the cell is more probably known than not, match_candidates with the best candidates and their scores
    in any case, match_decision (match, review or new), and match_cluster, which is the same for cells that mean the
    same entity, or the same unknown thing. An interrupted run with -o resumes when the command is run again.
    """
    if output is None:
        refuse(["overwrite"], "has no effect without -o.")
    elif output.suffix.lower() in (".parquet", ".jsonl"):
        refuse(["escape_formulas"], f"has no effect on {output.suffix.lower()}.")
    limits = Thresholds(match_from, new_below)
    linker = Linker.open(model, settings=method)
    done = match_file(
        linker, table, output, column, context=context, types=list_option(types), thresholds=limits, workers=workers,
        escape_formulas=escape_formulas, stream=sys.stdout.buffer, overwrite=overwrite,
    )  # fmt: skip
    if output is not None:
        decided = ", ".join(f"{count:,} {name}" for name, count in done.decisions.items())
        click.echo(f"{done.rows:,} rows: {decided}; {done.clusters:,} different things → {output}", err=True)
