"""`wikilda train`."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from wikilda._core.artifact import kind_of
from wikilda._core.errors import printable
from wikilda._core.settings import Settings
from wikilda.cli._options import (
    ANY_PATH,
    Cluster,
    detector_option,
    engine_options,
    input_options,
    model_argument,
    output_options,
    refuse,
    refuse_reading,
    settings_options,
    show_table,
    workers_option,
)
from wikilda.documents.detection import DetectorSettings
from wikilda.documents.reading import ReadSettings
from wikilda.model.model import LDA, URN
from wikilda.training.checkpoints import Metrics, advice, read_metrics
from wikilda.training.corpus import Corpus
from wikilda.training.engines.base import Engine
from wikilda.training.pipeline import train
from wikilda.training.report import FLIP_ROWS, HTML_FILE, JSON_FILE, ROWS, TrainingReport
from wikilda.training.settings import PRESETS, TRAINING, TrainingPlan
from wikilda.urn.prior_shift import PriorShift


@click.command()
@model_argument
@click.argument("texts", type=ANY_PATH, nargs=-1, required=True, metavar="TEXTS...")
@output_options("a model")
@click.option(
    "--method",
    type=click.Choice([URN, LDA]),
    default=URN,
    metavar="NAME",
    help="Method to train for: urn (default), lda.",
)
@click.option("--iterations", type=click.IntRange(1), metavar="N", help="T: passes over the texts.  [default: 1]")
@workers_option("Processes")
@input_options
@detector_option
@engine_options
@click.option("--tables", metavar="URI", help="Directory of Spark's tables that all nodes see.")
@click.option("--restart", is_flag=True, help="Discard an unfinished training.")
@click.option(
    "--preset", type=click.Choice(sorted(PRESETS)), metavar="NAME",
    help="Settings of --method lda: default or paper.",
)  # fmt: skip
@settings_options(
    "format", "text_column", "iterations", raw=("settings",), settings=TRAINING, plan=TrainingPlan,
    detection=DetectorSettings, reading=ReadSettings,
)  # fmt: skip
def command(
    model: Path, texts: tuple[Path, ...], target: Path, method: str, plan: TrainingPlan, reading: ReadSettings,
    detector: str, detection: DetectorSettings, workers: int, cluster: Cluster | None, tables: str | None,
    restart: bool, overwrite: bool, preset: str | None, settings: dict[str, Any],
) -> None:  # fmt: skip
    """Train MODEL on TEXTS without labels, so that it links texts like these better.

    TEXTS are files and directories as `wikilda link` reads them, or a corpus that `wikilda corpus` has made. The
    result depends on the model, the texts and the settings, not on the number of workers. Rerun the same command to
    resume an interrupted training.

    The method `urn` is Algorithm 2 of the paper with the urn as its E-step; `lda` is the paper's, with the presets
    `paper`, which has the paper's values, and `default` (docs/method/training.md).
    """
    if len(texts) == 1 and kind_of(texts[0]) == Corpus.kind:
        names = ["detector", *_fields(detection), *_fields(reading)]
        refuse(names, "has no effect on a corpus, whose documents are encoded.")
    refuse_reading(reading, training=True)
    own = _engine(cluster, tables, plan.round)
    try:
        made = train(
            model, texts, target, settings, plan, method=method, preset=preset, engine=own,
            workers=None if own else workers, reading=reading, detector=detector, detection=detection,
            overwrite=overwrite, restart=restart,
        )  # fmt: skip
    finally:
        if own:
            own.close()
    rows = read_metrics(made.path)
    if made.prior_shift and method == URN:
        click.echo(PriorShift(**made.prior_shift).describe())
    show_table(str(target), _COLUMNS, [_row(each) for each in rows])
    warnings = advice(rows, is_judged=method != URN or made.knowledge().context_counts is None)
    if (made.path / JSON_FILE).is_file():
        report = TrainingReport.read(made.path)
        warnings += report.warnings
        _show(report, made.path)
    for warning in warnings:
        click.echo(f"wikilda: {warning}", err=True)


def _fields(settings: Settings) -> list[str]:
    return [each.name for each in fields(settings)]


def _show(report: TrainingReport, model: Path) -> None:
    """Print what training has changed."""
    if report.groups:
        show_table(report.summary, list(ROWS), [_shortened(each) for each in report.rows()])
    else:
        click.echo(report.summary)
    if report.flips:
        title = f"Strings whose dominant meaning has changed: {report.flipped:,}"
        show_table(title, list(FLIP_ROWS), [_shortened(each) for each in report.flip_rows()])
    click.echo(f"report: {model / HTML_FILE}")


def _shortened(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row that fits a terminal: the example is cut around its mention."""
    *cells, example = (printable(each) for each in row)
    start = example.find("[[")
    first = max(start - _EXAMPLE // 3, 0)
    shown = ("…" if first else "") + example[first : first + _EXAMPLE]
    return *cells, shown + ("…" if first + _EXAMPLE < len(example) else "")


def _engine(cluster: Cluster | None, tables: str | None, together: int) -> Engine | None:
    """Return the engine on Spark, or None for this machine."""
    if cluster is None:
        refuse(("tables",), "is for --engine spark.")
        return None
    refuse(("workers",), "is for --engine local; with Spark, the master decides.")
    from wikilda.training.engines.spark import SparkEngine

    return SparkEngine(cluster.master, tables, cluster.conf, together)


_EXAMPLE = 60  # characters
_COLUMNS = ["iteration", "train", "held out", "parameters", "gained", "dropped", "changed", "documents/s"]


def _row(row: Metrics) -> tuple[str, ...]:
    def number(value: float | None, shape: str) -> str:
        return "" if value is None else format(value, shape)

    rate = row.documents / row.seconds if row.seconds else None
    counts = (f"{row.parameters:,}", f"{row.gained:,}", f"{row.dropped:,}")
    likelihoods = number(row.train, ".4f"), number(row.held_out, ".4f")
    return str(row.iteration), *likelihoods, *counts, number(row.changed, ".1%"), number(rate, ",.0f")
