"""`wikilda train`."""

from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from wikilda._core.errors import SettingsError
from wikilda.cli._options import (
    ANY_PATH,
    Cluster,
    Command,
    detector_option,
    engine_options,
    model_argument,
    more,
    output_options,
    reading_options,
    refuse,
    settings_options,
    show_table,
    workers_option,
)
from wikilda.documents.detection import choose_detector
from wikilda.documents.reading import ReadSettings
from wikilda.model.model import LDA, URN
from wikilda.training.checkpoints import Metrics, advice, read_metrics
from wikilda.training.corpus import CorpusSettings
from wikilda.training.engines.base import Engine
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import Plan, Reading, train
from wikilda.training.settings import PRESETS, LdaTraining, TrainingSettings, UrnTraining


@click.command(cls=Command)
@model_argument
@click.argument("texts", type=ANY_PATH, nargs=-1, required=True, metavar="TEXTS...")
@output_options("a model")
@click.option("--method", type=click.Choice([URN, LDA]), default=URN, show_default=True, help="What to train it for.")
@click.option(
    "--iterations", type=click.IntRange(1), metavar="N", default=1, show_default=True, help="T: passes over the texts."
)
@workers_option("Processes")
@reading_options
@detector_option
@more(
    "--shards",
    type=click.IntRange(0),
    default=0,
    help="M: shards.  [default: some dozens]",
)
@engine_options
@more("--tables", help="Spark's tables: a directory that all nodes see, as a URI.  [default: beside OUTPUT]")
@more("--round", "together", type=click.IntRange(0), default=0, help="Shards of a job.  [default: 8 per core]")
@more("--keep", type=click.IntRange(0), default=0, help="Keep the models of this many earlier iterations.")
@click.option("--restart", is_flag=True, help="Discard an unfinished training into the same directory.")
@click.option(
    "--preset", type=click.Choice(sorted(PRESETS)), default="default", show_default=True,
    help="Settings of --method lda to start from.",
)  # fmt: skip
@settings_options(UrnTraining, LdaTraining, defaults=False)
def command(
    model: Path, texts: tuple[Path, ...], target: Path, method: str, iterations: int, reading: ReadSettings,
    detector: str, shards: int, workers: int, cluster: Cluster | None, tables: str | None, together: int,
    keep: int, knowledge: Path | None, restart: bool, overwrite: bool, preset: str, settings: dict[str, Any],
) -> None:  # fmt: skip
    """Train MODEL on TEXTS without labels, so that it links texts like these better.

    TEXTS are files and directories as `wikilda link` reads them, or a corpus that `wikilda corpus` has made. The
    result depends on the model, the texts and the settings, not on the number of workers. Rerun the same command to
    resume an interrupted training.

    The method `urn` is Algorithm 2 of the paper with the urn as its E-step; `lda` is the paper's, with the presets
    `paper`, which has the paper's values, and `default` (docs/training.md).
    """
    own = _engine(cluster, workers, tables, together)
    try:
        made = train(
            model, texts, target, _settings(method, preset, settings), Plan(iterations, shards, keep), engine=own,
            reading=Reading(CorpusSettings(), reading, partial(choose_detector, detector), workers),
            knowledge=knowledge, overwrite=overwrite, restart=restart,
        )  # fmt: skip
    finally:
        own.close()
    rows = read_metrics(made.path)
    show_table(str(target), _COLUMNS, [_row(each) for each in rows])
    for warning in advice(rows):
        click.echo(f"wikilda: {warning}", err=True)


def _settings(method: str, preset: str, given: dict[str, Any]) -> TrainingSettings:
    """Those of a method; settings that it does not have are refused."""
    base: TrainingSettings = UrnTraining() if method == URN else PRESETS[preset]
    if method == URN:
        refuse(("preset",), "is for --method lda.")
    unknown = sorted(given.keys() - {each.name for each in fields(base)})
    if unknown:
        raise SettingsError(f"{unknown[0]} is no setting of --method {method}.")
    return replace(base, **given)


def _engine(cluster: Cluster | None, workers: int, tables: str | None, together: int) -> Engine:
    if cluster is None:
        refuse(("tables", "together"), "is for --engine spark.")
        return LocalEngine(workers)
    refuse(("workers",), "is for --engine local; with Spark, the master decides.")
    from wikilda.training.engines.spark import SparkEngine

    return SparkEngine(cluster.master, tables, cluster.conf, together)


_COLUMNS = ["iteration", "train", "held out", "parameters", "gained", "dropped", "changed", "documents/s"]


def _row(row: Metrics) -> tuple[str, ...]:
    def number(value: float | None, shape: str) -> str:
        return "" if value is None else format(value, shape)

    rate = row.documents / row.seconds if row.seconds else None
    counts = (f"{row.parameters:,}", f"{row.gained:,}", f"{row.dropped:,}")
    likelihoods = number(row.train, ".4f"), number(row.held_out, ".4f")
    return str(row.iteration), *likelihoods, *counts, number(row.changed, ".1%"), number(rate, ",.0f")
