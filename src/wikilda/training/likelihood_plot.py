"""The paper's figure of log likelihoods, drawn by Matplotlib."""

import io
from pathlib import Path
from typing import Any

from wikilda._core.atomic import check_output, new_file
from wikilda._core.errors import InputError, SettingsError
from wikilda._core.html_page import page, table
from wikilda.training.checkpoints import Metrics, read_metrics

ENDINGS = (".png", ".svg", ".html")
_LINES = {"train": ("train", "#1f6fb4"), "held_out": ("held out", "#d1495b")}
_CAPTION = "Log likelihood per token, estimated from left to right, after each iteration of training"
_COLUMNS = ("iteration", "train", "held out", "parameters", "gained", "dropped", "mentions changed", "seconds")


def plot_training(trained: str | Path, output: str | Path) -> Path:
    """Plot the likelihood of documents after each iteration of a training: `wikilda plot`.

    Parameters
    ----------
    trained
        A trained model, an unfinished training (`MODEL.training`), or a file `metrics.jsonl`.
    output
        The file to write: .png, .svg, or .html, which also has the numbers.

    Returns
    -------
    Path
        The file.
    """
    source, target = Path(trained), Path(output)
    if target.suffix not in ENDINGS:
        raise InputError(f"{target}: is not a figure by its name. Use a file that ends in {', '.join(ENDINGS)}.")
    check_output(target, overwrite=True, inputs=[source])
    rows, title = read_metrics(source), source.resolve().name
    if not rows:
        raise InputError(
            f"{source}: has no record of a training (metrics.jsonl). Give a model that `wikilda train` wrote."
        )
    drawn = draw(rows, title, "png" if target.suffix == ".png" else "svg")
    with new_file(target) as made:
        made.write_bytes(html(rows, title, drawn.decode()).encode() if target.suffix == ".html" else drawn)
    return target


def draw(rows: list[Metrics], title: str, form: str) -> bytes:
    """Return the figure as `png` or `svg`."""
    lines = {name: found for name in _LINES if (found := _points(rows, name))}
    if not lines:
        raise SettingsError("there are no likelihoods to draw. Train without --set evaluated=0.")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise SettingsError("drawing needs Matplotlib. Install it: pip install 'wikilda[plot]'") from None
    figure = Figure(figsize=(7, 4.2), dpi=150, layout="constrained")
    axes = figure.subplots()
    for name, found in lines.items():
        label, colour = _LINES[name]
        axes.plot(*zip(*found, strict=True), marker="o", color=colour, label=label, gid=name)
    axes.set(xlabel="iteration", ylabel="log likelihood per token", title=title.replace("$", r"\$"))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(color="#dddddd")
    axes.legend()
    made = io.BytesIO()
    about: dict[str, Any] = {"Date": None} if form == "svg" else {}  # the same figure is the same bytes
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "wikilda"}):
        figure.savefig(made, format=form, metadata=about)
    return made.getvalue()


def html(rows: list[Metrics], title: str, drawn: str) -> str:
    """Return a page with the figure and its numbers, which needs no other file."""
    figure = f"<figure>{drawn[drawn.index('<svg') :]}</figure>"
    return page(title, _CAPTION, [figure, table("Numbers", _COLUMNS, map(_cells, rows))])


def _points(rows: list[Metrics], name: str) -> list[tuple[int, float]]:
    return [(row.iteration, value) for row in rows if (value := getattr(row, name)) is not None]


def _cells(row: Metrics) -> list[str]:
    likelihoods = ["" if value is None else f"{value:.4f}" for value in (row.train, row.held_out)]
    counts = [f"{value:,}" for value in (row.parameters, row.gained, row.dropped)]
    changed = "" if row.changed is None else f"{row.changed:.1%}"
    return [str(row.iteration), *likelihoods, *counts, changed, f"{row.seconds:,.0f}"]
