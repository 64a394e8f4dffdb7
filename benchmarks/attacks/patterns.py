"""A dozen ways to stop a server: `python -m benchmarks.attacks.patterns MODEL [--seconds 8]`.

Each pattern attacks `wikilda serve` from forty connections while another process asks `/health/live` twenty times a
second. Under the attack the server is then told to stop, and must have ended within `--drain` and two seconds. The
first row is a server that nobody attacks.
"""

import contextlib
import http.client
import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import click
import numpy as np
from tests.server.serving import Served, process, wait_until_ready

from benchmarks.record import Cell, write
from wikilda.sample import texts

_CONNECTIONS, _DRAIN, _PAUSE = 40, 2, 0.05
_SLOWEST, _LATEST = 200.0, 2.0  # ms of /health/live, 99th percentile; seconds after `--drain`
_HOST = b"host: localhost\r\n"
_JSON = b"content-type: application/json\r\n"
_FORM = b"content-type: application/x-www-form-urlencoded\r\n"
_LONG = (" ".join(each["text"] for each in texts()) + " ") * 60


def _post(path: str, body: bytes, kind: bytes = _JSON) -> bytes:
    return b"POST %b HTTP/1.1\r\n%b%bcontent-length: %d\r\n\r\n%b" % (path.encode(), _HOST, kind, len(body), body)


def _chunked(path: str, chunk: bytes) -> Iterator[bytes]:
    yield b"POST %b HTTP/1.1\r\n%b%btransfer-encoding: chunked\r\n\r\n" % (path.encode(), _HOST, _JSON)
    while True:
        yield chunk


def _again(request: bytes) -> Iterator[bytes]:
    while True:
        yield request


def _lines(piece: bytes) -> Iterator[bytes]:
    """A batch that never ends."""
    return _chunked("/v1/batch", b"%x\r\n%b\r\n" % (len(piece), piece))


def _form(**fields: object) -> bytes:
    given = urlencode({name: json.dumps(value) for name, value in fields.items()}).encode()
    return _post("/reconcile", given, _FORM)


def _slow_head() -> Iterator[bytes]:
    for byte in _post("/v1/link", b"{}"):
        yield bytes([byte])
        time.sleep(0.5)


def _garbage() -> Iterator[bytes]:
    chance = random.Random(1)
    while True:
        yield b"GET /%b HTTP/1.1\r\n%b%b\r\n" % (chance.randbytes(20).hex().encode(), _HOST, b"x: y\r\n" * 2000)


ENTITY = "England"
PATTERNS: dict[str, tuple[Callable[[], Iterator[bytes]], bool]] = {  # what is sent, and whether answers are read
    "blank lines": (lambda: _lines(b"\n" * 65_536), True),
    "lines of a letter": (lambda: _lines(b"x\n" * 32_768), True),
    "chunks of a byte": (lambda: _chunked("/v1/link", b"1\r\n \r\n" * 4_096), True),
    "values of entities": (
        lambda: _again(_form(extend={"ids": [ENTITY] * 20_000, "properties": [{"id": "category"}] * 5_000})), True,
    ),
    "wrong values": (
        lambda: _again(_post("/v1/link", b'{"text": "a", "mentions": [' + b"1," * 1_900_000 + b"1]}")), True,
    ),
    "unknown names": (
        lambda: _again(_post("/v1/link", json.dumps({f"a{at}": at for at in range(29_000)}).encode())), True,
    ),
    "explanations": (
        lambda: _again(_post("/v1/explain", json.dumps({"text": _LONG[:74_000], "candidates": 10}).encode())), True,
    ),
    "answers not read": (
        lambda: _again(_post("/v1/explain", json.dumps({"text": _LONG[:74_000], "candidates": 10}).encode())), False,
    ),
    "percent signs": (lambda: _again(_post("/tag", b"text=" + b"%41" * 1_300_000, _FORM)), True),
    "too many spans": (
        lambda: _again(_post("/", json.dumps({"text": _LONG[:190_000], "spans": [[0, 5]] * 120_000}).encode())), True,
    ),
    "full batches": (
        lambda: _again(_post("/v1/link/batch", json.dumps(
            {"documents": [{"text": _LONG[: 60_000 + at]} for at in range(30)]}).encode())), True,
    ),
    "large heads": (_garbage, True),
    "slow heads": (_slow_head, True),
}  # fmt: skip


