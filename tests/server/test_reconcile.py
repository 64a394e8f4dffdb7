"""The reconciliation service, checked against the shapes of its specification (0.2), and with a client of it."""

import json
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pandas as pd
import pyarrow as pa
import pytest

from tests.server.serving import Served
from wikilda import Linker

_TYPE = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
}
_ADDRESS = {"type": "object", "required": ["url"], "properties": {"url": {"type": "string", "pattern": r"\{\{id\}\}"}}}
_SERVICE = {"type": "object", "required": ["service_url", "service_path"]}
MANIFEST = {
    "type": "object",
    "required": ["versions", "name", "identifierSpace", "schemaSpace", "view", "suggest", "preview", "extend"],
    "properties": {
        "versions": {"type": "array", "contains": {"const": "0.2"}},
        "identifierSpace": {"type": "string", "pattern": "^https?://"},
        "schemaSpace": {"type": "string", "pattern": "^https?://"},
        "defaultTypes": {"type": "array", "items": _TYPE, "uniqueItems": True},
        "view": _ADDRESS,
        "preview": {**_ADDRESS, "required": ["url", "width", "height"]},
        "suggest": {"type": "object", "additionalProperties": _SERVICE},
        "extend": {"type": "object", "properties": {"propose_properties": _SERVICE}},
    },
}  # fmt: skip
_CANDIDATE = {
    "type": "object",
    "required": ["id", "name", "score"],
    "properties": {
        "id": {"type": "string"}, "name": {"type": "string"}, "description": {"type": "string"},
        "score": {"type": "number"}, "match": {"type": "boolean"}, "type": {"type": "array", "items": _TYPE},
        "features": {"type": "array", "items": {"type": "object", "properties": {"value": {"type": "number"}}}},
    },
    "additionalProperties": False,
}  # fmt: skip
RESULTS = {
    "type": "object",
    "additionalProperties": {"type": "object", "required": ["result"], "properties": {"result": {"type": "array", "items": _CANDIDATE}}},
}  # fmt: skip
_CELL = {
    "type": "object",
    "required": ["str"],
    "properties": {"str": {"type": "string"}},
    "additionalProperties": False,
}
_LISTS = {"type": "object", "additionalProperties": {"type": "array", "items": _CELL}}
EXTENSION = {
    "type": "object",
    "required": ["meta", "rows"],
    "properties": {"meta": {"type": "array", "items": _TYPE}, "rows": {"type": "object", "additionalProperties": _LISTS}},
}  # fmt: skip


def _ask(client: httpx.Client, queries: Any, method: str = "POST") -> dict[str, Any]:
    given = {"queries": queries if isinstance(queries, str) else json.dumps(queries)}
    answer = client.post("/reconcile", data=given) if method == "POST" else client.get("/reconcile", params=given)
    assert answer.status_code == 200, answer.text
    jsonschema.validate(answer.json(), RESULTS)
    found: dict[str, Any] = answer.json()
    return found


def test_the_manifest(client: httpx.Client) -> None:
    found = client.get("/reconcile").json()
    jsonschema.validate(found, MANIFEST)
    page = client.get(found["preview"]["url"].replace("{{id}}", "Robert Croft"))
    assert "Robert Croft" in page.text
    assert "frame-ancestors" not in page.headers["content-security-policy"]
    assert client.get("/reconcile/preview", params={"id": "Nobody at all"}).status_code == 404
    for name, place in found["suggest"].items():
        jsonschema.validate(client.get(place["service_url"] + place["service_path"], params={"prefix": "p"}).json(),
                            {"type": "object", "required": ["result"]})  # fmt: skip
        assert name in ("entity", "type", "property")
    proposed = client.get(found["extend"]["propose_properties"]["service_path"], params={"type": "person", "limit": 2})
    assert len(proposed.json()["properties"]) == 2


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_queries_are_each_others_context(client: httpx.Client, method: str) -> None:
    queries = {"q0": {"query": "Croft", "limit": 3}, "q1": {"query": "Brian Lara"}, "q2": {"query": "  "}}
    found = _ask(client, queries, method)
    assert list(found) == ["q0", "q1", "q2"]
    assert found["q1"]["result"][0]["id"] == "Brian Lara"
    assert found["q0"]["result"][0]["id"] == "Robert Croft"
    assert len(found["q0"]["result"]) <= 3
    assert found["q2"] == {"result": []}


