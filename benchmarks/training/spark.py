"""One iteration of the same training by the local engine and by Spark, side by side.

python -m benchmarks.training.spark MODEL CORPUS DIRECTORY [--shards 16] [--part 1.0] [--round 0] [--master 'local[2]']

Models must come out the same. Processor times: of Spark's joins they are those of its Java threads (to re-key, join,
sort, write and read), of sampling those of the Python workers, as they are in the local engine. Memory is the
anonymous memory of a Python worker: what it maps from files is not in it.
"""

import argparse
import json
import os
import shutil
import statistics
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.training.scale import anonymous
from wikilda.training.engines.base import Engine
from wikilda.training.engines.local import LocalEngine
from wikilda.training.engines.spark import SparkEngine
from wikilda.training.engines.spark.engine import MERGING, SAMPLING
from wikilda.training.metrics import Metrics, read_metrics
from wikilda.training.pipeline import Plan, train
from wikilda.training.settings import PRESETS


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
    """Peak memory of processes, by what they are, while it is on."""

    def __init__(self) -> None:
        self.peaks: dict[int, float] = {}
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
            for process in children(os.getpid()):
                if is_python_worker(process):
                    self.peaks[process] = max(self.peaks.get(process, 0.0), anonymous(process))


@dataclass
class Stage:
    """The tasks of a stage: seconds on the clock, processor seconds of Java, bytes written for others."""

    samples: bool
    phase: str
    clock: list[float] = field(default_factory=list)
    processor: float = 0.0
    shuffled: int = 0


def read_events(directory: Path) -> list[Stage]:
    """What Spark has noted of its stages."""
    phases: dict[int, str] = {}
    stages: dict[int, Stage] = {}
    [file] = [each for each in directory.iterdir() if each.is_file()]
    for line in file.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            what = event.get("Properties", {}).get("spark.job.description", "")
            phase = next((each for each in (SAMPLING, MERGING) if each in what), "")
            phases.update(dict.fromkeys(event["Stage IDs"], phase))
        elif event["Event"] == "SparkListenerStageSubmitted":
            about = event["Stage Info"]
            scopes = "".join(str(each.get("Scope", "")) for each in about["RDD Info"])
            stages[about["Stage ID"]] = Stage("MapInArrow" in scopes, phases.get(about["Stage ID"], ""))
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            _add(stages[event["Stage ID"]], event["Task Metrics"])
    return [stage for stage in stages.values() if stage.clock]


def _add(stage: Stage, task: dict[str, Any]) -> None:
    stage.clock.append(task["Executor Run Time"] / 1e3)
    stage.processor += task["Executor CPU Time"] / 1e9
    stage.shuffled += task["Shuffle Write Metrics"]["Shuffle Bytes Written"]


def run(engine: Engine, given: argparse.Namespace, name: str) -> tuple[str, Metrics]:
    target = given.directory / name
    for old in (target, target.with_name(f"{target.name}.training")):
        shutil.rmtree(old, ignore_errors=True)
    settings = replace(PRESETS["default"], evaluated=0, held_out=1.0 - given.part)
    made = train(given.model, given.corpus, target, settings, Plan(1, given.shards), engine=engine)
    return made.identity, read_metrics(target)[-1]


def show(name: str, row: Metrics, joining: float, merging: float) -> None:
    rest = f"joins {joining:.1f}, sampling {row.sampling_seconds:.1f}, merging {merging:.1f}"
    print(f"{name}: {row.seconds:.1f} s, {row.documents / row.seconds:.0f} documents/s; processor seconds: {rest}")


def show_stages(stages: list[Stage]) -> None:
    for phase in (SAMPLING, MERGING):
        some = [stage for stage in stages if stage.phase == phase]
        print(f"  {phase}: {sum(stage.shuffled for stage in some) / 2**20:.1f} MB shuffled")
        for stage in some:
            median = statistics.median(stage.clock)
            what = "Python on joined rows" if stage.samples else "joins"
            print(
                f"    {what}: {len(stage.clock)} tasks, slowest {max(stage.clock):.2f} s, median {median:.2f} s, "
                f"{stage.processor:.1f} s of Java, {stage.shuffled / 2**20:.1f} MB written to shuffle"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "corpus", "directory"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--shards", type=int, default=16)
    parser.add_argument("--part", type=float, default=1.0, help="share of the documents that is trained on")
    parser.add_argument("--round", type=int, default=0)
    parser.add_argument("--master", default="local[2]")
    given = parser.parse_args()
    given.directory.mkdir(parents=True, exist_ok=True)
    local = LocalEngine(2)
    mine, row = run(local, given, "local")
    local.close()
    show("local, 2 workers", row, row.joining_seconds, row.merging_seconds)

    events = given.directory / "events"
    shutil.rmtree(events, ignore_errors=True)
    events.mkdir()
    log = {"enabled": "true", "dir": events.resolve().as_uri(), "compress": "false", "rolling.enabled": "false"}
    conf = {f"spark.eventLog.{name}": value for name, value in log.items()} | {"spark.driver.memory": "2g"}
    spark = SparkEngine(given.master, conf=conf, together=given.round)
    started = time.perf_counter()
    assert spark.spark
    print(f"Spark's session has started in {time.perf_counter() - started:.1f} s")
    with Watch() as watch:
        theirs, row = run(spark, given, "spark")
    spark.close()
    stages = read_events(events)
    java = {phase: sum(stage.processor for stage in stages if stage.phase == phase) for phase in (SAMPLING, MERGING)}
    show(f"Spark at {given.master}", row, java[SAMPLING] + row.joining_seconds, java[MERGING] + row.merging_seconds)
    show_stages(stages)
    print(f"  peak memory of a Python worker: {max(watch.peaks.values(), default=0):.0f} MB")
    print("models are the same" if mine == theirs else f"MODELS DIFFER: {mine}, {theirs}")


if __name__ == "__main__":
    main()
