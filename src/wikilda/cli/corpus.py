"""`wikilda corpus`."""

from functools import partial
from pathlib import Path

import click

from wikilda._core.workers import Pool
from wikilda.cli._options import (
    ANY_PATH,
    Cluster,
    detector_option,
    engine_options,
    input_options,
    output_options,
    refuse,
    refuse_reading,
    settings_options,
    workers_option,
)
from wikilda.cli.build import report
from wikilda.documents.detection import DetectorSettings, choose_detector
from wikilda.documents.reading import ReadSettings
from wikilda.training.corpus import CorpusSettings, make_corpus


@click.command()
@click.argument("knowledge", type=ANY_PATH, metavar="MODEL")
@click.argument("inputs", nargs=-1, required=True, type=ANY_PATH, metavar="INPUT...")
@output_options("a corpus")
@detector_option
@input_options
@workers_option("Processes")
@engine_options
@settings_options(
    "format", "text_column", settings=CorpusSettings, detection=DetectorSettings, reading=ReadSettings
)  # fmt: skip
def command(
    knowledge: Path, inputs: tuple[Path, ...], target: Path, detector: str, workers: int,
    cluster: Cluster | None, overwrite: bool, reading: ReadSettings, detection: DetectorSettings,
    settings: CorpusSettings,
) -> None:  # fmt: skip
    """Encode documents to train on with the symbols of MODEL.

    INPUT is what `wikilda link` reads: text, JSON lines, CSV, TSV, Parquet, MediaWiki dumps (articles, with their links
    as mentions), or directories of these. Documents that cannot be read are counted and skipped.
    """
    refuse_reading(reading, training=True)
    if not settings.detect:
        refuse(["detector", "recall"], "has no effect with --set detect=false.")
    pool = _pool(cluster) if cluster else None
    given = [path.absolute() for path in inputs] if pool else list(inputs)  # nodes may have other working directories
    made = make_corpus(
        given, knowledge, target.absolute(), settings, reading=reading,
        detector=partial(choose_detector, detector, settings=detection), workers=workers, pool=pool,
        overwrite=overwrite,
    )  # fmt: skip
    report(made)


def _pool(cluster: Cluster) -> Pool:
    refuse(("workers",), "is for --engine local; with Spark, the master decides.")
    from wikilda.training.engines.spark.tables import SparkWorkers

    return SparkWorkers(*cluster)
