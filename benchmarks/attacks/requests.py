"""Requests made to hurt, and slow clients: `python -m benchmarks.attacks.requests MODEL [--count 100000]`.

Four fifths of the requests are cut and garbled on plain sockets, a fifth is made by schemathesis from the OpenAPI
document, good and bad; no answer may be a 5xx but 503, and the server's memory must not grow. Then eight busy clients
are timed without others, and again beside `--slow` clients that send their heads a byte at a time (0 leaves that out).
"""

import collections
import logging
import random
import re
import resource
import socket
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import httpx
import numpy as np
from tests.server.serving import CHECKS, SCHEMATHESIS, Served, serving

from benchmarks.record import write
from wikilda.sample import texts

_BODIES = [b'{"text": "Croft bowled for England."}', b"text=Croft", b"{", b"\xff\xfe", b"[" * 1000, b""]
_PATHS = (
    "/v1/link", "/v1/explain", "/v1/batch", "/", "/tag", "/annotate", "/nif", "/rel", "/spot", "/v1/topics/%ff",
    "/reconcile", "/metrics",
)  # fmt: skip
# Bad data may also be refused for its size.
_CONFIGURATION = """[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
"""
_THROWERS = 50  # at once: most wait for the server's patience to end
_METHODS = ("GET", "POST", "PUT", "HEAD", "X")
_HEADERS = (
    b"content-type: application/json", b"content-type: text/turtle", b"content-length: 5", b"connection: upgrade",
    b"content-type: application/x-www-form-urlencoded", b"x: " + b"a" * 2000, b"host: evil.example",
    b"expect: 100-continue", b"transfer-encoding: chunked", b"\x00: \x01",
)  # fmt: skip


def garbled(chance: random.Random) -> bytes:
    """A request, more or less."""
    body = chance.choice(_BODIES)
    head = [f"{chance.choice(_METHODS)} {chance.choice(_PATHS)} HTTP/1.1".encode(), b"host: localhost"]
    head += chance.choices(_HEADERS, k=chance.randrange(3))
    if chance.random() < 0.7:
        head.append(b"content-length: %d" % len(body))
    whole = bytearray(b"\r\n".join([*head, b"connection: close", b"", body]))
    first = 0 if chance.random() < 0.3 or not body else len(whole) - len(body)
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        whole[chance.randrange(first, len(whole))] = chance.randrange(256)
    return bytes(whole[: chance.randrange(len(whole))] if chance.random() < 0.1 else whole)


def throw(served: Served, count: int, seed: int) -> collections.Counter[str]:
    """Send a number of requests; return how they were answered."""
    chance, ends = random.Random(seed), collections.Counter[str]()
    for _ in range(count):
        with served.socket() as connection:
            try:
                connection.sendall(garbled(chance))
                if chance.random() < 0.3:
                    connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(64)
            except OSError:
                answer = b""
        ends[answer[9:12].decode("latin-1") if answer.startswith(b"HTTP/1.1 ") else "closed"] += 1
    return ends


def described(served: Served, count: int) -> tuple[int, str]:
    """Let schemathesis send about this number of requests; return how many it sent, and what it found."""
    with tempfile.TemporaryDirectory(prefix="wikilda-") as place:
        Path(place, "schemathesis.toml").write_text(_CONFIGURATION, "utf-8")
        command = [SCHEMATHESIS, "run", f"{served.url}/openapi.json", "--seed", "1", "--no-color", "--workers", "2",
                   "--phases", "examples,coverage,fuzzing", "--checks", ",".join(CHECKS),
                   "--max-examples", str(max(1, count // _operations(served)))]  # fmt: skip
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True, cwd=place, check=False)
    sent = re.search(r"(\d+) generated", done.stdout)
    return int(sent.group(1)) if sent else 0, "" if done.returncode == 0 else done.stdout


def _operations(served: Served) -> int:
    paths = httpx.get(f"{served.url}/openapi.json").json()["paths"]
    return sum(len(each) for each in paths.values())


def megabytes() -> float:
    """The most memory that this process, which is the server, has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def thrown(served: Served, count: int, seed: int) -> collections.Counter[str]:
    """Send a number of raw requests, many at once."""
    with ThreadPoolExecutor(_THROWERS) as pool:
        parts = pool.map(lambda each: throw(served, count // _THROWERS, each), range(seed, seed + _THROWERS))
        return sum(parts, collections.Counter[str]())


def timed(served: Served, seconds: float, clients: int = 8) -> float:
    """The 99th percentile, in ms, of busy clients."""
    times: list[float] = []
    until = time.monotonic() + seconds

    def ask() -> None:
        with served.client() as client:
            while time.monotonic() < until:
                started = time.perf_counter()
                client.post("/v1/link", json={"text": texts()[0]["text"]}).raise_for_status()
                times.append(time.perf_counter() - started)

    asking = [threading.Thread(target=ask) for _ in range(clients)]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    return float(np.percentile(times, 99) * 1000)


def beside_slow(served: Served, count: int, seconds: float) -> float:
    """The same beside a number of clients that send a byte now and then."""
    slow = [served.socket() for _ in range(count)]
    stop = threading.Event()

    def drip() -> None:
        while not stop.is_set():
            for each in slow:
                try:
                    each.send(b"G")
                except OSError:
                    each.close()
            stop.wait(1.0)

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        return timed(served, seconds)
    finally:
        stop.set()
        thread.join()
        for each in slow:
            each.close()


def attack(model: Path, count: int) -> bool:
    """Send all requests to a server, and record how it answered; whether anything was wrong."""
    with serving(model) as served:
        sent, found = described(served, count // 5)
    with serving(model, patience=0.5) as served:  # garbled requests are waited for
        ends = thrown(served, count // 10, 0)
        before = megabytes()
        ends += thrown(served, count - sent - sum(ends.values()), _THROWERS)
        grown = megabytes() - before
        httpx.get(served.url + "/health").raise_for_status()
    bad = sum(number for status, number in ends.items() if status.startswith("5") and status != "503")
    row = {"on plain sockets": sum(ends.values()), "by schemathesis": sent, "5xx but 503": bad,
           "findings of schemathesis": int(bool(found)), "MB grown after the first tenth": round(grown, 1)}  # fmt: skip
    print(dict(sorted(ends.items())), row, found, sep="\n")
    write("attacks-requests", {"requests": [row]}, answers=dict(sorted(ends.items())))
    return bool(bad or found)


def busy(model: Path, slow: int, seconds: float) -> None:
    """Time clients without and beside slow ones, and record it."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(3 * slow + 1000, most), most))  # both ends are here
    with serving(model, connections=slow + 100) as served:
        alone = timed(served, seconds)
        beside = beside_slow(served, slow, seconds)
    row = {"slow connections": slow, "busy clients": 8, "p99 ms without them": round(alone, 1),
           "p99 ms with them": round(beside, 1), "ratio": round(beside / alone, 2)}  # fmt: skip
    print(row)
    write("attacks-slow", {"slow": [row]})


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--count", default=100_000, show_default=True, help="Requests.")
@click.option("--slow", default=2000, show_default=True, help="Slow connections.")
@click.option("--seconds", default=10.0, show_default=True, help="How long to time.")
def main(model: Path, count: int, slow: int, seconds: float) -> None:
    """Attack a server in this process."""
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # it has a line for each request that it cannot read
    wrong = attack(model, count) if count else False
    if slow:
        busy(model, slow, seconds)
    raise SystemExit(wrong)


if __name__ == "__main__":
    main()
