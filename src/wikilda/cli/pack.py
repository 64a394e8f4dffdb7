"""`wikilda pack`."""

from pathlib import Path

import click

from wikilda.cli._options import ANY_PATH
from wikilda.model.pack import pack


@click.command()
@click.argument("model", type=ANY_PATH, metavar="MODEL")
@click.option("-o", "--output", "target", type=ANY_PATH, help="The file to write.  [default: MODEL.wikilda]")
@click.option("--licence", default="", help="Under which licence.  [default: that of a Wikimedia wiki's text]")
def command(model: Path, target: Path | None, licence: str) -> None:
    """Pack MODEL with its knowledge, or knowledge alone, into one compressed file; `wikilda get` unpacks it.

    Every file is checked first. The same model gives the same bytes.
    """
    made = pack(model, target, licence=licence)
    click.echo(f"{made}: {made.stat().st_size / 1e6:,.1f} MB")
