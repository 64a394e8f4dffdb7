"""JSON lines in and out, streamed."""

import json

import httpx

from wikilda.sample import texts

TEXTS = [row["text"] for row in texts()[:5]]


def test_answers_are_those_of_link_in_order(client: httpx.Client) -> None:
    body = "\n".join(json.dumps({"text": text, "id": str(number)}) for number, text in enumerate(TEXTS)) + "\n\n"
    answer = client.post("/v1/batch", content=body)
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert rows == [client.post("/v1/link", json={"text": text, "id": str(n)}).json() for n, text in enumerate(TEXTS)]


def test_a_bad_line_is_said_and_the_others_go_on(client: httpx.Client) -> None:
    lines = ['{"text": "Croft bowled."}', "{", '{"txt": "a"}', '{"text": "a", "mentions": [{"start": 5, "end": 9}]}',
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


def test_answers_are_restricted(client: httpx.Client) -> None:
    asked = {"text": "Croft took five wickets for England."}

    def titles(**more: object) -> list[str]:
        answer = client.post("/v1/link", json={**asked, **more})
        assert answer.status_code == 200, answer.text
        return [each["title"] for each in answer.json()["mentions"]]

    assert titles(types=["person"]) == ["Robert Croft"]
    assert titles(types=["person", "organisation"]) == ["Robert Croft", "England cricket team"]
    assert titles(only=["England cricket team"]) == ["England cricket team"]
    for wrong in ({"types": ["persn"]}, {"category": "no such category"}, {"only": ["Robert Crof"]}):
        answer = client.post("/v1/link", json={**asked, **wrong})
        assert answer.status_code == 422
        assert "there is no" in answer.json()["error"]["message"]


def test_the_api_to_read_needs_no_network(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert "/v1/link/batch" in page.text
    assert "took three wickets" in page.text
    assert "http://" not in page.text.split("</head>")[0]
    assert client.get("/page/docs.css").status_code == 200
