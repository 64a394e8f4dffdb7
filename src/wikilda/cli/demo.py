"""`wikilda demo`."""

import shutil
from pathlib import Path

import click

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
        shutil.copytree(MODEL, keep / "sample", dirs_exist_ok=True)
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
    if keep:
        click.echo(f"\nTry your own: echo 'Kate Bush sang' | wikilda link {keep / 'sample'} --table")
