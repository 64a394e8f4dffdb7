"""The leaderboard, and the data with which the page's script filters it and compares methods."""

from typing import Any

import numpy as np

from wikilda.evaluation import bootstrap, metrics
from wikilda.evaluation.methods.base import spans_of
from wikilda.evaluation.results import Runs, gold_title
from wikilda.evaluation.run import Gold
from wikilda.text.offsets import UTF16, from_code_points

KINDS = ("gold is the most common meaning", "gold is a rarer meaning", "gold is not a candidate")
AMBIGUITY = ((0, "none"), (1, "1"), (5, "2–5"), (20, "6–20"), (None, "21+"))
LENGTHS = ((100, "up to 100"), (300, "101–300"), (1000, "301–1,000"), (None, "more"))

Bounds = tuple[tuple[int | None, str], ...]


def leaderboard(runs: Runs) -> dict[str, Any]:
    """Return the rows of the leaderboard, the filters, and the data of the script."""
    gold = runs[0].gold
    return {
        "rows": [_row(run) for run in runs],
        "filters": {
            "ambiguity": [name for _, name in AMBIGUITY],
            "kind": list(KINDS),
            "length": [name for _, name in LENGTHS],
        },
        "data": {
            "methods": [run.method for run in runs],
            "documents": [{"id": each.id, "text": each.text} for each in gold.documents],
            "pairs": _pairs(runs),
            **_mentions(gold, runs),
        },
    }


def _row(run: Any) -> dict[str, Any]:
    found, without = metrics.accuracy(run), metrics.nil_scores(run)
    error = metrics.answer_calibration(run).error if run.probabilistic else None
    settings = ", ".join(f"{name} = {value}" for name, value in run.settings.items())
    return {
        "name": run.method, "settings": settings, "accuracy": found, "nil": without, "error": error,
        "seconds": run.seconds, "preparation": run.preparation, "failures": len(run.failures),
    }  # fmt: skip


def _mentions(gold: Gold, runs: Runs) -> dict[str, Any]:
    """Return mentions with a topic: document, span, gold, bins of the filters, best candidates."""
    spans = [
        span
        for document in gold.documents
        for span in from_code_points(document.text, spans_of(document), UTF16)
    ]  # fmt: skip
    words = np.array([len(document.text.split()) for document in gold.documents])
    ranks, ambiguity = gold.prior_rank, gold.ambiguity
    titles: dict[str, int] = {"–": 0}
    rows = []
    for at in np.flatnonzero(gold.known).tolist():
        document, rank = int(gold.document_of[at]), int(ranks[at])
        kind = 2 if rank < 0 else int(rank > 0)
        answers = [gold.knowledge.titles[int(run.first[at])] if run.first[at] >= 0 else "–" for run in runs]
        named = [titles.setdefault(title, len(titles)) for title in (str(gold_title(gold, at)), *answers)]
        bins = (_bin(int(ambiguity[at]), AMBIGUITY), kind, _bin(int(words[document]), LENGTHS))
        rows.append([document, *spans[at], *bins, *named])
    return {"titles": list(titles), "mentions": rows}


def _bin(value: int, bounds: Bounds) -> int:
    return next(number for number, (most, _) in enumerate(bounds) if most is None or value <= most)


def _pairs(runs: Runs) -> dict[str, Any]:
    """Return the paired bootstrap of any two methods: micro and macro differences, intervals, p."""
    sampled = [metrics.shares(run) for run in runs]
    found = {}
    for a, first in enumerate(sampled):
        for b, second in enumerate(sampled):
            if a != b:
                both = bootstrap.differences(first, second)
                found[f"{a} {b}"] = {name: [round(part, 4) for part in each] for name, each in both.items()}
    return found
