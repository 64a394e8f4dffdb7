"""Limits: time, queue, keys, origins, sizes; and what does not get into the log."""

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.serving import Served, serving, wait_until_ready
from wikilda._core.errors import SettingsError
from wikilda.lda.settings import LdaSettings
from wikilda.sample import texts
from wikilda.server import openapi
from wikilda.server._middleware import _given
from wikilda.server.compat import spotlight
from wikilda.server.errors import Problem
from wikilda.server.service import Work, dumps
from wikilda.server.settings import ServerSettings

LONG = " ".join(each["text"] for each in texts())
SLOW = LdaSettings(sweeps=20_000)  # half a second of work or more


def test_work_that_takes_too_long_is_answered_504(model: Path) -> None:
    with serving(model, SLOW, seconds=0.05) as served, served.client() as client:
        answer = client.post("/v1/link", json={"text": LONG})
        assert answer.status_code == 504
        assert "--set seconds=N" in answer.json()["error"]["message"]
        assert client.get("/health").status_code == 200


def test_a_full_queue_is_answered_503_and_empties(model: Path) -> None:
    with serving(model, SLOW, threads=1, queue=1) as served, served.client() as client:

        def ask(_: int) -> tuple[int, str | None]:
            answer = client.post("/v1/link", json={"text": LONG})
            return answer.status_code, answer.headers.get("retry-after")

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, range(8)))
        statuses = [status for status, _ in answers]
        assert set(statuses) == {200, 503}
        assert statuses.count(200) >= 2
        assert all(wait == "1" for status, wait in answers if status == 503)
        assert client.post("/v1/link", json={"text": "Croft"}).status_code == 200


def test_requests_before_the_model_is_open_get_503(model: Path) -> None:
    opens = threading.Event()
    with serving(model, opens=opens) as served, served.client() as client:
        assert client.get("/health").status_code == 503
        assert client.get("/health").json() == {"status": "warming"}
        assert client.get("/health/live").status_code == 200
        for path in ("/v1/link", "/", "/annotate?text=a", "/tag?text=a", "/spot?text=a"):
            answer = client.post(path, json={"text": "a"}) if "?" not in path else client.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "warming"), path
        assert client.get("/v1/model").headers["retry-after"] == "1"
        opens.set()
        wait_until_ready(served)
        assert client.post("/v1/link", json={"text": "Croft"}).status_code == 200


@pytest.fixture(scope="module")
def locked(model: Path) -> Iterator[Served]:
    with serving(model, keys=("secret one", "schlüssel"), origins=("https://example.org",)) as served:
        yield served


def test_keys(locked: Served) -> None:
    body = {"text": "Croft bowled."}
    with locked.client() as client:
        refused = client.post("/v1/link", json=body)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert "X-API-Key" in refused.json()["error"]["message"]
        for wrong in (
            {"x-api-key": "secret"},
            {"x-api-key": ""},
            {"authorization": "Bearer secret"},
            {"authorization": ""},
        ):
            assert client.post("/v1/link", json=body, headers=wrong).status_code == 401
        for right in (
            {"x-api-key": "secret one"},
            {"authorization": "Bearer secret one"},
            {"x-api-key": "schlüssel".encode()},
        ):
            assert client.post("/v1/link", json=body, headers=right).status_code == 200
        for path in ("/metrics", "/v1/model", "/tag?text=Croft", "/v1/examples"):
            assert client.get(path).status_code == 401
        for path in ("/health", "/health/live", "/openapi.json", "/page/page.js", "/"):
            assert client.get(path).status_code == 200
        assert client.get("/tag", params={"text": "Croft", "gcube-token": "secret one"}).status_code == 200
        assert client.post("/tag", data={"text": "Croft", "gcube-token": "secret one"}).status_code == 200
        assert client.post("/tag", data={"text": "Croft", "gcube-token": "x"}).status_code == 401


