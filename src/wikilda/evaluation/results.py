"""Results as plain values, for JSON: figures by data set and method, and every document with its mentions."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wikilda import __version__
from wikilda._core.errors import InputError
from wikilda.evaluation import bootstrap, metrics
from wikilda.evaluation.bootstrap import Difference
from wikilda.evaluation.gold import ABSENT
from wikilda.evaluation.methods.base import spans_of
from wikilda.evaluation.metrics import by_document, shares
from wikilda.evaluation.run import Gold, Run, Verdict
from wikilda.knowledge import Knowledge
from wikilda.model import Model

SHOWN = 5  # candidates per mention

Runs = Sequence[Run]  # all on the same data set; the last is the one that is compared with the others


def results(model: Model, groups: Sequence[Runs], settings: Any) -> dict[str, Any]:
    """Return all results; `groups` has the runs of each data set."""
    return {
        "wikilda": __version__,
        "model": {"identity": model.identity, "iteration": model.iteration, "settings": model.settings.to_mapping()},
        "knowledge": model.knowledge_identity,
        "urn": settings.to_mapping(),
        "datasets": [_dataset(runs) for runs in groups],
    }


def gold_summary(gold: Gold) -> dict[str, Any]:
    """Return the size of a data set, and the part that is in the knowledge."""
    return {
        "name": gold.name,
        "documents": len(gold.documents),
        "mentions": len(gold.topics),
        "in_knowledge": int(gold.known.sum()),
        "not_in_knowledge": int(gold.absent.sum()),
        "nil": int((~gold.named).sum()),
        "entities": gold.entities[0],
        "entities_in_knowledge": gold.entities[1],
        "complaints": gold.complaints,
    }


def _dataset(runs: Runs) -> dict[str, Any]:
    gold = runs[0].gold
    absent = sorted({"|".join(names) for names, is_absent in zip(gold.names, gold.absent, strict=True) if is_absent})
    return {
        **gold_summary(gold),
        "names_not_in_knowledge": absent,
        "methods": [_method(run) for run in runs],
        "comparisons": [
            {"method": run.method, "than": other.method, **{name: each._asdict() for name, each in found.items()}}
            for run, other, found in metrics.compare_all(runs)
        ],
        "documents_by_method": {run.method: list(_documents(run)) for run in runs},
    }  # fmt: skip


def _method(run: Run) -> dict[str, Any]:
    return {
        "method": run.method,
        "settings": run.settings,
        "seconds": round(run.seconds, 3),
        "preparation": round(run.preparation, 3),
        "failures": [asdict(each) for each in run.failures],
        "accuracy": asdict(metrics.accuracy(run)),
        "nil": asdict(metrics.nil_scores(run)),
        "by_ambiguity": [asdict(each) for each in metrics.by_ambiguity(run)],
        "by_prior_rank": [asdict(each) for each in metrics.by_prior_rank(run)],
        "calibration": asdict(metrics.answer_calibration(run)) if run.probabilistic else None,
        "nil_calibration": asdict(metrics.nil_calibration(run)),
    }


def _documents(run: Run) -> Iterator[dict[str, Any]]:
    gold, at = run.gold, 0
    for text in gold.documents:
        mentions = []
        for start, end in spans_of(text):
            title = gold_title(gold, at)
            mentions.append(
                {"start": start, "end": end, "text": text.text[start:end], "gold": title}
                | _verdict(run.verdicts[at], gold.knowledge)
            )
            at += 1
        span = slice(at - len(mentions), at)
        known, right = int(gold.known[span].sum()), int(run.right[span].sum())
        yield {"id": text.id, "in_knowledge": known, "right": right, "mentions": mentions}


def gold_title(gold: Gold, mention: int) -> str | None:
    """Return the title of gold in the knowledge or, if it is missing there, in the gold; None for NIL."""
    topic = int(gold.topics[mention])
    if topic == ABSENT:
        return gold.names[mention][0]
    return gold.knowledge.titles[topic] if topic >= 0 else None


def _verdict(verdict: Verdict, knowledge: Knowledge) -> dict[str, Any]:
    titles = [knowledge.titles[topic] for topic in verdict.topics[:SHOWN]]
    return {
        "answer": knowledge.titles[verdict.topic] if verdict.topic >= 0 else None,
        "nil": round(verdict.nil, 6),
        "gold_rank": verdict.rank + 1 if verdict.rank >= 0 else None,
        "candidates": [
            {"title": title, "score": round(score, 6)}
            for title, score in zip(titles, verdict.scores[:SHOWN], strict=True)
        ],
    }


class Earlier:
    """A file that `wikilda evaluate --output` has written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.datasets: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["datasets"]
            self._documents = {each["name"]: each["documents_by_method"] for each in self.datasets}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{path}: is not an output of `wikilda evaluate --output`. Check the path.") from None

    def compare(self, run: Run) -> dict[str, Difference] | None:
        """Return the difference to the same method in the file; None if it was not run on this data set."""
        then = self._documents.get(run.gold.name, {}).get(run.method)
        if then is None:
            return None
        total = by_document(run.gold.known, run.gold)
        names = [document.id for document in run.gold.documents]
        if [each["id"] for each in then] != names or [each["in_knowledge"] for each in then] != total.tolist():
            raise InputError(
                f"{self.path}: its {run.gold.name} has other documents or other gold. Compare runs on the same files."
            )
        right = np.array([each["right"] for each in then], np.float64)
        return bootstrap.differences(shares(run), bootstrap.shares(right, total))
