"""`wikilda demo`."""

import tempfile
from pathlib import Path

import click

from wikilda.cli.build import report
from wikilda.cli.output import console
from wikilda.cli.show import show_mention
from wikilda.knowledge import Knowledge, Resources, build_from_dump
from wikilda.knowledge.lookup import describe_mention
from wikilda.sample import SETTINGS, WIKI


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the knowledge in this directory.")
def command(keep: Path | None) -> None:
    """Build the sample wiki that comes with the package, and show what it holds."""
    with tempfile.TemporaryDirectory() as scratch:
        target = keep or Path(scratch) / "sample"
        made = build_from_dump([WIKI], target, SETTINGS, resources=Resources(workers=1), overwrite=keep is None)
        report(made, "The sample wiki")
        known = Knowledge.open(target)
        out = console()
        out.print()
        for term in ("Croft", "Washington"):
            show_mention(out, describe_mention(known, known.find_mention(term), 5))
        if keep:
            out.print(f"Look further: wikilda show {keep} TERM", highlight=False)