def test_origins(locked: Served, served: Served) -> None:
    asks = {"origin": "https://example.org", "access-control-request-method": "POST"}
    with locked.client() as client:
        allowed = client.options("/v1/link", headers=asks)
        assert allowed.headers["access-control-allow-origin"] == "https://example.org"
        refused = client.post("/v1/link", json={"text": "a"}, headers={"origin": "https://example.org"})
        assert refused.headers["access-control-allow-origin"] == "https://example.org"  # pages can read the error
        other = client.options("/v1/link", headers={**asks, "origin": "https://example.com"})
        assert "access-control-allow-origin" not in other.headers
    with served.client() as client:
        assert "access-control-allow-origin" not in client.options("/v1/link", headers=asks).headers


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST.", "a.localhost", "10.0.0.1"])
def test_a_server_for_this_machine_is_asked_by_its_own_names(served: Served, name: str) -> None:
    with served.client() as client:
        for host in (name, f"{name}:{served.port}"):
            assert client.get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "name", ["attacker.example", "localhost.attacker.example", "127.0.0.1.example", "", "a b", "[::1].x", "evil.example#.localhost",
             "evil.example/.localhost", "evil.example?.localhost", "evil@.localhost", "[::1%.localhost]", "x:y.localhost",
             ".localhost", "localhost:80:90"]
)  # fmt: skip
def test_a_page_cannot_let_its_own_name_lead_here(served: Served, name: str) -> None:
    with served.client() as client:
        for path in ("/health", "/v1/model", "/", "/metrics"):
            answer = client.get(path, headers={"host": name})
            assert (answer.status_code, answer.json()["error"]["code"]) == (421, "wrong_host")
            assert "--set hosts=NAME" in answer.json()["error"]["message"]


def test_names_that_a_server_is_asked_by(model: Path) -> None:
    with serving(model, hosts=("Linker.example",)) as served, served.client() as client:
        assert client.get("/health", headers={"host": "linker.example:80"}).status_code == 200
        assert client.get("/health", headers={"host": "other.example"}).status_code == 421
    with serving(model, hosts=("*",)) as served, served.client() as client:
        assert client.get("/health", headers={"host": "other.example"}).status_code == 200


def test_metrics_can_be_turned_off(model: Path) -> None:
    with serving(model, metrics=False) as served, served.client() as client:
        assert client.get("/metrics").status_code == 404


def test_what_is_repeated_is_cut_short(served: Served) -> None:
    long = "x" * 100_000
    with served.client() as client:
        for answer in (
            client.post("/rel", data={"tt": f"{long} {long}"}),
            client.post("/rel", data={"tt": long}),
            client.post("/tag", data={"text": "Croft", "lang": long}),
            client.post("/annotate", data={"text": "Croft", "policy": long}),
            client.post("/nif", content=b"", headers={"content-type": "text/" + long[:10_000]}),
            client.post("/tag", content=b"x", headers={"content-type": "text/" + long[:10_000]}),
            client.post("/v1/link", json={"text": "Croft", long: 1}),
            client.get("/v1/topics/" + long[:20_000]),
        ):
            assert len(answer.content) < 5_000, answer.request.url.path


def test_bodies_have_a_limit_declared_or_not(model: Path) -> None:
    with serving(model, max_body=1000) as served, served.client() as client:
        whole = client.post("/v1/link", json={"text": "x" * 2000})
        assert (whole.status_code, whole.json()["error"]["code"]) == (413, "body_too_large")
        in_pieces = client.post("/v1/link", content=(b"x" * 100 for _ in range(30)))
        assert in_pieces.status_code == 413
        assert client.post("/v1/link", json={"text": "x" * 900}).status_code == 200


def test_every_answer_has_the_headers_that_browsers_heed(served: Served) -> None:
    with served.client() as client:
        for path in ("/", "/nothing", "/v1/model", "/page/page.css"):
            headers = client.get(path, headers={"accept": "text/html"}).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert "server" not in headers


