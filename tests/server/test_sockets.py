"""Clients that are slow, gone, many or not speaking HTTP: the server goes on answering everyone else."""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.serving import Served, serving

PATIENCE = 0.6
BODY = b'{"text": "Croft bowled for England."}'


@pytest.fixture(scope="module")
def hurried(model: Path) -> Iterator[Served]:
    """A server that does not wait long."""
    with serving(model, patience=PATIENCE, connections=1500) as served:
        yield served


@pytest.fixture(scope="module")
def frugal(model: Path) -> Iterator[Served]:
    """A server that takes small requests, and waits for them."""
    with serving(model, max_body=100_000, patience=60.0) as served:
        yield served


def head(length: int = len(BODY), path: str = "/v1/link") -> bytes:
    return f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n".encode()


def everything(connection: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def test_a_client_that_sends_byte_by_byte_is_closed(hurried: Served) -> None:
    with hurried.socket() as connection:
        started = time.monotonic()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for byte in head():
                connection.sendall(bytes([byte]))
                time.sleep(0.02)
        assert b" 408 " in everything(connection)
        assert time.monotonic() - started < 10 * PATIENCE
    assert hurried.alive()


def test_silence_is_not_waited_for(hurried: Served) -> None:
    with hurried.socket() as connection:
        assert b" 408 " in everything(connection)


def test_half_a_body_is_answered_408(hurried: Served) -> None:
    with hurried.socket() as connection:
        connection.sendall(head() + BODY[:10])
        answer = everything(connection)
        assert b" 408 " in answer
        assert b"Send it faster" in answer
    assert hurried.alive()


def test_clients_that_leave_in_the_middle(hurried: Served) -> None:
    for part in (b"PO", head()[:30], head(), head() + BODY[:5], head() + BODY):
        for _ in range(10):
            with hurried.socket() as connection:
                connection.sendall(part)
    assert hurried.alive()


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 100, b"\xff\xfe\xfd" * 50, b"GET\r\n\r\n", b"HELLO WORLD\r\n\r\n", bytes(range(256)),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/9.9\r\n\r\n", b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n", b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    ],
)  # fmt: skip
def test_garbage(hurried: Served, data: bytes) -> None:
    with hurried.socket() as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = everything(connection)
        assert not answer or answer.startswith(b"HTTP/1.1 ")
        assert b" 500 " not in answer
    assert hurried.alive()


def test_heads_have_a_limit(hurried: Served) -> None:
    for data in (
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"a" * 200_000 + b"\r\n\r\n",
    ):
        with hurried.socket() as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(data)
            answer = everything(connection)
            assert not answer or b" 431 " in answer
    endless = b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 50_000
    with hurried.socket() as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(endless)
        answer = everything(connection)
        assert not answer or b" 431 " in answer
    assert hurried.alive()


CHUNKED = b"POST /v1/link HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("start", "most"),
    [
        (b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ", 20_000_000),  # a header
        (b"GET / HTTP/1.1\r\n", 20_000_000),  # the name of a header
        (b"GET /", 20_000_000),  # an address
        (CHUNKED + b"1;", 20_000_000),  # what may follow the size of a chunk
        (CHUNKED + b"1\r\na\r\n0\r\nx: ", 20_000_000),  # a header after the body
    ],
)
def test_what_never_ends_is_cut_off_while_it_comes(frugal: Served, start: bytes, most: int) -> None:
    sent = 0
    with frugal.socket() as connection:
        connection.sendall(start)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while sent <= most:
                connection.sendall(b"a" * 10_000)
                sent += 10_000
    assert sent <= most, "the server took all that came"
    assert frugal.alive()


def test_a_header_that_never_ends_is_answered_431(frugal: Served) -> None:
    with frugal.socket() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 70_000)
        assert b" 431 " in everything(connection)


def test_many_short_headers_are_answered_431(frugal: Served) -> None:
    for count, status in ((100, b" 200 "), (300, b" 431 ")):
        with frugal.socket() as connection:
            headers = b"".join(b"x%d: y\r\n" % at for at in range(count))
            connection.sendall(
                b"GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n" + headers + b"\r\n"
            )
            assert status in everything(connection)


