"""The results as a figure: four panels over the number of topics."""

from io import StringIO
from typing import Any

from benchmarks.scale.steps import Row

_METHODS = ("prior", "TagMe*", "sampler", "linker")
_STEPS = ("generate", "build", "init", "weights", "train")
_PANELS: tuple[tuple[str, dict[str, str], bool], ...] = (
    ("CPU seconds", {f"{step} CPU s": step for step in _STEPS}, True),
    (
        "anonymous memory, MB",
        {f"{step}: anonymous MB": step for step in ("generate", "build", "init", "train")}
        | {"one: anonymous MB": "open, link one document"},
        True,
    ),
    (
        "milliseconds",
        {"p50 CPU ms": "link a document (CPU), median", "p99 CPU ms": "… 99th percentile", "open ms": "open the model",
         "train: sampling CPU ms a document": "train on a document (CPU)"},
        True,
    ),
    ("mentions linked rightly, %", {f"accuracy: {name} %": name for name in _METHODS}, False),
)  # fmt: skip


def draw(rows: list[Row]) -> str:
    """The figure as SVG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "wikilda", "font.size": 9}):
        figure = Figure(figsize=(9, 6.5), layout="constrained")
        shown = [row | {"open ms": 1000 * row["open s"]} for row in rows]
        for panel, (title, lines, logarithmic) in zip(figure.subplots(2, 2).flat, _PANELS, strict=True):
            _panel(panel, shown, title, lines, logarithmic=logarithmic)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()


def _panel(panel: Any, rows: list[Row], title: str, lines: dict[str, str], *, logarithmic: bool) -> None:
    for name, label in lines.items():
        known = [(row["topics"], row[name]) for row in rows if row.get(name)]
        if known:
            panel.plot(*zip(*known, strict=True), marker="o", markersize=3, label=label)
    panel.set_xscale("log")
    panel.set_yscale("log" if logarithmic else "linear")
    panel.set_title(title)
    panel.set_xlabel("topics")
    panel.grid(visible=True, alpha=0.3)
    panel.legend(fontsize=7)
