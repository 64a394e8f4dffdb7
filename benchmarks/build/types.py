"""Precision and recall of topic types on samples labelled by hand: `python -m benchmarks.build.types AIDA ENWIK8`.

The samples are titles drawn at random, labelled by reading the title and the first sentence (tests/data/types-*.tsv).
"""

import argparse
from pathlib import Path

from benchmarks import record
from wikilda.knowledge import Knowledge
from wikilda.knowledge.types import TYPES

SAMPLES = ("aida-kb", "enwik8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("knowledge", type=Path, nargs=2, help=f"knowledge of {' and '.join(SAMPLES)}")
    paths = parser.parse_args().knowledge
    tables = {name: measure(Knowledge.open(path), name) for name, path in zip(SAMPLES, paths, strict=True)}
    print(record.write("types", tables))
    for name, rows in tables.items():
        print(name, *rows, sep="\n")


def measure(knowledge: Knowledge, name: str) -> list[dict[str, str | float | int | None]]:
    """A row a type, and one for all."""
    lines = (record.ROOT / "tests" / "data" / f"types-{name}.tsv").read_text("utf-8").splitlines()
    pairs = [
        (gold, knowledge.types.best(knowledge.find_topic(title)))
        for title, gold in (line.split("\t") for line in lines)
    ]
    return [*(_row(each, pairs) for each in TYPES), _whole(pairs)]


def _row(kind: str, pairs: list[tuple[str, str | None]]) -> dict[str, str | float | int | None]:
    right = sum(gold == found == kind for gold, found in pairs)
    said, there = sum(found == kind for _, found in pairs), sum(gold == kind for gold, _ in pairs)
    return {
        "type": kind, "topics": there, "precision": round(right / said, 3) if said else None,
        "recall": round(right / there, 3) if there else None,
    }  # fmt: skip


def _whole(pairs: list[tuple[str, str | None]]) -> dict[str, str | float | int | None]:
    right, said = sum(gold == found for gold, found in pairs), sum(found is not None for _, found in pairs)
    return {
        "type": "all",
        "topics": len(pairs),
        "precision": round(right / said, 3),
        "recall": round(right / len(pairs), 3),
    }


if __name__ == "__main__":
    main()
