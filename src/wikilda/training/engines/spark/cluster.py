"""A standalone cluster of Spark on this machine, on loopback, with the packaged Java.

python -m wikilda.training.engines.spark.cluster [--workers 2] [--memory 1500m] [--port 7077]
"""

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

import pyspark

from wikilda._core.errors import WikildaError
from wikilda._core.spark import java_home

_SPARK = Path(pyspark.__file__).parent
_DEPLOY = "org.apache.spark.deploy"
_LOOPBACK = "127.0.0.1"
_PATIENCE = 120.0  # seconds, until a daemon is up


class Cluster:
    """A master and workers of one core each, as processes. A context manager that ends them."""

    def __init__(self, place: Path, workers: int = 2, memory: str = "600m", port: int = 0) -> None:
        """`place` takes logs and the files of the workers."""
        self.place, self.count, self.memory = place, workers, memory
        self.port = port or _free_port()
        self.master = f"spark://{_LOOPBACK}:{self.port}"
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.environment = os.environ | {
            "SPARK_HOME": str(_SPARK),
            "SPARK_LOCAL_IP": _LOOPBACK,
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "128m",
            "SPARK_DAEMON_JAVA_OPTS": "-Dspark.master.rest.enabled=false",
            "PYSPARK_PYTHON": sys.executable,
        }
        if home := java_home(place / "java"):
            self.environment["JAVA_HOME"] = home

    def __enter__(self) -> "Cluster":
        try:
            self._start("master", f"{_DEPLOY}.master.Master", "--host", _LOOPBACK, "--port", str(self.port),
                        "--webui-port", "0")  # fmt: skip
            self._wait("master", "New state: ALIVE", self.daemons[0])
            for number in range(self.count):
                name = f"worker{number}"
                where = ["--host", _LOOPBACK, "--webui-port", "0", "--work-dir", str(self.place / name / "work")]
                self._start(name, f"{_DEPLOY}.worker.Worker", *where, "-c", "1", "-m", self.memory, self.master)
            for number, daemon in enumerate(self.daemons[1:]):
                self._wait(f"worker{number}", "Successfully registered with master", daemon)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for number in reversed(range(len(self.daemons))):
            self.kill(number)

    def kill(self, number: int) -> None:
        """Kill a daemon (0: the master) and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.daemons[number].pid, signal.SIGKILL)
        self.daemons[number].wait()

    def _start(self, name: str, *command: str) -> None:
        (self.place / name).mkdir(parents=True)
        with self._log(name).open("wb") as log:
            self.daemons.append(self._process(name, command, log))

    def _process(self, name: str, command: tuple[str, ...], log: IO[bytes]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [str(_SPARK / "bin" / "spark-class"), *command],
            env=self.environment | {"SPARK_LOCAL_DIRS": str(self.place / name)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def _log(self, name: str) -> Path:
        return self.place / name / "log"

    def _wait(self, name: str, text: str, daemon: "subprocess.Popen[bytes]") -> None:
        end = time.monotonic() + _PATIENCE
        while text not in (said := self._log(name).read_text("utf-8", "replace")):
            if daemon.poll() is not None or time.monotonic() > end:
                raise WikildaError(
                    f"the {name} of Spark has not started at {self.master}: {said[-500:]}. Try another --port."
                )
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as some:
        some.bind((_LOOPBACK, 0))
        return int(some.getsockname()[1])


def main() -> None:
    """Run a cluster until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="Number of workers, of one core each.")
    parser.add_argument("--memory", default="1500m", help="Memory of each worker's executors.")
    parser.add_argument("--port", type=int, default=7077)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="wikilda-cluster-", ignore_cleanup_errors=True) as place:
        try:
            with Cluster(Path(place), given.workers, given.memory, given.port) as cluster:
                print(f"{cluster.master} is up with {given.workers} workers. Stop it with Ctrl-C.", flush=True)
                for daemon in cluster.daemons:
                    daemon.wait()
        except KeyboardInterrupt:
            pass
        except WikildaError as error:
            sys.exit(f"wikilda: {error}")


if __name__ == "__main__":
    main()
