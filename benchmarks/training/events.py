"""What Spark notes of its tasks: how long each took, what it was for, what it wrote for others."""

import json
import statistics
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wikilda.training.engines.spark._engine import MERGING, SAMPLING

PHASES = {
    SAMPLING: {
        "read": "read tables",
        "join": "who needs what",
        "copy": "join, copy to shards",
        "python": "sample a shard",
    },
    MERGING: {"read": "read counts and model", "join": "add up", "copy": "list by symbol", "python": "interpolate"},
}


@dataclass
class Task:
    """A task: seconds on the clock, processor seconds of Java, bytes written for others."""

    job: str  # as the engine calls it, with the number of the round
    stage: int
    kind: str
    launched: float
    clock: float
    processor: float
    shuffled: int

    @property
    def phase(self) -> str:
        return next((each for each in PHASES if each in self.job), "")


def read_tasks(directory: Path) -> list[Task]:
    """The tasks of the engine's own jobs: they read tables, join, copy what was joined, or are the stage in Python."""
    jobs: dict[int, str] = {}
    in_python: set[int] = set()
    tasks = []
    [file] = [each for each in directory.iterdir() if each.is_file()]
    for line in file.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            what = event.get("Properties", {}).get("spark.job.description", "")
            jobs.update(dict.fromkeys(event["Stage IDs"], what))
        elif event["Event"] == "SparkListenerStageSubmitted":
            about = event["Stage Info"]
            if any("MapInArrow" in str(each.get("Scope", "")) for each in about["RDD Info"]):
                in_python.add(about["Stage ID"])
        elif event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            stage = event["Stage ID"]
            tasks.append(_task(event, jobs.get(stage, ""), stage in in_python))
    return _copying([task for task in tasks if task.phase])


def _task(event: dict[str, Any], job: str, in_python: bool) -> Task:
    info, found = event["Task Info"], event["Task Metrics"]
    read = found["Shuffle Read Metrics"]
    joins = read["Remote Bytes Read"] + read["Local Bytes Read"] > 0
    return Task(
        job,
        event["Stage ID"],
        "python" if in_python else "join" if joins else "read",
        info["Launch Time"] / 1e3,
        found["Executor Run Time"] / 1e3,
        found["Executor CPU Time"] / 1e9,
        found["Shuffle Write Metrics"]["Shuffle Bytes Written"],
    )


def _copying(tasks: list[Task]) -> list[Task]:
    """Of the stages of a round that join, the one that writes most copies rows to shards."""
    written: dict[str, Counter[int]] = {}
    for task in tasks:
        if task.kind == "join":
            written.setdefault(task.job, Counter())[task.stage] += task.shuffled
    last = {counts.most_common(1)[0][0] for counts in written.values()}
    return [replace(task, kind="copy") if task.kind == "join" and task.stage in last else task for task in tasks]


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
                    f"of Java {max(java):.2f} and {middle[1]:.2f}, {sum(java):.1f} in all; "
                    f"{sum(task.shuffled for task in some) / 2**20:.1f} MB written"
                )
