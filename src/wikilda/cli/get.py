"""`wikilda get`."""

from pathlib import Path

import click

from wikilda._core.errors import printable
from wikilda.cli._options import ANY_PATH
from wikilda.model.pack import fetched, read_about, unpack


@click.command()
@click.argument("source", metavar="FILE|URL")
@click.option("-o", "--output", "target", type=ANY_PATH, help="The directory to write.  [default: by the file's name]")
@click.option("--overwrite", is_flag=True, help="Replace the model that is there.")
def command(source: str, target: Path | None, overwrite: bool) -> None:
    """Check a packed model, from a FILE or a URL, and unpack it.

    Rerun the same command to resume an interrupted download. Whatever is not as its maker wrote it is refused.
    """
    file = fetched(source, target)
    about = read_about(file)
    made = unpack(file, target or file.with_suffix(""), overwrite=overwrite)
    click.echo(printable(f"{made.path}: {about['kind']} of {about.get('site')}. Licence: {about.get('licence')}."))
