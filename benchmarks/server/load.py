"""Load on `wikilda serve`: start-up, requests a second and latency at some numbers of clients, memory.

python -m benchmarks.server.load MODEL [--data aida-testa.tsv] [--workers 1] [--clients 1 8 64]

Clients and server share the machine. All is on loopback, and bounded in count and time.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import record
from benchmarks.linking.aida import documents

MOST = 20_000  # requests of one measurement
REMEMBERED = 10_000  # requests over which memory is watched


@dataclass
class Outcome:
    """What some clients saw."""

    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    errors: int = 0
    seconds: float = 0.0


def request(text: str, path: str) -> bytes:
    body = json.dumps({"text": text}).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    head += f"content-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def one_client(port: int, requests: Iterator[bytes], outcome: Outcome, end: float) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for data in requests:
        if time.perf_counter() > end:
            break
        started = time.perf_counter()
        try:
            writer.write(data)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.split(b":")[1]))
        except (OSError, asyncio.IncompleteReadError):
            outcome.errors += 1
            break
        outcome.latencies.append(time.perf_counter() - started)
        outcome.statuses[int(head.split()[1])] += 1
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def load(port: int, bodies: list[bytes], clients: int, most: int, seconds: float) -> Outcome:
    outcome = Outcome()
    requests = iter([bodies[at % len(bodies)] for at in range(most)])
    started = time.perf_counter()
    await asyncio.gather(*(one_client(port, requests, outcome, started + seconds) for _ in range(clients)))
    outcome.seconds = time.perf_counter() - started
    return outcome


def row_of(clients: int, outcome: Outcome, worked: float) -> dict[str, record.Cell]:
    milliseconds = 1000 * np.array(outcome.latencies)
    p50, p99 = np.percentile(milliseconds, (50, 99))
    bad = sum(count for status, count in outcome.statuses.items() if status != 200) + outcome.errors
    return {
        "clients": clients,
        "requests/s": round(len(milliseconds) / outcome.seconds),
        "p50 ms": round(p50, 1),
        "p99 ms": round(p99, 1),
        "CPU ms a request": round(1000 * worked / len(milliseconds), 2),
        "requests": len(milliseconds),
        "not answered 200": bad,
    }


def spent(process: int) -> float:
    """Processor time of a process and its children, in seconds."""
    ticks = 0
    for each in family(process):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def family(process: int) -> list[int]:
    """A process and its children."""
    return [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]


def memory(process: int) -> tuple[float, float]:
    """Anonymous and resident memory of a process and its children, in MB."""
    totals = Counter[str]()
    for each in family(process):
        with suppress(OSError):
            for line in Path(f"/proc/{each}/status").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in ("RssAnon", "VmRSS"):
                    totals[name] += int(value.split()[0])
    return totals["RssAnon"] / 1024, totals["VmRSS"] / 1024


@contextmanager
def server(model: Path, *options: object) -> Iterator[tuple[int, int]]:
    """A server, its port and its process; prints how long it took to get ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "wikilda", "serve", str(model), "--port", str(port), *map(str, options)]
    started = time.perf_counter()
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    listening = 0.0
    try:
        while True:
            with suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
                break
            with suppress(OSError):
                if not listening:
                    socket.create_connection(("127.0.0.1", port)).close()
                    listening = time.perf_counter() - started
            time.sleep(0.005)
        ready = time.perf_counter() - started
        worked = spent(running.pid)
        print(f"start: ready after {ready:.2f} s ({worked:.2f} s of processor time), listened after {listening:.2f} s")
        yield port, running.pid
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, help="AIDA's test-a; without it the sample's texts are sent")
    parser.add_argument("--path", default="/v1/link")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--no-memory", action="store_true")
    options = parser.parse_args()
    sent = [document.text for document in documents(options.data)]
    bodies = [request(each, options.path) for each in sent]
    rows, used = list[dict[str, record.Cell]](), list[dict[str, record.Cell]]()
    with server(
        options.model, "--workers", options.workers, "--set", f"threads={options.threads}", "--set", "queue=256"
    ) as (
        port,
        process,
    ):
        asyncio.run(load(port, bodies, 2, 200, options.seconds))
        for clients in options.clients:
            before = spent(process)
            outcome = asyncio.run(load(port, bodies, clients, MOST, options.seconds))
            rows.append(row_of(clients, outcome, spent(process) - before))
        if not options.no_memory:
            used = watch_memory(port, process, bodies)
    size = round(float(np.mean([len(each) for each in sent])))
    note = f"{options.workers} processes; {len(sent)} texts of {size} characters; clients share the machine."
    record.write("server-load", {"load": rows, "memory": used}, note=note)
    print(record.table(rows), record.table(used) if used else "", sep="\n\n")


def watch_memory(port: int, process: int, bodies: list[bytes]) -> list[dict[str, record.Cell]]:
    """Memory while many requests are answered."""
    rows = [memory_row(0, process)]
    step = REMEMBERED // 5
    for done in range(step, REMEMBERED + 1, step):
        asyncio.run(load(port, bodies, 4, step, 240))
        rows.append(memory_row(done, process))
    return rows


def memory_row(done: int, process: int) -> dict[str, record.Cell]:
    anonymous, resident = memory(process)
    return {"requests": done, "anonymous MB": round(anonymous), "resident MB": round(resident)}


if __name__ == "__main__":
    main()
