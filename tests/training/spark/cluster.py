"""What tests look at in a standalone cluster: which executors sample, and where processes listen."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from wikilda.training.engines.spark.cluster import Cluster

LOOPBACK = ("0100007F", "00000000000000000000000001000000")  # as Linux writes 127.0.0.1 and ::1


def sampled(cluster: Cluster, worker: int) -> set[Path]:
    """The executors of a worker that have got as far as sampling a shard."""
    return set((cluster.place / f"worker{worker}" / "work").glob("app-*/*/wikilda/*-*"))


def exposed() -> set[str]:
    """Where what this process has started listens, apart from loopback."""
    sockets = {link for process in descendants(os.getpid()) for link in links(Path(f"/proc/{process}/fd"))}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text("utf-8").splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in sockets and not local.split(":")[0].endswith(LOOPBACK):
                found.add(local)
    return found


def descendants(process: int) -> list[int]:
    children: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += map(int, file.read_text("utf-8").split())
    return [*children, *(each for child in children for each in descendants(child))]


def links(directory: Path) -> set[str]:
    found = set()
    with contextlib.suppress(OSError):
        for each in directory.iterdir():
            with contextlib.suppress(OSError):
                found.add(str(each.readlink()))
    return found


def wait(happened: Callable[[], bool], seconds: float = 500) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)
