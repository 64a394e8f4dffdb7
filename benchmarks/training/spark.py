"""One iteration of the same training by the local engine and by Spark, side by side, and again with a skewed symbol.

python -m benchmarks.training.spark MODEL CORPUS DIRECTORY [--shards 16] [--part 1.0] [--round 0] [--planted 100000]

Models must come out the same. Processor times: of Spark's joins they are those of its Java threads (to re-key, join,
sort, write and read), of sampling those of the Python workers, as they are in the local engine. Memory is the
anonymous memory of a Python worker: what it maps from files is not in it. Then the same documents again, with a word
planted in every one that may mean so many topics (--planted): the slowest task is shown beside the median.
"""

import argparse
import os
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.training.events import PHASES, read_tasks, show_tasks
from benchmarks.training.planted import plant_in_corpus, plant_in_model, spare_word
from benchmarks.training.scale import anonymous
from wikilda.model import Model
from wikilda.training.checkpoints import Metrics, read_metrics
from wikilda.training.corpus import Corpus
from wikilda.training.engines.base import Engine
from wikilda.training.engines.local import LocalEngine
from wikilda.training.engines.spark import SparkEngine
from wikilda.training.engines.spark._engine import MERGING, SAMPLING
from wikilda.training.pipeline import train
from wikilda.training.settings import PRESETS, TrainingPlan


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
    """Peak memory of Python workers while it is on."""

    def __init__(self) -> None:
        self.peak = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.25):
            workers = filter(is_python_worker, children(os.getpid()))
            self.peak = max(self.peak, *map(anonymous, workers), 0.0)


def run(engine: Engine, given: argparse.Namespace, target: Path, *, small: bool = False) -> tuple[str, Metrics]:
    """One iteration; on two small shards, if it is just to have Java compile."""
    for old in (target, target.with_name(f"{target.name}.training")):
        shutil.rmtree(old, ignore_errors=True)
    settings = replace(PRESETS["default"], evaluated=0, held_out=1.0 - given.part * (0.02 if small else 1.0))
    plan = TrainingPlan(1, 2 if small else given.shards)
    made = train(given.model, given.corpus, target, settings, plan, engine=engine)
    return made.identity, read_metrics(target)[-1]


def show(name: str, row: Metrics, joining: float, merging: float) -> None:
    rest = f"joins {joining:.1f}, sampling {row.sampling_seconds:.1f}, merging {merging:.1f}"
    print(f"{name}: {row.seconds:.1f} s, {row.documents / row.seconds:.0f} documents/s; processor seconds: {rest}")


def conf(events: Path, partitions: int) -> dict[str, str]:
    """As many join tasks as there are partitions, so that there is a median."""
    log = {"enabled": "true", "dir": events.resolve().as_uri(), "compress": "false", "rolling.enabled": "false"}
    tasks = {"shuffle.partitions": str(partitions), "adaptive.coalescePartitions.enabled": "false"}
    named = {"eventLog": log, "sql": tasks, "driver": {"memory": "2g"}, "local": {"dir": str(events.resolve().parent)}}
    return {f"spark.{kind}.{name}": value for kind, pairs in named.items() for name, value in pairs.items()}


def compare(given: argparse.Namespace, name: str) -> None:
    """Run both engines on the same shards."""
    place = given.directory / name
    shutil.rmtree(place, ignore_errors=True)
    (place / "events").mkdir(parents=True)
    print(f"\n{name}; load {os.getloadavg()[0]:.1f}", flush=True)
    local = LocalEngine(2)
    mine, row = run(local, given, place / "local")
    local.close()
    show("local, 2 workers", row, row.joining_seconds, row.merging_seconds)
    spark = SparkEngine(given.master, conf=conf(place / "events", given.partitions), together=given.round)
    started = time.perf_counter()
    run(spark, given, place / "small", small=True)
    began = time.time()
    print(f"Spark has started and done 2 % of it in {time.perf_counter() - started:.1f} s", flush=True)
    with Watch() as watch:
        theirs, row = run(spark, given, place / "spark")
    spark.close()
    tasks = [task for task in read_tasks(place / "events") if task.launched >= began]
    java = {phase: sum(task.processor for task in tasks if task.phase == phase) for phase in PHASES}
    show(f"Spark at {given.master}", row, java[SAMPLING] + row.joining_seconds, java[MERGING] + row.merging_seconds)
    show_tasks(tasks)
    print(f"  peak memory of a Python worker: {watch.peak:.0f} MB; load {os.getloadavg()[0]:.1f}")
    print("models are the same" if mine == theirs else f"MODELS DIFFER: {mine}, {theirs}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "corpus", "directory"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--part", type=float, default=1.0, help="share of the documents that is trained on")
    parser.add_argument("--round", type=int, default=0)
    parser.add_argument("--partitions", type=int, default=16, help="tasks of a join")
    parser.add_argument("--planted", type=int, default=100_000, help="topics of the planted word (0: plant nothing)")
    parser.add_argument("--master", default="local[2]")
    given = parser.parse_args()
    given.directory.mkdir(parents=True, exist_ok=True)
    compare(given, "as it is")
    if given.planted:
        model, corpus = Model.open(given.model), Corpus.open(given.corpus)
        word = spare_word(model, corpus)
        given.corpus = plant_in_corpus(corpus, word, given.directory / "corpus")
        given.model = plant_in_model(model, word, given.planted, given.directory / "model")
        compare(given, "planted")


if __name__ == "__main__":
    main()
