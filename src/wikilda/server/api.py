"""The server's own API."""

import asyncio
import logging
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from wikilda import __version__
from wikilda._core.errors import InputError, SettingsError, WikildaError
from wikilda.knowledge import Knowledge
from wikilda.knowledge.describe import describe_mention, describe_topic, suggest
from wikilda.knowledge.graph import nearest
from wikilda.linking import Document
from wikilda.linking.reasons import Explained
from wikilda.linking.restriction import Restriction
from wikilda.sample import texts
from wikilda.server import schemas
from wikilda.server.errors import Problem, explained_json, invalid, problem_json, too_large
from wikilda.server.service import EXPLAINED, JSON, PER_CANDIDATE, Service, dumps, service_of
from wikilda.text.offsets import to_code_points

_KNOWN = 0.7  # least number of a text's entities that must be known
_OWN = 4  # number of texts made from the wiki's sentences


def examples(knowledge: Knowledge) -> list[dict[str, Any]]:
    """Texts with titles."""
    shipped = [each for each in texts() if _known(each, knowledge) >= _KNOWN]
    return [{"title": each["title"], "text": each["text"]} for each in shipped] or _own(knowledge)


def _known(text: dict[str, Any], knowledge: Knowledge) -> float:
    found = [knowledge.find_topic(each["title"]) >= 0 for each in text["mentions"]]
    return sum(found) / max(len(found), 1)


def _own(knowledge: Knowledge) -> list[dict[str, Any]]:
    """Return the first sentences of popular topics, each with those of its nearest topics."""
    found: list[dict[str, Any]] = []
    for topic in np.argsort(-np.diff(knowledge.graph.in_offsets), kind="stable")[:200].tolist():
        near = [topic, *(other for other, _ in nearest(knowledge.graph, topic, 12))]
        sentences = [each for other in near if len(each := knowledge.sentences[other]) > 40]
        if len(sentences) >= 3:
            text = " ".join(sentences[:5])
            found.append({"title": knowledge.titles[topic], "text": text})
        if len(found) == _OWN:
            break
    return found


router = APIRouter(prefix="/v1", tags=["wikilda"], responses=schemas.errors(401, 503, 504))
log = logging.getLogger("wikilda.server")
_Service = Annotated[Service, Depends(service_of)]
_Most = Annotated[int, Query(ge=1, le=100, description="how many of each to give")]
_LONGEST_MESSAGE = 300
_LIMITS = ("max_body", "max_text", "max_batch", "max_work", "seconds")
WORK = schemas.errors(400, 408, 413, 422)


def document_of(service: Service, asked: schemas.DocumentRequest) -> Document:
    """The document that was sent, with offsets in code points."""
    if asked.mentions is None:
        return service.text(asked.text, None, asked.id)
    spans = [(each.start, each.end) for each in asked.mentions]
    service.check(asked.text, len(spans))
    try:
        spans = to_code_points(asked.text, spans, asked.offsets)
    except InputError as error:
        raise invalid(str(error)) from None
    return service.text(asked.text, spans, asked.id)


def options_of(asked: schemas.LinkRequest) -> dict[str, Any]:
    """The options of a request, as `Linker.infer` takes them."""
    restriction = Restriction(tuple(asked.types), asked.category, tuple(asked.only), tuple(asked.exclude))
    own = [each.model_dump() for each in asked.entities]
    return {"restriction": restriction, "entities": own, "nested": asked.nested}


def work_of(document: Document, asked: schemas.DocumentRequest) -> float:
    """Return the work of linking a document: see `Service.limit_work`."""
    return len(document.text) * (1 + PER_CANDIDATE * asked.candidates)


def linked(service: Service, document: Document, asked: schemas.LinkRequest) -> bytes:
    """The answer to a request, as JSON. Runs in a thread."""
    try:
        found = service.link(document, asked.candidates, asked.topics, **options_of(asked))
        return found.to_json(asked.offsets).encode()
    except (InputError, SettingsError) as error:
        raise invalid(str(error)[:_LONGEST_MESSAGE]) from None  # the message may repeat the request


@router.post("/link", response_model=schemas.LinkAnswer, responses=WORK, summary="Link a document")
async def link(asked: schemas.LinkRequest, service: _Service) -> Response:
    """Link the mentions of a text: their entities, confidence and alternatives."""
    document = document_of(service, asked)
    service.limit_work(work_of(document, asked))
    return await service.answer(lambda: linked(service, document, asked))


@router.post("/link/batch", response_model=schemas.BatchAnswer, responses=WORK, summary="Link documents")
async def link_batch(asked: schemas.BatchRequest, service: _Service) -> Response:
    """The same for several documents; each gets the same answer as in a request of its own."""
    if len(asked.documents) > service.settings.max_batch:
        raise too_large("The documents of a batch", len(asked.documents), service.settings.max_batch, "max_batch")
    texts = [document_of(service, each) for each in asked.documents]
    service.limit_work(sum(map(work_of, texts, asked.documents)))

    def work() -> bytes:
        each = zip(texts, asked.documents, strict=True)
        return b'{"documents":[%s]}' % b",".join([linked(service, text, one) for text, one in each])

    return await service.answer(work)


