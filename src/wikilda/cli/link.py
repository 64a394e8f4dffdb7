"""`wikilda link`."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from wikilda._core.atomic import check_output
from wikilda._core.errors import InputError, SettingsError
from wikilda.cli._link_output import Tally, show_linked
from wikilda.cli._options import (
    ANY_PATH,
    Cluster,
    Command,
    detector_option,
    engine_options,
    method_options,
    model_argument,
    more,
    reading_options,
    refuse,
    workers_option,
)  # fmt: skip
from wikilda.documents.detection import DetectorSettings
from wikilda.documents.reading import ReadSettings, read_documents
from wikilda.documents.writing import FORMATS, JSON_LINES, MENTIONS, PARQUET, SUFFIXES, format_of, write_rows
from wikilda.linking.files import Job, run
from wikilda.linking.methods import MethodSettings
from wikilda.linking.restriction import Restriction
from wikilda.linking.results import Linked
from wikilda.linking.unknown import UnknownNames

_SOME_SKIPPED, _READER_GONE = 3, 141  # exit codes


@click.command(cls=Command)
@model_argument
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "-o", "--output", metavar="FILE", help="Write to a file; rerun the same command to resume an interrupted run."
)
@click.option("--output-format", type=click.Choice(FORMATS),
              help="Format of the output.  [default: by its name, else jsonl]")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace an output that exists.")
@click.option("--table", "as_table", is_flag=True, help="Print tables for reading.")
@click.option(
    "-n",
    "--candidates",
    type=click.IntRange(1),
    metavar="N",
    default=5,
    show_default=True,
    help="Candidates per mention.",
)
@click.option(
    "--topics", type=click.IntRange(0), metavar="N", default=10, show_default=True, help="Topics per document."
)
@detector_option
@more("--detect", "detections", multiple=True, metavar="NAME=VALUE",
      help="A setting of the dictionary detector: recall, from 0 (precision) to 1.")  # fmt: skip
@more("--nested", is_flag=True, help="Find the known names inside of names, too.")
@click.option("--type", "types", metavar="TYPE,…",
              help="Answer with entities of these types alone: person, organisation, place, …")  # fmt: skip
@more("--category", metavar="NAME", default="", help="Answer with entities of this category and those below it alone.")
@more("--only", type=ANY_PATH, metavar="FILE",
      help="Answer with these alone: a title a line, or a mention string in double quotes.")  # fmt: skip
@more("--exclude", type=ANY_PATH, metavar="FILE", help="Never answer with these: a list of the same kind.")
@more("--unknown", type=ANY_PATH, metavar="FILE",
      help="Write names that the knowledge lacks, clustered over all documents, as JSON lines.")  # fmt: skip
@more("--escalate", type=click.FloatRange(0, 1), metavar="P", default=0.0,
      help="Write mentions that are less sure than this to OUTPUT.doubtful.jsonl, for somebody to decide.")  # fmt: skip
@more("--decided", type=ANY_PATH, metavar="FILE", help="Such a file with titles filled in: the rest is drawn given it.")
@more("--rows", type=click.Choice(["documents", "mentions"]), default="documents", show_default=True,
      help="What a row of Parquet is.")  # fmt: skip
@more("--no-mentions", is_flag=True, help="Write the documents' topics alone.")
@more("--with-text", is_flag=True, help="Repeat each document's text in its result.")
@reading_options
@method_options()
@workers_option("Threads")
@engine_options
def command(
    model: Path, files: tuple[str, ...], knowledge: Path | None, output: str | None, output_format: str | None,
    overwrite: bool, as_table: bool, candidates: int, topics: int, detector: str, detections: tuple[str, ...],
    nested: bool,
    types: str | None, category: str, only: Path | None, exclude: Path | None, unknown: Path | None,
    escalate: float, decided: Path | None, rows: str,
    no_mentions: bool, with_text: bool, reading: ReadSettings,
    method: MethodSettings, workers: int,
    cluster: Cluster | None,
) -> int:  # fmt: skip
    """Link the mentions of documents to the entities they refer to.

    Reads FILEs and directories, or standard input (also as "-"). A file is one text, unless its name ends in .jsonl,
    .csv, .tsv or .parquet (.gz, .bz2, .xz may follow). JSON lines may give "mentions" ([{"start": 0, "end": 5}, …]);
    where they are not given they are detected. With --format marked they are in double brackets: "[[Croft]] took five
    wickets".

    A document that cannot be read is reported and skipped; the exit code is then 3.

    With --engine spark, FILE is Parquet on any file system that Spark knows, and so is the output (docs/spark.md).
    """
    found = _detector_settings(detections)
    wanted = Restriction(tuple(each.strip() for each in types.split(",")) if types else (), category)
    wanted = wanted.with_lists(only, exclude)
    job = Job(
        model, knowledge, method, detector, found, reading, candidates, topics, with_text, not no_mentions, wanted,
        decided, escalate, nested,
    )  # fmt: skip
    if escalate and (output is None or as_table):
        raise click.UsageError("--escalate writes beside the output: give -o FILE.")
    if rows == "mentions":
        output_format = _flat(output, output_format, no_mentions=no_mentions)
    if cluster:
        return _on_spark(cluster, files, job, output, output_format, overwrite=overwrite)
    to_file = output is not None and not as_table
    tally = Tally(UnknownNames() if unknown and not to_file else None)
    files = () if files == ("-",) else files
    if unknown and not to_file:
        check_output(unknown, overwrite=overwrite, inputs=map(Path, files))
    documents = read_documents([Path(each) for each in files], sys.stdin.buffer, reading)
    try:
        if output is not None and not as_table:
            with tally.shown():
                done = run(
                    job, documents, list(map(Path, files)), Path(output), output_format, workers, tally,
                    overwrite=overwrite, unknown=unknown,
                )  # fmt: skip
            click.echo(f"{tally.summary()} → {done.output}", err=True)
        else:
            kind = "" if as_table else format_of(None, output_format)
            with tally.shown(with_results=True):
                linker = job.open()
                job.restriction.check(linker.knowledge)
                _print(job, kind, tally.good(job.link_all(linker, documents, workers)))
    except BrokenPipeError:
        # The reader has gone (`| head`). Caught here, for click would make it exit code 1.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_GONE
    except KeyboardInterrupt:
        if output is not None and not as_table:
            click.echo(f"wikilda: {tally.total:,} documents are done; rerun the same command to resume.", err=True)
        raise
    if tally.total == 0:
        raise InputError("there are no documents in the input.")
    if unknown and tally.unknown:
        tally.unknown.write(unknown)
    return _SOME_SKIPPED if tally.bad else 0


def _flat(output: str | None, output_format: str | None, *, no_mentions: bool) -> str:
    if output is None or format_of(Path(output), output_format) != PARQUET or no_mentions:
        raise click.UsageError("--rows mentions is for Parquet with mentions: -o FILE.parquet.")
    return MENTIONS


def _print(job: Job, kind: str, results: Iterator[Linked]) -> None:
    if not kind:
        for linked in results:
            show_linked(linked, only_topics=not job.with_mentions)
        return
    out = sys.stdout.buffer
    lines = map(job.line, results) if kind == JSON_LINES else None
    for data in lines or write_rows((job.row(linked, kind) for linked in results), kind):
        out.write(data)
        out.flush()


def _on_spark(
    cluster: Cluster, files: tuple[str, ...], job: Job, output: str | None, output_format: str | None, *,
    overwrite: bool,
) -> int:  # fmt: skip
    refuse(
        ("as_table", "workers", "invalid", "rows", "types", "category", "escalate", "decided", "unknown"),
        "is for --engine local.",
    )
    if not files or not output:
        raise click.UsageError("with --engine spark, give Parquet files or directories of them, and -o.")
    kind = output_format or SUFFIXES.get(Path(output).suffix.lower(), PARQUET)
    if job.reading.format not in ("auto", PARQUET) or kind != PARQUET:
        raise click.UsageError("with --engine spark, input and output are Parquet: see --format and --output-format.")
    from wikilda.linking.spark import link_files

    job = replace(job, model=job.model.resolve(), knowledge=job.knowledge and job.knowledge.resolve())
    documents, bad = link_files(files, output, job, **cluster._asdict(), overwrite=overwrite)
    click.echo(f"{documents - bad:,} documents linked, {bad:,} skipped (see their error) → {output}", err=True)
    return _SOME_SKIPPED if bad else 0


def _detector_settings(given: tuple[str, ...]) -> DetectorSettings:
    try:
        return DetectorSettings.from_mapping({name: float(value) for name, value in (one.split("=") for one in given)})
    except ValueError:
        raise SettingsError(f"--detect takes NAME=NUMBER, like recall=0.8; not {' '.join(given)}.") from None
