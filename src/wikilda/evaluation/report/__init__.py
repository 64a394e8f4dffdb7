"""A page: a leaderboard that sorts and filters, the mentions on which two methods differ, and each error in its text.

It is one HTML file without other resources.
"""

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from wikilda.evaluation import metrics
from wikilda.evaluation.metrics import Calibration, Slice
from wikilda.evaluation.report._errors import KINDS, SHOWN_METHODS, Errors
from wikilda.evaluation.report._leaderboard import leaderboard
from wikilda.evaluation.results import Runs, gold_summary

SIZE, LEFT, TOP = 180, 34, 22


def figures(runs: Runs) -> dict[str, Any]:
    """Return accuracy by slices, and calibration."""
    plots = [reliability(run.method, metrics.answer_calibration(run)) for run in runs if run.probabilistic]
    plots.append(reliability(f"{runs[-1].method}, NIL", metrics.nil_calibration(runs[-1])))
    slices = [
        _slices("By ambiguity of the string", [metrics.by_ambiguity(each) for each in runs]),
        _slices("By prior rank of gold", [metrics.by_prior_rank(each) for each in runs]),
    ]
    return {"slices": slices, "plots": plots}


def _slices(title: str, found: Sequence[list[Slice]]) -> dict[str, Any]:
    rows = [
        {"name": each.name, "mentions": each.mentions, "cells": [slices[at].accuracy for slices in found]}
        for at, each in enumerate(found[0])
    ]
    return {"title": title, "rows": rows}


def reliability(title: str, found: Calibration) -> dict[str, Any]:
    """Return a reliability plot. Bars of few answers are pale."""
    most = max((each.count for each in found.bins), default=0) or 1
    width = SIZE / max(len(found.bins), 1)
    bars = [
        {
            "x": LEFT + number * width + 1, "y": TOP + SIZE * (1 - each.right), "width": width - 2,
            "height": max(each.right * SIZE, 0.5), "opacity": 0.25 + 0.75 * (each.count / most) ** 0.5,
            "dot": LEFT + each.confidence * SIZE,
            "about": f"{each.count:,} answers, confidence {each.confidence:.2f}, right {each.right:.2f}",
        }
        for number, each in enumerate(found.bins)
        if each.count
    ]  # fmt: skip
    return {"label": f"{title}: ECE {found.error:.3f}", "bars": bars, "size": SIZE, "left": LEFT, "top": TOP}


def report(groups: Sequence[Runs]) -> str:
    """Return the page: one part per data set, with the errors of its last method."""
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