@router.post(
    "/explain",
    response_model=schemas.ExplainAnswer,
    responses={**WORK, **schemas.errors(501)},
    summary="Explain a document",
)
async def explain_text(asked: schemas.ExplainRequest, service: _Service) -> Response:
    """The evidence for each candidate against its rival: prior, words, title, context and link graph."""
    document = document_of(service, asked)
    service.limit_work(len(document.text) * (EXPLAINED + asked.candidates))
    return await service.answer(lambda: _explained(service, document, asked))


def _explained(service: Service, document: Document, asked: schemas.ExplainRequest) -> dict[str, Any]:
    number = asked.mention
    try:
        inference = service.linker.infer(document, **options_of(asked))
    except (InputError, SettingsError) as error:
        raise invalid(str(error)[:_LONGEST_MESSAGE]) from None
    try:
        if number is None:
            found = inference.explain(asked.candidates, topics=asked.topics)
        else:
            spans = [inference.encoded.spans[at] for at in np.flatnonzero(inference.possible)[number : number + 1]]
            if not spans:
                raise invalid(f"mention: there is no mention {number} in this text.")
            found = Explained(inference.explain_some(spans, asked.candidates), [], [])
    except InputError as error:  # restrictions are applied when they are needed
        raise invalid(str(error)[:_LONGEST_MESSAGE]) from None
    except SettingsError as error:
        raise Problem(501, "no_explanation", str(error)) from None
    return explained_json(found, asked.id, document.text, asked.offsets)


@router.get(
    "/topics/{title:path}",
    response_model=schemas.TopicDescription,
    responses=schemas.errors(404, 422),
    summary="Look up a topic",
)
async def topic(
    title: Annotated[str, Path(examples=["Robert Croft"])], service: _Service, most: _Most = 10
) -> Response:
    """Look up a topic by its title or a redirect."""
    known = service.linker.knowledge

    def work() -> Any:
        found = known.find_topic(_clean(title))
        if found < 0:
            return None
        return describe_topic(known, found, most)

    return await _found(service, work, title, "topic")


@router.get(
    "/mentions/{string:path}",
    response_model=schemas.MentionDescription,
    responses=schemas.errors(404, 422),
    summary="Look up a mention",
)
async def mention(string: Annotated[str, Path(examples=["Croft"])], service: _Service, most: _Most = 10) -> Response:
    """Look up the candidates of a string, with their counts in the wiki."""
    known = service.linker.knowledge

    def work() -> Any:
        found = known.find_mention(_clean(string))
        if found < 0:
            return None
        return describe_mention(known, found, most)

    return await _found(service, work, string, "mention")


async def _found(service: Service, work: Any, term: str, kind: str) -> Response:
    def answer() -> tuple[int, Any]:
        found = work()
        if found is not None:
            return 200, found
        near = suggest(service.linker.knowledge, term, 8)
        hint = f" There are: {', '.join(near)}." if near else ""
        return 404, problem_json("not_found", f"There is no {kind} of that name.{hint}", suggestions=near)

    status, found = await service.work.run(answer)
    return JSON(dumps(found), status)


def _clean(term: str) -> str:
    try:
        term.encode()
    except UnicodeEncodeError:
        raise Problem(422, "invalid", "The path is not UTF-8.") from None
    return term


@router.get("/model", response_model=schemas.ModelAnswer, summary="The model that is served")
async def model(service: _Service) -> Response:
    """Return the wiki, the size of the model, and the limits of this server."""
    linker, limits = service.linker, service.settings
    known = linker.knowledge
    return JSON(dumps({
        "version": __version__,
        "wiki": known.site.name,
        "language": known.site.language,
        "topics": len(known.titles),
        "mentions": len(known.mention_strings),
        "words": len(known.word_strings),
        "iteration": linker.model.iteration,
        "identity": linker.model.identity,
        "limits": {name: getattr(limits, name) for name in _LIMITS},
    }))  # fmt: skip


@router.post(
    "/reload",
    response_model=schemas.ReloadAnswer,
    responses=schemas.errors(403, 409, 500),
    summary="Reload the model",
)
async def reload(request: Request) -> Response:
    """Open the model again and serve it. Running requests are answered by the old one.

    Needs a key, or a server that listens on this machine only. Web pages cannot request it.
    """
    service: Service = request.app.state.service
    if "origin" in request.headers or not (service.settings.keys or service.settings.is_local):
        raise Problem(
            403, "forbidden", "Start the server with --set keys=KEY to reload from elsewhere, and not from a page."
        )
    service.linker  # noqa: B018 - says so when it is not there yet
    try:
        linker = await asyncio.to_thread(service.reload, tell=True)
    except (WikildaError, OSError) as error:
        log.error("not reloaded, the old model stays: %s", error)
        raise Problem(500, "not_reloaded", "The model cannot be opened; the old one stays. See the log.") from None
    return JSON(dumps({"identity": linker.model.identity}))


@router.get("/examples", response_model=list[schemas.ExampleAnswer], summary="Example texts")
async def example_texts(service: _Service) -> Response:
    """Return example texts whose entities the model knows."""
    return await service.answer(lambda: examples(service.linker.knowledge))
