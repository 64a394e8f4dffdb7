"""`wikilda link`."""

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from wikilda._core.errors import InputError, SettingsError
from wikilda._core.platform import available_cores
from wikilda.cli._link_output import Tally, show_linked
from wikilda.cli._options import Sectioned, settings_options
from wikilda.cli._spark_options import Cluster, engine_options, refuse
from wikilda.cli._tables import console
from wikilda.documents.detection import choose_detector
from wikilda.documents.reading import FORMATS as INPUT_FORMATS
from wikilda.documents.reading.settings import AUTO
from wikilda.documents.writing import FORMATS, HTML, PARQUET, format_of, write_rows
from wikilda.documents.writing.formats import SUFFIXES
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Bad, DetectorSettings, Document, Linked, Linker, ReadSettings, read_documents
from wikilda.linking.batch import guarded_link, map_ordered
from wikilda.linking.journal import Journal
from wikilda.text.offsets import CODE_POINTS, UNITS
from wikilda.urn import UrnSettings

_ANY = click.Path(path_type=Path)
_SOME_SKIPPED, _READER_GONE = 3, 141  # exit codes


@click.command(cls=Sectioned)
@click.argument("model", type=_ANY, metavar="MODEL")
@click.argument("places", nargs=-1, metavar="[FILE]...")
@click.option("-o", "--output", help="Write to a file; a run that was stopped goes on where it was.")
@click.option("--overwrite", is_flag=True, help="Replace the output if it exists.")
@click.option("--to", type=click.Choice(FORMATS), help="Format of the output.  [default: by its name, else jsonl]")
@click.option("--table", "as_table", is_flag=True, help="Print tables for reading.")
@click.option("--from", "source", type=click.Choice(INPUT_FORMATS), default="auto", help="Format of the input.")
@click.option("--text-column", default="text", show_default=True, help="Column or field with the text.")
@click.option("--id-column", help="Column or field with the document's id.  [default: id, else its number]")
@click.option("--offsets", type=click.Choice(UNITS), default=CODE_POINTS, show_default=True, help="Unit of offsets.")
@click.option("--invalid", type=click.Choice(["refuse", "replace"]), default="refuse", show_default=True,
              help="What to do with a document that is not UTF-8.")  # fmt: skip
@click.option("--largest", type=click.IntRange(1), default=10_000_000, show_default=True, help="Bytes of one document.")
@click.option("--detector", default="dictionary", show_default=True, metavar="NAME",
              help="Who finds the mentions: dictionary, spacy, spacy:MODEL.")  # fmt: skip
@click.option("--detect", "detections", multiple=True, metavar="NAME=VALUE",
              help="A setting of the dictionary detector: capitalised, unclear, part, lower, uncased.")  # fmt: skip
@click.option("-n", "--candidates", type=click.IntRange(1), default=5, show_default=True, help="Candidates a mention.")
@click.option("--topics", "only_topics", is_flag=True, help="Write the documents' topics, not their mentions.")
@click.option("--most-topics", type=click.IntRange(0), default=10, show_default=True, help="Topics a document.")
@click.option("--with-text", is_flag=True, help="Repeat each document's text in its answer.")
@click.option("-j", "--workers", type=click.IntRange(1), default=available_cores(), show_default="all cores")
@engine_options
@click.option("--kb", "knowledge", type=_ANY, help="The model's knowledge, if it has moved.")
@click.option("--lda", is_flag=True, help="Decide mentions by the paper's sampler, not by the urn.")
@settings_options(UrnSettings)
def command(
    model: Path, places: tuple[str, ...], knowledge: Path | None, settings: UrnSettings, lda: bool,
    detector: str, detections: tuple[str, ...], cluster: Cluster | None, **options: Any,
) -> int:  # fmt: skip
    """Say what the mentions of documents mean.

    Reads FILEs and directories, or standard input. A file is one text, unless its name ends in .jsonl, .csv, .tsv or
    .parquet (.gz, .bz2, .xz may follow). JSON lines may give "mentions" ([{"start": 0, "end": 5}, …]); where they are
    not given they are found. With --from marked they stand in double brackets: "[[Croft]] took five wickets".

    A document that cannot be read is reported and skipped; the exit code is then 3.

    With --engine spark, FILE is Parquet on any file system that Spark knows, and so is the output (docs/spark.md).
    """
    chosen = LdaSettings(settings.sweeps, settings.burn_in, seed=settings.seed) if lda else settings
    found = _detector_settings(detections)
    reading = ReadSettings(
        options["source"], options["text_column"], options["id_column"], options["offsets"], options["invalid"],
        options["largest"],
    )  # fmt: skip
    if cluster:
        how = {
            "model": model.resolve(), "knowledge": knowledge and knowledge.resolve(), "settings": chosen,
            "detector": detector, "detection": found, "reading": reading,
        }  # fmt: skip
        return _on_spark(cluster, places, how, options)
    files = tuple(Path(place) for place in places)
    options["output"] = Path(options["output"]) if options["output"] else None
    if options["output"] and not options["output"].parent.is_dir():
        raise InputError(f"{options['output']}: there is no directory {options['output'].parent}.")
    linker = Linker.open(model, knowledge=knowledge, settings=chosen)
    linker.detector = choose_detector(detector, linker.knowledge, found)
    documents = read_documents(files, sys.stdin.buffer, reading)
    run = {
        "model": linker.model.identity, "files": [str(each) for each in files], "settings": asdict(chosen),
        "detector": detector, "detection": {name: str(value) for name, value in asdict(found).items()},
    } | {name: options[name] for name in _IN_THE_NOTE}  # fmt: skip
    return _Run(linker, options).run(documents, run)


