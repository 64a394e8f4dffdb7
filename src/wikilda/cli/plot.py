"""`wikilda plot`."""

from pathlib import Path

import click

from wikilda.cli._options import ANY_PATH
from wikilda.training.likelihood_plot import plot_training


@click.command()
@click.argument("trained", type=ANY_PATH, metavar="MODEL")
@click.option("-o", "--output", "target", type=ANY_PATH, required=True, help="A .png, .svg or .html file.")
def command(trained: Path, target: Path) -> None:
    """Plot the likelihood of documents during training: the paper's figure of log likelihoods.

    MODEL is a trained model, an unfinished training (MODEL.training), or a metrics.jsonl file.
    """
    click.echo(plot_training(trained, target))
