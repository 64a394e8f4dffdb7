"""From nothing to a first answer: new processes, by the clock."""

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

_PYTHON = """
import json, sys
from wikilda.linking import Linker, Document
document = json.loads(open(sys.argv[2], encoding="utf-8").read())
spans = [(each["start"], each["end"]) for each in document["mentions"]]
Linker.open(sys.argv[1]).link(Document(document["text"], spans, document["id"]))
rows = (line.split() for line in open("/proc/self/smaps_rollup"))
print(next(row[1] for row in rows if row[0] == "Anonymous:"), flush=True)
"""
_CACHES = Path("/proc/sys/vm/drop_caches")


def first_answers(model: Path, document: Path, *, cold: bool, runs: int = 7) -> dict[str, float]:
    """Seconds from the start of processes to their answer for one document, and anonymous memory of one then.

    All files were read shortly before. Once more `cold`: the system has dropped every file from its memory, Python's
    own, too, which takes the rights of root and slows down everything else on the machine.
    """
    commands = {
        "command": [sys.executable, "-m", "wikilda", "link", str(model), str(document)],
        "Python": [sys.executable, "-c", _PYTHON, str(model), str(document)],
    }
    found: dict[str, float] = {}
    for name, command in commands.items():
        _timed(command)  # compiles what is not compiled yet
        answered, ended, cpu, outputs = zip(*(_timed(command) for _ in range(runs)), strict=True)
        found |= {
            f"start: {name} s": min(answered), f"start: {name} s, median": statistics.median(answered),
            f"start: {name} s, to the end": min(ended), f"start: {name} CPU s": min(cpu),
        }  # fmt: skip
    found["start: anonymous MB"] = max(map(float, outputs)) * 1024 / 1e6
    if cold:
        found["start: cold command s, median"] = statistics.median(_cold(commands["command"]) for _ in range(3))
    return found


def _timed(command: list[str]) -> tuple[float, float, float, str]:
    """Seconds from the start to the answer, to the end, CPU seconds of all, and the answer."""
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.readline() if process.stdout else ""
        answered = time.perf_counter() - start
    if process.returncode or not output:
        raise SystemExit(f"{' '.join(command)}: failed with {process.returncode}")
    ended, now = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return answered, ended, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, output


def _cold(command: list[str]) -> float:
    os.sync()
    _CACHES.write_text("3\n")
    return _timed(command)[0]
