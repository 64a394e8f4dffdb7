"""Training in generated worlds: it helps where texts differ from the wiki, and does no great harm where they do not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.generate.documents import NEWS, PLAIN, Habits, documents
from benchmarks.generate.tables import Sizes, write_tables
from benchmarks.generate.world import World
from numpy.typing import NDArray

from wikilda import Document, Linker, build
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining

Flags = NDArray[np.bool_]


def trained(place: Path, habits: Habits, stubs: float) -> Path:
    """A directory with a wiki's model before and after one iteration on texts, and documents to measure on."""
    world, texts = World(2000), place / "texts.jsonl"
    write_tables(world, place / "tables", Sizes(stubs=stubs, types=True))
    build(place / "tables", place / "before")
    rows = [{**each, "mentions": spans(each)} for each in documents(world, 0, 500, habits)]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    settings = UrnTraining(held_out=0.0, evaluated=0)
    train(place / "before", [texts], place / "after", settings, TrainingPlan(1, 1), engine=LocalEngine(1))
    (place / "gold.json").write_text(json.dumps(documents(world, 10_000_000, 300, habits)), "utf-8")
    return place


def spans(document: dict[str, Any]) -> list[tuple[int, int]]:
    return [(each["start"], each["end"]) for each in document["mentions"]]


def wrong(place: Path, model: str, settings: dict[str, float] | None = None) -> Flags:
    """Which of the mentions that have an article are linked to another."""
    linker, flags = Linker.open(place / model, settings=settings), []
    for each in json.loads((place / "gold.json").read_text("utf-8")):
        answers = linker.link(Document(each["text"], spans(each), each["id"]), topics=0).mentions
        for mention, answer in zip(each["mentions"], answers, strict=True):
            if mention["title"] is not None:
                flags.append(not answer.candidates or answer.candidates[0].entity.title != mention["title"])
    return np.array(flags)


def more_errors(before: Flags, after: Flags) -> float:
    """By how many standard errors of the paired difference there are more errors after than before."""
    return (after.sum() - before.sum()) / max(np.sqrt((after != before).sum()), 1.0)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("plain"), PLAIN, 0.0)


def test_where_texts_follow_the_wiki_training_does_no_great_harm(plain: Path) -> None:
    before = wrong(plain, "before")
    assert more_errors(before, wrong(plain, "after")) < 2
    assert more_errors(before, wrong(plain, "after", {"context": 5.0})) > 2, "harm would be seen"


def test_where_texts_differ_from_the_wiki_errors_fall(tmp_path: Path) -> None:
    place = trained(tmp_path, NEWS, 0.3)
    assert more_errors(wrong(place, "before"), wrong(place, "after")) < -2
