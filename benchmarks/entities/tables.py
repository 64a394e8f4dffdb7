"""A generated table of names with noise, matched with their entities: accuracy by kind of noise, next to other tools.

    python -m benchmarks.entities.tables MODEL [--rows 100] [--seed 1] [--splink] [--speed 100000]

Names are drawn from the titles of the knowledge: each has a meaning that its string mostly means. Unknown names are
made of the words of other names, so that they look alike; none is a name in the knowledge.
"""

import argparse
import csv
import resource
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks import record
from wikilda import Linker
from wikilda.knowledge import Knowledge

KINDS = ("clean", "suffix", "one typo", "two typos", "inverted", "capitals", "unknown")
SUFFIXES = ("Inc.", "plc", "Ltd", "GmbH", "S.A.", "AG", "LLC", "Corp.", "S.p.A.", "N.V.", "AB", "Pty Ltd")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Cell(NamedTuple):
    """A cell, its kind, and the title that it means, if it is known."""

    text: str
    kind: str
    title: str | None


def typo(name: str, random: Random) -> str:
    """A letter more, less, other, or two exchanged; never the first of the name."""
    places = [at for at in range(1, len(name)) if name[at].isalpha()]
    at, way = random.choice(places), random.randrange(4)
    if way == 0:
        return name[:at] + name[at + 1 :]
    if way == 1:
        return name[:at] + random.choice(_LETTERS) + name[at:]
    if way == 2:
        return name[:at] + random.choice([each for each in _LETTERS if each != name[at].lower()]) + name[at + 1 :]
    other = at + 1 if at + 1 < len(name) and name[at + 1].isalpha() and name[at + 1] != name[at] else at
    if other == at:
        return name[:at] + name[at] * 2 + name[at + 1 :]
    return name[:at] + name[other] + name[at] + name[other + 1 :]


def noisy(title: str, kind: str, random: Random) -> str:
    """A title with noise of a kind."""
    words = title.split()
    if kind == "capitals":
        return title.upper()
    if kind == "inverted":
        return f"{words[-1]}, {words[0]}"
    if kind == "suffix":
        return f"{title} {random.choice(SUFFIXES)}"
    for _ in range(("clean", "one typo", "two typos").index(kind)):
        title = typo(title, random)
    return title


def table(known: Knowledge, rows: int, seed: int) -> list[Cell]:
    """Cells of each kind, mixed."""
    random = Random(seed)
    people, bodies = (known.types.shares[at] for at in (0, 1))
    made: list[Cell] = []
    counts = dict.fromkeys(KINDS, 0)
    parts: list[list[str]] = []
    while min(counts[kind] for kind in KINDS[:-1]) < rows:
        topic = random.randrange(len(known.titles))
        title = known.titles[topic]
        mention = known.find_mention(title)
        if "(" in title or not 6 <= len(title) <= 40 or not title.replace(" ", "").replace("-", "").isalpha():
            continue
        topics, occurs = known.mentions.row(mention) if mention >= 0 else ((), ())
        if not len(topics) or topics[int(np.argmax(occurs))] != topic or max(occurs) < 2:
            continue
        words = title.split()
        person = people[topic] > 200 and len(words) == 2
        kinds = ["clean", "capitals", "one typo", *(["two typos"] if len(title) >= 9 else [])]
        kinds += ["inverted"] if person else []
        kinds += ["suffix"] if bodies[topic] > 200 else []
        kind = min(kinds, key=lambda each: (counts[each], each))
        parts.append(words)
        if counts[kind] >= rows:
            continue
        counts[kind] += 1
        made.append(Cell(noisy(title, kind, random), kind, title))
    while counts["unknown"] < rows:
        name = f"{random.choice(parts)[0]} {random.choice(parts)[-1]}"
        if known.find_mention(name) < 0 and not name.startswith("The "):
            counts["unknown"] += 1
            made.append(Cell(name, "unknown", None))
    random.shuffle(made)
    return made


def score(cells: Sequence[Cell], answers: Sequence[str | None]) -> dict[str, float]:
    """Per cent right by kind, and wrong answers of all."""
    found: dict[str, float] = {}
    for kind in KINDS:
        some = [given == cell.title for cell, given in zip(cells, answers, strict=True) if cell.kind == kind]
        found[kind] = round(100 * sum(some) / len(some), 1)
    wrong = [given is not None and given != cell.title for cell, given in zip(cells, answers, strict=True)]
    return found | {"wrong": round(100 * sum(wrong) / len(cells), 1)}


def by_wikilda(linker: Linker, cells: Sequence[Cell]) -> list[str | None]:
    found = linker.match_frame(pa.table({"name": [each.text for each in cells]}), "name")
    return [None if title is None else str(title) for title in found.column("match_title").to_pylist()]


