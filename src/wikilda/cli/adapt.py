"""`wikilda adapt`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from wikilda._core.artifact import check_target
from wikilda._core.errors import InputError
from wikilda._core.progress import Bar, bar
from wikilda.cli._options import (
    ANY_PATH,
    Command,
    detector_option,
    model_argument,
    output_options,
    reading_options,
    workers_option,
)  # fmt: skip
from wikilda.linking import Bad, Document, Linker, ReadSettings, read_documents
from wikilda.training.adaptation import adapt, write_adapted

_SOME_SKIPPED = 3  # exit code


@click.command(cls=Command)
@model_argument
@click.argument("files", nargs=-1, type=ANY_PATH, metavar="[FILE]...")
@output_options("a model")
@detector_option
@reading_options
@workers_option("Threads")
def command(
    model: Path, files: tuple[Path, ...], target: Path, overwrite: bool, reading: ReadSettings, detector: str,
    workers: int, knowledge: Path | None,
) -> int:  # fmt: skip
    """Teach a model what stands around mentions, from texts like those that it is to link.

    Reads what `wikilda link` reads; nothing need be labelled. The texts are linked, and what stands around a mention is
    counted with the kind of topic that it means. The new model shares the disk of the old one. Training makes new
    parameters: train first, adapt then.
    """
    check_target(target, overwrite=overwrite)
    linker = Linker.open(model, detector=detector, knowledge=knowledge)
    skipped: list[Bad] = []
    documents = read_documents(files, sys.stdin.buffer, reading)
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
