"""Linking raw text: detection, end-to-end and given-span scores, and titled surnames.

python -m benchmarks.raw MODEL... [--gold FILE...] [--news FILE | --no-news] [--curve] [--texts WIKI=MODEL...]
    [--record NAME]

`detection` counts all annotated spans; `end to end` spans and entities that the knowledge has; `given` the same with
the annotated spans given; `best` is the share of these whose best candidate is right, whether NIL or not.
"Mr/Ms/Mrs X" is the share of surnames after an honorific that have the same entity as their full name, where that is
linked in the same story. `--curve` moves the detector from precision to recall. `--texts` adds the regression texts of
tests/data/raw-texts.txt, by the third that they belong to; the last third was not looked at while rules were written.
The command fails if fewer of a wiki's texts are right than `LEAST` in benchmarks/raw/texts.py says.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.raw.gold import read_gold, read_news, score, titled_names
from benchmarks.raw.texts import LEAST, THIRDS, read_cases, wrong_marks
from wikilda.linking import DetectorSettings, Linker

DATA = Path("../shared/data")
CURVE = (0.0, 0.25, 0.5, 0.75, 1.0)
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


def curve_of(model: Path, gold: Path) -> list[dict[str, Any]]:
    """Scores by the detector's setting."""
    rows = []
    for recall in CURVE:
        found = score(Linker.open(model, detection=DetectorSettings(recall=recall)), read_gold(gold))
        spans, whole = found.detection.row(), found.end_to_end.row()
        rows.append({
            "model": model.name, "recall setting": recall, "found precision": spans["precision"],
            "found recall": spans["recall"], "found F1": spans["F1"], "linked precision": whole["precision"],
            "linked recall": whole["recall"], "linked F1": whole["F1"],
        })  # fmt: skip
    return rows


def texts_of(models: dict[str, Path]) -> list[dict[str, Any]]:
    """The share of the regression texts that are right, by wiki and third."""
    rows = []
    for wiki, model in models.items():
        linker = Linker.open(model)
        right, marks = [[0, 0] for _ in range(THIRDS)], [0, 0]
        for case in (each for each in read_cases() if each.wiki == wiki):
            wrong = len(wrong_marks(linker, case))
            right[case.third][0] += wrong == 0
            right[case.third][1] += 1
            marks = [marks[0] + len(case.marks) - wrong, marks[1] + len(case.marks)]
        row: dict[str, Any] = {"wiki": wiki, "texts": sum(each[1] for each in right)}
        for third, (good, all_of) in enumerate(right, 1):
            row[f"right in third {third}"] = f"{good} of {all_of}"
        row["% right"] = round(100 * sum(each[0] for each in right) / max(row["texts"], 1), 1)
        row["% of marks right"] = round(100 * marks[0] / max(marks[1], 1), 1)
        rows.append(row)
    return rows


def surnames(linker: Linker, name: str, news: Path) -> dict[str, Any]:
    pairs, began, stories = [], time.perf_counter(), 0
    for linked in linker.link_many(read_news(news), topics=0):
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
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--texts", nargs="*", default=[], metavar="WIKI=MODEL")
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
    tables = {"scores": rows, "surnames": names}
    if options.curve:
        tables["recall"] = [row for model in options.models for row in curve_of(model, options.gold[0])]
    if options.texts:
        tables["texts"] = texts_of({name: Path(path) for name, path in (each.split("=") for each in options.texts)})
    tables = {name: table for name, table in tables.items() if table}
    print("\n\n".join(record.table(table) for table in tables.values()))
    if options.record:
        record.write(options.record, tables)
    few = [row["wiki"] for row in tables.get("texts", []) if row["% right"] < 100 * LEAST.get(row["wiki"], 0)]
    if few:
        raise SystemExit(f"Too few of the texts are right: {', '.join(few)}.")


if __name__ == "__main__":
    main()
