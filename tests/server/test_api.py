"""The server's own API: answers are the linker's, and errors say what to change."""

import json
from pathlib import Path

import httpx
import pytest

from tests.server.serving import serving
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Document, Linker
from wikilda.sample import texts
from wikilda.server import schemas

CROFT = texts()[0]["text"]


def test_a_text_is_linked_as_the_linker_does(client: httpx.Client, model: Path) -> None:
    answer = client.post("/v1/link", json={"text": CROFT, "id": "a", "candidates": 3, "topics": 4})
    assert answer.status_code == 200
    found = schemas.LinkAnswer.model_validate(answer.json())
    linked = Linker.open(model).link(Document(CROFT, None, "a"), candidates=3, topics=4)
    assert [(each.start, each.end, each.title) for each in found.mentions] == [
        (each.start, each.end, each.entity.title if each.entity else None) for each in linked.mentions
    ]
    assert [each.title for each in found.topics] == [each.entity.title for each in linked.topics]
    croft = next(each for each in found.mentions if each.text == "Croft")
    assert croft.title == croft.candidates[0].title == "Robert Croft"
    assert croft.url == "https://example.org/wiki/Robert_Croft"
    assert croft.probability == croft.candidates[0].probability


def test_given_mentions_are_answered_and_offsets_are_code_points(client: httpx.Client) -> None:
    text = "😀𝔘 Croft, 🇬🇧 England"
    at, end = text.index("Croft"), text.index("England")
    spans = [{"start": end, "end": end + 7}, {"start": at, "end": at + 5}, {"start": 0, "end": 1}]
    found = client.post("/v1/link", json={"text": text, "mentions": spans}).json()["mentions"]
    assert [each["text"] for each in found] == ["England", "Croft", "😀"]
    assert [each["title"] is None for each in found] == [False, False, True]
    assert found[2]["candidates"] == []
    assert client.post("/v1/link", json={"text": text, "mentions": []}).json()["mentions"] == []


@pytest.mark.parametrize(("unit", "coding", "size"), [("utf-16", "utf-16-le", 2), ("bytes", "utf-8", 1)])
def test_offsets_in_other_units(client: httpx.Client, unit: str, coding: str, size: int) -> None:
    text = "😀𝔘é Croft, 🇬🇧 England"
    data = text.encode(coding)
    found = client.post("/v1/link", json={"text": text, "offsets": unit}).json()["mentions"]
    assert [data[size * each["start"] : size * each["end"]].decode(coding) for each in found] == ["Croft", "England"]
    spans = [{"start": each["start"], "end": each["end"]} for each in found]
    asked = {"text": text, "offsets": unit, "mentions": spans}
    assert client.post("/v1/link", json=asked).json()["mentions"] == found
    why = client.post("/v1/explain", json=asked).json()["mentions"]
    assert [(each["start"], each["end"]) for each in why] == [(each["start"], each["end"]) for each in found]
    cut = client.post("/v1/link", json={"text": text, "offsets": unit, "mentions": [{"start": 1, "end": 2}]})
    assert (cut.status_code, "cuts a character" in cut.json()["error"]["message"]) == (422, True)


def test_a_batch_gets_the_answers_of_single_requests(client: httpx.Client) -> None:
    documents = [{"text": each["text"], "id": each["id"]} for each in texts()[:4]]
    batch = client.post("/v1/link/batch", json={"documents": documents}).json()["documents"]
    assert batch == [client.post("/v1/link", json=each).json() for each in documents]
    assert [each["id"] for each in batch] == [each["id"] for each in documents]


def test_explanations_agree_with_answers(client: httpx.Client) -> None:
    linked = client.post("/v1/link", json={"text": CROFT}).json()
    answer = client.post("/v1/explain", json={"text": CROFT})
    why = schemas.ExplainAnswer.model_validate(answer.json())
    assert [[(c.title, c.probability, c.prior) for c in each.candidates] for each in why.mentions] == [
        [(c["title"], c["probability"], c["prior"]) for c in each["candidates"]] for each in linked["mentions"]
    ]
    assert [each.model_dump() for each in why.topics] == linked["topics"]
    one = client.post("/v1/explain", json={"text": CROFT, "mention": 3}).json()["mentions"]
    assert one == [answer.json()["mentions"][3]]
    shown = {each.title for mention in why.mentions for each in mention.candidates}
    assert why.related
    assert all({each.first, each.second} <= shown for each in why.related)
    for reasons in (each for mention in why.mentions for each in mention.candidates):
        parts = reasons.odds.prior + reasons.odds.words + reasons.odds.title + reasons.odds.context + reasons.odds.graph
        assert reasons.odds.total == pytest.approx(parts, abs=1e-5)


def test_what_the_papers_sampler_decides_is_not_explained(model: Path) -> None:
    with serving(model, LdaSettings()) as served, served.client() as client:
        assert client.post("/v1/link", json={"text": CROFT}).status_code == 200
        answer = client.post("/v1/explain", json={"text": CROFT})
        assert (answer.status_code, answer.json()["error"]["code"]) == (501, "no_explanation")
        assert "method urn" in answer.json()["error"]["message"]


