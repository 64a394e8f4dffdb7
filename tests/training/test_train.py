"""Training: the same model for any number of workers, however often it is interrupted."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.processes import Stopping, elsewhere, is_gone, run_while_filling, small_disk
from tests.training.conftest import QUICK
from wikilda._core.errors import ArtifactError, InputError, SettingsError, WikildaError
from wikilda._core.jit import DISABLED
from wikilda.linking import Linker, marked
from wikilda.model import Model
from wikilda.model.model import MENTIONS, WORDS
from wikilda.training import checkpoints, methods, pipeline
from wikilda.training.checkpoints import FILE, read_metrics
from wikilda.training.engines import local
from wikilda.training.engines.base import Job
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import PRESETS, LdaTraining, TrainingPlan

PLAN = TrainingPlan(iterations=2, shards=7)


@pytest.fixture(scope="session")
def whole(model: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The model that comes out when nothing happens."""
    return train(model, corpus, tmp_path_factory.mktemp("whole") / "model", QUICK, PLAN, engine=LocalEngine(1))


def test_training_makes_documents_likelier(whole: Model) -> None:
    rows = read_metrics(whole.path)
    assert [row.iteration for row in rows] == [0, 1, 2]
    assert whole.iteration == 2
    assert rows[2].held_out is not None
    assert rows[0].held_out is not None
    assert rows[2].held_out > rows[0].held_out
    assert rows[2].train is not None
    assert rows[2].parameters == len(whole.words.topics) + len(whole.mentions.topics)
    assert 0 < rows[2].changed < rows[1].changed < 1  # type: ignore[operator]
    assert not whole.path.with_name("model.training").exists()


def test_the_result_links(whole: Model) -> None:
    document = marked("[[Croft]] took five wickets for [[England]] at [[Lord's]].")
    assert Linker.open(whole.path, method="lda").link(document).mentions[0].entity is not None
    with pytest.raises(SettingsError, match="was trained for the method lda"):
        Linker.open(whole.path)


def test_two_workers_give_the_same_model(whole: Model, model: Path, corpus: Path, tmp_path: Path) -> None:
    engine = LocalEngine(2)
    try:
        made = train(model, corpus, tmp_path / "two", QUICK, PLAN, engine=engine)
    finally:
        engine.close()
    assert made.identity == whole.identity
    mine, theirs = read_metrics(made.path), read_metrics(whole.path)
    for name in ("train", "held_out", "changed", "gained", "dropped"):
        assert [getattr(row, name) for row in mine] == [getattr(row, name) for row in theirs]


def test_other_shards_or_seeds_give_other_models(whole: Model, model: Path, corpus: Path, tmp_path: Path) -> None:
    one = train(model, corpus, tmp_path / "a", QUICK, TrainingPlan(2, 3), engine=LocalEngine(1))
    two = train(model, corpus, tmp_path / "b", replace(QUICK, seed=2), PLAN, engine=LocalEngine(1))
    assert len({one.identity, two.identity, whole.identity}) == 3


def test_sums_of_groups_change_nothing(
    whole: Model, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "_LEAST_GROUP", 2)  # with 7 shards, groups of 3, 3 and 1
    sums = Stopping(monkeypatch, checkpoints, "write_sum", -1)
    assert train(model, corpus, tmp_path / "m", QUICK, PLAN, engine=LocalEngine(1)).identity == whole.identity
    assert sums.count == PLAN.iterations * 2 * len((WORDS, MENTIONS))


def test_one_iteration_twice_is_two(whole: Model, model: Path, corpus: Path, tmp_path: Path) -> None:
    first = train(model, corpus, tmp_path / "first", QUICK, TrainingPlan(1, 7), engine=LocalEngine(1))
    second = train(first.path, corpus, tmp_path / "second", QUICK, TrainingPlan(1, 7), engine=LocalEngine(1))
    assert second.identity == whole.identity
    assert [row.iteration for row in read_metrics(second.path)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("where", "name", "after"),
    [(methods, "sample_shard", 4), (methods, "sample_shard", 7), (local, "interpolate", 0), (local, "interpolate", 1),
     (pipeline, "write_metrics", 1), (pipeline, "_finish", 0), (pipeline, "place_directory", 0), (pipeline, "_keep", 0)],
)  # fmt: skip
def test_interrupted_it_goes_on(
    whole: Model, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any, name: str,
    after: int,
) -> None:  # fmt: skip
    target = tmp_path / "m"
    stopping = Stopping(monkeypatch, where, name, after)
    with pytest.raises(KeyboardInterrupt):
        train(model, corpus, target, QUICK, PLAN, engine=LocalEngine(1))
    assert target.exists() == (name == "_keep")
    stopping.after = -1
    assert train(model, corpus, target, QUICK, PLAN, engine=LocalEngine(1)).identity == whole.identity
    if name == "sample_shard":
        assert stopping.count == 14, "no shard is sampled twice"
    assert [row.iteration for row in read_metrics(target)] == [0, 1, 2]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m"]


