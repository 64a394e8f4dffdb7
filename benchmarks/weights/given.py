"""Accuracy, NIL and calibration of a model on a file of gold with given mentions.

    python -m benchmarks.weights.given MODEL=GOLD … [--every N] [--record NAME]

GOLD is in any format that `wikilda evaluate` reads. An entity that the knowledge lacks counts as NIL.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import record
from wikilda import Document, Linker
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import Resolver
from wikilda.urn.learning import roc_area

_BINS = 15


def gold_of(path: Path, linker: Linker, every: int) -> Iterator[tuple[Document, dict[tuple[int, int], int]]]:
    """Documents and the topics of their mentions, negative for those that the knowledge lacks."""
    resolver = Resolver(linker.knowledge)
    for dataset in read_dataset(path):
        for document in dataset.documents[::every]:
            if document.gold:
                yield document, dict(zip(document.spans, resolver.topics(document), strict=True))


def measure(model: Path, gold: Path, every: int = 1) -> dict[str, str | float | int | None]:
    """The figures of one model on one file."""
    linker = Linker.open(model)
    right, common, sure, nil, unknown, linked = (
        list[bool](),
        list[bool](),
        list[float](),
        list[float](),
        list[bool](),
        list[bool](),
    )
    rows = linker.model.mentions
    for document, topics in gold_of(gold, linker, every):
        for mention in linker.link(document, topics=0).mentions:
            target = topics[mention.start, mention.end]
            nil.append(mention.nil)
            linked.append(mention.entity is not None)
            unknown.append(target < 0)
            if target >= 0:
                best = mention.candidates[0] if mention.candidates else None
                right.append(best is not None and best.entity.topic == target)
                symbol = linker.knowledge.find_mention(mention.text)
                topics_of, values = rows.row(symbol) if symbol >= 0 else (np.empty(0), np.empty(0))
                common.append(len(values) > 0 and int(topics_of[np.argmax(values)]) == target)
                sure.append(best.probability if best else 0.0)
    correct, chances = np.array(right), np.array(sure)
    bins = np.minimum((chances * _BINS).astype(int), _BINS - 1)
    gaps = [abs(chances[bins == each].sum() - correct[bins == each].sum()) for each in range(_BINS)]
    scores, lacking, kept = np.array(nil), np.array(unknown), np.array(linked)
    return {
        "model": model.name, "gold": gold.stem, "known": len(right), "unknown": int(lacking.sum()),
        "prior": round(100 * float(np.mean(common)), 1), "accuracy": round(100 * float(correct.mean()), 1),
        "nil area": round(roc_area(scores, lacking), 3),
        "known kept": round(100 * float(kept[~lacking].mean()), 1),
        "nil found": round(100 * float((~kept[lacking]).mean()), 1) if lacking.any() else None,
        "ece": round(float(sum(gaps)) / max(len(right), 1), 3),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", help="MODEL=GOLD")
    parser.add_argument("--every", type=int, default=1, help="Every n-th document.")
    parser.add_argument("--record", help="The name of a file in docs/figures.")
    args = parser.parse_args()
    rows = [measure(*map(Path, each.split("=")), args.every) for each in args.pairs]
    print(record.table(rows))
    if args.record:
        record.write(args.record, {"accuracy": rows})


if __name__ == "__main__":
    main()
