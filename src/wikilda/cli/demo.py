"""`wikilda demo`."""

import tempfile
from pathlib import Path

import click

from wikilda.cli._link_output import show_linked
from wikilda.cli._options import Command
from wikilda.cli._tables import console
from wikilda.cli.build import report
from wikilda.cli.show import show_mention
from wikilda.knowledge.describe import describe_mention
from wikilda.linking import Document, Linker
from wikilda.model.build import build
from wikilda.sample import SETTINGS, WIKI, texts


@click.command(cls=Command)
@click.option("--keep", type=click.Path(path_type=Path), help="Keep the model in this directory.")
def command(keep: Path | None) -> None:
    """Build the sample wiki that comes with the package, and link a text about cricket with it."""
    with tempfile.TemporaryDirectory() as scratch:
        place = keep or Path(scratch)
        model = build(WIKI, place / "sample", settings=SETTINGS, workers=1, overwrite=True)
        known = model.knowledge()
        report(known, "The sample wiki")
        out = console()
        out.print("\nThe candidates of “Croft”, by how often the wiki links them:\n", highlight=False)
        show_mention(out, describe_mention(known, known.find_mention("Croft"), 5))
        linker = Linker(model, known)
        first = texts()[0]
        document = Document(first["text"], [(each["start"], each["end"]) for each in first["mentions"]], first["id"])
        out.print("The entities in this text:\n", highlight=False)
        out.print(document.text + "\n", markup=False, highlight=False)
        show_linked(out, linker.link(document, topics=5))
        if keep:
            out.print(
                f"\nTry your own: echo 'Kate Bush sang' | wikilda link {place / 'sample'} --table",
                highlight=False,
            )
