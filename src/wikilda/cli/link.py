"""`wikilda link`."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from wikilda.cli.options import settings_options
from wikilda.cli.output import console, table
from wikilda.errors import InputError
from wikilda.inference.settings import SamplerSettings
from wikilda.linking import Linked, LinkedMention, Linker, Text, read_documents

_ANY = click.Path(path_type=Path)


@click.command()
@click.argument("model", type=_ANY, metavar="MODEL")
@click.argument("files", nargs=-1, type=_ANY, metavar="[FILE]...")
@click.option("--kb", "knowledge", type=_ANY, help="The model's knowledge, if it has moved.")
@click.option("-n", "--candidates", type=click.IntRange(1), default=5, show_default=True, help="Candidates a mention.")
@click.option("--topics", type=click.IntRange(0), default=10, show_default=True, help="Topics a document.")
@click.option("--table", "as_table", is_flag=True, help="Print a table for reading instead of JSON lines.")
@settings_options(SamplerSettings)
def command(
    model: Path, files: tuple[Path, ...], knowledge: Path | None, candidates: int, topics: int, as_table: bool,
    settings: SamplerSettings,
) -> None:  # fmt: skip
    """Say what the mentions of documents mean.

    Reads FILEs, or standard input: JSON lines with "text" and "mentions" ([{"start": 0, "end": 5}, …], in
    characters), or text whose mentions stand in double brackets ("[[Croft]] took five wickets"). Writes a JSON line
    a document.
    """
    linker = Linker.open(model, knowledge=knowledge, settings=settings)
    out = console() if as_table else None
    for document in _documents(files):
        linked = linker.link(document, candidates=candidates, topics=topics)
        if out:
            show_linked(out, document, linked)
        else:
            click.echo(json.dumps(linked.to_json(), ensure_ascii=False))


def _documents(files: tuple[Path, ...]) -> Iterator[Text]:
    if not files:
        yield from _decoded(sys.stdin.buffer, "standard input")
    for file in files:
        with file.open("rb") as lines:
            yield from _decoded(lines, str(file))


def _decoded(lines: Any, name: str) -> Iterator[Text]:
    def decode() -> Iterator[str]:
        for number, line in enumerate(lines, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{name}: line {number} is not UTF-8 ({error.reason} at byte {error.start})."
                ) from None

    return read_documents(decode(), name)


def show_linked(out: Console, document: Text, linked: Linked) -> None:
    """A document's mentions as a table: what each means, how sure that is, and the runner-up."""
    rows = [_row(mention) for mention in linked.mentions]
    out.print(table(f"Document {document.id}", ["mention", "means", "sure", "prior", "else"], rows))
    if linked.topics:
        shares = ", ".join(f"{each.entity.title} {each.share:.0%}" for each in linked.topics)
        out.print(f"topics: {shares}", markup=False, highlight=False)


def _row(mention: LinkedMention) -> tuple[str, ...]:
    if not mention.candidates:
        return mention.text, "–", "", "", "not in the knowledge"
    best, *others = mention.candidates
    other = f"{others[0].entity.title} ({others[0].probability:.0%}, prior {others[0].prior:.0%})" if others else ""
    return mention.text, best.entity.title, f"{best.probability:.0%}", f"{best.prior:.0%}", other
