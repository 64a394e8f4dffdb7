"""`wikilda corpus`."""

from functools import partial
from pathlib import Path

import click

from wikilda._core.workers import Pool
from wikilda.cli._options import Sectioned, settings_options
from wikilda.cli._spark_options import Cluster, engine_options, refuse
from wikilda.cli.build import report
from wikilda.documents.detection import choose_detector
from wikilda.training.corpus import CorpusSettings, make_corpus

_ANY = click.Path(path_type=Path)


@click.command(cls=Sectioned)
@click.argument("knowledge", type=_ANY, metavar="KB")
@click.argument("inputs", nargs=-1, required=True, type=_ANY, metavar="INPUT...")
@click.option("-o", "--output", "target", type=_ANY, required=True, help="The directory to write.")
@click.option("--detector", default="dictionary", show_default=True, metavar="NAME",
              help="Who finds mentions that are not given: dictionary, spacy, spacy:MODEL.")  # fmt: skip
@click.option("--workers", type=click.IntRange(1, 256), help="Processes to encode with.  [default: one a core]")
@engine_options
@click.option("--overwrite", is_flag=True, help="Replace a corpus that is already there.")
@settings_options(CorpusSettings)
def command(
    knowledge: Path, inputs: tuple[Path, ...], target: Path, detector: str, workers: int | None,
    cluster: Cluster | None, overwrite: bool, settings: CorpusSettings,
) -> None:  # fmt: skip
    """Encode documents to train on with the symbols of knowledge.

    INPUT is a plain text file (one document), JSON lines with "text" and perhaps "id" and "mentions" (.jsonl, .gz,
    .bz2, .xz), Parquet with such columns, a MediaWiki dump (articles, with their links as mentions), or a directory
    of these. What cannot be read is counted, and does not stop the rest.
    """
    pool = _pool(cluster) if cluster else None
    given = [path.absolute() for path in inputs] if pool else list(inputs)  # nodes have other working directories
    made = make_corpus(
        given, knowledge, target.absolute(), settings, detector=partial(choose_detector, detector), workers=workers,
        pool=pool, overwrite=overwrite,
    )  # fmt: skip
    report(made)


def _pool(cluster: Cluster) -> Pool:
    refuse(("workers",), "is for --engine local; Spark's master says how many there are.")
    from wikilda.training.engines.spark.pool import SparkWorkers

    return SparkWorkers(*cluster)
