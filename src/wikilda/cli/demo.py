"""`wikilda demo`."""

import tempfile
from pathlib import Path

import click

from wikilda.cli._link_output import show_linked
from wikilda.cli._tables import console
from wikilda.cli.build import report
from wikilda.cli.show import show_mention
from wikilda.knowledge import Resources, build_from_dump
from wikilda.knowledge.describe import describe_mention
from wikilda.linking import Document, Linker
from wikilda.model import create_model
from wikilda.sample import SETTINGS, WIKI, texts


@click.command()
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the knowledge and the model in this directory.")
def command(keep: Path | None) -> None:
    """Build the sample wiki that comes with the package, and link a text about cricket with it."""
    with tempfile.TemporaryDirectory() as scratch:
        place = keep or Path(scratch)
        known = build_from_dump([WIKI], place / "sample.kb", SETTINGS, resources=Resources(workers=1), overwrite=True)
        report(known, "The sample wiki")
        out = console()
        out.print("\nWhat “Croft” may mean, and how often it does in the wiki:\n", highlight=False)
        show_mention(out, describe_mention(known, known.find_mention("Croft"), 5))
        linker = Linker(create_model(known, place / "sample.model", overwrite=True), known)
        first = texts()[0]
        document = Document(first["text"], [(each["start"], each["end"]) for each in first["mentions"]], first["id"])
        out.print("What it means in this text:\n", highlight=False)
        out.print(document.text + "\n", markup=False, highlight=False)
        show_linked(out, linker.link(document, topics=5))
        if keep:
            out.print(
                f"\nTry your own: echo 'Kate Bush sang' | wikilda link {place / 'sample.model'} --table",
                highlight=False,
            )
