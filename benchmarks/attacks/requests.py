"""Raw requests and slow clients: `python -m benchmarks.attacks.requests MODEL [--count 100000] [--slow 2000]`.

Requests are cut and garbled on plain sockets; no answer may be a 5xx but 503. Then eight busy clients are timed alone,
and again beside clients that send their heads a byte at a time.
"""

import collections
import random
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import httpx
import numpy as np
from tests.server.serving import Served, serving

from benchmarks.record import write
from wikilda.sample import texts

_BODIES = [b'{"text": "Croft bowled for England."}', b"text=Croft", b"{", b"\xff\xfe", b"[" * 1000, b""]
_PATHS = (
    "/v1/link", "/v1/explain", "/", "/tag", "/annotate", "/nif", "/rel", "/spot", "/v1/topics/%ff", "/metrics",
)  # fmt: skip
_THROWERS = 8
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
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        whole[chance.randrange(len(whole))] = chance.randrange(256)
    return bytes(whole[: chance.randrange(len(whole))] if chance.random() < 0.1 else whole)


def throw(served: Served, count: int, seed: int) -> collections.Counter[str]:
    """Send so many; how they were answered."""
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
    """The same beside so many clients that send a byte now and then."""
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


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--count", default=100_000, show_default=True)
@click.option("--slow", default=2000, show_default=True, help="Slow connections.")
@click.option("--seconds", default=10.0, show_default=True, help="How long to time.")
def main(model: Path, count: int, slow: int, seconds: float) -> None:
    """Attack a server in this process."""
    with serving(model, patience=0.5) as served, ThreadPoolExecutor(_THROWERS) as pool:
        thrown = pool.map(lambda seed: throw(served, count // _THROWERS, seed), range(_THROWERS))
        ends = sum(thrown, collections.Counter[str]())
        httpx.get(served.url + "/health").raise_for_status()
    with serving(model, connections=slow + 100) as served:
        alone = timed(served, seconds)
        beside = beside_slow(served, slow, seconds)
    bad = sum(number for status, number in ends.items() if status.startswith("5") and status != "503")
    print(dict(sorted(ends.items())))
    row = {"requests": count, "5xx but 503": bad, "slow connections": slow, "p99 ms alone": round(alone, 1),
           "p99 ms beside them": round(beside, 1), "ratio": round(beside / alone, 2)}  # fmt: skip
    print(row)
    write("attacks-requests", {"requests": [row]}, answers=dict(ends))
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
