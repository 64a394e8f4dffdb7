"""What training on texts without labels is worth: AIDA before and after, with the held-out likelihood beside it.

    python -m benchmarks.training.learning MODEL --aida DATA/aida --news bbc.jsonl reuters.jsonl --work DIR

Texts of AIDA train have the spans of their mentions, but no labels; those of test-a are not trained on.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.evaluate import evaluate
from wikilda.evaluation.methods.base import UNKNOWN, Answer, Given, Method, symbols_of
from wikilda.evaluation.metrics import accuracy, answer_calibration, compare
from wikilda.linking import Document
from wikilda.training.checkpoints import Metrics, read_metrics
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan

_OTHERS = ("benchmarks.training.learning:MostProbable", "tagme", "lda", "urn")
Row = dict[str, Any]


def main() -> None:
    """Train, measure, and write docs/figures/learning.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--aida", type=Path, required=True, help="directory with aida-train.tsv and aida-testa.tsv")
    parser.add_argument("--news", type=Path, nargs="*", default=[], help="texts that are not of AIDA")
    parser.add_argument("--work", type=Path, required=True, help="directory for models; what is there is used")
    parser.add_argument("--name", default="learning", help="of the file of figures")
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=["train", "train + news", "news"], help="texts to train on")
    parser.add_argument("--splits", nargs="*", default=["train", "testa"], help="of AIDA, to measure on")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    first = given.model
    own = given.work / "train.jsonl"
    write_texts(given.aida / "aida-train.tsv", own)
    corpora = {"train": [own], "train + news": [own, *given.news], "news": given.news}
    rows = [measured("none", 0, first, first, given, None)]
    for name, texts in corpora.items():
        if texts and name in given.only:
            rows += trained(name, texts, first, given)
    best = given.work / "model-train+news"
    others = [beside(method, first, best, given.aida) for method in _OTHERS] if best.exists() else []
    record.write(given.name, {"accuracy": rows, "methods": others})


class MostProbable(Method):
    """The topic with the largest λ̂ of a mention's string."""

    name = "argmax λ̂"
    uses_model = True

    def __init__(self, given: Given, settings: Any = None) -> None:
        super().__init__(given, settings)
        self.mentions = given.model.mentions

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        symbols = symbols_of(document, self.knowledge)
        return [_ranked(*self.mentions.row(symbol)) if symbol >= 0 else UNKNOWN for symbol in symbols]


def _ranked(topics: Any, values: Any) -> Answer:
    order = np.lexsort((topics, -values))
    return Answer(topics[order].tolist(), values[order].tolist(), 0.0)


def write_texts(gold: Path, target: Path) -> None:
    """The texts of a gold set with the spans of their mentions, without labels."""
    documents = [document for dataset in read_dataset(gold) for document in dataset.documents]
    rows = [{"id": each.id, "text": each.text, "mentions": each.spans} for each in documents]
    target.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def trained(name: str, texts: list[Path], first: Path, given: argparse.Namespace) -> list[Row]:
    """A row for each iteration."""
    target = given.work / f"model-{name.replace(' ', '')}"
    if not target.exists():
        train(first, texts, target, plan=TrainingPlan(given.iterations, keep=given.iterations))
    found = []
    for row in read_metrics(target)[1:]:
        last = row.iteration == given.iterations
        place = target if last else target.with_name(f"{target.name}.iterations") / f"{row.iteration:04d}"
        found.append(measured(name, row.iteration, place, first, given, row))
    return found


def measured(
    name: str, iteration: int, model: Path, first: Path, given: argparse.Namespace, metrics: Metrics | None
) -> Row:
    """A row: accuracy, calibration, and the paired difference on test-a from the model at the start."""
    row: Row = {"texts": name, "iteration": iteration}
    for split in given.splits:
        found = evaluate(first, given.aida / f"aida-{split}.tsv", methods=["urn"], also=[model] if iteration else [])
        now, name_of = found.runs[0][-1], "test-a" if split == "testa" else split
        right = accuracy(now)
        row[f"{name_of} micro"], row[f"{name_of} macro"] = round(right.micro, 2), round(right.macro, 2)
        if split == "testa":
            row["ECE"] = round(answer_calibration(now).error, 3)
            if iteration:
                change = compare(now, found.runs[0][0])["micro"]
                row["test-a micro, change"] = f"{change.value:+.2f} [{change.low:+.2f}, {change.high:+.2f}]"
    if metrics:
        row["held out, nats"] = round(metrics.held_out or 0.0, 4)
        row["gained"], row["documents"] = metrics.gained, metrics.documents
        row["documents/s"] = round(metrics.documents / metrics.seconds, 1)
    return row


def beside(method: str, first: Path, model: Path, aida: Path) -> Row:
    """A method with the λ̂ at the start, and with what was learned."""
    found = evaluate(first, aida / "aida-testa.tsv", methods=[method], also=[model])
    row: Row = {"method": found.runs[0][0].method.replace(_OTHERS[0], MostProbable.name)}
    for when, each in zip(("start", "trained"), map(accuracy, found.runs[0]), strict=True):
        row |= {f"{when}, micro": round(each.micro, 2), f"{when}, macro": round(each.macro, 2)}
    return row


if __name__ == "__main__":
    main()
