"""Names: NIL, names that the wiki never linked, and detection, on AIDA's train and test-a.

python -m benchmarks.names AIDA NIL ENWIK8 [--parts PARTS] [--trained TRAINED] [--data DIRECTORY] [--every N]

AIDA, NIL, ENWIK8 and PARTS are models: of `aida-kb`, of what `benchmarks.names.tables` has made of it, and of enwik8.
Of train, every Nth document is taken.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import write
from wikilda.evaluation.datasets import Dataset, read_dataset
from wikilda.evaluation.gold import ABSENT, NIL, Resolver
from wikilda.evaluation.methods import Given, Urn
from wikilda.evaluation.metrics import accuracy, calibration, percent
from wikilda.evaluation.run import Gold, end_to_end, micro_and_macro, on_threads, run, spans_of
from wikilda.linking import Document
from wikilda.model import Model
from wikilda.urn import UrnSettings
from wikilda.urn.learning import roc_area

DEFAULT = UrnSettings()


def _with(**weights: float) -> UrnSettings:
    """Settings with some weights replaced."""
    return replace(DEFAULT, weights=tuple(f"{name}={value}" for name, value in weights.items()))


SPLITS = {"train": "aida-train.tsv", "test-a": "aida-testa.tsv"}
WITHOUT = {
    "as it is": DEFAULT,
    "without candidates by words": replace(DEFAULT, backoff_candidates=0),
    "without titles in NIL": _with(nil_title=0.0, nil_full_title=0.0, nil_part=0.0, nil_mismatch=0.0),
    "without NIL": _with(nil_constant=-1000.0),
}
Measure = Callable[[Urn, Gold], dict[str, Any]]


def nil_row(method: Urn, gold: Gold) -> dict[str, float | int]:
    """NIL without the mentions that gold itself has as NIL: half of those are slips."""
    found = run(method, gold, 2)
    some = gold.topics != NIL
    absent, unknown = (gold.topics == ABSENT)[some], (found.answers == NIL)[some]
    best, nil = found.first[some], np.array([each.nil for each in found.verdicts])[some]
    posterior = np.array([each.scores[0] if each.scores else 0.0 for each in found.verdicts])[some]
    right = np.where(absent, unknown, (best == gold.topics[some]) & ~unknown)
    confidence = np.where(unknown, nil, posterior * (1 - nil))
    tested = best >= 0
    return {
        "true NILs with candidates": int((absent & tested).sum()),
        "area under ROC": round(roc_area(nil[tested], absent[tested]), 3),
        "accuracy": round(100 * float(right.mean()), 2),
        "always answering": round(percent((best == gold.topics[some]) & ~absent, np.ones_like(absent)), 2),
        "known taken for NIL": round(percent(unknown, ~absent), 2),
        "ECE": round(calibration(confidence, right).error, 3),
    }


def known_row(method: Urn, gold: Gold) -> dict[str, float | int]:
    """Accuracy and candidate recall of the mentions whose entity the knowledge has."""
    found = accuracy(run(method, gold, 2), samples=1)
    return {
        "mentions": found.mentions, "candidate recall": round(found.recall, 2), "accuracy": round(found.micro, 2),
    }  # fmt: skip


def raw_row(method: Urn, gold: Gold) -> dict[str, float]:
    """Detection and linking in bare text: exact spans."""
    micro, macro = end_to_end(method, gold, 2)

    def spans(document: Document) -> list[tuple[int, int, int]]:
        return [(*span, 0) for span, _ in method.link_text(document)]

    wanted = [[(*span, 0) for span in spans_of(document)] for document in gold.documents]
    found, _ = micro_and_macro(wanted, list(on_threads(spans, gold.documents, "detection", 2)))
    return {
        "found F1": round(found.f1, 2), "precision": round(micro.precision, 2), "recall": round(micro.recall, 2),
        "micro F1": round(micro.f1, 2), "macro F1": round(macro.f1, 2),
    }  # fmt: skip


def _table(
    place: Path, data: dict[str, Dataset], measure: Measure, urns: dict[str, UrnSettings]
) -> list[dict[str, Any]]:
    model = Model.open(place)
    knowledge = model.knowledge()
    resolver = Resolver(knowledge)
    return [
        {"AIDA": split, "urn": name, **measure(Urn(Given(model, knowledge), settings), Gold(dataset, resolver))}
        for split, dataset in data.items()
        for name, settings in urns.items()
        if split == "train" or settings == DEFAULT  # what a part contributes is read on train only
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("aida", "nil", "enwik8"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--parts", type=Path)
    parser.add_argument("--trained", type=Path, help="the model of `aida-kb`, trained on texts")
    parser.add_argument("--data", type=Path, default=Path("../shared/data/aida"))
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    data = {split: read_dataset(options.data / file)[0] for split, file in SPLITS.items()}
    data["train"] = replace(data["train"], documents=data["train"].documents[:: options.every])
    tables = {
        "end to end": _table(options.aida, data, raw_row, WITHOUT),
        "nil": _table(options.nil, data, nil_row, WITHOUT),
        "enwik8": _table(options.enwik8, data, known_row, WITHOUT),
        "given": _table(options.aida, data, known_row, WITHOUT),
    }
    if options.trained:
        tables["end to end"] += _table(options.trained, data, raw_row, {"trained": DEFAULT})
    if options.parts:
        tables["parts"] = _table(options.parts, data, known_row, WITHOUT)
    print(write("names", tables))


if __name__ == "__main__":
    main()
