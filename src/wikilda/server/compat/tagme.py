"""TagMe: `/tag` links, `/spot` finds mentions, `/rel` relates entities."""

from datetime import UTC, datetime
from time import perf_counter
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from wikilda.knowledge import Knowledge
from wikilda.knowledge.graph import similarity
from wikilda.linking import Document, LinkedMention
from wikilda.server.errors import Problem, shortened
from wikilda.server.openapi import Fields, fields_of, parameters
from wikilda.server.schemas import errors
from wikilda.server.service import Service, service_of

router = APIRouter(tags=["TagMe"], responses=errors(400, 401, 408, 413, 415, 422, 503, 504))
_Service = Annotated[Service, Depends(service_of)]
_MOST_PAIRS = 100  # of a request to /rel, as TagMe's

_TEXT = {"text": "the text, required", "lang": "comes back", "gcube-token": "an API key, where the server has keys"}
_TAG = {**_TEXT, "include_abstract": "true: with first sentences", "include_all_spots": "true: with unknown strings"}
_REL = {"tt": "two titles with underscores, a space between", "id": "two page numbers, a space between"}


@parameters(router, "/tag", _TAG, "Link, as TagMe does", required="text", also=("/tagme/tag",))
async def tag(request: Request, service: _Service) -> Response:
    """Return annotations with `rho`, their confidence."""
    fields, started = await fields_of(request, service), perf_counter()
    document = service.text(fields.text())

    def work() -> dict[str, Any]:
        linked = service.link(document, candidates=1, topics=0)
        wanted = [each for each in linked.mentions if each.entity or fields.flag("include_all_spots")]
        return _answer("tag", fields, started, annotations=[_annotation(each, service, fields) for each in wanted])

    return await service.answer(work)


async def spot(service: Service, fields: Fields) -> Response:
    """Return the mentions of a text with `lp`, their link probability."""
    document, started = service.text(fields.text()), perf_counter()

    def work() -> dict[str, Any]:
        spans = service.linker.detector.detect(document.text)
        return _answer(
            "spot", fields, started, spots=[_spot(document, *span, service.linker.knowledge) for span in spans]
        )

    return await service.answer(work)


@router.api_route("/tagme/spot", methods=["GET", "POST"], include_in_schema=False)
async def tagme_spot(request: Request, service: _Service) -> Response:
    """`/spot` under TagMe's own path."""
    return await spot(service, await fields_of(request, service))


@parameters(router, "/rel", _REL, "Similarities, as TagMe's", also=("/tagme/rel",))
async def rel(request: Request, service: _Service) -> Response:
    """Return the relatedness of pairs of entities, by titles (`tt`) or page numbers (`id`)."""
    fields, started = await fields_of(request, service), perf_counter()
    pairs = fields.all("tt") or fields.all("id")
    if not pairs or len(pairs) > _MOST_PAIRS:
        text = f"Send from 1 to {_MOST_PAIRS} pairs, each as `tt=Title_1 Title_2` or as `id=1 2`."
        raise Problem(400, "no_pairs", text)
    by_title = bool(fields.all("tt"))

    def work() -> dict[str, Any]:
        known = service.linker.knowledge
        result = [_relatedness(each, by_title, known) for each in pairs]
        return _answer("rel", fields, started, errors=sum("err" in each for each in result), result=result)

    return await service.answer(work)


def _answer(api: str, fields: Fields, started: float, **more: Any) -> dict[str, Any]:
    spent = round(1000 * (perf_counter() - started))
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return {**more, "time": spent, "api": api, "lang": shortened(fields.get("lang", "en")), "timestamp": now}


def _spot(document: Document, start: int, end: int, known: Knowledge) -> dict[str, Any]:
    text = document.text[start:end]
    return {"spot": text, "start": start, "end": end, "lp": _link_probability(text, known)}


def _annotation(mention: LinkedMention, service: Service, fields: Fields) -> dict[str, Any]:
    known = service.linker.knowledge
    found: dict[str, Any] = {
        "spot": mention.text, "start": mention.start, "end": mention.end,
        "link_probability": _link_probability(mention.text, known),
    }  # fmt: skip
    if mention.entity:
        found |= {"rho": round(mention.confidence, 6), "id": mention.entity.page_id, "title": mention.entity.title}
        if fields.flag("include_abstract"):
            found["abstract"] = known.sentences[known.find_topic(mention.entity.title)]
        if fields.flag("include_categories"):
            found["dbpedia_categories"] = []
    return found


def _link_probability(text: str, known: Knowledge) -> float:
    mention = known.find_mention(text)
    return round(known.link_probability(mention), 6) if mention >= 0 else 0.0


def _relatedness(pair: str, by_title: bool, known: Knowledge) -> dict[str, Any]:
    names, shown = pair.split(), shortened(pair)
    if len(names) != 2:
        return {"couple": shown, "err": "not two names with a space between"}
    topics = [known.find_topic(name) if by_title else _page(name, known) for name in names]
    for name, topic in zip(names, topics, strict=True):
        if topic < 0:
            return {"couple": shown, "err": f"Entity not found: {shortened(name)}"}
    return {"couple": shown, "rel": round(float(similarity(known.graph, *topics)), 6)}


def _page(name: str, known: Knowledge) -> int:
    if not (name.isascii() and name.isdigit() and len(name) < 19):
        return -1
    found = np.flatnonzero(known.page_ids == int(name))
    return int(found[0]) if len(found) else -1
