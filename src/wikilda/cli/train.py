"""`wikilda train`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from wikilda.cli._options import (
    ANY_PATH,
    Command,
    model_argument,
    more,
    output_options,
    settings_options,
    workers_option,
)
from wikilda.cli._spark_options import Cluster, engine_options, refuse
from wikilda.cli._tables import console, table
from wikilda.training.engines.base import Engine
from wikilda.training.engines.local import LocalEngine
from wikilda.training.metrics import Metrics, read_metrics
from wikilda.training.pipeline import Plan, train
from wikilda.training.settings import PRESETS, TrainingSettings


@click.command(cls=Command)
@model_argument
@click.argument("corpus", type=ANY_PATH, metavar="CORPUS")
@output_options("a model")
@click.option(
    "--iterations", type=click.IntRange(1), metavar="N", default=1, show_default=True, help="T: passes over the corpus."
)
@workers_option("Processes")
@more("--shards", type=click.IntRange(0), default=0, help="M: shards.  [default: 1,000 documents each]")
@engine_options
@more("--tables", help="Spark's tables: a directory that all nodes see, as a URI.  [default: beside OUTPUT]")
@more("--round", "together", type=click.IntRange(0), default=0, help="Shards of a job.  [default: 8 per core]")
@more("--keep", type=click.IntRange(0), default=0, help="Keep the models of this many earlier iterations.")
@click.option("--restart", is_flag=True, help="Discard an unfinished training into the same directory.")
@click.option(
    "--preset", type=click.Choice(sorted(PRESETS)), default="default", show_default=True, help="Settings to start from."
)
@settings_options(TrainingSettings, defaults=False)
def command(
    model: Path, corpus: Path, target: Path, iterations: int, shards: int, workers: int,
    cluster: Cluster | None, tables: str | None, together: int, keep: int, knowledge: Path | None, restart: bool,
    overwrite: bool, preset: str, settings: dict[str, Any],
) -> None:  # fmt: skip
    """Train MODEL on CORPUS: the paper's Algorithm 2.

    The result depends on the model, the corpus, the settings and the number of shards, not on the number of
    workers. Rerun the same command to resume an interrupted training. The preset `paper` has the paper's values;
    docs/training.md explains where `default` differs.
    """
    own = _engine(cluster, workers, tables, together)
    try:
        made = train(
            model, corpus, target, replace(PRESETS[preset], **settings), Plan(iterations, shards, keep), engine=own,
            knowledge=knowledge, overwrite=overwrite, restart=restart,
        )  # fmt: skip
    finally:
        own.close()
    console().print(table(str(target), _COLUMNS, [_row(each) for each in read_metrics(made.path)]))


def _engine(cluster: Cluster | None, workers: int, tables: str | None, together: int) -> Engine:
    if cluster is None:
        refuse(("tables", "together"), "is for --engine spark.")
        return LocalEngine(workers)
    refuse(("workers",), "is for --engine local; Spark's master says how many there are.")
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
