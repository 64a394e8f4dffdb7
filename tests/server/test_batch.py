"""JSON lines in and out, streamed."""

import asyncio
import contextlib
import json
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.serving import Served, serving
from wikilda.sample import texts
from wikilda.server.batch import Lines
from wikilda.server.service import Memory
from wikilda.server.settings import ServerSettings

TEXTS = [row["text"] for row in texts()[:5]]


def test_answers_are_those_of_link_in_order(client: httpx.Client) -> None:
    body = "\n".join(json.dumps({"text": text, "id": str(number)}) for number, text in enumerate(TEXTS)) + "\n\n"
    answer = client.post("/v1/batch", content=body)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert rows == [client.post("/v1/link", json={"text": text, "id": str(n)}).json() for n, text in enumerate(TEXTS)]


def test_a_bad_line_is_reported_and_the_others_are_read(client: httpx.Client) -> None:
    lines = ['{"text": "Robert Croft bowled."}', "{", '{"txt": "a"}', '{"text": "a", "mentions": [{"start": 5, "end": 9}]}',
             json.dumps({"text": "Lara batted."})]  # fmt: skip
    rows = [json.loads(line) for line in client.post("/v1/batch", content="\n".join(lines)).text.splitlines()]
    assert [row.get("line") for row in rows] == [None, 2, 3, 4, None]
    assert all(row["error"]["message"] for row in rows[1:4])
    assert rows[0]["mentions"][0]["title"] == "Robert Croft"


def test_no_lines_are_an_error(client: httpx.Client) -> None:
    assert client.post("/v1/batch", content="\n").status_code == 400


def test_answers_come_while_others_are_worked_on(client: httpx.Client) -> None:
    body = "\n".join(json.dumps({"text": TEXTS[0]}) for _ in range(60))
    with client.stream("POST", "/v1/batch", content=body) as answer:
        pieces = [piece for piece in answer.iter_raw() if piece]
    assert len(pieces) > 1
    assert b"".join(pieces).count(b"\n") == 60


def titles(client: httpx.Client, text: str, **more: object) -> list[str]:
    answer = client.post("/v1/link", json={"text": text, **more})
    assert answer.status_code == 200, answer.text
    return [each["title"] for each in answer.json()["mentions"]]


def test_answers_are_restricted(client: httpx.Client) -> None:
    text = "Croft took five wickets for England."
    croft = client.post("/v1/link", json={"text": text}).json()["mentions"][0]
    best, second = (each["title"] for each in croft["candidates"][:2])
    assert best == "Robert Croft"
    for wanted, found in (
        ({"types": ["person"]}, ["Robert Croft"]),
        ({"types": ["person", "organisation"]}, ["Robert Croft", "England cricket team"]),
        ({"only": ["England cricket team"]}, ["England cricket team"]),
        ({"only": ["England", '"croft"']}, ["Robert Croft", "England"]),
        ({"only": ['"england"']}, ["England cricket team"]),
        ({"exclude": ["Robert Croft"]}, [second, "England cricket team"]),
        ({"exclude": ['"CROFT"']}, ["England cricket team"]),
        ({"category": "Cricketers"}, ["Robert Croft"]),
    ):
        assert titles(client, text, **wanted) == found, wanted
    for wrong in ({"types": ["persn"]}, {"category": "no such"}, {"only": ["Robert Crof"]}, {"exclude": ["Croft 3"]}):
        answer = client.post("/v1/link", json={"text": text, **wrong})
        assert answer.status_code == 422
        assert "there is no" in answer.json()["error"]["message"]
    assert len(client.post("/v1/link", json={"text": text, "only": ["x" * 1000]}).content) < 400


@pytest.mark.parametrize("path", ["/v1/link", "/v1/explain"])
def test_impossible_conditions_are_errors(client: httpx.Client, path: str) -> None:
    for wrong in (
        {"types": ["persn"]}, {"category": "no such"}, {"only": ["Robert Crof"]}, {"exclude": ["Croft 3"]},
        {"types": ["organisation"], "only": ["Robert Croft"]},
    ):  # fmt: skip
        for mention in ({}, {"mention": 0}) if path == "/v1/explain" else ({},):
            answer = client.post(path, json={"text": "Croft bowled for England.", **wrong, **mention})
            assert answer.status_code == 422, (wrong, answer.text)


