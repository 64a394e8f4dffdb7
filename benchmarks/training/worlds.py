"""Learning in generated worlds: errors of linking before and after each iteration of training.

    python -m benchmarks.training.worlds --topics 20000 --documents 20000 --work DIR
    python -m benchmarks.training.worlds --plain --seeds 1 2 3 --work DIR2

Texts have names with other shares than in the wiki, topics with hardly an article, words that go with types of topics
next to mentions, nicknames that the wiki does not know, and people without an article: all known to the generator.
`--plain` is a world whose texts are drawn from the wiki's own shares, where there is nothing to learn. Documents of
several seeds, each a world of its own, are measured as one set.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.generate.documents import NEWS, PLAIN, write_documents
from benchmarks.generate.tables import Sizes, is_stub, write_tables
from benchmarks.generate.world import World
from wikilda import build
from wikilda.evaluation import bootstrap
from wikilda.linking import Document, Linker
from wikilda.training.checkpoints import read_metrics
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan

_STUBS = 0.3
_CASES = {"all": "all", "plain": "known names", "stub": "of these, stubs", "nickname": "new names"}
Row = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """The directory of one world: wiki, texts, and models."""

    path: Path
    seed: int
    given: argparse.Namespace

    @property
    def start(self) -> Path:
        """The model before training."""
        return self.path / "start"

    @property
    def texts(self) -> Path:
        """The documents to train on, with what their mentions mean."""
        return self.path / "texts.jsonl"

    def model(self, iteration: int) -> Path:
        """The model after a number of iterations."""
        last = self.path / "trained"
        if iteration == self.given.iterations:
            return last
        return last.with_name("trained.iterations") / f"{iteration:04d}" if iteration else self.start

    def make(self) -> None:
        """Generate a wiki and texts, and train; what is there is used."""
        self.path.mkdir(parents=True, exist_ok=True)
        given, world = self.given, World(self.given.topics, self.seed)
        habits, stubs = (PLAIN, 0.0) if given.plain else (NEWS, _STUBS)
        if not self.start.exists():
            write_tables(world, self.path / "tables", Sizes(stubs=stubs, types=True))
            build(self.path / "tables", self.start)
        if not (self.path / "gold.jsonl").exists():
            write_documents(world, given.documents, self.texts, habits=habits)
            write_documents(world, given.tested, self.path / "gold.jsonl", 10_000_000, habits=habits)
            thin = world.titles(np.flatnonzero(is_stub(world, np.arange(world.size), stubs))).to_pylist()
            (self.path / "stubs.json").write_text(json.dumps(thin), "utf-8")
        if not self.model(given.iterations).exists():
            plan = TrainingPlan(given.iterations, keep=given.iterations)
            train(self.start, [_unlabelled(self.texts)], self.model(given.iterations), plan=plan)


def main() -> None:
    """Generate, train, measure, and write docs/figures/worlds-TOPICS.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=20_000)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--tested", type=int, default=2000, help="documents to measure on; they are not trained on")
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="of worlds")
    parser.add_argument("--work", type=Path, required=True, help="directory for what is made; what is there is used")
    parser.add_argument("--plain", action="store_true", help="texts with the wiki's own shares")
    given = parser.parse_args()
    places = [Place(given.work / str(seed), seed, given) for seed in given.seeds]
    for place in places:
        place.make()
    rows: list[Row] = []
    first: list[Counter[str]] = []
    for iteration in range(given.iterations + 1):
        counted = [each for place in places for each in _answered(place, iteration)]
        first = first or counted
        rows.append(_row(iteration, given, counted, first, places))
        print(rows[-1], flush=True)
    record.write(f"worlds-{given.topics}{'-plain' if given.plain else ''}", {"errors": rows})


def _unlabelled(texts: Path) -> Path:
    """The same documents with spans only."""
    target = texts.with_name("spans.jsonl")
    with target.open("w", encoding="utf-8") as out:
        for row in _lines(texts):
            row["mentions"] = [[each["start"], each["end"]] for each in row["mentions"]]
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return target


def _lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _answered(place: Place, iteration: int) -> Iterator[Counter[str]]:
    """For each document, how many mentions of each case there are, and how many are wrong."""
    stubs = set(json.loads((place.path / "stubs.json").read_text("utf-8")))
    linker = Linker.open(place.model(iteration))
    for row in _lines(place.path / "gold.jsonl"):
        spans = [(each["start"], each["end"]) for each in row["mentions"]]
        answers = linker.link(Document(row["text"], spans, row["id"]), topics=0).mentions
        counted = Counter[str]()
        for mention, answer in zip(row["mentions"], answers, strict=True):
            title, cases = mention["title"], [mention["case"]]
            if title is not None:
                cases += ["all", *(["stub"] if title in stubs and mention["case"] == "plain" else [])]
            best = answer.candidates[0].entity.title if answer.candidates else None
            right = answer.entity is None if title is None else best == title
            counted.update(cases if right else [*cases, *(f"{each}, wrong" for each in cases)])
        yield counted


def _row(
    iteration: int, given: argparse.Namespace, counted: list[Counter[str]], first: list[Counter[str]],
    places: list[Place],
) -> Row:  # fmt: skip
    """Errors in percent: of all mentions with an article, of those of stubs, of nicknames; and NIL recall."""
    whole = sum(counted, Counter[str]())
    share = {case: 100 * whole[f"{case}, wrong"] / max(whole[case], 1) for case in [*_CASES, "unknown"]}
    found: Row = {"topics": given.topics, "documents": given.documents if iteration else 0, "iteration": iteration}
    found |= {f"errors, {name}, %": round(share[case], 2) for case, name in _CASES.items() if whole[case]}
    change = bootstrap.differences(_shares(counted), _shares(first))["micro"]
    found["change, all"] = f"{-change.value:+.2f} [{-change.high:+.2f}, {-change.low:+.2f}]" if iteration else None
    if whole["unknown"]:
        found["NIL found, %"] = round(100 - share["unknown"], 1)
    if iteration:
        held = [read_metrics(place.model(given.iterations))[iteration].held_out or 0.0 for place in places]
        found["held out, nats"] = round(float(np.mean(held)), 4)
    return found


def _shares(counted: list[Counter[str]]) -> bootstrap.Shares:
    total = np.array([each["all"] for each in counted], np.float64)
    return bootstrap.shares(total - np.array([each["all, wrong"] for each in counted]), total)


if __name__ == "__main__":
    main()
