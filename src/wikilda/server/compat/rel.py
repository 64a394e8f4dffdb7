"""REL: `POST /` with a text and spans of start and length; one list per mention."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field
from starlette.responses import Response

from wikilda.linking import Entity
from wikilda.server.compat import underscored
from wikilda.server.schemas import FromOne, FromZero, errors
from wikilda.server.service import Service, service_of
from wikilda.server.settings import MOST_MENTIONS

router = APIRouter(tags=["REL"])
_UNKNOWN_TAG = "NULL"  # REL's tag of mentions without a class
_TAGS = {"person": "PER", "organisation": "ORG", "place": "LOC"}


class RelRequest(BaseModel):
    """The request of REL's clients. Without spans the mentions are detected. Other fields are ignored."""

    text: str = Field(examples=["Croft took three wickets for England."])
    spans: list[tuple[FromZero, FromOne]] | None = Field(
        None, max_length=MOST_MENTIONS, description="start and length, in characters", examples=[[[0, 5]]]
    )


@router.post(
    "/",
    response_model=list[list[int | float | str]],
    responses=errors(400, 401, 408, 413, 422, 503, 504),
    summary="Link, as REL does",
)
async def rel(asked: RelRequest, service: Annotated[Service, Depends(service_of)]) -> Response:
    """Return lists of [start, length, mention, title, confidence, mention confidence, tag]."""
    given = [(start, start + length) for start, length in asked.spans or []]
    document = service.text(asked.text, given or None)

    def work() -> list[list[Any]]:
        linked = service.link(document, candidates=1, topics=0)
        return [
            [each.start, each.end - each.start, each.text, underscored(each.entity.title),
             round(each.confidence, 6), 0.0 if given else _found(service, each.text), _tag(each.entity)]
            for each in linked.mentions
            if each.entity
        ]  # fmt: skip

    return await service.answer(work)


def _tag(entity: Entity) -> str:
    return _TAGS.get(entity.type, "MISC") if entity.type else _UNKNOWN_TAG


def _found(service: Service, text: str) -> float:
    """Return the confidence that a detected string is a mention: its link probability."""
    known = service.linker.knowledge
    mention = known.find_mention(text)
    return round(known.link_probability(mention), 6) if mention >= 0 else 0.0
