"""Servers for tests: real ones on loopback, in a thread of this process or in a process of their own."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from wikilda.lda.settings import LdaSettings
from wikilda.linking import Linker
from wikilda.server.app import create_app
from wikilda.server.run import uvicorn_options
from wikilda.server.settings import ServerSettings
from wikilda.urn import UrnSettings

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance",
)  # fmt: skip


@dataclass(frozen=True)
class Served:
    """Where a server listens."""

    host: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=30, **options)

    def socket(self) -> socket.socket:
        return socket.create_connection((self.host, self.port), timeout=20)

    def alive(self, within: float = 0.0) -> bool:
        """Whether it still links, now or before `within` seconds have passed."""
        end = time.monotonic() + within
        with self.client() as client:
            while (answer := client.post("/v1/link", json={"text": "Croft bowled for England."})).status_code != 200:
                if answer.status_code != 503 or time.monotonic() >= end:
                    return False
                time.sleep(0.05)
        return True


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def serving(
    model: Path,
    linking: UrnSettings | LdaSettings | None = None,
    opens: threading.Event | None = None,
    **settings: Any,
) -> Iterator[Served]:
    """A server in a thread: warm, or one that opens its model when it may."""
    wanted = ServerSettings(port=free_port(), **settings)

    def opener() -> Linker:
        if opens:
            opens.wait(60)
        return Linker.open(model, settings=linking or UrnSettings())

    options = {**uvicorn_options(wanted), "host": "127.0.0.1", "port": wanted.port}
    server = uvicorn.Server(uvicorn.Config(create_app(opener, wanted), **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    served = Served("127.0.0.1", wanted.port)
    try:
        wait_until_ready(served, live=opens is not None)
        yield served
    finally:
        server.should_exit = True
        thread.join(30)


@contextlib.contextmanager
def process(model: Path, *arguments: object) -> Iterator[tuple[Served, "subprocess.Popen[str]"]]:
    """`wikilda serve` as a user runs it."""
    port = free_port()
    command = [sys.executable, "-m", "wikilda", "serve", model, "--port", port, *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    started = subprocess.Popen(
        [str(each) for each in command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        yield Served("127.0.0.1", port), started
    finally:
        if started.poll() is None:
            started.kill()
        started.communicate()


def wait_until_ready(served: Served, seconds: float = 300, *, live: bool = False) -> None:
    """Until it can link, or at least lives."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(served.url + ("/health/live" if live else "/health")).status_code == 200:
                return
        time.sleep(0.02)
    raise TimeoutError("the server did not get ready")
