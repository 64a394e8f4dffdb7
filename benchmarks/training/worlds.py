"""Learning in a generated world whose texts differ from its wiki: errors of linking before and after each iteration.

    python -m benchmarks.training.worlds --topics 20000 --documents 20000 --work DIR

Texts have names with other shares than in the wiki, topics with hardly an article, words that go with types of topics
next to mentions, nicknames that the wiki does not know, and people without an article: all known to the generator.
`--plain` is a world whose texts are drawn from the wiki's own shares, where there is nothing to learn.
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.generate.documents import NEWS, PLAIN, write_documents
from benchmarks.generate.tables import Sizes, is_stub, write_tables
from benchmarks.generate.world import World
from wikilda import build
from wikilda.linking import Document, Linker
from wikilda.linking.results import is_nil
from wikilda.training.checkpoints import read_metrics
from wikilda.training.pipeline import Plan, train

_STUBS = 0.3
Row = dict[str, Any]


def main() -> None:
    """Generate, train, measure, and write docs/figures/worlds-TOPICS.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=20_000)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--tested", type=int, default=500, help="documents to measure on; they are not trained on")
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--work", type=Path, required=True, help="directory for what is made; what is there is used")
    parser.add_argument("--plain", action="store_true", help="texts with the wiki's own shares")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    world = World(given.topics)
    habits = PLAIN if given.plain else NEWS
    start, texts, gold = given.work / "start", given.work / "texts.jsonl", given.work / "gold.jsonl"
    if not start.exists():
        stubs = 0.0 if given.plain else _STUBS
        write_tables(world, given.work / "tables", Sizes(stubs=stubs, types=True))
        build(given.work / "tables", start)
    if not texts.exists():
        write_documents(world, given.documents, texts, habits=habits)
        write_documents(world, given.tested, gold, 10_000_000, habits=habits)
    trained = given.work / "trained"
    if not trained.exists():
        train(start, [_unlabelled(texts)], trained, plan=Plan(given.iterations, keep=given.iterations))
    rows = [_row(0, start, gold, world, given)]
    for each in read_metrics(trained)[1:]:
        place = trained if each.iteration == given.iterations else _earlier(trained, each.iteration)
        rows.append(_row(each.iteration, place, gold, world, given) | {"gained": each.gained})
        rows[-1]["held out, nats"] = round(each.held_out or 0.0, 4)
    name = f"worlds-{given.topics}{'-plain' if given.plain else ''}"
    record.write(name, {"errors": rows})


def _earlier(trained: Path, iteration: int) -> Path:
    return trained.with_name(f"{trained.name}.iterations") / f"{iteration:04d}"


def _unlabelled(texts: Path) -> Path:
    """The same documents with spans alone."""
    target = texts.with_name("spans.jsonl")
    with texts.open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as out:
        for line in lines:
            row = json.loads(line)
            row["mentions"] = [[each["start"], each["end"]] for each in row["mentions"]]
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    return target


def _row(iteration: int, model: Path, gold: Path, world: World, given: argparse.Namespace) -> Row:
    """Errors in percent: of all mentions with an article, of those of stubs, of nicknames; and NIL recall."""
    stubs = set(world.titles(np.flatnonzero(is_stub(world, np.arange(world.size), _STUBS))).to_pylist())
    linker, seen, wrong = Linker.open(model), Counter[str](), Counter[str]()
    for line in gold.open(encoding="utf-8"):
        row = json.loads(line)
        spans = [(each["start"], each["end"]) for each in row["mentions"]]
        answers = linker.link(Document(row["text"], spans, row["id"]), topics=0).mentions
        for mention, answer in zip(row["mentions"], answers, strict=True):
            kinds = [mention["case"]]
            if mention["title"] is not None:
                kinds += ["all", *(["stub"] if mention["title"] in stubs and mention["case"] == "plain" else [])]
            best = answer.candidates[0].entity.title if answer.candidates else None
            right = is_nil(answer.nil) if mention["title"] is None else best == mention["title"]
            seen.update(kinds)
            wrong.update(kinds if not right else [])
    names = {"all": "all", "plain": "known names", "stub": "of these, stubs", "nickname": "new names"}
    found: Row = {"topics": given.topics, "documents": given.documents if iteration else 0, "iteration": iteration}
    found |= {f"errors, {text}, %": round(100 * wrong[name] / max(seen[name], 1), 2) for name, text in names.items()}
    found["NIL found, %"] = (
        round(100 - 100 * wrong["unknown"] / max(seen["unknown"], 1), 1) if seen["unknown"] else None
    )
    print(found, dict(seen), flush=True)
    return found


if __name__ == "__main__":
    main()
