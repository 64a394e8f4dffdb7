"""Where everything that texts mention has an article, hardly anything is NIL."""

from pathlib import Path

import pytest
from benchmarks.generate.documents import documents
from benchmarks.generate.tables import Sizes, write_tables
from benchmarks.generate.world import World

from wikilda import Document, Linker, build

MOST = 0.03  # it is 0.02


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path]:
    directory, world = tmp_path_factory.mktemp("nil"), World(10_000)
    write_tables(world, directory / "tables", Sizes(stubs=0.0, types=True))
    build(directory / "tables", directory / "model")
    return world, directory / "model"


def test_known_mentions_are_hardly_ever_nil(world: tuple[World, Path]) -> None:
    linker, answers = Linker.open(world[1]), []
    for each in documents(world[0], 10_000_000, 60):
        gold = [mention["title"] for mention in each["mentions"]]
        spans = [(mention["start"], mention["end"]) for mention in each["mentions"]]
        linked = linker.link(Document(each["text"], spans, str(each["id"])), topics=0)
        answers += zip(linked.mentions, gold, strict=True)
    assert len(answers) > 500
    assert sum(mention.entity is None for mention, _ in answers) < MOST * len(answers)
    assert sum(mention.entity is not None and mention.entity.title == title for mention, title in answers) > (
        0.95 * len(answers)
    )
