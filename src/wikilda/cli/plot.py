"""`wikilda plot`."""

from pathlib import Path

import click

from wikilda._core.atomic import check_output, write_text
from wikilda._core.errors import InputError
from wikilda.cli._options import ANY_PATH
from wikilda.training.checkpoints import read_metrics
from wikilda.training.likelihood_plot import html, png, svg


@click.command()
@click.argument("trained", type=ANY_PATH, metavar="MODEL")
@click.option(
    "-o",
    "--output",
    "targets",
    type=ANY_PATH,
    multiple=True,
    required=True,
    help="A .png, .svg or .html file; repeatable.",
)
@click.option("--title", help="Title of the figure.  [default: the model's name]")
def command(trained: Path, targets: tuple[Path, ...], title: str | None) -> None:
    """Plot the likelihood of documents during training: the paper's figure of log likelihoods.

    MODEL is a trained model, an unfinished training (MODEL.training), or a metrics.jsonl file.
    """
    rows = read_metrics(trained)
    if not rows:
        raise InputError(
            f"{trained}: has no record of a training (metrics.jsonl). Give a model that `wikilda train` wrote."
        )
    name = title or trained.resolve().name
    for target in targets:
        check_output(target, overwrite=True, inputs=[trained])
        if target.suffix == ".html":
            write_text(target, html(rows, name))
        elif target.suffix == ".svg":
            drawn = svg(rows).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
            write_text(target, drawn)
        elif target.suffix == ".png":
            svg(rows)  # raises an error if there is nothing to draw
            png(rows, name, target)
        else:
            raise click.UsageError(f"{target}: the name must end in .png, .svg or .html")
        click.echo(target)
