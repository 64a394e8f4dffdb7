"""A page: a leaderboard that sorts and filters, the mentions on which two methods differ, and each error in its text.

It is one HTML file that needs nothing but itself.
"""

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from wikilda.evaluation.report._errors import KINDS, SHOWN_METHODS, Errors
from wikilda.evaluation.report._figures import figures
from wikilda.evaluation.report._leaderboard import leaderboard
from wikilda.evaluation.results import Runs, gold_summary


def report(groups: Sequence[Runs]) -> str:
    """The page: a part for each data set, with the errors of its last method."""
    environment = Environment(
        loader=PackageLoader("wikilda.evaluation.report", "."), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    parts = [_part(runs, f"m{number}-") for number, runs in enumerate(groups)]
    return environment.get_template("page.html").render(parts=parts, kinds=KINDS) + "\n"


def _part(runs: Runs, prefix: str) -> dict[str, Any]:
    errors = Errors(runs, prefix)
    return {
        "gold": gold_summary(runs[0].gold),
        "last": runs[-1].method,
        "board": leaderboard(runs),
        "failures": [(run.method, each) for run in runs for each in run.failures],
        "figures": figures(runs),
        "errors": errors.documents(),
        "counts": errors.counts,
        "columns": ["candidate", "P(k|v)", *(run.method for run in errors.others)],
        "left_out": max(len(runs) - SHOWN_METHODS, 0),
    }
