"""Commands in forks of this process, which has wikilda imported and its kernels loaded: a command takes a fraction of
a second. What a fork has loaded must not have threads; commands that run here before the first fork leave none.
"""

import io
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from typing import NamedTuple

from wikilda.cli import cli, guarded

TRACEBACK = 99


class End(NamedTuple):
    """How a command ended: its exit code, or minus the signal, or None if it had to be stopped; and what it said."""

    code: int | None
    said: bytes


def call(arguments: Sequence[object]) -> int:
    """Run a command in this process."""
    return guarded(lambda: cli.main([str(each) for each in arguments], prog_name="wikilda", standalone_mode=False))


class Running(NamedTuple):
    """A command that has begun: its process, and the pipe that it writes to."""

    process: int
    reading: int


def run(arguments: Sequence[object], seconds: float, *, errors: bool = False) -> End:
    """Run a command in a fork, and kill it with all its children after some time.

    What it writes to standard output is kept, or what it writes to standard error.
    """
    return end(start(arguments, errors=errors), seconds)


def start(arguments: Sequence[object], *, errors: bool = False) -> Running:
    """Begin to run a command in a fork."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        _child(arguments, writing, errors=errors)
    os.close(writing)
    os.set_blocking(reading, False)
    return Running(process, reading)


def end(running: Running, seconds: float) -> End:
    """Wait for the end of a command, or kill it."""
    process, reading = running
    until, parts = time.monotonic() + seconds, []
    while (ended := os.waitpid(process, os.WNOHANG)) == (0, 0) and (left := until - time.monotonic()) > 0:
        parts.append(_read(reading))
        time.sleep(min(left, 0.002))
    if ended == (0, 0):
        _kill(process)
    parts.append(_read(reading))
    os.close(reading)
    return End(os.waitstatus_to_exitcode(ended[1]) if ended[0] else None, b"".join(parts))


def _kill(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:  # it has no group of its own yet
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


def _read(reading: int) -> bytes:
    try:
        return os.read(reading, 1 << 20)
    except BlockingIOError:
        return b""


def _child(arguments: Sequence[object], writing: int, *, errors: bool) -> None:
    code = TRACEBACK
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing if errors else writing, 1)
        os.dup2(writing if errors else nothing, 2)
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(os.fdopen(each, "wb"), "utf-8", write_through=True) for each in (1, 2)
        )
        code = call(arguments)
        sys.stdout.flush()
    except BaseException as error:
        os.write(writing, "".join(traceback.format_exception(error)[-3:]).encode("utf-8", "replace")[:4000])
    os._exit(code)
