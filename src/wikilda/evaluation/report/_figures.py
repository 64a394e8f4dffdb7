"""Slices and reliability plots of a data set, as values for the page."""

from collections.abc import Sequence
from typing import Any

from wikilda.evaluation import metrics, nil
from wikilda.evaluation.metrics import Slice
from wikilda.evaluation.nil import Calibration
from wikilda.evaluation.results import Runs

SIZE, LEFT, TOP = 180, 34, 22


def figures(runs: Runs) -> dict[str, Any]:
    """Accuracy by slices, and calibration."""
    plots = [reliability(run.method, nil.answer_calibration(run)) for run in runs if run.probabilistic]
    plots.append(reliability(f"{runs[-1].method}, NIL", nil.nil_calibration(runs[-1])))
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
    """One plot. Bars are as wide as their bin; those of few answers are pale."""
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