def test_a_body_in_chunks_of_a_byte_does_not_delay_others(hurried: Served) -> None:
    body = BODY + b" " * 20_000
    with hurried.socket() as connection:
        connection.sendall(CHUNKED.replace(b"\r\nhost", b"\r\ncontent-type: application/json\r\nhost"))
        connection.sendall(b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
    assert hurried.alive()


def test_requests_that_come_together_are_answered_in_their_order(frugal: Served) -> None:
    """Smuggling: what one parser takes for a body is a request for another. Each of these has one reading or none."""
    two = head() + BODY + b"GET /health/live HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    with frugal.socket() as connection:
        connection.sendall(two)
        answer = everything(connection)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.index(b"Robert Croft") < answer.index(b"live")
    inner = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n"
    for headers in (
        b"content-length: 0\r\ntransfer-encoding: chunked", b"transfer-encoding: chunked\r\ncontent-length: %d",
        b"content-length: 0\r\ncontent-length: %d", b"content-length: 0, %d", b"content-length: +%d",
        b"content-length : %d", b"transfer-encoding: xchunked", b"transfer-encoding: chunked, identity",
        b"transfer-encoding:\x0bchunked", b"transfer-encoding: chunked\r\ntransfer-encoding: identity",
        b"x: y\r\n content-length: %d", b"x: y\rcontent-length: %d",
    ):  # fmt: skip
        headers = headers % len(inner) if b"%d" in headers else headers
        with frugal.socket() as connection:
            connection.sendall(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n" + headers + b"\r\n\r\n" + inner)
            connection.shutdown(socket.SHUT_WR)
            answer = everything(connection)
        assert b"wikilda_requests" not in answer, headers
        assert answer.count(b"HTTP/1.1 ") <= 1, headers
    assert frugal.alive()


def test_requests_one_after_the_other_are_no_endless_head(frugal: Served) -> None:
    with frugal.socket() as connection:
        for _ in range(60):  # more than a head may have, in all
            connection.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: " + b"a" * 2_000 + b"\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_thousand_connections(model: Path) -> None:
    with serving(model, patience=30.0, connections=1500) as served, contextlib.ExitStack() as stack:
        held = [stack.enter_context(served.socket()) for _ in range(1000)]
        for at, connection in enumerate(held):
            connection.sendall(head() + BODY if at % 10 == 0 else head()[:20])
        assert served.alive(within=20)  # refused with 503 while the hundred requests above fill the queue
        answers = [held[at].recv(100) for at in range(0, 1000, 10)]
        assert all(answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 503")) for answer in answers)
        assert sum(answer.startswith(b"HTTP/1.1 200") for answer in answers) >= 64


def test_connections_over_the_limit_get_503(model: Path) -> None:
    with serving(model, patience=30.0, connections=20) as served, contextlib.ExitStack() as stack:
        held = [stack.enter_context(served.socket()) for _ in range(25)]
        held[-1].sendall(head() + BODY)
        assert held[-1].recv(100).startswith(b"HTTP/1.1 503")
        for each in held[:20]:
            each.close()
        assert served.alive(within=5)


def large() -> bytes:
    """A request with an answer of some megabytes."""
    text = b"Croft bowled for England against Pakistan at The Oval. " * 1500
    body = b'{"candidates": 100, "topics": 100, "text": "' + text + b'"}'
    return head(len(body)) + body


def narrow(served: Served) -> socket.socket:
    connection = socket.socket()
    connection.settimeout(20)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((served.host, served.port))
    return connection


def test_a_client_that_does_not_read_its_answer_is_dropped(hurried: Served) -> None:
    with narrow(hurried) as connection:
        connection.sendall(large())
        connection.settimeout(60)
        connection.recv(1, socket.MSG_PEEK)  # the answer has begun, however busy the machine is
        time.sleep(6 * PATIENCE)
        answer = everything(connection)
        length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        assert len(answer) < length
    assert hurried.alive()


def test_a_client_that_reads_slowly_gets_all_of_it(hurried: Served) -> None:
    with narrow(hurried) as connection:
        connection.sendall(large())
        answer = connection.recv(65536)
        length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        started, step = time.monotonic(), length // 8
        size = len(answer) - len(answer.split(b"\r\n\r\n")[0]) - 4
        while size < length:
            if size > step:
                time.sleep(PATIENCE / 2)
                step += length // 8
            part = connection.recv(65536)
            assert part, f"dropped after {size:,} of {length:,} bytes"
            size += len(part)
        assert time.monotonic() - started > 2 * PATIENCE


@pytest.mark.parametrize(
    "path",
    [
        "/page/../../../../etc/passwd", "/page/..%2f..%2f..%2fetc%2fpasswd", "/page/%2e%2e/settings.py", "/page/__init__.py",
        "/page//etc/passwd", "/page/page.js%00.css", "/page/%ff%fe", "//", "/v1/topics/..%2f..", "/v1/topics/%ff",
        "/v1/mentions/%00", "/v1/topics/" + "a" * 20_000, "/v1/mentions/" + "%F0%9F%98%80" * 2000, "/%", "/v1/topics/", "/?text=%ff",
    ],
)  # fmt: skip
def test_path_tricks(served: Served, path: str) -> None:
    with served.socket() as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
        answer = everything(connection)
    status = int(answer.split()[1])
    assert status in (200, 400, 404, 422)
    assert b"root:" not in answer
    assert b"import" not in answer


def test_huge_unicode(served: Served) -> None:
    texts = [
        "😀" * 100_000, "e\u0301" * 100_000, "\u202e" * 1000 + "Croft", "a" * 199_990 + " Croft", "\x00" * 1000 + "Croft",
        "\ufeffCroft\ufffe", "Croft\u2028England", "𝕮𝖗𝖔𝖋𝖙 " * 1000, "\U0010ffff" * 10_000, "[[" * 50_000, "ǅ" * 50_000 + " İ",
    ]  # fmt: skip
    with served.client() as client:
        for text in texts:
            answer = client.post("/v1/link", json={"text": text})
            assert answer.status_code == 200
            for each in answer.json()["mentions"]:
                assert text[each["start"] : each["end"]] == each["text"]