def test_an_unfinished_training_is_not_thrown_away(
    model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = Stopping(monkeypatch, methods, "sample_shard", 3)
    with pytest.raises(KeyboardInterrupt):
        train(model, corpus, tmp_path / "m", QUICK, PLAN, engine=LocalEngine(1))
    other = replace(QUICK, sweeps=9)
    with pytest.raises(WikildaError, match=r"unfinished work with other inputs or settings \(sweeps 8"):
        train(model, corpus, tmp_path / "m", other, PLAN, engine=LocalEngine(1))
    stopping.after = -1
    train(model, corpus, tmp_path / "m", other, PLAN, engine=LocalEngine(1), restart=True)
    assert stopping.count == 3 + 14


def test_models_of_iterations_are_kept(model: Path, corpus: Path, tmp_path: Path) -> None:
    made = train(model, corpus, tmp_path / "m", QUICK, TrainingPlan(3, 2, keep=1), engine=LocalEngine(1))
    kept = Model.open(tmp_path / "m.iterations" / "0002")
    assert (kept.iteration, made.iteration) == (2, 3)
    assert [each.name for each in kept.path.parent.iterdir()] == ["0002"]
    assert kept.knowledge().identity == made.knowledge().identity


def test_two_trainings_into_one_directory_do_not_mix(
    model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def second(*_: Any, **__: Any) -> None:
        with pytest.raises(WikildaError, match="another process"):
            elsewhere(lambda: train(model, corpus, tmp_path / "m", QUICK, PLAN, engine=LocalEngine(1)))
        raise KeyboardInterrupt

    monkeypatch.setattr(methods, "sample_shard", second)
    with pytest.raises(KeyboardInterrupt):
        train(model, corpus, tmp_path / "m", QUICK, PLAN, engine=LocalEngine(1))


def test_a_result_that_is_there_stays(whole: Model, model: Path, corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "m"
    train(model, corpus, target, QUICK, TrainingPlan(1, 2), engine=LocalEngine(1))
    with pytest.raises(ArtifactError, match="exists already"):
        train(model, corpus, target, QUICK, PLAN, engine=LocalEngine(1))
    made = train(model, corpus, target, QUICK, PLAN, engine=LocalEngine(1), overwrite=True, restart=True)
    assert made.identity == whole.identity


def test_the_wrong_corpus_is_refused(model: Path, corpus: Path, tmp_path: Path) -> None:
    about = json.loads((corpus / "manifest.json").read_text())
    other = tmp_path / "other"
    other.mkdir()
    for each in corpus.iterdir():
        if each.name != "manifest.json":
            (other / each.name).symlink_to(each)
    (other / "manifest.json").write_text(json.dumps(about | {"knowledge": "abc"}))
    with pytest.raises(ArtifactError, match="other knowledge"):
        train(model, other, tmp_path / "m", QUICK, PLAN)
    with pytest.raises(InputError, match="no document is left"):
        train(model, corpus, tmp_path / "m", replace(QUICK, held_out=0.999999), PLAN)


def test_impossible_settings_are_refused() -> None:
    for bad in (
        {"rho_local": 2.0},
        {"kappa_global": 0.3},
        {"tau0": 0.0},
        {"held_out": 1.0},
        {"minibatch": 0},
        {"burn_in": 50},
    ):
        with pytest.raises(SettingsError):
            LdaTraining(**bad)  # type: ignore[arg-type]


def test_steps_follow_their_schedules() -> None:
    assert PRESETS["paper"].global_step(0) == PRESETS["paper"].global_step(9)
    schedule = LdaTraining(rho_global=1.0, kappa_global=0.7, tau0=2.0)
    steps = [schedule.global_step(t) for t in range(4)]
    np.testing.assert_allclose(steps, [(2 + t) ** -0.7 for t in range(4)])


class Interrupted(LocalEngine):
    """Ends after some shards, as if it were killed."""

    def __init__(self, after: int) -> None:
        super().__init__(1)
        self.after = after

    def sample(self, job: Job) -> Iterator[int]:
        for done in super().sample(job):
            yield done
            self.after -= 1
            if self.after == 0:
                raise KeyboardInterrupt


def damage(file: Path, how: str) -> None:
    data = bytearray(file.read_bytes())
    match how:
        case "zeros at the end":
            data[-8:] = bytes(min(8, len(data)))
        case "cut short":
            del data[len(data) // 2 :]
        case "one bit":
            data[-1] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("how", ["zeros at the end", "cut short", "one bit", "gone"])
def test_damaged_checkpoints_are_made_again(whole: Model, model: Path, corpus: Path, tmp_path: Path, how: str) -> None:
    """All files of a training that was interrupted, one by one: the result is that of one which was not."""
    target = tmp_path / "m"
    with pytest.raises(KeyboardInterrupt):
        train(model, corpus, target, QUICK, PLAN, engine=Interrupted(2))
    work = tmp_path / "m.training" / "iteration-0001"
    files = [each for each in sorted(work.rglob("*")) if each.is_file()]
    assert {each.relative_to(work).parts[0] for each in files} == {"shards", "notes", "shared"}
    for file in files:
        file.unlink() if how == "gone" else damage(file, how)
    assert train(model, corpus, target, QUICK, PLAN, engine=LocalEngine(1)).identity == whole.identity


def test_damaged_sums_are_made_again(model: Path, corpus: Path, tmp_path: Path, whole: Model) -> None:
    target = tmp_path / "m"
    with pytest.raises(KeyboardInterrupt):
        train(model, corpus, target, QUICK, PLAN, engine=Interrupted(7))
    [place] = (tmp_path / "m.training" / "iteration-0001" / "sums").iterdir()
    damage(place / "words.sweeps.npy", "one bit")
    assert train(model, corpus, target, QUICK, PLAN, engine=LocalEngine(1)).identity == whole.identity


def test_what_an_earlier_iteration_has_left_is_checked(model: Path, corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "m"
    with pytest.raises(KeyboardInterrupt):
        train(model, corpus, target, QUICK, PLAN, engine=Interrupted(9))
    work = tmp_path / "m.training" / "iteration-0001"
    note = sorted(work.glob("notes/*/notes.npy"))[-1]  # of a shard that is still to be done
    kept = note.read_bytes()
    damage(note, "one bit")
    with pytest.raises(ArtifactError, match=r"is damaged\. Run the same command with --restart"):
        train(model, corpus, target, QUICK, PLAN, engine=LocalEngine(1))
    note.write_bytes(kept)
    damage(work / "model" / "words" / "values.npy", "one bit")
    with pytest.raises(ArtifactError, match=r"values\.npy"):
        train(model, corpus, target, QUICK, PLAN, engine=LocalEngine(1))


compiled = not DISABLED


def command(model: Path, corpus: Path, target: Path, workers: int) -> list[object]:
    settings = [f"--set={name}={value}" for name, value in (
        ("sweeps", 8), ("burn_in", 2), ("held_out", 0.1), ("evaluated", 4), ("particles", 2), ("rho_local", 1e-3), ("minibatch", 4),
    )]  # fmt: skip
    plan = ["--iterations", 2, "--set", "shards=7", "--workers", workers]
    return ["train", model, corpus, "-o", target, "--method=lda", *plan, *settings]


def start(model: Path, corpus: Path, target: Path, workers: int) -> "subprocess.Popen[str]":
    arguments = [sys.executable, "-m", "wikilda", *map(str, command(model, corpus, target, workers))]
    return subprocess.Popen(
        arguments, start_new_session=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


def written(work: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(work))


@pytest.mark.skipif(not compiled, reason="uncompiled processes are too slow")
def test_killed_at_any_point_the_result_is_the_same(whole: Model, model: Path, corpus: Path, tmp_path: Path) -> None:
    target, work, chance, kills = tmp_path / "m", tmp_path / "m.training", random.Random(1), 0
    for _ in range(3):
        running = start(model, corpus, target, 2)
        until, before = time.monotonic() + 60, written(work)
        while running.poll() is None and time.monotonic() < until and written(work) < before + 12:
            time.sleep(0.001)  # until it has got somewhere
        time.sleep(chance.random() * 0.1)
        if running.poll() is None:
            os.kill(running.pid, signal.SIGKILL)  # only the parent: its workers must notice
            kills += 1
        running.communicate()
        assert is_gone(running.pid)
        assert not target.exists() or (target / FILE).exists()
    final = start(model, corpus, target, 2)
    _, complaint = final.communicate(timeout=120)
    assert final.returncode == 0 or "exists already" in complaint
    assert kills >= 2
    assert Model.open(target).identity == whole.identity
    Model.open(target).verify()
    assert [row.iteration for row in read_metrics(target)] == [0, 1, 2]


@pytest.mark.skipif(not compiled, reason="starts a process")
def test_a_full_disk_is_one_message_and_loses_nothing(whole: Model, model: Path, corpus: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8000) as disk:
        steps = [20, 150, 400, 800, 1500, 7500]  # it fills up in ever later steps
        tries = run_while_filling(disk, 8_000_000, steps, command(model, corpus, disk / "m", 1))
        for code, complaint, there in tries[:-1]:
            assert code == 1
            assert "disk is full" in complaint
            assert "m" not in there
        assert len(tries) > 2
        assert tries[-1][0] == 0
        assert Model.open(disk / "m").identity == whole.identity