_IN_THE_NOTE = (
    "to", "source", "text_column", "id_column", "offsets", "invalid", "largest", "candidates", "only_topics",
    "most_topics", "with_text",
)  # fmt: skip


def _on_spark(cluster: Cluster, places: tuple[str, ...], how: dict[str, Any], options: dict[str, Any]) -> int:
    refuse(("as_table", "workers", "invalid"), "is for --engine local.")
    output = options["output"]
    if not places or not output:
        raise click.UsageError("with --engine spark, give Parquet files or directories of them, and -o.")
    kind = options["to"] or SUFFIXES.get(Path(output).suffix.lower(), PARQUET)
    if options["source"] not in (AUTO, PARQUET) or kind != PARQUET:
        raise click.UsageError("with --engine spark, documents and answers are Parquet: see --from, --to and -o.")
    from wikilda.linking.spark import Linking, link_files

    linking = Linking(
        **how, candidates=options["candidates"], topics=options["most_topics"], with_text=options["with_text"],
        with_mentions=not options["only_topics"],
    )  # fmt: skip
    documents, bad = link_files(places, output, linking, **cluster._asdict(), overwrite=options["overwrite"])
    click.echo(f"{documents - bad:,} documents linked, {bad:,} skipped (see their error) → {output}", err=True)
    return _SOME_SKIPPED if bad else 0


def _detector_settings(given: tuple[str, ...]) -> DetectorSettings:
    try:
        return DetectorSettings.from_mapping({name: float(value) for name, value in (one.split("=") for one in given)})
    except ValueError:
        raise SettingsError(f"--detect takes NAME=NUMBER, like lower=5; not {' '.join(given)}.") from None


class _Run:
    """One run of the command: documents in, rows out, to a file or to standard output."""

    def __init__(self, linker: Linker, options: dict[str, Any]) -> None:
        self.linker, self.options, self.output = linker, options, options["output"]
        self.kind = format_of(self.output, options["to"])
        self.tally = Tally()

    def run(self, documents: Iterator[Document | Bad], run: dict[str, Any]) -> int:
        try:
            self._write(documents, run)
        except BrokenPipeError:
            # The reader has gone (`| head`). Said here, for click would make it exit code 1.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _READER_GONE
        if self.tally.documents + self.tally.bad == 0:
            raise InputError("there are no documents in what was given.")
        return _SOME_SKIPPED if self.tally.bad else 0

    def _write(self, documents: Iterator[Document | Bad], run: dict[str, Any]) -> None:
        if self.output is not None and not self.options["as_table"]:
            self._to_file(documents, run)
        elif self.options["as_table"]:
            with self.tally.shown(answers_too=True) as tally:
                for linked in tally.good(self._linked(documents)):
                    show_linked(console(), linked, only_topics=self.options["only_topics"])
        else:
            self._to_standard_output(documents)

    def _to_standard_output(self, documents: Iterator[Document | Bad]) -> None:
        out = sys.stdout.buffer
        with self.tally.shown(answers_too=True) as tally:
            for data in write_rows(map(self._row, tally.good(self._linked(documents))), self.kind):
                out.write(data)
                out.flush()

    def _to_file(self, documents: Iterator[Document | Bad], run: dict[str, Any]) -> None:
        journal = Journal(self.output, self.kind, run, overwrite=self.options["overwrite"])
        if journal.resumed:
            click.echo(f"wikilda: going on after {journal.resumed:,} documents.", err=True)
        self.tally.resume(journal.place.read - journal.place.bad, journal.place.bad)
        try:
            with self.tally.shown() as tally:
                for linked in self._linked(journal.remaining(documents)):
                    journal.add(self._row(linked) if tally.note(linked) else None)
        except KeyboardInterrupt:
            journal.save()
            click.echo(f"wikilda: {journal.place.read:,} documents are done; the same command goes on there.", err=True)
            raise
        else:
            if journal.place.read:
                journal.finish()
                click.echo(f"{self.tally.summary()} → {self.output}", err=True)
        finally:
            journal.close()

    def _linked(self, documents: Iterator[Document | Bad]) -> Iterator[Linked | Bad]:
        most = self.options["candidates"], self.options["most_topics"]

        def link(document: Document | Bad) -> Linked | Bad:
            return document if isinstance(document, Bad) else guarded_link(self.linker, document, *most)

        return map_ordered(link, documents, self.options["workers"])

    def _row(self, linked: Linked | Bad) -> dict[str, Any]:
        assert isinstance(linked, Linked)
        page = self.kind == HTML
        return linked.to_json(
            CODE_POINTS if page else self.options["offsets"], with_text=page or self.options["with_text"],
            with_mentions=page or not self.options["only_topics"],
        )  # fmt: skip
