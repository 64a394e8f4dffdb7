"""Settings without labels, adaptive steps, and corpora that teach nothing."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.test_cli import run
from tests.training.conftest import write_lines
from tests.training.test_learn import DOCUMENTS, QUICK, SHORT
from wikilda._core.errors import InputError
from wikilda.linking import Linker
from wikilda.model.model import MENTIONS
from wikilda.training.checkpoints import Metrics, advice, read_metrics
from wikilda.training.choose import Chooser, Trial
from wikilda.training.engines.local import LocalEngine
from wikilda.training.interpolate import Run, run_of_pairs
from wikilda.training.learn import learned, rate_of
from wikilda.training.pipeline import Plan, train
from wikilda.urn.statistics import UNIT

WELSH = "Roedd y tywydd yn braf ac aeth pawb i lan y môr gyda'r plant a'r cŵn."


def _texts(place: Path, some: int = len(DOCUMENTS)) -> Path:
    rows = [{"id": each.id, "text": each.text, "mentions": each.spans} for each in DOCUMENTS[:some]]
    return write_lines(place / "texts.jsonl", rows)


def test_settings_are_chosen_by_held_out_likelihood(model: Path, tmp_path: Path) -> None:
    how = replace(QUICK, held_out=0.3, evaluated=5)
    space = {"prior_weight": [0.3, 1.0], "new_sense": [0.0]}
    chooser = Chooser(model, [_texts(tmp_path)], settings=how, space=space)
    trials = list(chooser.trials())
    assert [(each.name, each.value) for each in trials] == [("", None), ("prior_weight", 0.3), ("new_sense", 0.0)]
    assert chooser.best.gain == max(each.gain for each in trials)
    changed = {each.name: each.value for each in trials if each is chooser.best and each.name}
    assert all(getattr(chooser.settings, name) == value for name, value in changed.items())
    with pytest.raises(InputError, match="no document is left"):
        list(Chooser(model, [_texts(tmp_path)], [_texts(tmp_path)], how).trials())


def test_a_verdict_is_frank() -> None:
    assert Trial("", None, 0.3, 0.01, 50).verdict.startswith("these texts help")
    assert Trial("", None, 0.007, 0.001, 50).verdict.startswith("these texts hardly help")
    assert Trial("", None, 0.01, 0.02, 50).verdict.startswith("these texts do not help")
    assert "too few" in Trial("", None, 0.3, 0.0, 1).verdict


def test_the_command_chooses(model: Path, tmp_path: Path) -> None:
    texts = _texts(tmp_path)
    like = write_lines(tmp_path / "like.jsonl", [{"text": "Croft bowled to England at The Oval."}])
    code, out, err = run("tune", model, texts, "--likelihood", "--for", like, "--workers=1")
    assert (code, err) == (0, "")
    assert "too few held-out documents" in out
    assert "wikilda train MODEL TEXTS --prior-weight" in out
    code, _, err = run("tune", model, texts, "--for", like)
    assert (code, "--likelihood" in err) == (1, True)
    code, _, err = run("tune", model, texts)
    assert (code, "--record" in err) == (1, True)


def _run(*counts: int) -> dict[str, list[Run]]:
    topics = np.arange(len(counts), dtype=np.uint32)
    return {MENTIONS: [run_of_pairs(np.full(len(counts), 3), topics, UNIT * np.array(counts))]}


def test_an_adaptive_step_is_that_of_the_formula(tmp_path: Path) -> None:
    """Means over a window; steps that are noise after a first one make ρ small."""
    learned(tmp_path / "1", None, _run(100, 40), None)
    assert rate_of(tmp_path / "1") == 1.0
    second = learned(tmp_path / "2", tmp_path / "1", _run(110, 36), None)
    mean, square = np.array([55.0, 18.0]), (100**2 + 40**2 + 10**2 + 4**2) / 2
    rate = (mean @ mean) / square
    assert rate_of(tmp_path / "2") == pytest.approx(rate)
    assert second[MENTIONS].sweeps / UNIT == pytest.approx([100 + 10 * rate, 40 - 4 * rate], abs=1e-3)
    learned(tmp_path / "3", tmp_path / "2", _run(98, 41), None)
    assert (rate_of(tmp_path / "3") or 1.0) < rate


def test_an_adaptive_training(model: Path, tmp_path: Path) -> None:
    how = replace(QUICK, adaptive=True, evaluated=0)
    made = train(model, _texts(tmp_path), tmp_path / "m", how, Plan(3, 1), engine=LocalEngine(1))
    rates = [row.rho for row in read_metrics(made.path)][1:]
    assert rates[0] == 1.0
    assert 0 < rates[2] < rates[1] < 1  # type: ignore[operator]


def _answers(model: Path) -> list[list[str]]:
    linker = Linker.open(model, settings=SHORT)
    return [[each.entity.title for each in linker.link(document).mentions if each.entity] for document in DOCUMENTS]


@pytest.mark.parametrize("kind", ["one document", "another language", "copies"])
def test_texts_that_teach_nothing_do_no_damage(model: Path, tmp_path: Path, kind: str) -> None:
    texts = {
        "one document": [DOCUMENTS[0].text],
        "another language": [f"{WELSH} {number}" for number in range(30)],
        "copies": [DOCUMENTS[1].text] * 40,
    }[kind]
    source = write_lines(tmp_path / "few.jsonl", [{"id": str(at), "text": text} for at, text in enumerate(texts)])
    code, _, err = run(
        "train", model, source, "-o", tmp_path / "m", "--workers=1", "--held-out=0", "--sweeps=8", "--burn-in=2"
    )
    assert code == 0
    assert "too few" in err or "hardly help" in err
    assert _answers(tmp_path / "m") == _answers(model)


def test_no_text_at_all_is_refused(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "none.jsonl"
    source.write_text("", "utf-8")
    code, _, err = run("train", model, source, "-o", tmp_path / "m")
    assert code == 1
    assert "none.jsonl" in err
    assert not (tmp_path / "m").exists()


def test_advice() -> None:
    def rows(*told: float, documents: int = 100) -> list[Metrics]:
        return [
            Metrics(at, None, each, 1, documents=documents if at else 0, tokens=9000) for at, each in enumerate(told)
        ]

    assert advice(rows(0.0, 0.2)) == []
    assert "has fallen" in advice(rows(0.0, 0.2, 0.1))[0]
    assert "hardly help" in advice(rows(0.0, 0.005))[0]
    assert "too few" in advice(rows(0.0, 0.5, documents=3))[0]
    assert advice([]) == []
