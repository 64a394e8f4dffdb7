"""Texts teach how often a name means nothing that the wiki has."""

from pathlib import Path

import pytest

from tests.training.conftest import write_lines
from wikilda.linking import Linker, marked
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining


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
    how = UrnTraining(held_out=0.0, evaluated=0)
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