def by_rapidfuzz(known: Knowledge, cells: Sequence[Cell], scorer: str, cutoff: float) -> list[str | None]:
    """The title with the best score; titles are compared in lower case."""
    from rapidfuzz import fuzz, process, utils

    titles = list(known.titles)
    folded = [utils.default_process(each) for each in titles]
    given = [utils.default_process(each.text) for each in cells]
    found: list[str | None] = []
    for at in range(0, len(given), 50):
        matrix = process.cdist(given[at : at + 50], folded, scorer=getattr(fuzz, scorer), dtype=np.uint8, workers=2)
        best = matrix.argmax(axis=1)
        found += [titles[one] if matrix[row, one] >= cutoff else None for row, one in enumerate(best)]
    return found


def by_splink(known: Knowledge, cells: Sequence[Cell], threshold: float = 0.9) -> list[str | None]:
    """Splink, blocked by first letters and words, with Jaro-Winkler levels and expectation maximisation."""
    import pandas as pd
    import splink.comparison_library as cl
    from splink import DuckDBAPI, SettingsCreator, block_on
    from splink import Linker as Splink

    def frame(names: Sequence[str]) -> Any:
        made = pd.DataFrame({"unique_id": range(len(names)), "name": [each.lower() for each in names]})
        made["first_word"] = made["name"].str.split().str[0]
        made["last_word"] = made["name"].str.split().str[-1]
        made["start"] = made["name"].str[:4]
        return made

    titles = list(known.titles)
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[
            cl.JaroWinklerAtThresholds("name", [0.97, 0.92, 0.85]),
            cl.LevenshteinAtThresholds("last_word", [1]),
        ],
        blocking_rules_to_generate_predictions=[block_on("start"), block_on("last_word")],
    )
    database = DuckDBAPI()
    tables = {"cells": frame([each.text for each in cells]), "titles": frame(titles)}
    given = [database.register(made, dataset_display_name=name) for name, made in tables.items()]
    linker = Splink(given, settings, log_level=40)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("start"))
    pairs = linker.inference.predict(threshold_match_probability=0.01).as_pandas_dataframe()
    best: dict[int, tuple[float, int]] = {}
    for left, right, chance in zip(pairs["unique_id_l"], pairs["unique_id_r"], pairs["match_probability"], strict=True):
        if chance > best.get(left, (0.0, 0))[0]:
            best[left] = (chance, right)
    return [titles[best[at][1]] if best.get(at, (0.0, 0))[0] >= threshold else None for at in range(len(cells))]


def speed(linker: Linker, rows: int) -> dict[str, Any]:
    """Rows a second of processor time of a mixed table, with one thread, without the time to make the index."""
    texts = [each.text for each in table(linker.knowledge, rows // len(KINDS), 2)]
    frame = pa.table({"name": texts})
    linker.match_frame(frame.slice(0, 100), "name")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    began = process_time()
    linker.match_frame(frame, "name")
    seconds = process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    each = {"rows": len(texts), "topics": len(linker.knowledge.titles)}
    rate = round(len(texts) / seconds)
    return {
        **each,
        "rows a second a core": rate,
        "GB with the index": round(before, 2),
        "GB at the peak": round(peak, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--rows", type=int, default=100, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--others", action="store_true", help="rapidfuzz and splink, too")
    parser.add_argument("--speed", type=int, default=0, help="rows to measure the speed with")
    parser.add_argument("--save", type=Path, help="write the table as CSV")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    given = parser.parse_args()
    linker = Linker.open(given.model)
    cells = table(linker.knowledge, given.rows, given.seed)
    if given.save:
        with given.save.open("w", newline="") as file:
            csv.writer(file).writerows([("name", "kind", "title"), *cells])
    ways: dict[str, Callable[[], list[str | None]]] = {"wikilda": lambda: by_wikilda(linker, cells)}
    if given.others:
        known = linker.knowledge
        ways["rapidfuzz WRatio ≥ 90"] = lambda: by_rapidfuzz(known, cells, "WRatio", 90)
        ways["rapidfuzz token_sort_ratio ≥ 85"] = lambda: by_rapidfuzz(known, cells, "token_sort_ratio", 85)
        ways["splink ≥ 0.9"] = lambda: by_splink(known, cells)
    rows = []
    for name, way in ways.items():
        began = perf_counter()
        answers = way()
        rows.append({"tool": name, **score(cells, answers), "seconds": round(perf_counter() - began, 1)})
        print(rows[-1], flush=True)
        if given.show and name == "wikilda":
            for cell, answer in zip(cells, answers, strict=True):
                if answer != cell.title:
                    print(f"  {cell.kind:10} {cell.text!r} is {cell.title!r}, answered {answer!r}")
    tables: dict[str, Any] = {"accuracy": rows}
    if given.speed:
        tables["speed"] = [speed(linker, given.speed)]
        print(tables["speed"])
    record.write(f"entities-tables-{given.model.name}", tables)


if __name__ == "__main__":
    main()
