"""The sample wiki is what the demo and every other command count on."""

from pathlib import Path

import pytest

from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.sample import MODEL, SETTINGS, WIKI, texts
from wikilda.training.build import build


def senses(known: Knowledge, mention: str) -> dict[str, int]:
    topics, counts = known.mentions.row(known.find_mention(mention))
    return {known.titles[topic]: int(count) for topic, count in zip(topics, counts, strict=True)}


def test_it_is_large_enough_and_in_order(sample: Knowledge) -> None:
    summary = sample.manifest["summary"]
    assert summary["topics"] >= 200
    assert summary["disambiguation pages"] >= 15
    assert summary["redirects to topics"] >= 80
    assert summary["redirects in circles"] == 2  # on purpose
    assert sample.manifest["complaints"] == []


def test_the_heroine_has_the_higher_prior(sample: Knowledge) -> None:
    crofts = senses(sample, "Croft")
    assert crofts["Lara Croft"] > crofts["Robert Croft"] > crofts["Colin Croft"] > 0


@pytest.mark.parametrize(
    "name",
    [
        "Bush",
        "Jordan",
        "Michael Jordan",
        "Washington",
        "Wigan",
        "Pakistan",
        "JFK",
        "Apple",
        "Java",
        "Mercury",
        "Georgia",
        "Paris",
    ],
)
def test_names_are_ambiguous(sample: Knowledge, name: str) -> None:
    assert sum(count >= 2 for count in senses(sample, name).values()) >= 2


def test_every_mention_of_the_texts_may_mean_what_it_means(sample: Knowledge) -> None:
    for document in texts():
        for mention in document["mentions"]:
            surface = document["text"][mention["start"] : mention["end"]]
            assert mention["title"] in senses(sample, surface), (document["id"], surface)


def test_the_sample_speaks_only_of_its_own_wiki() -> None:
    assert "Wikilda Sample" in Path(WIKI).read_text("utf-8")[:600]


def test_the_model_that_ships_is_the_one_that_would_be_built(sample: Knowledge, tmp_path: Path) -> None:
    built = build(WIKI, tmp_path / "sample", settings=SETTINGS, workers=1)
    assert Model.open(MODEL).identity == built.identity, "run: python -m wikilda.sample"
    assert Knowledge.open(MODEL).identity == sample.identity
