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


def test_nothing_in_nothing_out(client: httpx.Client) -> None:
    assert client.post("/v1/batch", content="").text == ""


def test_answers_come_while_others_are_worked_on(client: httpx.Client) -> None:
    body = "\n".join(json.dumps({"text": TEXTS[0]}) for _ in range(60))
    with client.stream("POST", "/v1/batch", content=body) as answer:
        pieces = [piece for piece in answer.iter_raw() if piece]
    assert len(pieces) > 1
    assert b"".join(pieces).count(b"\n") == 60
