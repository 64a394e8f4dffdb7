"""GERBIL: `/nif` takes NIF in Turtle and returns it with the entities of its phrases."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from wikilda.linking import Document, LinkedMention
from wikilda.server.compat import has_identifiers, identifier
from wikilda.server.compat._turtle import Context, Phrase, read, write
from wikilda.server.errors import Problem, shortened, too_large
from wikilda.server.schemas import errors
from wikilda.server.service import Service, service_of

router = APIRouter(tags=["GERBIL NIF"], responses=errors(400, 401, 404, 408, 413, 415, 422, 503, 504))
_KINDS = ("application/x-turtle", "text/turtle")
_TURTLE: dict[str, Any] = {"schema": {"type": "string"}}
_BODY = {"requestBody": {"required": True, "content": dict.fromkeys(_KINDS, _TURTLE)}}
_ANSWER: dict[int | str, dict[str, Any]] = {200: {"description": "Turtle", "content": dict.fromkeys(_KINDS, _TURTLE)}}


@router.post("/nif", summary="Link NIF", openapi_extra=_BODY, responses=_ANSWER, response_class=Response)
async def nif(
    request: Request,
    service: Annotated[Service, Depends(service_of)],
    kb: Annotated[Literal["dbpedia", "wikidata", "wiki"], Query(description="whose identifiers to give")] = "dbpedia",
) -> Response:
    """Link the given phrases. If there are none, detect them."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower() or _KINDS[0]
    if kind not in _KINDS:
        raise Problem(415, "no_turtle", f"The body is {shortened(kind)}; send {' or '.join(_KINDS)}.")
    body = await request.body()
    if not has_identifiers(service.linker.knowledge, kb):
        raise Problem(404, "no_identifiers", f"This knowledge has no identifiers of the kind {kb}. Give another ?kb=.")
    answer = await service.work.run(lambda: write([_linked(each, service, kb) for each in _read(body, service)]))
    return Response(answer, media_type=kind, headers={"content-type": f"{kind}; charset=utf-8"})


def _read(body: bytes, service: Service) -> list[Context]:
    contexts = read(body)
    if len(contexts) > service.settings.max_batch:
        raise too_large("The contexts of a request", len(contexts), service.settings.max_batch, "max_batch")
    return contexts


def _linked(context: Context, service: Service, kb: str) -> Context:
    spans = [(each.start, each.end) for each in context.phrases]
    document: Document = service.text(context.text, spans or None)
    mentions = service.link(document, candidates=1, topics=0).mentions
    language = service.linker.knowledge.site.language
    uris = [each.uri for each in context.phrases] or [""] * len(mentions)
    found = [_phrase(mention, uri, kb, language) for mention, uri in zip(mentions, uris, strict=True)]
    return Context(context.uri, context.text, found)


def _phrase(mention: LinkedMention, uri: str, kb: str, language: str) -> Phrase:
    if not mention.entity:
        return Phrase(mention.start, mention.end, mention.text, uri=uri)
    means = identifier(mention.entity, kb, language)
    return Phrase(mention.start, mention.end, mention.text, means, mention.confidence, uri)
