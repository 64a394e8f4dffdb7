"""Seconds from the start of a process to its first answer, with an empty cache of kernels and with a full one.

    python -m benchmarks.start MODEL TEXT [--against COMMIT --old-model MODEL]

The source of COMMIT is measured in the same run, with a model that it can read. Python's own compiled files are made
before; caches of kernels and of checked artifacts are new for each process of the first part.
"""

import argparse
import compileall
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks import record

_PYTHON = """
import sys
from wikilda import Linker
Linker.open(sys.argv[1]).link(open(sys.argv[2], encoding="utf-8").read())
"""


class Version(NamedTuple):
    """A source tree, and a model that it can read."""

    name: str
    source: Path
    model: Path


@contextmanager
def source_of(commit: str) -> Iterator[Path]:
    """The source of a commit."""
    with tempfile.TemporaryDirectory(prefix="wikilda-source-") as place:
        archive = subprocess.run(["git", "archive", commit, "src"], cwd=record.ROOT, check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", place], input=archive.stdout, check=True)
        yield Path(place) / "src"


def environment(version: Version, cache: Path) -> dict[str, str]:
    """What a user has after installing: no choice about compiling, and an own cache."""
    kept = {name: value for name, value in os.environ.items() if name not in ("WIKILDA_COMPILE", "CI")}
    return {**kept, "PYTHONPATH": str(version.source), "NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache)}


def stop_compilers(cache: Path) -> None:
    """End the processes that compile into a cache of this benchmark: the next figure is of an idle machine."""
    for each in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"NUMBA_CACHE_DIR={cache}".encode() in each.read_bytes():
                os.kill(int(each.parent.name), signal.SIGKILL)


def run(command: list[str], given: dict[str, str]) -> tuple[float, float]:
    """Seconds by the clock until the first output (or the end without one), and of the processor."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        _, err = process.communicate()
        seconds = time.perf_counter() - begin
    if process.returncode:
        raise RuntimeError(err.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def served(version: Version, text: str, given: dict[str, str]) -> tuple[float, float]:
    """Seconds from the start of a server to its first answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    body, before = json.dumps({"text": text}).encode(), resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "wikilda", "serve", str(version.model), "--port", str(port)]
    with subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/v1/link", body, {"Content-Type": "application/json"})
        while True:
            with suppress(OSError), urllib.request.urlopen(asked) as answer:
                answer.read()
                break
            time.sleep(0.02)
        seconds = time.perf_counter() - begin
        process.terminate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(
    version: Version, text: Path, kinds: list[str], runs: int, *, empty: bool
) -> dict[str, tuple[float, float]]:
    """Medians of the seconds of each kind of start, by the clock and of the processor."""
    wikilda = [sys.executable, "-m", "wikilda"]
    link = [*wikilda, "link", str(version.model), str(text)]
    starts: dict[str, Callable[[dict[str, str]], tuple[float, float]]] = {
        "wikilda demo": lambda given: run([*wikilda, "demo"], given),
        "wikilda link": lambda given: run(link, given),
        "Linker.open(m).link(text)": lambda given: run(
            [sys.executable, "-c", _PYTHON, str(version.model), str(text)], given
        ),
        "wikilda serve, first answer": lambda given: served(version, text.read_text("utf-8"), given),
        "wikilda serve, first answer, 12 words": lambda given: served(version, SHORT, given),
    }
    found = {}
    with tempfile.TemporaryDirectory(prefix="wikilda-cache-", ignore_cleanup_errors=True) as place:
        if not empty:  # everything that is measured below is compiled before
            given = {**environment(version, Path(place)), "WIKILDA_COMPILE": "now"}
            for command in ([*wikilda, "demo"], link):
                run(command, given)
        for kind in kinds:
            seconds = []
            for number in range(runs):
                cache = Path(place) / f"{kind} {number}".replace("/", "-") if empty else Path(place)
                seconds.append(starts[kind](environment(version, cache)))
                stop_compilers(cache)
            clock, processor = zip(*seconds, strict=True)
            found[kind] = round(statistics.median(clock), 2), round(statistics.median(processor), 2)
            print(version.name, "empty" if empty else "full", kind, seconds, file=sys.stderr)
    return found


SHORT = "Croft took three wickets for England at The Oval, and Pakistan lost."
KINDS = [
    "wikilda demo", "wikilda link", "Linker.open(m).link(text)", "wikilda serve, first answer",
    "wikilda serve, first answer, 12 words",
]  # fmt: skip


def compiling(version: Version, text: Path) -> float:
    """Seconds of the processor for the kernels that a text needs: a first process that compiles, without a second."""
    with tempfile.TemporaryDirectory(prefix="wikilda-cache-", ignore_cleanup_errors=True) as place:
        given = {**environment(version, Path(place)), "WIKILDA_COMPILE": "now"}
        command = [sys.executable, "-c", _PYTHON, str(version.model), str(text)]
        return round(run(command, given)[1] - run(command, given)[1], 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("text", type=Path)
    parser.add_argument("--against")
    parser.add_argument("--old-model", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kinds", type=int, default=len(KINDS), help="how many kinds of start, of the list")
    parser.add_argument("--empty-only", action="store_true")
    options = parser.parse_args()
    kinds = KINDS[: options.kinds]
    now = Version("now", record.ROOT / "src", options.model.resolve())
    compileall.compile_dir(now.source, quiet=2)
    rows: list[dict[str, str | float]] = []
    with source_of(options.against or "HEAD") as source:
        versions = [now]
        if options.against:
            compileall.compile_dir(source, quiet=2)
            versions.append(Version(options.against, source, (options.old_model or options.model).resolve()))
        for version in versions:
            # The old version compiles in each of these; once is enough to see it.
            runs = options.runs if version is now else 1
            for empty in (True,) if options.empty_only else (True, False):
                title = "empty cache" if empty else "compiled"
                for kind, (s, cpu) in measure(version, options.text.resolve(), kinds, runs, empty=empty).items():
                    rows.append({"start": kind, "cache": title, "version": version.name, "s": s, "CPU": cpu})
            if not options.empty_only:
                cpu = compiling(version, options.text.resolve())
                rows.append({"start": "compiling for it", "cache": "", "version": version.name, "CPU": cpu})
    table: dict[tuple[str, str], dict[str, record.Cell]] = {}
    for row in rows:
        names = str(row["start"]), str(row["cache"])
        held = table.setdefault(names, {"start": row["start"], "cache": row["cache"]})
        held |= {f"{row['version']}, {unit}": row[unit] for unit in ("s", "CPU") if unit in row}
    record.write("start", {"first answers": list(table.values())}, note=f"medians of {options.runs}; old commit: once")
    print(record.table(list(table.values())))


if __name__ == "__main__":
    main()
