"""Linking raw text: detection, end-to-end and given-span scores, and titled surnames.

python -m benchmarks.raw MODEL... [--gold FILE...] [--news FILE | --no-news] [--texts] [--record NAME]

`detection` counts all annotated spans; `end to end` spans and entities that the knowledge has; `given` the same with
the annotated spans given; `best` is the share of these whose best candidate is right, whether NIL or not.
"Mr/Ms/Mrs X" is the share of surnames after an honorific that have the same entity as their full name, where that is
linked in the same story. `--texts` adds the regression texts of tests/data/raw-texts.tsv.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.raw.gold import read_gold, read_news, score, titled_names
from wikilda.linking import Linker

DATA = Path("../shared/data")
GOLD = DATA / "bbc-gold" / "bbc-dev.jsonl"


def scores_of(linker: Linker, name: str, gold: list[Path]) -> list[dict[str, Any]]:
    rows = []
    for path in gold:
        found = score(linker, read_gold(path))
        parts = {"detection": found.detection, "end to end": found.end_to_end, "given": found.given}
        for part, counts in parts.items():
            row = {"model": name, "gold": path.stem, "scored": part, **counts.row(), "mentions": counts.wanted}
            if part == "given":
                row["best"] = round(100 * found.best / max(counts.wanted, 1), 1)
            rows.append(row)
    return rows


def surnames(linker: Linker, name: str, news: Path) -> dict[str, Any]:
    pairs, began, stories = [], time.perf_counter(), 0
    for linked in linker.link_many((each for each in read_news(news) if not each.id.startswith("bbcsport")), topics=0):
        pairs += titled_names(linked)
        stories += 1
    seconds = time.perf_counter() - began
    same, nil = (sum(test(*each) for each in pairs) for test in (_is_same, _is_nil))
    return {
        "model": name, "stories": stories, "Mr/Ms/Mrs X": len(pairs), "same entity": round(100 * same / len(pairs), 1),
        "NIL": round(100 * nil / len(pairs), 1), "stories/s": round(stories / seconds, 1),
    }  # fmt: skip


def _is_same(text: str, title: str | None, full: str) -> bool:
    return title == full


def _is_nil(text: str, title: str | None, full: str) -> bool:
    return title is None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--gold", type=Path, nargs="*", default=[GOLD])
    parser.add_argument("--news", type=Path, default=DATA / "news" / "bbc.jsonl.xz")
    parser.add_argument("--no-news", action="store_true")
    parser.add_argument("--record", help="write the figures to docs/figures/NAME.json")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for model in options.models:
        linker = Linker.open(model)
        linker.link("London")  # compiles
        rows += scores_of(linker, model.name, options.gold)
        if not options.no_news:
            names.append(surnames(linker, model.name, options.news))
    print(record.table(rows))
    if names:
        print("\n" + record.table(names))
    if options.record:
        record.write(options.record, {"scores": rows, **({"surnames": names} if names else {})})


if __name__ == "__main__":
    main()