def test_what_users_send_is_not_logged(model: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(model) as served, served.client() as client:
        caplog.clear()
        word = "Geheimwort"
        client.post("/v1/link", json={"text": word})
        client.post("/v1/link", json={"text": word, word: 1})
        client.get("/tag", params={"text": word})
        client.post("/annotate", data={"text": word})
        client.post("/nif", content=f"<{word} {word}> a <b> .".encode())
        client.get(f"/v1/mentions/{word}")
        client.get("/v1/topics/" + word)
        for where in (f"/v1/topics/{word}", f"/{word}", f"/v1/mentions/{word}/x", f"/%F0/{word}"):
            assert client.get(where, headers={"host": "other.example"}).status_code == 421
            assert client.put(where).status_code in (404, 405)
        client.get(f"/{word}")
        client.get("/health", headers={"x-" + word: word})
        lines = [record.getMessage() for record in caplog.records if record.name.startswith(("wikilda", "uvicorn"))]
    assert any("/v1/link 200" in line for line in lines)
    assert not [line for line in lines if word.lower() in line.lower()]
    with serving(model, keys=("key",)) as served, served.client() as client:
        caplog.clear()
        assert client.get(f"/v1/topics/{word}").status_code == 401
        assert client.get(f"/{word}").status_code == 401
        lines = [record.getMessage() for record in caplog.records if record.name.startswith(("wikilda", "uvicorn"))]
    assert any("(other) 401" in line for line in lines)
    assert not [line for line in lines if word.lower() in line.lower()]
    with serving(model, log_texts=True) as served, served.client() as client:
        caplog.clear()
        client.get("/tag", params={"text": word})
    assert any(word in record.getMessage() for record in caplog.records if record.name == "wikilda.server")


def test_work_has_a_limit_that_sizes_do_not_give(model: Path) -> None:
    """Many values of many entities, batches of long texts, explanations with all candidates: little is sent."""
    text, ids = "Croft " * 100, json.dumps({"ids": ["England"] * 500, "properties": [{"id": "type"}]})
    with serving(model, max_work=10_000) as served, served.client() as client:
        for answer in (
            client.post("/reconcile", data={"extend": ids}),
            client.post("/reconcile", data={"queries": json.dumps({"q": {"query": text}, "r": {"query": text * 2}})}),
            client.post("/v1/link", json={"text": text * 2, "candidates": 100}),
            client.post("/v1/link/batch", json={"documents": [{"text": text}] * 20}),
            client.post("/v1/explain", json={"text": text, "candidates": 50}),
        ):
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "work_too_large")
            assert "--set max_work=N" in answer.json()["error"]["message"]
        line = client.post("/v1/batch", content=json.dumps({"text": text * 20})).json()
        assert line["error"]["code"] == "work_too_large"
        properties = [{"id": "type"}] * 10_000  # the same property is one
        asked = json.dumps({"ids": ["England"] * 100, "properties": properties})
        assert client.post("/reconcile", data={"extend": asked}).status_code == 200


