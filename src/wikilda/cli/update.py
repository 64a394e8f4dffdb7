"""`wikilda update`."""

from pathlib import Path

import click

from wikilda.cli._options import ANY_PATH, model_argument, output_options, show_table, workers_option
from wikilda.training.update import update


@click.command()
@model_argument
@click.argument("files", nargs=-1, required=True, type=ANY_PATH, metavar="CHANGED...")
@output_options("a model")
@click.option("--steps", type=click.IntRange(0), default=2, show_default=True, help="Steps on the changed texts.")
@workers_option("Processes")
def command(
    model: Path,
    files: tuple[Path, ...],
    target: Path,
    knowledge: Path | None,
    steps: int,
    overwrite: bool,
    workers: int,
) -> None:
    """Add pages, entities and names to a model without a rebuild.

    CHANGED is a MediaWiki export of added or changed pages (.xml, .xml.bz2), or a list of your own entities (.csv,
    .tsv, .jsonl, .parquet) with columns id and name, as for `build --entities`. Everything else stays as it was.
    """
    made = update(model, files, target, knowledge=knowledge, steps=steps, workers=workers, overwrite=overwrite)
    report = made.changes.report
    show_table(str(target), ["", "count"], sorted(report.counts.items()))
    for complaint in report.examples:
        click.echo(f"  {complaint}")
