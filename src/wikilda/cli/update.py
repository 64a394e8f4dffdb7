"""`wikilda update`."""

from pathlib import Path

import click

from wikilda.cli._tables import console, table
from wikilda.training.update import update

_ANY = click.Path(path_type=Path)


@click.command()
@click.argument("model", type=_ANY, metavar="MODEL")
@click.argument("files", nargs=-1, required=True, type=_ANY, metavar="CHANGED...")
@click.option("-o", "--output", "target", type=_ANY, required=True, help="The model to write, beside NAME.kb.")
@click.option("--kb", "knowledge", type=_ANY, help="The model's knowledge, if it has moved.")
@click.option("--steps", type=click.IntRange(0), default=2, show_default=True, help="Steps on the changed texts.")
@click.option("--overwrite", is_flag=True, help="Replace a model and knowledge that are already there.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes to use.")
def command(
    model: Path,
    files: tuple[Path, ...],
    target: Path,
    knowledge: Path | None,
    steps: int,
    overwrite: bool,
    workers: int,
) -> None:
    """Take new pages, entities and names into a model, without building it anew.

    CHANGED is a MediaWiki export of added or changed pages (.xml, .xml.bz2), or a list of your own entities, JSON
    lines like {"title": "Acme", "aliases": ["ACME Corp"], "text": "…"}. Everything else stays what it was.
    """
    made = update(model, list(files), target, knowledge=knowledge, steps=steps, workers=workers, overwrite=overwrite)
    report = made.changes.report
    out = console()
    out.print(table(str(target), ["", "count"], sorted(report.counts.items())))
    for complaint in report.examples:
        out.print(f"  {complaint}", markup=False, highlight=False)
