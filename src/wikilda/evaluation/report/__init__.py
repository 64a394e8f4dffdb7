"""A page that shows the figures, and each error in its text. It needs nothing but itself."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from wikilda.evaluation.report._errors import Errors
from wikilda.evaluation.report._figures import figures
from wikilda.evaluation.results import Runs

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def report(groups: Sequence[Runs]) -> str:
    """The page: a part for each data set, with the errors of its last method."""
    parts = "".join(_part(runs, f"m{number}-") for number, runs in enumerate(groups))
    here = files(__package__)
    style, script = (here.joinpath(name).read_text("utf-8") for name in ("style.css", "filter.js"))
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>wikilda: evaluation</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f'<meta name="viewport" content="width=device-width"><style>{style}</style></head><body>'
        f"<h1>Evaluation</h1>{parts}<script>{script}</script></body></html>\n"
    )


def _part(runs: Runs, prefix: str) -> str:
    gold, last = runs[-1].gold, runs[-1].method
    return (
        f"<section><h2>{escape(gold.name)}</h2>{figures(runs)}<div><h2>{escape(gold.name)}: errors of {escape(last)}"
        f"</h2>{Errors(runs, prefix).html()}</div></section>"
    )