def test_json_has_a_limit_of_values(served: Served) -> None:
    many, named = [1] * 300_000, {f"a{at}": 0 for at in range(40_000)}
    with served.client() as client:
        for path, body in (("/v1/link", many), ("/v1/link", named), ("/v1/explain", {"text": "a", "mentions": many})):
            answer = client.post(path, json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large"), path
        for body in ({"queries": named}, {"extend": many}):
            assert (
                client.post("/reconcile", data={name: json.dumps(each) for name, each in body.items()}).status_code
                == 413
            )
        wrong = client.post("/v1/link", json={"text": "a", "mentions": [1] * 200_000})
        assert wrong.status_code == 422
        assert len(wrong.content) < 500


def test_large_forms_are_decoded_in_threads(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoding megabytes of %41 takes half a second, in which the event loop would answer nobody."""
    threads: dict[str, str] = {}

    def noting(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(data: Any) -> Any:
            if len(data) > 30_000:
                threads[name] = threading.current_thread().name
            return function(data)

        return call

    monkeypatch.setattr(openapi, "_pairs", noting("form", openapi._pairs))
    monkeypatch.setattr(spotlight, "read_annotation", noting("annotation", spotlight.read_annotation))
    with served.client() as client:
        form = {"content-type": "application/x-www-form-urlencoded"}
        answer = client.post("/tag", content=b"text=" + b"%41" * 250_000, headers=form)
        assert answer.json()["error"]["code"] == "text_too_large"
        text = "Croft " * 8_000
        given = f'<annotation text="{text}"><surfaceForm name="Croft" offset="0"/></annotation>'
        assert client.post("/disambiguate", data={"text": given}).json()["@text"] == text
    assert set(threads) == {"form", "annotation"}
    assert all(each.startswith("wikilda") for each in threads.values()), threads


@given(
    st.lists(st.sampled_from([*"a=&+%é", "%41", "%C3%A9", "%zz", "%25", "%F0%9F%98%80", "x" * 20])), st.integers(3, 40)
)
def test_forms_are_decoded_in_pieces_as_whole(parts: list[str], piece: int) -> None:
    data = "".join(parts).replace("é", "%C3%A9").encode()
    before, openapi._PIECE = openapi._PIECE, piece
    try:
        assert openapi._pairs(data) == parse_qsl(data.decode(), keep_blank_values=True, errors="strict")
    finally:
        openapi._PIECE = before


@pytest.mark.parametrize("path", ["/v1/link", "/v1/batch"])
def test_large_bodies_share_a_limit_of_memory(model: Path, path: str) -> None:
    """Connections that each hold nearly `max_body` would take `connections` times as much."""
    with serving(model, queue=1, threads=1, max_body=100_000, patience=20.0) as served, contextlib.ExitStack() as stack:
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 95000\r\n\r\n"
        holding = []
        for _ in range(2):
            holding.append(stack.enter_context(served.socket()))
            holding[-1].sendall(head.encode() + b" " * 90_000 if path == "/v1/link" else head.encode() + b"x" * 90_000)
        with served.client() as client:

            def refused() -> bool:
                answer = client.post(path, content=b'{"text": "Croft", "id": "' + b"x" * 90_000 + b'"}')
                return answer.status_code == 503 and answer.headers["connection"] == "close"

            assert eventually(refused)
            assert client.post(path, json={"text": "Croft bowled."}).status_code == 200
            for each in holding:
                each.close()
            text = json.dumps({"text": "Croft " * 15_000})
            sent = {"content": text, "headers": {"content-type": "application/json"}}
            assert eventually(lambda: client.post(path, **sent).status_code == 200)


def eventually(holds: Callable[[], bool], seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def test_of_many_unknown_fields_one_is_named(served: Served) -> None:
    many = {f"a{at}": at for at in range(20_000)}
    with served.client() as client:
        for body in ({"text": "a", **many}, {"text": "a", "mentions": [many]}):
            said = client.post("/v1/link", json=body).json()["error"]
            assert said["code"] == "invalid"
            assert "there is no field 'a0'" in said["message"]
            assert "a1'" not in said["message"]


def test_tokens_are_found_without_decoding_the_other_fields() -> None:
    scope = {"headers": [], "query_string": b"text=a&gcube-token=a%20b+c&x=1"}
    assert _given(scope, b"gcube-token=d&text=gcube-token=e")[2:] == [b"a b c", b"d"]
    assert _given(scope, b"gcube-token=" + b"%41" * 100_000)[2:] == [b"a b c"]


def test_spans_of_other_apis_have_a_limit(served: Served) -> None:
    with served.client() as client:
        answer = client.post("/", json={"text": "a", "spans": [[0, 1]] * 120_000})
        assert answer.status_code == 422
        assert "5000" in answer.json()["error"]["message"]


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text('aé"\n\u2028'),
        lambda inner: st.lists(inner) | st.dictionaries(st.text('aé"\n'), inner),
    )
)
def test_json_in_pieces_is_json(value: Any) -> None:
    assert dumps(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    "number", ["1" * 5000, "1" + "0" * 100_000, "-" + "9" * 4301, "1e999999", "NaN", "1." + "1" * 9999]
)
def test_numbers_that_are_none(served: Served, number: str) -> None:
    with served.client() as client:
        for path in ("/v1/link", "/v1/link/batch", "/v1/explain", "/v1/batch"):
            body = f'{{"text": "a", "candidates": {number}}}'
            answer = client.post(path, content=body, headers={"content-type": "application/json"})
            assert answer.status_code in (200, 400, 422), path
            assert len(answer.content) < 5000
        asked = f'{{"q": {{"query": "Croft", "limit": {number}}}}}'
        assert client.post("/reconcile", data={"queries": asked}).status_code in (200, 400, 422)


def test_work_that_is_over_its_time_ends() -> None:
    """Threads are let go at the next look at the clock, not when all is done."""
    work, ended = Work(1, 1, 0.05), threading.Event()

    def endless() -> None:
        try:
            while True:
                work.check()
        finally:
            ended.set()

    async def ask() -> None:
        with pytest.raises(Problem, match="Not done within"):
            await work.run(endless)

    asyncio.run(ask())
    assert ended.wait(20)
    work.check()  # this thread has no limit
    work.stop()
    with pytest.raises(Problem):
        work.check()


@pytest.mark.parametrize(
    "wrong",
    [
        {"workers": 0},
        {"port": 70000},
        {"threads": -1},
        {"seconds": 0.0},
        {"keys": ("",)},
        {"origins": ("example.org",)},
        {"patience": -1.0},
    ],
)
def test_settings_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        ServerSettings(**wrong)  # type: ignore[arg-type]