def test_nested_mentions_are_on_request(client: httpx.Client) -> None:
    text = "We met Deputy Chairman Zebulon Robert Croft in Cardiff."
    plain, nested = (client.post("/v1/link", json={"text": text, "nested": each}).json() for each in (False, True))
    found = [[each["text"] for each in answer["mentions"]] for answer in (plain, nested)]
    assert set(found[0]) < set(found[1])
    assert client.post("/v1/link", json={"text": text}).json() == plain
    assert client.post("/v1/link", json={"text": text, "nested": "often"}).status_code == 422
    line = client.post("/v1/batch", content=json.dumps({"text": text, "nested": True})).json()
    assert line["mentions"] == nested["mentions"]


ACME = {"title": "Acme Corporation", "names": ["Acme"], "description": "A maker of anvils.", "type": "organisation"}


def test_entities_may_be_brought_along(client: httpx.Client) -> None:
    text = "Acme sells anvils in London."
    assert titles(client, text) == ["London"]
    assert titles(client, text, entities=[ACME]) == ["Acme Corporation", "London"]
    assert titles(client, text, entities=[ACME], types=["organisation"]) == ["Acme Corporation"]
    found = client.post("/v1/link", json={"text": text, "entities": [ACME]}).json()["mentions"][0]
    assert (found["page_id"], found["wikidata"], found["url"], found["type"]) == (0, None, None, "organisation")
    rows = client.post("/v1/batch", content=json.dumps({"text": text, "entities": [ACME]})).json()
    assert rows["mentions"][0] == found
    for wrong in ([{**ACME, "aliases": []}], [{"title": "?"}], [ACME, ACME], [{**ACME, "type": "anvil"}], [ACME] * 101):
        assert client.post("/v1/link", json={"text": text, "entities": wrong}).status_code == 422


def test_explanations_take_the_options_of_link(client: httpx.Client) -> None:
    text = "Croft bowled Acme anvils."
    for options in ({"types": ["person"]}, {"entities": [ACME]}, {"nested": True}, {"exclude": ["Robert Croft"]}):
        linked, why = (
            client.post(f"/v1/{name}", json={"text": text, **options}).json()["mentions"]
            for name in ("link", "explain")
        )
        same = ("start", "end", "title", "nil")
        assert [[each[name] for name in same] for each in why] == [[each[name] for name in same] for each in linked]


