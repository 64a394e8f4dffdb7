"""HTTP for strangers: a client that is slow to send its head, sends too much of it, or does not read, is shown out."""

import asyncio
import socket
from collections import deque
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MOST_HEAD = 64 * 1024  # bytes of a request line and headers
_PER_HEADER = 256  # bytes that each counts besides: a short one takes as long
_PATIENCE = 10.0
_PIECE = 1 << 10  # bytes that are parsed in one turn of the event loop
_MOST_BYTES = 1 << 26
MAX_OVERHEAD = 16  # times the body's own limit that a request may have with all that is around its chunks
_SEND_BUFFER = 128 * 1024  # what the system keeps for a client that does not read; small, so that reading shows soon


class PatientProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with limits on the time and size of a request's head, and on waiting for a client to read.

    Bytes are counted as they come: the parser keeps a header until it is whole, and would keep one without end. The
    limits `patience` and `max_bytes` are the application's, which its lifespan gives to the server as state.
    """

    _timer: asyncio.TimerHandle | None = None
    _head = 0  # bytes of the head as parsed
    _in_head = True
    _received = 0  # bytes since the last request was whole
    _reader: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._pending: deque[bytes] = deque()  # what has come and is not parsed yet

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._cancel()
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has come, a piece per turn of the event loop: a piece of tiny chunks takes long."""
        if len(data) <= _PIECE and not self._pending:
            self._parse(data)
            return
        if not self._pending:
            self.loop.call_soon(self._parse_next)
        self._pending.extend(data[at : at + _PIECE] for at in range(0, len(data), _PIECE))
        self.transport.pause_reading()

    def _parse_next(self) -> None:
        self._parse(self._pending[0])
        self._pending.popleft()
        if self.transport.is_closing():
            self._pending.clear()
        elif self._pending:
            self.loop.call_soon(self._parse_next)
        elif not self.flow.read_paused:
            self.transport.resume_reading()

    def _parse(self, data: bytes) -> None:
        """Count what has come of a request, and go on unless that is too much."""
        self._received += len(data)
        super().data_received(data)
        if self._received > (_MOST_HEAD if self._in_head else int(self.app_state.get("max_bytes", _MOST_BYTES))):
            self._refuse(b"431 Request Header Fields Too Large")

    def pause_writing(self) -> None:
        """An answer is waiting for the client to read: watch whether it does."""
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size() + 1)

    def resume_writing(self) -> None:
        """The client has read."""
        self._stop_watching()
        super().resume_writing()

    def on_message_begin(self) -> None:
        """Begin to wait for the rest of a request's head."""
        super().on_message_begin()
        self._head, self._in_head = 0, True
        self._wait()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        self._count(len(name) + len(value) + _PER_HEADER)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._cancel()
        self._in_head = False
        if not self.transport.is_closing():
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body, unless the request has been refused; as long as it is read, it pays for itself."""
        if not self.transport.is_closing():
            if not self.cycle.response_complete:
                self._received = max(self._received - MAX_OVERHEAD * len(body), 0)
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is whole, unless it has been refused."""
        self._received, self._in_head = 0, True
        if not self.transport.is_closing():
            super().on_message_complete()

    def _watch(self, before: int) -> None:
        """Drop a client that has read nothing since the last look."""
        self._stop_watching()
        waiting = self.transport.get_write_buffer_size()
        if waiting < before:
            self._reader = self.loop.call_later(self._patience, self._watch, waiting)
        else:
            self.transport.abort()

    def _stop_watching(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    @property
    def _patience(self) -> float:
        return float(self.app_state.get("patience", _PATIENCE))

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > _MOST_HEAD:
            self._refuse(b"431 Request Header Fields Too Large")

    def _wait(self) -> None:
        self._cancel()
        self._timer = self.loop.call_later(self._patience, self._refuse, b"408 Request Timeout")

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
