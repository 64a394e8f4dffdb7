"""Run a command and watch its processes: time, memory of each by kind, disk of a directory."""

import contextlib
import os
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PERIOD, _DISK_PERIOD = 0.2, 0.4
_FIELDS = ("Rss", "Anonymous", "Pss", "Pss_Anon")


@dataclass
class Memory:
    """Megabytes, the most that was seen: of the parent, of its largest child, of all together.

    `resident` counts mapped files, too; `anonymous` is what cannot be given back to the page cache. Sums are of
    proportional sizes, so that what processes share counts once.
    """

    parent_resident: float = 0.0
    parent_anonymous: float = 0.0
    child_resident: float = 0.0
    child_anonymous: float = 0.0
    sum_resident: float = 0.0
    sum_anonymous: float = 0.0

    def see(self, parent: dict[str, float], children: list[dict[str, float]]) -> None:
        """Take one look into account."""
        everyone = [parent, *children]
        now = Memory(
            parent["Rss"], parent["Anonymous"], max((each["Rss"] for each in children), default=0.0),
            max((each["Anonymous"] for each in children), default=0.0),
            sum(each["Pss"] for each in everyone), sum(each["Pss_Anon"] for each in everyone),
        )  # fmt: skip
        for name, value in vars(now).items():
            setattr(self, name, max(value, getattr(self, name)))


@dataclass
class Watched:
    """What was seen: seconds, memory and the most disk in megabytes in each phase, CPU seconds before each."""

    output: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)  # before a phase began; "" is the whole
    memory: dict[str, Memory] = field(default_factory=dict)
    disk: dict[str, float] = field(default_factory=dict)  # in each phase


def watch(command: Sequence[str], directory: Path, phase: Callable[[], str]) -> Watched:
    """Run `command`; `phase` says at any moment what it is doing. Fails if the command does."""
    seen, last_disk = Watched(), 0.0
    before, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            name = phase()
            memory = seen.memory.setdefault(name, Memory())
            with contextlib.suppress(OSError, KeyError):  # it may end while we look
                seen.cpu.setdefault(name, _cpu(process.pid))
                memory.see(_memory(process.pid), [each for pid in _children(process.pid) if (each := _try_memory(pid))])
            if before - last_disk > _DISK_PERIOD:
                seen.disk[name], last_disk = max(seen.disk.get(name, 0.0), disk_size(directory)), before
            time.sleep(_PERIOD)
            now = time.perf_counter()
            seen.seconds[name] = seen.seconds.get(name, 0.0) + now - before
            before = now
        seen.output = process.stdout.read() if process.stdout else ""
    now_used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seen.cpu[""] = now_used.ru_utime + now_used.ru_stime - used.ru_utime - used.ru_stime
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: failed with {process.returncode}")
    return seen


def disk_size(directory: Path) -> float:
    """Megabytes that the files of a directory take on disk."""
    total = 0
    for folder, _, files in os.walk(directory):  # unlike rglob, it bears folders that go while we look
        for file in files:
            with contextlib.suppress(OSError):
                total += Path(folder, file).stat().st_blocks * 512
    return total / 1e6


def _cpu(pid: int) -> float:
    """CPU seconds of a process and of those of its children that have ended."""
    numbers = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, numbers[11:15])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> dict[str, float]:
    lines = (line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    known = {parts[0].rstrip(":"): float(parts[1]) * 1024 / 1e6 for parts in lines}
    return {name: known[name] for name in _FIELDS}


def _try_memory(pid: int) -> dict[str, float] | None:
    try:
        return _memory(pid)
    except (OSError, KeyError):
        return None


def _children(pid: int) -> list[int]:
    """All processes below one."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found + [grandchild for child in found for grandchild in _children(child)]
