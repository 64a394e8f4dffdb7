"""`wikilda update`."""

from pathlib import Path

import click

from wikilda.cli._options import ANY_PATH, model_argument, output_options, refuse, show_table, workers_option
from wikilda.knowledge.entities import is_list
from wikilda.training.update import update


@click.command()
@model_argument
@click.argument("files", nargs=-1, required=True, type=ANY_PATH, metavar="NEWER...")
@output_options("a model")
@click.option("--changes/--whole", "changes", default=None,
              help="Whether the dump has only changed pages.  [default: by its number of pages]")  # fmt: skip
@click.option("--page-props", type=ANY_PATH, help="The dump's page_props.sql.gz.  [default: that of the build]")
@click.option("--instances", type=ANY_PATH, help="What Wikidata's items are instances of, as for build.")
@workers_option("Processes")
@click.option("--memory", default="1GB", show_default=True, help="Memory for joins and sorts; the rest spills to disk.")
def command(
    model: Path, files: tuple[Path, ...], target: Path, changes: bool | None,
    page_props: Path | None, instances: Path | None, overwrite: bool, workers: int, memory: str,
) -> None:  # fmt: skip
    """Update a model with a newer dump, or with a list of entities.

    NEWER is a newer MediaWiki dump of the wiki (several files are its parts), an export of the pages that were added or
    changed, or a list of your own entities (.csv, .tsv, .jsonl, .parquet) with columns id and name, as for `build
    --entities`. Pages that have not changed are not read again, and what training has learned is kept.
    """
    if all(is_list(path) for path in files):
        refuse(["changes", "page_props", "instances", "workers", "memory"], "is for a dump.")
    made = update(
        model, files, target, changes=changes, page_props=page_props, instances=instances,
        workers=workers, memory=memory, overwrite=overwrite,
    )  # fmt: skip
    from wikilda.knowledge.diff import HTML_FILE

    counts = [(name, f"{count:,}", "") for name, count in sorted(made.report.counts.items())]
    show_table(str(target), ["", "count", "examples"], [*counts, *made.diff.rows()])
    for complaint in made.report.examples:
        click.echo(f"  {complaint}")
    click.echo(f"\nAll changes: {target / HTML_FILE}")
