"""`wikilda demo`."""

import shutil
from pathlib import Path

import click

from wikilda._core.artifact import MANIFEST
from wikilda._core.errors import InputError
from wikilda.cli._link_output import show_linked
from wikilda.cli.build import report
from wikilda.cli.show import show_mention
from wikilda.knowledge.describe import describe_mention
from wikilda.linking import Document, Linker
from wikilda.sample import MODEL, texts


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), help="Copy the sample model into this directory, to try it.")
def command(keep: Path | None) -> None:
    """Link a text about cricket with the sample wiki that comes with the package."""
    if keep:
        if keep.exists() and not _is_sample(keep):
            raise InputError(f"{keep}: exists already and is not the sample model. Choose another name.")
        shutil.copytree(MODEL, keep, dirs_exist_ok=True)
    linker = Linker.open(MODEL)
    known = linker.knowledge
    report(known, "The sample wiki")
    click.echo("\nThe candidates of “Croft”, by how often the wiki links them:\n")
    show_mention(describe_mention(known, known.find_mention("Croft"), 5))
    first = texts()[0]
    document = Document(first["text"], [(each["start"], each["end"]) for each in first["mentions"]], first["id"])
    click.echo("The entities in this text:\n")
    click.echo(click.wrap_text(document.text, 100) + "\n")
    show_linked(linker.link(document, topics=5))
    place = keep or "sample"
    click.echo("\nTry your own:\n")
    if not keep:
        click.echo("  wikilda demo --keep sample")
    click.echo(f"  echo 'Kate Bush sang in England.' | wikilda link {place} --table")
    click.echo(f"  wikilda explain {place} 'Croft took five wickets for England.' -m Croft")
    if keep:
        click.echo("  wikilda build --entities names.csv -o mine     # a list with columns id and name")


def _is_sample(place: Path) -> bool:
    """Whether a directory is empty, or a copy of the sample model."""
    if not place.is_dir():
        return False
    own = place / MANIFEST
    return not any(place.iterdir()) or (own.is_file() and own.read_bytes() == (MODEL / MANIFEST).read_bytes())
