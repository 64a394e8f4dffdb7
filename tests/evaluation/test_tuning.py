"""The greedy search: its space, its record, and a small one that really runs."""

import json
import shutil
from pathlib import Path

import pytest

from tests.test_cli import run
from wikilda._core.errors import InputError, SettingsError
from wikilda.cli.tune import _options
from wikilda.evaluation import tuning as searching
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.tuning import Axis, Record, Search, Task, measure, read_space
from wikilda.model import Model, ModelSettings
from wikilda.urn import UrnSettings


def start() -> dict[str, dict[str, object]]:
    return {"urn": UrnSettings().to_mapping(), "model": ModelSettings().to_mapping()}


def test_space(tmp_path: Path) -> None:
    file = tmp_path / "space.toml"
    file.write_text("[urn]\nword_weight = [1, 0.5]\nsweeps = [20, 30]\n[model]\nalpha = [1e-4]")
    assert read_space(file) == [
        Axis("urn", "word_weight", [1.0, 0.5]),
        Axis("urn", "sweeps", [20, 30]),
        Axis("model", "alpha", [1e-4]),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[urn]\nsweep = [1]", "no setting sweep"),
        ("[urn]\nsweeps = [1.5]", "not of type int"),
        ("[urn]\nsweeps = 10", "list of values"),
        ("[model]\nasymmetric = [1]", "not of type bool"),
        ("[lda]\nsweeps = [1]", "'lda'"),
        ("sweeps", "not valid TOML"),
        ("", "no settings"),
    ],
)
def test_space_that_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "space.toml"
    file.write_text(text)
    with pytest.raises(SettingsError, match=message):
        read_space(file)


def test_record(tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    record = Record(file, {"model": "m"})
    record.add({"a": 1, "b": 2}, {"objective": 3.0})
    again = Record(file, {"model": "m"})
    assert again.find({"b": 2, "a": 1}) == {"objective": 3.0}
    assert again.find({"a": 1}) is None
    with pytest.raises(InputError, match="another model"):
        Record(file, {"model": "other"})
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"settings": {"a": ')  # stopped while writing
    Record(file, {"model": "m"}).add({"a": 5}, {"objective": 1.0})
    assert Record(file, {"model": "m"}).find({"a": 5}) == {"objective": 1.0}
    file.write_bytes(whole + b"{\n" + whole)
    with pytest.raises(InputError, match="line 3"):
        Record(file, {"model": "m"})


class Pretended:
    """Counts trials; the objective is known: best at words 0.5 and, given that, α 0.1."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, _task: Task, point: dict[str, dict[str, float]]) -> dict[str, float]:
        self.made += 1
        words, alpha = point["urn"]["word_weight"], point["model"]["alpha"]
        return {"objective": -abs(words - 0.5) - abs(alpha - 0.2 * words)}


def test_greedy_search_finds_the_top_and_goes_on_from_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretended = Pretended()
    monkeypatch.setattr(searching, "measure", pretended)
    space = [Axis("model", "alpha", [0.1, 0.2]), Axis("urn", "word_weight", [0.5, 2.0, -1.0])]
    file, task = tmp_path / "record.jsonl", Task(tmp_path, tmp_path, [], tmp_path / "scratch")
    task.scratch.mkdir()
    search = Search(task, space, start(), Record(file, {}), 1)  # type: ignore[arg-type]
    steps = list(search.steps(5))
    assert search.point["urn"]["word_weight"] == 0.5
    assert search.point["model"]["alpha"] == 0.1
    assert search.objective == pytest.approx(0)
    assert dict(steps[1].tried)[-1.0] is None  # refused by the settings themselves
    made = pretended.made
    assert made == len(file.read_text().splitlines()) - 1
    again = Search(task, space, start(), Record(file, {}), 1)  # type: ignore[arg-type]
    assert list(again.steps(5)) == steps
    assert pretended.made == made


def test_a_grid_finds_what_is_good_together_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ridge(_task: Task, point: dict[str, dict[str, float]]) -> dict[str, float]:
        words, alpha = point["urn"]["word_weight"], point["model"]["alpha"]
        return {"objective": float(words == 5.0 and alpha == 0.5) - 0.1 * (words == 5.0) - 0.1 * (alpha == 0.5)}

    monkeypatch.setattr(searching, "measure", ridge)
    space = [Axis("model", "alpha", [0.001, 0.5]), Axis("urn", "word_weight", [30.0, 5.0, -1.0])]
    task = Task(tmp_path, tmp_path, [], tmp_path / "scratch")
    task.scratch.mkdir()
    greedy, grid = (Search(task, space, start(), Record(tmp_path / name, {}), 1) for name in "ab")  # type: ignore[arg-type]
    assert list(greedy.steps(3))
    assert greedy.objective == 0
    steps = list(grid.grid())
    assert grid.objective == pytest.approx(0.8)
    assert (grid.point["model"]["alpha"], grid.point["urn"]["word_weight"]) == (0.5, 5.0)
    assert dict(steps[1].tried) == {30.0: 0.0, 5.0: pytest.approx(0.8), -1.0: None}


def test_models_with_other_settings(model: Model, gold_file: Path, tmp_path: Path) -> None:
    task = Task(model.path, model.knowledge().path, read_dataset(gold_file), tmp_path)
    same, other = start(), start()
    other["model"]["mass_mentions"] = 1.0
    first = measure(task, same)
    assert list(tmp_path.iterdir()) == []
    second = measure(task, other)
    assert first["objective"] > 0
    assert len(list(tmp_path.iterdir())) == 1
    assert measure(task, other)["objective"] == second["objective"]


def test_a_trained_model_keeps_its_parameters(model: Model, gold_file: Path, tmp_path: Path) -> None:
    trained, scratch = tmp_path / "trained", tmp_path / "scratch"
    shutil.copytree(model.path, trained)
    scratch.mkdir()
    manifest = json.loads((trained / "manifest.json").read_text("utf-8"))
    (trained / "manifest.json").write_text(json.dumps({**manifest, "iteration": 1}), "utf-8")
    task = Task(trained, model.knowledge().path, read_dataset(gold_file), scratch)
    priors, masses = start(), start()
    priors["model"]["beta_words"] = 1e-2
    assert measure(task, priors)["objective"] > 0
    masses["model"]["mass_words"] = 1.0
    with pytest.raises(SettingsError, match="mass_words"):
        measure(task, masses)


def test_what_is_better_is_said_as_options() -> None:
    before = {"words": 30.0, "asymmetric": True, "burn_in": 15}
    assert _options(before, {**before, "words": 20.0, "asymmetric": False}) == "--words 20.0 --no-asymmetric"
    assert _options(before, before) == ""


def test_the_command_searches_and_refuses_test_data(model: Model, gold_file: Path, tmp_path: Path) -> None:
    space, record = tmp_path / "space.toml", tmp_path / "record.jsonl"
    space.write_text("[urn]\nsweeps = [5, 30]\nburn_in = [0]\n")
    arguments = ("tune", model.path, gold_file, "--search", space, "--record", record, "--workers", 1, "--rounds", 1)
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "urn.sweeps: 100 " in out
    assert "5 refused" in out  # burn-in is 20 then
    assert "objective" in out
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert len(rows) == 4
    test = tmp_path / "test.jsonl"
    test.write_text(gold_file.read_text("utf-8").replace('"dev"', '"test"'), "utf-8")
    code, _, err = run("tune", model.path, test, "--search", space, "--record", tmp_path / "other.jsonl")
    assert code == 1
    assert "--even-test" in err
    assert not (tmp_path / "other.jsonl").exists()