def test_types_and_properties(client: httpx.Client) -> None:
    wickets = [{"pid": "what it is called does not matter", "v": ["wickets for England", {"id": "Brian Lara"}, 3]}]
    person = _ask(client, {"q": {"query": "Croft", "type": "person", "properties": wickets}})["q"]["result"]
    assert person[0]["id"] == "Robert Croft"
    assert {each["type"][0]["id"] for each in person} == {"person"}
    assert _ask(client, {"q": {"query": "Croft", "type": ["no such type"]}})["q"]["result"] == []
    assert _ask(client, {"q": {"query": "Qwertzuiop"}})["q"]["result"] == []


@pytest.mark.parametrize(
    ("queries", "status"),
    [("", 400), ("{", 400), ("[]", 422), ({"q": 3}, 422), ({"q": {"query": 3}}, 422), ({"q": {"query": "a", "type": 3}}, 422),
     ({"q": {"query": "a", "properties": [{"pid": "b"}]}}, 422), ({str(n): {"query": "a"} for n in range(1001)}, 413)],
)  # fmt: skip
def test_errors_are_reported(client: httpx.Client, queries: Any, status: int) -> None:
    given = queries if isinstance(queries, str) else json.dumps(queries)
    answer = client.post("/reconcile", data={"queries": given})
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_suggestions_and_values(client: httpx.Client) -> None:
    found = client.get("/reconcile/suggest/entity", params={"prefix": "Robert Cro"}).json()["result"]
    assert "Robert Croft" in [each["id"] for each in found]
    assert client.get("/reconcile/suggest/type", params={"prefix": "per"}).json()["result"][0]["id"] == "person"
    asked = {"ids": ["Robert Croft", "Nobody at all"], "properties": [{"id": "type"}, {"id": "wrong"}]}
    values = client.post("/reconcile", data={"extend": json.dumps(asked)}).json()
    jsonschema.validate(values, EXTENSION)
    assert values["rows"]["Robert Croft"] == {"type": [{"str": "person"}], "wrong": []}
    assert values["rows"]["Nobody at all"] == {"type": [], "wrong": []}


def test_a_client_from_the_package_index(served: Served) -> None:
    reconciler = pytest.importorskip("reconciler")
    column = pd.Series(["Brian Lara", "Croft", "Wasim Akram"])
    found = reconciler.reconcile(column, type_id="person", reconciliation_endpoint=served.url + "/reconcile")
    best = dict(zip(found["input_value"], found["name"], strict=True))
    assert best == {"Brian Lara": "Brian Lara", "Croft": "Robert Croft", "Wasim Akram": "Wasim Akram"}


def test_large_batches_agree_with_match(client: httpx.Client, model: Path) -> None:
    """As many queries as clients send: the manifest announces the limit, and scores are those of `match`."""
    manifest = client.get("/reconcile").json()
    assert manifest["limits"]["max_queries"] >= 1000 >= manifest["batchSize"] > 0
    cells = [f"{name}{suffix}" for name in ("Brian Lara", "Lara, Brian", "KATE BUSH", "Kat Bush", "Glamorgn")
             for suffix in ("", " Ltd", " GmbH", " Inc.")] * 10  # fmt: skip
    assert len(cells) == 200
    queries = {f"q{at}": {"query": cell} for at, cell in enumerate(cells)}
    found = client.post("/reconcile", data={"queries": json.dumps(queries)}).json()
    table = Linker.open(model).match_frame(pa.table({"name": cells}), "name").to_pylist()
    for at, row in enumerate(table):
        best = found[f"q{at}"]["result"][0]
        assert best["score"] == pytest.approx(100 * row["match_confidence"], abs=2e-3)
        assert best["name"] == json.loads(row["match_candidates"])[0]["title"]
    assert found["q0"]["result"][0]["name"] == found["q4"]["result"][0]["name"] == "Brian Lara"
