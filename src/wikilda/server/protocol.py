"""HTTP for strangers: a client that is slow to send its request line and headers, or sends too many, is shown out."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MOST_HEAD = 64 * 1024  # bytes of a request line and headers
_PATIENCE = 10.0


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with a limit on the time and the size of what comes before a request's body.

    The time is the application's `patience`, which its lifespan gives to the server as state.
    """

    _timer: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._cancel()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Begin to wait for the rest of a request's head."""
        super().on_message_begin()
        self._head = 0
        self._wait()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._cancel()
        if not self.transport.is_closing():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, unless the request has been refused."""
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole, unless it has been refused."""
        if not self.transport.is_closing():
            super().on_message_complete()

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > _MOST_HEAD:
            self._refuse(b"431 Request Header Fields Too Large")

    def _wait(self) -> None:
        self._cancel()
        patience = float(self.app_state.get("patience", _PATIENCE))
        self._timer = self.loop.call_later(patience, self._refuse, b"408 Request Timeout")

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()

    def _unsupported_upgrade_warning(self) -> Any:
        """Clients that ask for another protocol get HTTP, and no line in the log."""
