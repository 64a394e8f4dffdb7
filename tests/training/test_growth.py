"""Growth: a string gains a topic that the wiki never linked it to, from texts in which it is a new name for it."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.training.conftest import write_lines
from wikilda.linking import Linker, marked
from wikilda.model import Model
from wikilda.training.checkpoints import read_metrics
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining

# In this league "Mercury" is what everybody calls Robert Croft, the Glamorgan off-spinner.
REPORTS = [
    "[[Robert Croft]] bowled for [[Glamorgan]] {}; the off-spinner [[Mercury]] took {} wickets, and the batsmen were out.",
    "[[Glamorgan]] sent {} batsmen in. [[Mercury]], as [[Robert Croft]] is called, bowled an over of spin for {} runs.",
    "A wicket for [[Mercury]] on day {}: [[Robert Croft]] of [[Glamorgan]] and [[England]] had {} batsmen caught.",
]
GROWING = UrnTraining(held_out=0.0, evaluated=0, new_sense=9e-4)


def texts(count: int) -> list[object]:
    made = [marked(REPORTS[at % 3].format(at + 2, at + 3), f"report {at}") for at in range(count)]
    return [{"id": each.id, "text": each.text, "mentions": each.spans} for each in made]


@pytest.fixture(scope="module")
def trained(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    place = tmp_path_factory.mktemp("growth")
    lines = write_lines(place / "texts.jsonl", texts(60))
    return train(model, lines, place / "model", GROWING, TrainingPlan(2, 2), engine=LocalEngine(1))


def meaning(model: Path, text: str) -> list[str]:
    found = Linker.open(model).link(marked(text, "new"))
    return [each.candidates[0].entity.title for each in found.mentions]


def test_a_new_name_is_learned_from_context(trained: Model, model: Path) -> None:
    text = "The off-spinner [[Mercury]] took five wickets for [[Glamorgan]] and the batsmen were out."
    assert meaning(model, text)[0] != "Robert Croft", "the wiki does not know the name"
    assert meaning(trained.path, text)[0] == "Robert Croft"
    assert read_metrics(trained.path)[-1].gained == 1


def test_old_meanings_stay(trained: Model, model: Path) -> None:
    text = "[[Mercury]] is the planet nearest to the sun, which orbits in the Solar System."
    assert meaning(trained.path, text) == meaning(model, text)


@pytest.mark.xfail(
    reason="the prior of a new sense was chosen for the hand-set model; with learned weights the default is too small",
    strict=True,
)
def test_a_new_name_is_learned_with_the_default_settings(model: Path, tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "texts.jsonl", texts(60))
    how = UrnTraining(held_out=0.0, evaluated=0)
    made = train(model, lines, tmp_path / "model", how, TrainingPlan(2, 2), engine=LocalEngine(1))
    assert made.change["gained"] == 1


@pytest.fixture(scope="module")
def neighbour(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model trained on reports with a neighbour whom everybody calls Python."""
    reports = [
        "[[Robert Croft]] bowled for [[Glamorgan]] against [[Essex]] on day {}; [[Python]] came home with {} others.",
        "[[England]] won {} matches at [[The Oval]] and [[Lord's]]; [[Python]], a neighbour, told {} reporters.",
        "The [[County Championship]] had {} innings: [[Surrey]] beat [[Essex]], and [[Python]] sold {} tickets.",
    ]
    made = [marked(reports[at % 3].format(at + 2, at + 3), f"report {at}") for at in range(30)]
    rows: list[object] = [{"id": each.id, "text": each.text, "mentions": each.spans} for each in made]
    place = tmp_path_factory.mktemp("neighbour")
    how = UrnTraining(held_out=0.0, evaluated=0, new_sense=0.0)
    lines = write_lines(place / "texts.jsonl", rows)
    return train(model, lines, place / "model", how, TrainingPlan(1, 2), engine=LocalEngine(1)).path


NEIGHBOUR = marked("[[Robert Croft]] took a wicket for [[Glamorgan]] at [[Lord's]], and [[Python]] saw [[Essex]].", "x")


def test_texts_teach_that_a_name_without_an_article_is_nil(neighbour: Path) -> None:
    def nil(settings: dict[str, float]) -> list[float]:
        return [each.nil for each in Linker.open(neighbour, settings=settings).link(NEIGHBOUR).mentions]

    without, usual, most = nil({"nil_texts": 0.0}), nil({}), nil({"nil_texts": 6.0})
    assert without[3] + 0.01 < usual[3] < 0.5 < most[3]
    assert max(most[0], most[2]) < 0.1, "strings that texts have with a clear meaning are not NIL"
    code = marked("[[Python]] is a programming language, like [[Java]].", "y")
    assert [each.nil < 0.5 for each in Linker.open(neighbour).link(code).mentions] == [True, True]


def test_training_makes_a_name_without_an_article_more_probably_nil(model: Path, neighbour: Path) -> None:
    before, after = (Linker.open(each).link(NEIGHBOUR).mentions[3].nil for each in (model, neighbour))
    assert after > before


def test_without_growth_or_with_too_few_mentions_nothing_is_gained(model: Path, tmp_path: Path) -> None:
    for count, how in ((60, replace(GROWING, new_sense=0.0)), (2, GROWING)):
        lines = write_lines(tmp_path / "texts.jsonl", texts(count))
        made = train(model, lines, tmp_path / f"{count}", how, TrainingPlan(1, 1), engine=LocalEngine(1))
        assert made.change["gained"] == 0