def test_the_api_to_read_needs_no_network(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "/v1/link/batch" in page.text
    assert "took three wickets" in page.text
    assert "http://" not in page.text.split("</head>")[0]
    assert client.get("/page/docs.css").status_code == 200
    assert client.get("/page/icon.svg").headers["content-type"].startswith("image/svg+xml")
    assert '<link rel="icon" href="/page/icon.svg">' in page.text
    assert "<code>/v1</code> is the server's own API" in page.text  # descriptions are Markdown


def send(served: Served, pieces: Iterable[bytes], *headers: bytes) -> tuple[bytes, int]:
    """Send a body in chunks while reading the answer: its last bytes, and its lines."""
    lines, last = 0, b""
    with served.socket() as connection:

        def write() -> None:
            with contextlib.suppress(OSError):
                head = [b"POST /v1/batch HTTP/1.1", b"host: localhost", b"transfer-encoding: chunked", *headers]
                connection.sendall(b"\r\n".join([*head, b"", b""]))
                for piece in pieces:
                    connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
                connection.sendall(b"0\r\n\r\n")

        writer = threading.Thread(target=write)
        writer.start()
        while not last.endswith(b"0\r\n\r\n") and (got := connection.recv(1 << 16)):
            lines += got.count(b"}\n")
            last = (last + got)[-4000:]
        writer.join()
    return last, lines


def resident() -> float:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGESIZE") / 1e6


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_a_request_may_be_longer_than_memory(model: Path) -> None:
    """150 MB of lines, some of them larger than what a line may have: they are answered, and nothing is kept."""
    with serving(model, max_body=1_000_000, max_text=1000) as served:
        long = json.dumps({"text": "a" * 500_000}).encode() + b"\n"
        larger = b"x" * 3_000_000 + b"\n"
        short = json.dumps({"text": "Croft bowled."}).encode() + b"\n"
        send(served, [long] * 4 + [larger, short])
        before, most, grown = resident(), 0.0, list[float]()
        pieces = (piece for _ in range(30) for piece in (long, long, long, long, larger, short))
        last, lines = send(served, (grown.append(resident()) or piece for piece in pieces))
        most = max(grown)
    assert lines == 180
    assert b"Robert Croft" in last
    assert most - before < 30


def test_a_client_that_does_not_read_stops_the_reading(model: Path) -> None:
    """What it sends has to wait: the server takes no more than it may hold."""
    with serving(model, max_body=100_000, patience=1.0) as served, served.socket() as connection:
        connection.settimeout(5)
        connection.sendall(b"POST /v1/batch HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
        line = json.dumps({"text": TEXTS[0]}).encode() + b"\n"
        sent = 0
        with contextlib.suppress(OSError):
            while sent < 100_000_000:
                connection.sendall(b"%x\r\n%b\r\n" % (len(line), line))
                sent += len(line)
        assert sent < 20_000_000
        assert served.alive()


def test_a_line_that_does_not_come_ends_the_answer(model: Path) -> None:
    with serving(model, patience=0.5) as served, served.socket() as connection:
        connection.sendall(b"POST /v1/batch HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
        connection.sendall(b"20\r\n" + b'{"text": "Croft bowled well."}\n{' + b"\r\n")
        got = b""
        while not got.endswith(b"0\r\n\r\n") and (more := connection.recv(1 << 16)):
            got += more
        assert b"Robert Croft" in got
        assert b'"code":"slow"' in got
        connection.sendall(b"1\r\n")
        assert served.alive()


def test_who_leaves_early_costs_nothing_more(served: Served) -> None:
    line = json.dumps({"text": TEXTS[0]}).encode() + b"\n"
    with served.socket() as connection:
        body = line * 500
        connection.sendall(b"POST /v1/batch HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body))
        connection.sendall(body)
        connection.recv(1000)
    assert served.alive(20)


def test_keys_are_asked_for_and_lines_are_streamed(model: Path) -> None:
    with serving(model, keys=("secret",)) as served:
        assert httpx.post(f"{served.url}/v1/batch", content=b'{"text": "a"}').status_code == 401
        form = b"content-type: application/x-www-form-urlencoded"
        for extra in ((), (form,)):
            last, lines = send(served, [b'{"text": "Croft', b' bowled."}\n{"text": "a"}'], b"x-api-key: secret", *extra)
            assert (lines, b"Robert Croft" in last) == (2, True)


def test_blank_lines_give_no_time(model: Path) -> None:
    """They are no lines: a client that sends nothing else gets 408, and its connection is closed."""
    sent = 0

    def blank() -> Iterator[bytes]:
        nonlocal sent
        for sent in range(1, 2001):  # noqa: B007 - nonlocal  # noqa: B007 (nonlocal)
            time.sleep(0.01)
            yield b"\n" * 1000

    with serving(model, patience=0.5) as served, contextlib.suppress(ConnectionResetError):
        last, lines = send(served, blank())
        assert lines == 0
        assert b" 408 " in last
    assert sent < 2000


@given(st.lists(st.sampled_from([b"\n", b" ", b"\r\n", b"x", b"{}", b"  \n\n", b"\t"]), max_size=30), st.integers(1, 9))
def test_lines_are_split_as_by_hand(pieces: list[bytes], step: int) -> None:
    whole = b"".join(pieces)
    wanted = [(at, line) for at, line in enumerate(whole.split(b"\n"), 1) if line.strip()]
    parts = [whole[at : at + step] for at in range(0, len(whole), step)] or [b""]
    messages = [{"type": "http.request", "body": part, "more_body": part is not parts[-1]} for part in parts]
    for last in messages:
        last["more_body"] = last is not messages[-1]

    async def split() -> list[tuple[int, bytes]]:
        rest = iter(messages)

        async def receive() -> dict[str, object]:
            return next(rest, {"type": "http.disconnect"})

        lines, found = Lines(receive, ServerSettings(), Memory(1 << 20)), []
        while (line := await lines.get()).number:
            found.append((line.number, line.data))
        return found

    assert asyncio.run(split()) == wanted


def test_lines_keep_their_numbers(client: httpx.Client) -> None:
    answer = client.post("/v1/batch", content=b'\n\n{\n  \n{"text": ""}\r\n[]')
    assert [json.loads(line).get("line") for line in answer.text.splitlines()] == [3, None, 6]
