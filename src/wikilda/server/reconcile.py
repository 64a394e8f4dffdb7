"""OpenRefine and others: the W3C community group's Reconciliation Service API 0.2, at `/reconcile`.

The queries of a batch are read together, as rows of a table: they are each other's context, and so are the values of
their properties, under any name.
"""

import json
from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, Response

from wikilda.knowledge import Knowledge
from wikilda.knowledge.describe import suggest
from wikilda.knowledge.types import TYPES
from wikilda.linking import LinkedMention, Linker
from wikilda.linking.restriction import Restriction
from wikilda.server.errors import Problem, invalid, too_large
from wikilda.server.openapi import fields_of, parameters
from wikilda.server.schemas import errors
from wikilda.server.service import JSON, MATCHED, PER_VALUE, Service, check_values, dumps, service_of

if TYPE_CHECKING:
    from wikilda.linking.match import Row

router = APIRouter(tags=["Reconciliation"], responses=errors(400, 401, 408, 413, 415, 422, 503, 504))
_Service = Annotated[Service, Depends(service_of)]
_FIELDS = {
    "queries": 'a batch of queries as JSON: {"q0": {"query": "Croft", "type": "person", "properties": […]}}',
    "extend": 'ids and properties as JSON: {"ids": ["Robert Croft"], "properties": [{"id": "wikidata"}]}',
}
_MATCH = 90.0  # score from which a candidate is a match
_PAGE: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}
_LIMIT, _MOST = 5, 50  # candidates
_MOST_QUERIES = 1000  # per batch
_BATCH = 100  # queries per batch that are announced as a good size
_FRAMED = "default-src 'none'; style-src 'unsafe-inline'"  # OpenRefine shows previews in a frame
_PROPERTIES: dict[str, tuple[str, Callable[[Knowledge, int], list[str]]]] = {
    "description": ("description", lambda known, topic: [known.sentences[topic]]),
    "type": ("type", lambda known, topic: list(known.types.of(topic))[:1]),
    "wikidata": ("Wikidata item", lambda known, topic: [f"Q{known.wikidata[topic]}"] if known.wikidata[topic] else []),
    "url": ("address", lambda known, topic: [known.url(topic)]),
    "category": (
        "category",
        lambda known, topic: [known.categories.names[int(each)] for each in known.categories.of(topic)],
    ),
}


@parameters(router, "/reconcile", _FIELDS, "Reconcile, as OpenRefine asks for it")
async def reconcile(request: Request, service: _Service) -> Response:
    """Return the manifest, the candidates of a batch of queries, or values of properties."""
    fields = await fields_of(request, service)
    given = {name: fields.get(name) for name in _FIELDS if fields.get(name)}
    if not given and request.method == "POST":
        raise Problem(400, "no_queries", "Send a batch of queries as the parameter `queries`, or `extend`, in a form.")
    if not given:
        return JSON(dumps(_manifest(service, str(request.base_url).rstrip("/"))))
    asked = _parsed(given)
    work = _reconciled if "queries" in given else _extended
    return await service.answer(lambda: work(service, asked))


@router.get("/reconcile/suggest/entity", summary="Suggest entities")
async def suggest_entity(
    service: _Service, prefix: str = "", cursor: Annotated[int, Query(ge=0, le=1000)] = 0
) -> Response:
    """Suggest titles and names by a prefix."""

    def work() -> dict[str, Any]:
        known = service.linker.knowledge
        found = [known.find_topic(prefix), *map(known.find_topic, suggest(known, prefix, cursor + _LIMIT * 4))]
        topics = list(dict.fromkeys(each for each in found if each >= 0)) if prefix.strip() else []
        return {"result": [_entity(known, topic, "notable") for topic in topics[cursor : cursor + 2 * _LIMIT]]}

    return await service.answer(work)


@router.get("/reconcile/suggest/type", summary="Suggest types")
async def suggest_type(service: _Service, prefix: str = "") -> Response:
    """Suggest types by a prefix."""
    return await service.answer(
        lambda: {"result": [_named(each, each) for each in TYPES if each.startswith(prefix.lower())]}
    )


