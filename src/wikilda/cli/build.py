"""`wikilda build`."""

import re
from pathlib import Path

import click

from wikilda._core.artifact import Artifact
from wikilda._core.errors import SettingsError
from wikilda.cli._options import Sectioned, settings_options
from wikilda.cli._tables import console, table
from wikilda.knowledge import BuildSettings, Resources, build_from_dump, build_from_tables

_ANY = click.Path(path_type=Path)


@click.command(cls=Sectioned)
@click.argument("dumps", nargs=-1, type=_ANY, metavar="[DUMP]...")
@click.option("-o", "--output", "target", type=_ANY, required=True, help="The directory to write.")
@click.option("--tables", type=_ANY, help="Build from a directory of plain tables instead of a dump.")
@click.option("--page-props", type=_ANY, help="The dump's page_props.sql.gz: Wikidata ids and disambiguation pages.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes to read with.  [default: one a core]")
@click.option("--memory", default="1GB", show_default=True, help="Memory for joins and sorts; the rest spills to disk.")
@click.option("--overwrite", is_flag=True, help="Replace knowledge that is already there.")
@settings_options(BuildSettings)
def command(
    dumps: tuple[Path, ...], target: Path, tables: Path | None, page_props: Path | None, workers: int | None,
    memory: str, overwrite: bool, settings: BuildSettings,
) -> None:  # fmt: skip
    """Turn a wiki dump, or plain tables, into knowledge.

    DUMP is an official MediaWiki XML export (.xml, .xml.bz2, multistream or not, .xml.gz); several files are
    the parts of one. An interrupted build goes on where it was when the same command is run again.
    """
    if bool(dumps) == bool(tables):
        raise click.UsageError("give a DUMP or --tables DIR, one of the two")
    if not re.fullmatch(r"\d+(\.\d+)?\s*[KMGT]i?B", memory, re.IGNORECASE):
        raise SettingsError(f"--memory {memory}: say it like 800MB or 2GB")
    resources = Resources(workers, memory) if workers else Resources(memory=memory)
    if tables:
        if page_props:
            raise click.UsageError("--page-props goes with a dump; tables have a column `wikidata`")
        made = build_from_tables(tables, target, settings, resources=resources, overwrite=overwrite)
    else:
        made = build_from_dump(
            list(dumps), target, settings, page_props=page_props, resources=resources, overwrite=overwrite
        )
    report(made)


def report(made: Artifact, title: str | None = None) -> None:
    """Say what a build has found, and what was wrong with it."""
    out = console()
    out.print(table(title or str(made.path), ["", "count"], made.summary.items()))
    complaints = made.complaints
    if complaints:
        out.print(f"\n{len(complaints)} of the things that were not right:")
        for complaint in complaints:
            out.print(f"  {complaint}", markup=False, highlight=False)