def test_topics_and_mentions_are_looked_up(client: httpx.Client) -> None:
    topic = client.get("/v1/topics/Robert_Croft", params={"most": 3})
    assert schemas.TopicDescription.model_validate(topic.json()).sentence.startswith("Robert Damien Bale Croft")
    assert len(topic.json()["nearest"]) == 3
    mention = client.get("/v1/mentions/CROFT").json()
    assert mention["topics"][0]["title"] == "Lara Croft"
    missing = client.get("/v1/topics/Robert Cro")
    assert missing.status_code == 404
    assert missing.json()["error"]["suggestions"] == ["Robert Croft", "robert croft"]
    assert "Robert Croft" in missing.json()["error"]["message"]


def test_the_model_and_examples_for_it(client: httpx.Client) -> None:
    found = schemas.ModelAnswer.model_validate(client.get("/v1/model").json())
    assert found.wiki == "Wikilda Sample"
    assert found.topics == 249
    examples = client.get("/v1/examples").json()
    assert "Croft" in examples[0]["title"]
    assert len(examples) == len(texts())


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 422, "text: Field required"),
        ({"text": 3}, 422, "text: Input should be a valid string"),
        ({"text": "a", "mentoins": []}, 422, "mentoins: Extra inputs"),
        ({"text": "abc", "mentions": [{"start": 0, "end": 9}]}, 422, "not inside its text of 3"),
        ({"text": "abc", "mentions": [{"start": 2, "end": 2}]}, 422, "is empty"),
        ({"text": "abc", "mentions": [{"start": -1, "end": 2}]}, 422, "greater than or equal to 0"),
        ({"text": "abc", "mentions": [{"start": "0", "end": 2}]}, 422, "valid integer"),
        ({"text": "abc", "candidates": 0}, 422, "candidates"),
        ({"text": "abc", "candidates": 101}, 422, "candidates"),
        (
            {"text": "x" * 200_001},
            413,
            "200,001 is over 200,000. Send less, or start the server with --set max_text=N",
        ),
        ({"text": "x", "mentions": [{"start": 0, "end": 1}] * 5001}, 413, "5,001 is over 5,000"),
    ],
)
def test_what_cannot_be_used_is_named(client: httpx.Client, body: object, status: int, words: str) -> None:
    answer = client.post("/v1/link", json=body)
    assert answer.status_code == status
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"text": NaN}', b"1"])
def test_bodies_that_are_no_json(client: httpx.Client, data: bytes) -> None:
    answer = client.post("/v1/link", content=data, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["message"]


def test_half_a_surrogate_pair_is_no_text(client: httpx.Client) -> None:
    for path in ("/v1/link", "/v1/explain", "/"):
        body = b'{"text": "Croft \\ud83d"}'
        answer = client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 422, path


def test_a_mention_that_is_not_there(client: httpx.Client) -> None:
    answer = client.post("/v1/explain", json={"text": "Croft", "mention": 7})
    assert answer.status_code == 422
    assert "there is no mention 7" in answer.json()["error"]["message"]


def test_batches_have_a_limit(model: Path) -> None:
    with serving(model, max_batch=2, max_text=10) as served, served.client() as client:
        three = client.post("/v1/link/batch", json={"documents": [{"text": "a"}] * 3})
        assert (three.status_code, three.json()["error"]["code"]) == (413, "batch_too_large")
        long = client.post("/v1/link/batch", json={"documents": [{"text": "a"}, {"text": "b" * 11}]})
        assert (long.status_code, long.json()["error"]["code"]) == (413, "text_too_large")
        assert client.post("/v1/link/batch", json={"documents": []}).status_code == 422


def test_other_paths_and_methods(client: httpx.Client) -> None:
    assert client.get("/nothing").json()["error"]["code"] == "not_found"
    wrong = client.get("/v1/link")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_allowed")


def test_the_openapi_document_has_all_routes_with_examples(client: httpx.Client) -> None:
    found = client.get("/openapi.json").json()
    wanted = {
        "/", "/v1/link", "/v1/link/batch", "/v1/explain", "/v1/topics/{title}", "/v1/mentions/{string}", "/v1/model",
        "/v1/examples", "/health", "/health/live", "/metrics", "/tag", "/spot", "/rel", "/annotate", "/candidates",
        "/disambiguate", "/nif", "/v1/reload", "/v1/batch", "/reconcile", "/reconcile/preview", "/reconcile/properties",
        "/reconcile/suggest/entity", "/reconcile/suggest/property", "/reconcile/suggest/type",
    }  # fmt: skip
    assert set(found["paths"]) == wanted
    assert found["components"]["schemas"]["LinkRequest"]["examples"]
    assert "ErrorAnswer" in json.dumps(found["paths"]["/v1/link"]["post"]["responses"])


def test_metrics_count_what_was_answered(client: httpx.Client) -> None:
    client.post("/v1/link", json={"text": "Croft"})
    client.post("/v1/link", json={})
    lines = client.get("/metrics").text.splitlines()
    numbers = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}
    assert numbers['wikilda_requests_total{route="/v1/link",status="200"}'] >= 1
    assert numbers['wikilda_requests_total{route="/v1/link",status="422"}'] >= 1
    count = numbers['wikilda_request_seconds_count{route="/v1/link"}']
    assert numbers['wikilda_request_seconds_bucket{le="+Inf",route="/v1/link"}'] == count
    assert numbers["wikilda_linked_documents_total"] >= 1
    assert numbers["wikilda_ready"] == 1
    assert numbers["wikilda_open_requests"] >= 1