@router.get("/reconcile/suggest/property", summary="Suggest properties")
async def suggest_property(service: _Service, prefix: str = "") -> Response:
    """Suggest properties by a prefix."""
    found = [_named(each, name) for each, (name, _) in _PROPERTIES.items() if each.startswith(prefix.lower())]
    return await service.answer(lambda: {"result": found})


@router.get("/reconcile/properties", summary="Properties to extend a table with")
async def propose(service: _Service, type: str = "", limit: Annotated[int, Query(ge=0)] = 10) -> Response:  # noqa: A002
    """Propose properties of entities, the same for all types."""
    found = [_named(each, name) for each, (name, _) in _PROPERTIES.items()][:limit]
    return await service.answer(lambda: {"type": type, "limit": limit, "properties": found})


@router.get("/reconcile/preview", responses={**errors(404), **_PAGE}, summary="Preview an entity")
async def preview(service: _Service, id: str) -> Response:  # noqa: A002
    """Return a short description of an entity in HTML."""
    known = service.linker.knowledge
    topic = known.find_topic(id)
    if topic < 0:
        raise Problem(404, "not_found", "There is no entity of that id.")
    about = ", ".join(known.types.of(topic))
    page = (
        '<!doctype html><meta charset="utf-8"><body style="font: 14px/1.4 system-ui; color-scheme: light dark">'
        f"<b>{escape(known.titles[topic])}</b> <i>{escape(about)}</i><p>{escape(known.sentences[topic])}</p>"
    )
    return HTMLResponse(page, headers={"Content-Security-Policy": _FRAMED})


def _manifest(service: Service, base: str) -> dict[str, Any]:
    site = service.linker.knowledge.site
    place = {
        name: {"service_url": base, "service_path": f"/reconcile/suggest/{name}"}
        for name in ("entity", "type", "property")
    }
    return {
        "versions": ["0.2"],
        "name": f"wikilda: {site.name or site.database}",
        "identifierSpace": site.url("") or f"{base}/v1/topics/",
        "schemaSpace": f"{base}/reconcile/properties",
        "defaultTypes": [_named(each, each) for each in TYPES],
        "view": {"url": f"{base}/reconcile/preview?id={{{{id}}}}"},
        "preview": {"url": f"{base}/reconcile/preview?id={{{{id}}}}", "width": 420, "height": 160},
        "batchSize": _BATCH,
        "limits": {
            "max_queries": _MOST_QUERIES,
            "max_text": service.settings.max_text,
            "max_body": service.settings.max_body,
        },
        "suggest": place,
        "extend": {
            "propose_properties": {"service_url": base, "service_path": "/reconcile/properties"},
            "property_settings": [],
        },
    }  # fmt: skip


def _parsed(given: dict[str, str]) -> dict[str, Any]:
    name, text = next(iter(given.items()))
    check_values(text.encode("utf-8", "replace"))
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Problem(400, "not_json", f"{name}: is not JSON.") from None
    if not isinstance(found, dict):
        raise invalid(f"{name}: is not a JSON object.")
    return found


def _reconciled(service: Service, queries: dict[str, Any]) -> dict[str, Any]:
    if len(queries) > _MOST_QUERIES:
        raise too_large("The queries of a batch", len(queries), _MOST_QUERIES)
    groups: dict[tuple[str, ...], dict[str, tuple[Row, int]]] = {}
    units = 0.0
    for name, query in queries.items():
        row, types, limit = _query(name, query)
        text = "\t".join((row.cell, *row.context))
        service.check(text, 1)
        units += MATCHED * len(text)
        groups.setdefault(types, {})[name] = row, limit
    service.limit_work(units)
    answers: dict[str, Any] = {name: {"result": []} for name in queries}
    for types, asked in groups.items():
        service.work.check()
        answers |= _answers(service.linker, types, {name: each for name, each in asked.items() if each[0].cell})
    return answers