def _attack(port: int, name: str) -> None:
    """Open connections again and again, and send what the pattern says."""
    make, reads = PATTERNS[name]
    os.nice(10)  # on one machine, the server should not wait for its attackers' processors

    def one() -> None:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                if reads:
                    threading.Thread(target=_drain, args=(connection,), daemon=True).start()
                for piece in make():
                    connection.sendall(piece)
            time.sleep(0.01)

    for _ in range(_CONNECTIONS):
        threading.Thread(target=one, daemon=True).start()
    threading.Event().wait()


def _drain(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while connection.recv(1 << 16):
            pass


def _probe(port: int, seconds: float, times: "multiprocessing.Queue[list[float]]") -> None:
    """Ask whether the server lives, on one connection, and note how long that takes."""
    found, until = [], time.monotonic() + seconds
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while time.monotonic() < until:
        started = time.perf_counter()
        try:
            connection.request("GET", "/health/live")
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            connection.close()
        found.append(time.perf_counter() - started)
        time.sleep(_PAUSE)
    times.put(found)


def megabytes(process_id: int) -> float:
    """The most memory that a process has had."""
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measured(model: Path, name: str, seconds: float) -> dict[str, Cell]:
    """Attack a server with a pattern: how it answered, how much memory it took, how it ended."""
    times: multiprocessing.Queue[list[float]] = multiprocessing.Queue()
    with process(model, "--set", f"drain={_DRAIN}") as (served, started):
        wait_until_ready(served)
        threading.Thread(target=_read, args=(started,), daemon=True).start()
        before = megabytes(started.pid)
        attackers = [multiprocessing.Process(target=_attack, args=(served.port, name), daemon=True) for _ in range(1)]
        for each in attackers if name in PATTERNS else ():
            each.start()
        time.sleep(0.5)
        probe = multiprocessing.Process(target=_probe, args=(served.port, seconds, times), daemon=True)
        probe.start()
        found = np.array(times.get(timeout=seconds + 600)) * 1000
        grown = megabytes(started.pid) - before
        ended = _stopped(served, started)
        for each in [*attackers, probe]:
            if each.pid:
                each.kill()
    row: dict[str, Cell] = {
        "pattern": name, "asked": len(found), "p50 ms": round(float(np.median(found)), 1),
        "p99 ms": round(float(np.percentile(found, 99)), 1), "longest ms": round(float(found.max()), 1),
        "MB grown": round(grown, 1), "seconds to end": round(ended, 1),
    }  # fmt: skip
    print(row, flush=True)
    return row


def _stopped(served: Served, started: "subprocess.Popen[str]") -> float:
    began = time.monotonic()
    started.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        started.wait(_DRAIN + 60)
    return time.monotonic() - began


def _read(started: "subprocess.Popen[str]") -> None:
    """Take the log, which would stop the server when its pipe is full."""
    for stream in (started.stderr, started.stdout):
        threading.Thread(target=lambda stream=stream: [None for _ in stream], daemon=True).start()


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--seconds", default=8.0, show_default=True, help="How long each pattern is tried.")
@click.option("--only", multiple=True, help="A pattern; repeatable.")
def main(model: Path, seconds: float, only: tuple[str, ...]) -> None:
    """Attack a server process with each pattern."""
    rows = [measured(model, name, seconds) for name in only or ("none", *PATTERNS)]
    if not only:
        write("attacks-patterns", {"patterns": rows}, drain=_DRAIN, connections=_CONNECTIONS)
    late = [row["pattern"] for row in rows if float(str(row["seconds to end"])) > _DRAIN + _LATEST]
    slow = [row["pattern"] for row in rows if float(str(row["p99 ms"])) > _SLOWEST]
    print({"slow": slow, "late": late})
    raise SystemExit(bool(late or slow))


if __name__ == "__main__":
    main()
