"""Names: NIL, names that the wiki never linked, and detection, on AIDA's train and test-a.

python -m benchmarks.names AIDA NIL ENWIK8 [--parts PARTS] [--trained TRAINED] [--data DIRECTORY] [--every N]

AIDA, NIL, ENWIK8 and PARTS are models: of `aida-kb`, of what `benchmarks.names.tables` has made of it, and of enwik8.
Of train, every Nth document is taken.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import write
from wikilda.documents.detection import DictionaryDetector
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import ABSENT, GoldDocument, Resolver
from wikilda.evaluation.metrics import calibration
from wikilda.linking.results import are_nil
from wikilda.model import Model
from wikilda.urn import Drawn, Urn, UrnSettings, segment

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


Measure = Callable[[Sequence[GoldDocument], UrnSettings], dict[str, Any]]


class Answers(NamedTuple):
    """By mention: gold, the best candidate, its posterior, NIL's, and whether gold is a candidate at all."""

    gold: NDArray[np.int64]
    best: NDArray[np.int64]
    posterior: NDArray[np.float64]
    nil: NDArray[np.float64]
    reachable: NDArray[np.bool_]


def answers(model: Model, documents: Sequence[GoldDocument], settings: UrnSettings) -> Answers:
    knowledge = model.knowledge()
    urn, resolver = Urn(model, knowledge, settings), Resolver(knowledge)
    trained = urn.contexts is not None
    with ThreadPoolExecutor(2) as pool:
        drawn = list(pool.map(lambda each: urn.draw(encode(each, knowledge, contexts=trained)), documents))
    rows = [row for each, one in zip(documents, drawn, strict=True) for row in _rows(one, resolver.topics(each))]
    return Answers(*(np.array(column) for column in zip(*rows, strict=True)))


def _rows(drawn: Drawn, gold: list[int]) -> Iterator[tuple[int, int, float, float, bool]]:
    for number, topic in enumerate(gold):
        topics, posterior = drawn.mention(number)
        best = (int(topics[0]), float(posterior[0])) if len(topics) else (ABSENT - 1, 0.0)
        yield topic, *best, float(drawn.nil[number]), topic in topics


def area(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """The area under the ROC curve: how often a positive has the higher score; ties count half."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    some = int(positive.sum())
    return float((ranks[positive].sum() - some * (some + 1) / 2) / max(some * (len(scores) - some), 1))


def nil_row(found: Answers) -> dict[str, float | int]:
    """Without mentions that gold itself has as NIL: half of those are slips."""
    some = (found.gold >= 0) | (found.gold == ABSENT)
    gold, best, posterior, nil, _ = (column[some] for column in found)
    absent, unknown = gold == ABSENT, are_nil(nil, posterior)
    right = np.where(absent, unknown, (best == gold) & ~unknown)
    confidence = np.where(unknown, nil, posterior * (1 - nil))
    middle = (confidence >= 0.5) & (confidence < 0.9)
    tested = best >= 0
    return {
        "true NILs with candidates": int((absent & tested).sum()),
        "area under ROC": round(area(absent[tested], nil[tested]), 3),
        "accuracy": round(100 * float(right.mean()), 2),
        "always answering": round(100 * float(((best == gold) & ~absent).mean()), 2),
        "known taken for NIL": round(100 * float(unknown[~absent].mean()), 2),
        "ECE": round(calibration(confidence, right).error, 3),
        "ECE from 0.5 to 0.9": round(calibration(confidence[middle], right[middle]).error, 3),
    }


def known_row(found: Answers) -> dict[str, float | int]:
    known = found.gold >= 0
    return {
        "mentions": int(known.sum()),
        "candidate recall": round(100 * float(found.reachable[known].mean()), 2),
        "accuracy": round(100 * float((found.best == found.gold)[known].mean()), 2),
    }


def end_to_end(model: Model, documents: Sequence[GoldDocument], settings: UrnSettings) -> dict[str, float]:
    knowledge = model.knowledge()
    urn, detector, resolver = Urn(model, knowledge, settings), DictionaryDetector(knowledge), Resolver(knowledge)
    found, linked, macro = np.zeros(3), np.zeros(3), []
    for each in documents:
        text, trained = Document(each.text, None, each.id), urn.contexts is not None
        encoded = encode(text, knowledge, detector, contexts=trained, parts="unknown")
        drawn = urn.draw(encoded)
        first = [
            float(posterior[0]) if len(posterior) else 0.0 for _, posterior in map(drawn.mention, range(len(drawn.nil)))
        ]
        best, unknown = drawn.best(), are_nil(drawn.nil, np.array(first))
        chosen = np.flatnonzero(segment(encoded, best, unknown))
        spans, best = [encoded.spans[at] for at in chosen], np.where(unknown, -1, best)[chosen].tolist()
        given = {(*span, topic) for span, topic in zip(spans, best, strict=True) if topic >= 0}
        gold = zip(each.mentions or [], resolver.topics(each), strict=True)
        wanted = {(*span, topic) for span, topic in gold if topic >= 0}
        found += len(set(spans) & set(each.mentions or [])), len(spans), len(each.mentions or [])
        linked += len(given & wanted), len(given), len(wanted)
        macro.append(_f1(len(given & wanted), len(given), len(wanted)))
    right, answered, there = linked
    return {
        "found F1": round(_f1(*found), 2),
        "precision": round(100 * right / answered, 2),
        "recall": round(100 * right / there, 2),
        "micro F1": round(_f1(*linked), 2),
        "macro F1": round(float(np.mean(macro)), 2),
    }


def _f1(right: float, given: float, wanted: float) -> float:
    return 200 * right / (given + wanted) if given + wanted else 100.0


def _table(gold: dict[str, list[GoldDocument]], measure: Measure) -> list[dict[str, Any]]:
    return [
        {"AIDA": split, "urn": name, **measure(documents, settings)}
        for split, documents in gold.items()
        for name, settings in WITHOUT.items()
        if split == "train" or settings == DEFAULT  # what a part brings is read on train alone
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
    gold = {split: read_dataset(options.data / file)[0].documents for split, file in SPLITS.items()}
    gold["train"] = gold["train"][:: options.every]
    aida, enwik8, nil = (Model.open(getattr(options, name)) for name in ("aida", "enwik8", "nil"))
    tables = {
        "end to end": _table(gold, lambda some, settings: end_to_end(aida, some, settings)),
        "nil": _table(gold, lambda some, settings: nil_row(answers(nil, some, settings))),
        "enwik8": _table(gold, lambda some, settings: known_row(answers(enwik8, some, settings))),
        "given": _table(gold, lambda some, settings: known_row(answers(aida, some, settings))),
    }
    if options.trained:
        trained = Model.open(options.trained)
        tables["end to end"] += [
            {"AIDA": split, "urn": "trained", **end_to_end(trained, some, DEFAULT)} for split, some in gold.items()
        ]
    if options.parts:
        parts = Model.open(options.parts)
        tables["parts"] = _table(gold, lambda some, settings: known_row(answers(parts, some, settings)))
    print(write("names", tables))


if __name__ == "__main__":
    main()
