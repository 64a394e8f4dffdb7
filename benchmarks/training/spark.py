"""Training and linking by joins on a cluster of this machine, next to the local engine: `docs/figures/spark.json`.

python -m benchmarks.training.spark MODEL TEXTS --work DIRECTORY [--documents 20000] [--shards 16] [--method urn]
[--parts training linking] [--append]

A standalone cluster has two workers of one core, the local engine two processes. Both train twice over the same shards,
by the command. The second iteration is compared, and models must be the same. Of the cluster's processor time in it,
joins are all that is not sampling: Java, serving rows, writing tables. Skew is the slowest task of a stage in medians
of its tasks. Memory is the largest anonymous memory of a Python worker, and of the driver with its Java.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import record
from benchmarks.training.scale import anonymous
from wikilda.documents.document import Document
from wikilda.documents.reading import read_documents
from wikilda.linking import Linker
from wikilda.model import Model
from wikilda.training.checkpoints import Metrics, read_metrics
from wikilda.training.corpus import Corpus, make_corpus
from wikilda.training.engines.spark.cluster import Cluster

_TICKS = os.sysconf("SC_CLK_TCK")
_LEAST = 4  # tasks of a stage that has a median
_SETTINGS: dict[str, dict[str, object]] = {
    "urn": {"held_out": 0.0, "evaluated": 0, "prior_shift": False},
    "lda": {"held_out": 0.0, "evaluated": 0},
}


def children(process: int) -> list[int]:
    """A process's children, theirs, and so on."""
    found = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(each) for each in file.read_text().split()]
        except OSError:
            continue
    return [*found, *(each for child in found for each in children(child))]


def is_python_worker(process: int) -> bool:
    try:
        return b"pyspark.daemon" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


class Watch:
    """Processor seconds and peak memory of what a cluster has started, while it is on."""

    def __init__(self, cluster: Cluster, since: Path | None = None) -> None:
        """Seconds are counted from when `since` exists."""
        self.cluster, self.since, self.worker, self.driver, self.began = cluster, since, 0.0, 0.0, time.time()
        self._seconds: dict[int, float] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Watch":
        self._note()
        self._begun = dict(self._seconds)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._note()

    @property
    def seconds(self) -> float:
        """Processor seconds of all processes, also of those that have ended."""
        return sum(self._seconds.values()) - sum(self._begun.values())

    def _look(self) -> None:
        while not self._over.wait(1.5):  # reading a process's memory map takes milliseconds
            self._note()

    def _note(self) -> None:
        theirs = [each for daemon in self.cluster.daemons for each in (daemon.pid, *children(daemon.pid))]
        for process in theirs:
            try:
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            self._seconds[process] = (int(fields[11]) + int(fields[12])) / _TICKS
            if is_python_worker(process):
                self.worker = max(self.worker, anonymous(process))
        if self.since is not None and self.since.exists():
            self._begun, self.began, self.since = dict(self._seconds), time.time(), None
        mine = set(children(os.getpid())) - set(theirs)  # the driver, and its Java
        self.driver = max(self.driver, sum(map(anonymous, mine)))


def slowest(events: Path, since: float) -> tuple[float, float]:
    """Of the stages with a task of more than a second, the slowest task in medians; and all MB that were shuffled."""
    tasks, shuffled = defaultdict[int, list[float]](list), 0
    for file in (each for each in events.rglob("*") if each.is_file()):
        for event in map(json.loads, file.read_text("utf-8").splitlines()):
            if event["Event"] == "SparkListenerTaskEnd" and event["Task Info"]["Launch Time"] / 1e3 >= since:
                seconds = event["Task Info"]["Finish Time"] - event["Task Info"]["Launch Time"]
                tasks[event["Stage ID"]].append(seconds / 1e3)
                shuffled += event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    long = [found for found in tasks.values() if len(found) >= _LEAST and max(found) > 1]
    return max((max(found) / statistics.median(found) for found in long), default=1.0), shuffled / 1e6


def conf(events: Path) -> dict[str, str]:
    events.mkdir(parents=True)
    log = {"enabled": "true", "dir": events.resolve().as_uri(), "compress": "false", "rolling.enabled": "false"}
    named = {"eventLog": log, "executor": {"memory": "1g"}}
    return {f"spark.{kind}.{name}": value for kind, pairs in named.items() for name, value in pairs.items()}


def trained(given: argparse.Namespace, corpus: Path, target: Path, shards: int, *options: str) -> list[Metrics]:
    settings = {"shards": shards, **_SETTINGS[given.method]}
    command = [sys.executable, "-m", "wikilda", "train", str(given.model), str(corpus), "-o", str(target)]
    command += [f"--method={given.method}", "--iterations=2", "--overwrite", *options]
    subprocess.run([*command, *(f"--set={name}={value}" for name, value in settings.items())], check=True)
    return read_metrics(target)[-2:]


