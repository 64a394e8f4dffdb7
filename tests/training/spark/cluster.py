"""A standalone cluster: a master and workers as processes on loopback, with the packaged Java."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyspark

from wikilda._core.spark import write_home

SPARK = Path(pyspark.__file__).parent
LOOPBACK = ("0100007F", "00000000000000000000000001000000")  # as Linux writes 127.0.0.1 and ::1
DEPLOY = "org.apache.spark.deploy"


class Cluster:
    """Used as a context; all of it is gone at the end."""

    def __init__(self, place: Path, workers: int = 2) -> None:
        self.place, self.count, self.port = place, workers, free_port()
        self.master = f"spark://127.0.0.1:{self.port}"
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.environment = os.environ | {
            "SPARK_HOME": str(SPARK),
            "JAVA_HOME": str(write_home(place / "java")),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "128m",
            "SPARK_DAEMON_JAVA_OPTS": "-Dspark.master.rest.enabled=false",
            "PYSPARK_PYTHON": sys.executable,
        }

    def __enter__(self) -> "Cluster":
        port = ["--port", str(self.port), "--webui-port", "0"]
        self._start("master", f"{DEPLOY}.master.Master", "--host", "127.0.0.1", *port)
        self._wait("master", "New state: ALIVE")
        for number in range(self.count):
            name = f"worker{number}"
            where = ["--host", "127.0.0.1", "--webui-port", "0", "--work-dir", str(self.place / name / "work")]
            self._start(name, f"{DEPLOY}.worker.Worker", *where, "-c", "1", "-m", "600m", self.master)
        for number in range(self.count):
            self._wait(f"worker{number}", "Successfully registered with master")
        return self

    def __exit__(self, *_: object) -> None:
        for number in reversed(range(len(self.daemons))):
            self.kill(number)

    def kill(self, number: int) -> None:
        """End a daemon (0: the master) and whatever it has started, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.daemons[number].pid, signal.SIGKILL)
        self.daemons[number].wait()

    def sampled(self, worker: int) -> set[Path]:
        """The executors of a worker that have got as far as sampling a shard."""
        return set((self.place / f"worker{worker}" / "work").glob("app-*/*/wikilda/*-*"))

    def _start(self, name: str, *command: str) -> None:
        (self.place / name).mkdir()
        with (self.place / name / "log").open("wb") as log:
            self.daemons.append(
                subprocess.Popen(
                    [str(SPARK / "bin" / "spark-class"), *command],
                    env=self.environment | {"SPARK_LOCAL_DIRS": str(self.place / name)},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def _wait(self, name: str, text: str, seconds: float = 120) -> None:
        log, end = self.place / name / "log", time.monotonic() + seconds
        while text not in log.read_text("utf-8"):
            if time.monotonic() > end:
                raise TimeoutError(f"{name} has not come up: {log.read_text('utf-8')[-2000:]}")
            time.sleep(0.1)


def free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


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
