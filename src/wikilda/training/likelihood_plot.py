"""The paper's figure of log likelihoods: as PNG by Matplotlib, or as a page with its own drawing."""

import math
from html import escape
from pathlib import Path
from typing import NamedTuple

from wikilda._core.atomic import new_file
from wikilda._core.errors import SettingsError
from wikilda.training.checkpoints import Metrics

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 400, 70, 20, 20, 50
_LINES = {"train": ("train", "#1f6fb4"), "held_out": ("held out", "#d1495b")}
_CAPTION = "Log likelihood a token, estimated from left to right, after each iteration of training"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
svg { max-width: 100%; height: auto } text { font: 13px system-ui, sans-serif; fill: #444 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
td, th { padding: .2rem .8rem .2rem 0; text-align: right }
"""


class Axis(NamedTuple):
    """Ticks, and where a value is drawn."""

    ticks: list[float]
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def points(rows: list[Metrics], name: str) -> list[tuple[int, float]]:
    """One line of the figure: iterations and likelihoods."""
    return [(row.iteration, value) for row in rows if (value := getattr(row, name)) is not None]


def axis(low: float, high: float, start: float, end: float, *, whole: bool = False) -> Axis:
    """An axis with about five round ticks that covers a range."""
    span = max(high - low, 1e-6)
    step = 10 ** math.floor(math.log10(span / 5))
    step *= next(factor for factor in (1, 2, 5, 10) if span / (step * factor) <= 6)
    if whole:
        step = max(1, round(step))
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = [step * at for at in range(first, max(last, first + 1) + 1)]
    return Axis(ticks, ticks[0], ticks[-1], start, end)


def svg(rows: list[Metrics]) -> str:
    """The figure as a drawing."""
    lines = {name: found for name in _LINES if (found := points(rows, name))}
    if not lines:
        raise SettingsError("there are no likelihoods to draw. Train without --set evaluated=0.")
    values = [value for found in lines.values() for _, value in found]
    x = axis(rows[0].iteration, rows[-1].iteration, _LEFT, _WIDTH - _RIGHT, whole=True)
    y = axis(min(values), max(values), _HEIGHT - _BOTTOM, _TOP)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{_CAPTION}">']
    for tick in y.ticks:
        parts.append(f'<path d="M{_LEFT} {y.at(tick):.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y.at(tick) + 4:.1f}" text-anchor="end">{tick:.6g}</text>')
    for tick in x.ticks:
        parts.append(f'<text x="{x.at(tick):.1f}" y="{_HEIGHT - _BOTTOM + 20}" text-anchor="middle">{tick:g}</text>')
    for name, found in lines.items():
        label, colour = _LINES[name]
        path = " ".join(f"{x.at(at):.1f},{y.at(value):.1f}" for at, value in found)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x.at(at):.1f}" cy="{y.at(v):.1f}" r="3.5" fill="{colour}"/>' for at, v in found]
        place = _HEIGHT - _BOTTOM - 40 + 20 * list(_LINES).index(name)
        parts.append(f'<path d="M{_WIDTH - 130} {place - 4}h24" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{_WIDTH - 100}" y="{place}">{label}</text>')
    parts.append(f'<text x="{(_LEFT + _WIDTH) / 2}" y="{_HEIGHT - 10}" text-anchor="middle">iteration</text></svg>')
    return "\n".join(parts)


def html(rows: list[Metrics], title: str) -> str:
    """A page with the figure and its numbers, which needs nothing else."""
    names = ["iteration", "train", "held out", "parameters", "gained", "dropped", "mentions changed", "seconds"]
    head = "".join(f"<th>{name}</th>" for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(row))}</tr>" for row in rows)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>'
        f"<h1>{escape(title)}</h1><figure>{svg(rows)}<figcaption>{_CAPTION}</figcaption></figure>"
        f"<table><tr>{head}</tr>{body}</table></html>\n"
    )


def _cells(row: Metrics) -> list[str]:
    likelihoods = ["" if value is None else f"{value:.4f}" for value in (row.train, row.held_out)]
    counts = [f"{value:,}" for value in (row.parameters, row.gained, row.dropped)]
    changed = "" if row.changed is None else f"{row.changed:.1%}"
    return [str(row.iteration), *likelihoods, *counts, changed, f"{row.seconds:,.0f}"]


def png(rows: list[Metrics], title: str, path: Path) -> None:
    """The figure by Matplotlib; its name says which kind of file it is."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise SettingsError(
            "drawing a PNG needs Matplotlib: pip install 'wikilda[plot]', or write .html instead."
        ) from None
    figure = Figure(figsize=(7, 4.2), dpi=150, layout="constrained")
    axes = figure.subplots()
    for name, (label, colour) in _LINES.items():
        found = points(rows, name)
        if found:
            axes.plot(*zip(*found, strict=True), marker="o", color=colour, label=label)
    axes.set(xlabel="iteration", ylabel="log likelihood a token", title=title)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(color="#dddddd")
    axes.legend()
    with new_file(path) as made, made.open("wb") as file:
        figure.savefig(file, format="png")
