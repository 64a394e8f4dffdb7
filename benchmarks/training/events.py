"""What Spark notes of its tasks: how long each took, what it was for, what it wrote for others."""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wikilda.training.engines.spark.engine import MERGING, SAMPLING

PHASES = {
    SAMPLING: {"read": "read tables", "join": "join, copy to shards", "python": "sample a shard"},
    MERGING: {"read": "read counts and model", "join": "add up", "python": "interpolate"},
}


@dataclass
class Task:
    """A task: seconds on the clock, processor seconds of Java, bytes written for others."""

    phase: str
    kind: str
    launched: float
    clock: float
    processor: float
    shuffled: int


def read_tasks(directory: Path) -> Iterator[Task]:
    """The tasks of the engine's own jobs."""
    phases: dict[int, str] = {}
    in_python: set[int] = set()
    [file] = [each for each in directory.iterdir() if each.is_file()]
    for line in file.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            what = event.get("Properties", {}).get("spark.job.description", "")
            phases.update(dict.fromkeys(event["Stage IDs"], next((each for each in PHASES if each in what), "")))
        elif event["Event"] == "SparkListenerStageSubmitted":
            about = event["Stage Info"]
            if any("MapInArrow" in str(each.get("Scope", "")) for each in about["RDD Info"]):
                in_python.add(about["Stage ID"])
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            stage = event["Stage ID"]
            if phases.get(stage):
                yield _task(event, phases[stage], stage in in_python)


def _task(event: dict, phase: str, in_python: bool) -> Task:
    info, found = event["Task Info"], event["Task Metrics"]
    read = found["Shuffle Read Metrics"]
    joins = read["Remote Bytes Read"] + read["Local Bytes Read"] > 0
    return Task(
        phase,
        "python" if in_python else "join" if joins else "read",
        info["Launch Time"] / 1e3,
        found["Executor Run Time"] / 1e3,
        found["Executor CPU Time"] / 1e9,
        found["Shuffle Write Metrics"]["Shuffle Bytes Written"],
    )


def show_tasks(tasks: list[Task]) -> None:
    """By what they do: the slowest beside the median."""
    for phase, kinds in PHASES.items():
        shuffled = sum(task.shuffled for task in tasks if task.phase == phase)
        print(f"  {phase}: {shuffled / 2**20:.1f} MB shuffled")
        for kind, name in kinds.items():
            some = [task for task in tasks if (task.phase, task.kind) == (phase, kind)]
            if some:
                clock, java = [task.clock for task in some], [task.processor for task in some]
                middle = statistics.median(clock), statistics.median(java)
                print(
                    f"    {name}: {len(some)} tasks, slowest {max(clock):.2f} s, median {middle[0]:.2f} s; "
                    f"of Java {max(java):.2f} and {middle[1]:.2f}, {sum(java):.1f} in all"
                )