def _answers(linker: Linker, types: tuple[str, ...], asked: dict[str, tuple["Row", int]]) -> dict[str, Any]:
    from wikilda.linking.match import match_rows  # it takes a tenth of a second, and servers are to start at once

    if any(each not in TYPES for each in types) or not asked:
        return {}  # an unknown type has no entities
    wanted = Restriction(types if linker.knowledge.types.shares else ())
    found = match_rows(linker, [row for row, _ in asked.values()], wanted=wanted, candidates=_MOST)
    return {
        name: {"result": _candidates(linker.knowledge, mention, limit)}
        for (name, (_, limit)), mention in zip(asked.items(), found, strict=True)
    }


def _candidates(known: Knowledge, mention: LinkedMention, limit: int) -> list[dict[str, Any]]:
    rows = []
    for each in mention.candidates[:limit]:
        score = round(100 * each.probability * (1 - mention.nil), 3)
        features = {"posterior": each.probability, "prior": each.prior, "nil": mention.nil}
        rows.append({
            **_entity(known, each.entity.topic, "type"), "score": score, "match": score >= _MATCH,
            "features": [{"id": name, "value": round(value, 6)} for name, value in features.items()],
        })  # fmt: skip
    return rows


def _query(name: str, query: Any) -> tuple["Row", tuple[str, ...], int]:
    """A query as a row: its string, and the values of its properties as context; its types; its limit."""
    from wikilda.linking.match import Row

    if not isinstance(query, dict) or not isinstance(query.get("query", ""), str):
        raise invalid(f"queries.{name}: is not an object with a string `query`.")
    types, limit, properties = query.get("type") or (), query.get("limit", _LIMIT), query.get("properties") or []
    types = (types,) if isinstance(types, str) else types
    if not isinstance(types, Sequence) or not all(isinstance(each, str) for each in types):
        raise invalid(f"queries.{name}.type: is neither a string nor a list of strings.")
    if not isinstance(limit, int | float) or limit != limit or not isinstance(properties, list):  # NaN is not a number
        raise invalid(f"queries.{name}: limit is a number, and properties are a list.")
    context = [text for each in properties for text in _texts(name, each)]
    cell = " ".join(query.get("query", "").split())
    return Row(cell, tuple(context)), tuple(sorted(types)), int(max(1, min(limit, _MOST)))


def _texts(name: str, given: Any) -> list[str]:
    if not isinstance(given, dict) or "pid" not in given or "v" not in given:
        raise invalid(f"queries.{name}.properties: each has a `pid` and a `v`.")
    values = given["v"] if isinstance(given["v"], list) else [given["v"]]
    plain = (each.get("name") or each.get("id") if isinstance(each, dict) else each for each in values)
    return [" ".join(str(each).split()) for each in plain if isinstance(each, str | int | float) and str(each).strip()]


def _extended(service: Service, asked: dict[str, Any]) -> dict[str, Any]:
    ids, properties = asked.get("ids"), asked.get("properties")
    if not isinstance(ids, list) or not isinstance(properties, list):
        raise invalid("extend: has lists of `ids` and `properties`.")
    names = list(dict.fromkeys(str(each.get("id")) for each in properties if isinstance(each, dict)))
    service.limit_work(PER_VALUE * len(ids) * len(names))
    known = service.linker.knowledge
    rows = {}
    for each in ids:
        service.work.check()
        rows[str(each)] = {name: _property(known, str(each), name) for name in names}
    return {"meta": [_named(name, _PROPERTIES.get(name, (name,))[0]) for name in names], "rows": rows}


def _property(known: Knowledge, title: str, name: str) -> list[dict[str, str]]:
    topic = known.find_topic(title)
    if topic < 0 or name not in _PROPERTIES:
        return []
    return [{"str": each} for each in _PROPERTIES[name][1](known, topic) if each]


def _entity(known: Knowledge, topic: int, types: str) -> dict[str, Any]:
    title = known.titles[topic]
    kinds = [_named(each, each) for each in known.types.of(topic)]
    return {"id": title, "name": title, "description": known.sentences[topic], types: kinds}


def _named(identifier: str, name: str) -> dict[str, str]:
    return {"id": identifier, "name": name}
