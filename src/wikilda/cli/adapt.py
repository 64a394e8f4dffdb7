"""`wikilda adapt`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from wikilda._core.artifact import check_target
from wikilda._core.errors import InputError
from wikilda._core.platform import available_cores
from wikilda._core.progress import Bar, bar
from wikilda.documents.detection import choose_detector
from wikilda.documents.reading import FORMATS
from wikilda.linking import Bad, Document, Linker, ReadSettings, read_documents
from wikilda.training.adaptation import adapt, write_adapted

_ANY = click.Path(path_type=Path)
_SOME_SKIPPED = 3  # exit code


@click.command()
@click.argument("model", type=_ANY, metavar="MODEL")
@click.argument("files", nargs=-1, type=_ANY, metavar="[FILE]...")
@click.option("-o", "--output", "target", type=_ANY, required=True, help="The model to write.")
@click.option("--overwrite", is_flag=True, help="Replace a model that is already there.")
@click.option("--from", "source", type=click.Choice(FORMATS), default="auto", help="Format of the texts.")
@click.option("--text-column", default="text", show_default=True, help="Column or field with the text.")
@click.option("--id-column", help="Column or field with the document's id.  [default: id, else its number]")
@click.option("--detector", default="dictionary", show_default=True, metavar="NAME",
              help="Who finds the mentions: dictionary, spacy, spacy:MODEL.")  # fmt: skip
@click.option("-j", "--workers", type=click.IntRange(1), default=available_cores(), show_default="all cores")
@click.option("--kb", "knowledge", type=_ANY, help="The model's knowledge, if it has moved.")
def command(
    model: Path, files: tuple[Path, ...], target: Path, overwrite: bool, source: str, text_column: str,
    id_column: str | None, detector: str, workers: int, knowledge: Path | None,
) -> int:  # fmt: skip
    """Teach a model what stands around mentions, from texts like those that it is to link.

    Reads what `wikilda link` reads; nothing need be labelled. The texts are linked, and what stands around a mention is
    counted with the kind of topic that it means. The new model shares the disk of the old one. Training makes new
    parameters: train first, adapt then.
    """
    check_target(target, overwrite=overwrite)
    linker = Linker.open(model, knowledge=knowledge)
    linker.detector = choose_detector(detector, linker.knowledge)
    skipped: list[Bad] = []
    documents = read_documents(files, sys.stdin.buffer, ReadSettings(source, text_column, id_column))
    with bar("linking", None, unit="texts") as shown:
        counts = adapt(linker, _readable(documents, skipped, shown), workers=workers)
    if not counts.texts:
        raise InputError("there is no text to learn from.")
    learned = counts.finish()
    write_adapted(linker.model, learned, target, overwrite=overwrite)
    click.echo(f"{target}: learned from {counts.mentions:,} mentions in {counts.texts:,} texts; "
               f"{len(learned.sums):,} things that stand around them")  # fmt: skip
    return _SOME_SKIPPED if skipped else 0


def _readable(documents: "Iterator[Document | Bad]", skipped: list[Bad], shown: Bar) -> Iterator[Document]:
    for document in documents:
        shown.advance(1)
        if isinstance(document, Bad):
            skipped.append(document)
            click.echo(f"skipped: {document}", err=True)
        else:
            yield document
