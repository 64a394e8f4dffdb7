"""`wikilda link`."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from wikilda._core.atomic import check_output
from wikilda._core.errors import InputError
from wikilda.cli._link_output import Tally, show_linked
from wikilda.cli._options import (
    ANY_PATH,
    Cluster,
    detector_option,
    engine_options,
    input_options,
    list_option,
    method_option,
    model_argument,
    refuse,
    refuse_reading,
    settings_options,
    workers_option,
)  # fmt: skip
from wikilda.documents.detection import DetectorSettings
from wikilda.documents.reading import ReadSettings, read_documents
from wikilda.documents.writing import (
    FORMATS,
    HTML,
    JSON_LINES,
    MENTIONS,
    PARQUET,
    SUFFIXES,
    TSV,
    format_of,
    write_rows,
)
from wikilda.linking.files import Job, run
from wikilda.linking.methods import METHODS, MethodSettings
from wikilda.linking.restriction import Restriction
from wikilda.linking.results import Linked
from wikilda.linking.unknown import UnknownNames
from wikilda.model.model import URN

_SOME_SKIPPED, _READER_GONE = 3, 141  # exit codes
_CHANCE = click.FloatRange(0, 1)


@click.command()
@model_argument
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("-o", "--output", metavar="FILE", help="Write to a file. Rerun to resume.")
@click.option("--output-format", type=click.Choice(FORMATS), metavar="NAME",
              help=f"Format of the output: {', '.join(FORMATS)}.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace an output that exists.")
@click.option("--table", "as_table", is_flag=True, help="Print tables for reading.")
@click.option("-n", "--candidates", type=click.IntRange(1), metavar="N", default=5,
              help="Candidates per mention.  [default: 5]")  # fmt: skip
@click.option("--topics", type=click.IntRange(0), metavar="N", default=10,
              help="Topics per document.  [default: 10]")  # fmt: skip
@detector_option
@click.option("--nested", is_flag=True, help="Detect the known names inside of names, too.")
@click.option("--type", "types", metavar="TYPE,…", help="Allow only these types: person, place, …")
@click.option("--category", metavar="NAME", default="", help="Allow only this category and those below it.")
@click.option("--only", type=ANY_PATH, metavar="FILE", help='Allow only these titles or "strings", one per line.')
@click.option("--exclude", type=ANY_PATH, metavar="FILE", help="Exclude these: a list as for --only.")
@click.option("--unknown", type=ANY_PATH, metavar="FILE", help="Write the unknown names, clustered.")
@click.option("--escalate", type=_CHANCE, metavar="P", default=0.0,
              help="Write mentions below P to a file.")  # fmt: skip
@click.option("--decided", type=ANY_PATH, metavar="FILE", help="Read such a file with titles filled in.")
@click.option("--estimate-prior", is_flag=True, help="Estimate the prior of the first 400 documents, and use it.")
@click.option("--no-mentions", is_flag=True, help="Write the topics of documents only.")
@click.option("--with-text", is_flag=True, help="Repeat the text of each document.")
@input_options
@method_option
@settings_options("format", "text_column", method=METHODS, detection=DetectorSettings, reading=ReadSettings)
@workers_option("Threads")
@engine_options
@click.option("--tables", metavar="URI", help="Keep Spark's tables of the model there.")
def command(
    model: Path, files: tuple[str, ...], output: str | None, output_format: str | None, overwrite: bool, as_table: bool,
    candidates: int, topics: int, detector: str, detection: DetectorSettings, nested: bool, types: str | None,
    category: str, only: Path | None, exclude: Path | None, unknown: Path | None, escalate: float, decided: Path | None,
    estimate_prior: bool, no_mentions: bool, with_text: bool, reading: ReadSettings, method: MethodSettings,
    workers: int, cluster: Cluster | None, tables: str | None,
) -> int:  # fmt: skip
    """Link the mentions of documents to the entities they refer to.

    Reads FILEs, directories or standard input ("-"). Mentions are detected unless JSON lines or --format marked have
    them. Documents that cannot be read are skipped (exit code 3).
    """
    job = Job(
        model=model, settings=method, detector=detector, detection=detection, reading=reading, candidates=candidates,
        topics=topics, with_text=with_text, with_mentions=not no_mentions,
        restriction=Restriction(list_option(types), category).with_lists(only, exclude), decided=decided,
        escalate=escalate, nested=nested,
    )  # fmt: skip
    _refuse_without_effect(job, output, output_format, as_table=as_table, with_unknown=unknown is not None)
    if estimate_prior:
        if not files or "-" in files or method.method != URN:
            raise click.UsageError("--estimate-prior reads the documents twice: give FILEs. It is for the method urn.")
        job, shift = job.with_estimated_prior(read_documents([Path(each) for each in files], None, reading))
        click.echo(shift.describe(), err=True)
    if cluster:
        return _on_spark(
            cluster, files, job, output, output_format, overwrite=overwrite, tables=tables, unknown=unknown
        )  # fmt: skip
    refuse(["tables"], "is for --engine spark.")
    tally = Tally(UnknownNames() if unknown and output is None else None)
    files = () if files == ("-",) else files
    if unknown and output is None:
        check_output(unknown, overwrite=overwrite, inputs=map(Path, files))
    documents = read_documents([Path(each) for each in files], sys.stdin.buffer, reading)
    try:
        if output is not None:
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
        # The reader has closed the pipe (`| head`). Caught here, because click would exit with 1.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_GONE
    except KeyboardInterrupt:
        if output is not None:
            click.echo(f"wikilda: {tally.total:,} documents are done; rerun the same command to resume.", err=True)
        raise
    if tally.total == 0:
        raise InputError("there are no documents in the input. Give files with at least one document.")
    if unknown and tally.unknown:
        tally.unknown.write(unknown)
    return _SOME_SKIPPED if tally.bad else 0


def _refuse_without_effect(
    job: Job, output: str | None, output_format: str | None, *, as_table: bool, with_unknown: bool
) -> None:
    """Refuse options that have no effect on the output, or on documents of the given format."""
    refuse_reading(job.reading, training=False)
    if as_table:
        refuse(["output", "output_format", "with_text", "offsets"], "has no effect with --table.")
    if output is None:
        refuse(["escalate"], "writes beside the output: give -o FILE.")
        if not with_unknown:
            refuse(["overwrite"], "has no effect without -o or --unknown.")
    if not job.with_mentions:
        refuse(["candidates"], "has no effect with --no-mentions.")
        if not job.topics:
            raise click.UsageError("--no-mentions with --topics 0 leaves nothing to write.")
    if as_table or (output and not output_format and Path(output).suffix.lower() not in SUFFIXES):
        return
    kind = format_of(Path(output) if output else None, output_format)
    if kind in (TSV, HTML, MENTIONS):
        refuse(["with_text"], f"has no effect on {kind}.")
    if kind in (HTML, MENTIONS):
        refuse(["no_mentions"], f"has no effect on {kind}.")
    if kind == HTML:
        refuse(["offsets"], f"has no effect on {kind}.")
    if kind == MENTIONS or (kind == TSV and job.with_mentions):
        refuse(["topics"], f"has no effect on {kind} with mentions.")


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
    overwrite: bool, tables: str | None, unknown: Path | None,
) -> int:  # fmt: skip
    refuse(["as_table", "workers", "escalate", "decided", "invalid"], "is for --engine local.")
    if not files or not output:
        raise click.UsageError("with --engine spark, give Parquet files or directories of them, and -o.")
    kind = output_format or SUFFIXES.get(Path(output).suffix.lower(), PARQUET)
    if job.reading.format not in ("auto", PARQUET) or kind != PARQUET:
        raise click.UsageError("with --engine spark, input and output are Parquet: see --format and --output-format.")
    from wikilda.linking.spark import link_files

    job = replace(job, model=job.model.resolve())
    documents, bad = link_files(
        files, output, job, **cluster._asdict(), overwrite=overwrite, tables=tables, unknown=unknown
    )  # fmt: skip
    click.echo(f"{documents - bad:,} documents linked, {bad:,} skipped (see their error) → {output}", err=True)
    return _SOME_SKIPPED if bad else 0