def training(given: argparse.Namespace, place: Path, texts: list[Path]) -> dict[str, record.Rows]:
    """Both engines on the same shards."""
    knowledge, corpora = Model.open(given.model).knowledge().path, []
    for text in texts:
        corpora.append(place / f"{text.stem}.corpus")
        if not corpora[-1].exists():
            make_corpus([text], knowledge, corpora[-1], workers=2)
    trained(given, corpora[1], place / "warm", 2, "--workers=2")
    mine = trained(given, corpora[0], place / "local", given.shards, "--workers=2")
    with Cluster(place / "cluster", 2, "1500m") as cluster:
        spark = ["--engine=spark", f"--conf=spark.master={cluster.master}"]
        trained(given, corpora[1], place / "warm", 2, *spark)
        spark += [f"--conf={name}={value}" for name, value in conf(place / "events").items()]
        with Watch(cluster, place / "spark.training" / "iteration-0001" / "model" / "manifest.json") as watch:
            theirs = trained(given, corpora[0], place / "spark", given.shards, *spark)
    assert Model.open(place / "local").identity == Model.open(place / "spark").identity, "models differ"
    ratio, shuffled = slowest(place / "events", watch.began)
    row: dict[str, record.Cell] = {
        "method": given.method,
        "documents": Corpus.open(corpora[0]).documents,
        "topics": Model.open(given.model).topics,
        "local, s": round(mine[1].seconds, 1),
        "Spark, s": round(theirs[1].seconds, 1),
        "ratio": round(theirs[1].seconds / mine[1].seconds, 2),
        "local CPU, s": round(mine[1].sampling_seconds + mine[1].joining_seconds + mine[1].merging_seconds, 1),
        "joins, % of CPU": round(100 * (1 - theirs[1].sampling_seconds / watch.seconds)),
        "CPU, s": round(watch.seconds, 1),
        "… of sampling, s": round(theirs[1].sampling_seconds, 1),
        "shuffled, MB": round(shuffled),
        "slowest task, medians": round(ratio, 1),
        "worker, MB": round(watch.worker),
        "driver, MB": round(watch.driver),
    }
    return {"training": [row]}


def linking(given: argparse.Namespace, place: Path, texts: list[Path]) -> dict[str, record.Rows]:
    """The command `link`, by joins and here with two threads; the second run by joins finds the model's tables."""
    pages = place / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir()
    rows = [json.loads(line) for line in texts[0].read_text("utf-8").splitlines()]
    pq.write_table(pa.Table.from_pylist(rows).select(["id", "text"]), pages / "0.parquet")
    command = [sys.executable, "-m", "wikilda", "link", str(given.model), str(pages), "--topics=0", "-n", "3"]
    command += ["--overwrite", "-o"]
    seconds = {}
    with Cluster(place / "linking", 2, "1500m") as cluster:
        spark = ["--engine=spark", f"--conf=spark.master={cluster.master}", f"--tables={place / 'tables'}"]
        spark += [f"--conf={name}={value}" for name, value in conf(place / "link-events").items()]
        ways = {"local": ["-j", "2"], "first": spark, "Spark": spark}
        for name, options in ways.items():
            started = time.perf_counter()
            since = time.time()
            with Watch(cluster) as watch:
                subprocess.run([*command, str(place / f"{name}.parquet"), *options], check=True)
            seconds[name] = time.perf_counter() - started
    local, found = (pq.read_table(place / f"{name}.parquet").to_pylist() for name in ("local", "Spark"))
    assert [{**row, "error": None} for row in local] == found, "answers differ"
    ratio, _ = slowest(place / "link-events", since)
    row: dict[str, record.Cell] = {
        "documents": len(found),
        "topics": Model.open(given.model).topics,
        "local, s": round(seconds["local"], 1),
        "Spark, s": round(seconds["Spark"], 1),
        "ratio": round(seconds["Spark"] / seconds["local"], 2),
        "tables of the model, s": round(seconds["first"] - seconds["Spark"], 1),
        "slowest task, medians": round(ratio, 1),
        "worker, MB": round(watch.worker),
    }
    return {"linking": [row]}


def parts_of(given: argparse.Namespace, place: Path) -> list[Path]:
    """The documents that are measured, and a few to have everything compiled."""
    files = [place / "texts.jsonl", place / "few.jsonl"]
    documents = (each for each in read_documents([given.texts]) if isinstance(each, Document))
    some = islice(documents, given.documents)
    lines = [json.dumps({"id": str(at), "text": each.text}) for at, each in enumerate(some)]
    for file, kept in zip(files, (lines, lines[:200]), strict=True):
        file.write_text("".join(f"{line}\n" for line in kept), "utf-8")
    linker = Linker.open(given.model)
    linker.link(json.loads(lines[0])["text"])
    return files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--method", default="urn", choices=sorted(_SETTINGS))
    parser.add_argument("--parts", nargs="+", default=["training", "linking"], choices=["training", "linking"])
    parser.add_argument("--append", action="store_true", help="add rows to those that are recorded")
    given = parser.parse_args()
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    texts, tables = parts_of(given, given.work), dict[str, record.Rows]()
    for part, measure in {"training": training, "linking": linking}.items():
        if part in given.parts:
            tables |= measure(given, given.work, texts)
    print(json.dumps(tables, indent=1))
    before = record.read("spark")["tables"] if given.append else {}
    both = {title: [*before.get(title, []), *tables.get(title, [])] for title in {**before, **tables}}
    print(record.write("spark", both))


if __name__ == "__main__":
    main()
