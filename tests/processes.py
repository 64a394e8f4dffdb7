"""Processes that are killed, and disks that are full."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

Result = TypeVar("Result")


def besides_compiling(stderr: str) -> str:
    """What a process has said, without the line that the first one says which needs a kernel."""
    return "".join(
        line for line in stderr.splitlines(keepends=True) if not line.startswith("wikilda: compiling kernels: once")
    )


# One process runs a command again and again, each time with some more room on the disk, until it succeeds.
_FILLING = """
import contextlib, io, json, sys
from pathlib import Path
from typing import TypeVar
from wikilda.cli import cli, guarded

if __name__ == "__main__":
    disk, size, steps, arguments = Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]), sys.argv[4:]
    ballast = disk / "ballast"
    for free in steps:
        used = sum(each.stat().st_size for each in disk.rglob("*") if each.is_file())
        ballast.write_bytes(bytes(max(size - used - free * 1000, 0)))
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = guarded(lambda: cli.main(arguments, prog_name="wikilda", standalone_mode=False))
        ballast.unlink()
        print(json.dumps([code, said.getvalue(), sorted(each.name for each in disk.iterdir())]), flush=True)
        if code == 0:
            break
"""


@contextmanager
def small_disk(place: Path, kilobytes: int) -> Iterator[Path]:
    """A real file system of a few megabytes at most."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def run_while_filling(
    disk: Path, size: int, steps: list[int], arguments: list[object]
) -> list[tuple[int, str, list[str]]]:
    """Run a command with ever more kilobytes free: exit codes, complaints, and what is then on the disk."""
    command = [sys.executable, "-c", _FILLING, str(disk), str(size), json.dumps(steps), *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return [tuple(json.loads(line)) for line in ended.stdout.splitlines()]


def elsewhere(call: Callable[[], Result]) -> Result:
    """Call something in another thread, which holds no lock of this one, as another process would."""
    with ThreadPoolExecutor(1) as other:
        return other.submit(call).result()


def is_gone(group: int) -> bool:
    """Whether all processes of a group have ended, soon enough."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


class Stopping:
    """Lets a number of calls of a function pass, then raises."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, where: Any, name: str, after: int) -> None:
        self.real, self.count, self.after = getattr(where, name), 0, after
        monkeypatch.setattr(where, name, self)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if self.count == self.after:
            raise KeyboardInterrupt
        self.count += 1
        return self.real(*arguments, **named)
