"""Requests and answers of the server's own API."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from wikilda.documents.reading.rows import plain
from wikilda.server.errors import shortened

_CROFT = "Croft took three wickets for England against Pakistan at The Oval."


def _whole(value: Any) -> Any:
    """Accept 5.0 as 5, as JSON does not distinguish them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)  # after limits, which OpenAPI would not show otherwise
FromZero = Annotated[int, Field(ge=0, strict=True), WHOLE]
FromOne = Annotated[int, Field(ge=1, strict=True), WHOLE]
_Most = Annotated[int, Field(ge=1, le=100, description="how many candidates a mention has at most, best first"), WHOLE]
_Topics = Annotated[
    int, Field(ge=0, le=100, description="how many of the document's topics to give, largest first"), WHOLE
]


class _Request(BaseModel):
    """Base of requests. Unknown fields are errors, and so are numbers as strings."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _few(cls, fields: Any) -> Any:
        """Report the first unknown field of many: an error for each takes long."""
        if isinstance(fields, dict) and len(fields) > len(cls.model_fields) and cls.model_config["extra"] == "forbid":
            unknown = next(each for each in fields if each not in cls.model_fields)
            raise PydanticCustomError("unknown_field", "there is no field '{name}'", {"name": shortened(str(unknown))})
        return fields


class Span(_Request):
    """The span of a mention, in characters (Unicode code points) unless `offsets` has another unit."""

    start: FromZero = Field(examples=[0])
    end: FromOne = Field(examples=[5])


_CROFT_ONLY: dict[str, Any] = {"text": _CROFT, "mentions": [{"start": 0, "end": 5}]}
_ACME: dict[str, Any] = {
    "title": "Acme Corporation",
    "names": ["Acme"],
    "description": "A maker of anvils.",
    "type": "organisation",
}
_WITH_ACME: dict[str, Any] = {"text": "Acme sells anvils in London.", "entities": [_ACME], "exclude": ["London"]}
_Name = Annotated[str, Field(max_length=1000)]


class DocumentRequest(_Request):
    """A document."""

    text: str = Field(description="the text, plain", examples=[_CROFT])
    mentions: list[Span] | None = Field(
        None, fail_fast=True, description="what to link; the server finds mentions where this is absent"
    )
    id: str = Field("", max_length=1000, description="comes back; random numbers depend on it", examples=["doc-1"])
    offsets: Literal["code-points", "utf-16", "bytes"] = Field("code-points", description="the unit of all offsets")
    candidates: _Most = 5
    topics: _Topics = 10


class OwnEntityRequest(_Request):
    """An entity of the client's own: a candidate for this document, by its names and the words of its description."""

    model_config = ConfigDict(json_schema_extra={"examples": [_ACME]})

    title: str = Field(min_length=1, max_length=1000, description="what it is called in the answer")
    names: list[_Name] = Field(
        [], fail_fast=True, max_length=100, description="what it is called in texts, besides its title"
    )
    description: str = Field(
        "", max_length=10_000, description="a sentence or two about it, whose words serve as evidence"
    )
    type: str | None = Field(None, max_length=100, description="its coarse type, for restrictions by type")


class LinkRequest(DocumentRequest):
    """A document to link, with restrictions and own entities."""

    model_config = ConfigDict(json_schema_extra={"examples": [_CROFT_ONLY, _WITH_ACME]})

    types: list[_Name] = Field(
        [], fail_fast=True, max_length=8, description="types that entities have: person, place, …; absent: all"
    )
    category: str = Field("", max_length=1000, description="a category that entities are in, or in one below it")
    only: list[_Name] = Field(
        [], fail_fast=True, max_length=1000,
        description="titles that may be answers; absent: all. A string in double quotes may mean anything",
    )  # fmt: skip
    exclude: list[_Name] = Field(
        [], fail_fast=True, max_length=1000,
        description="titles that are never answers. A string in double quotes is not linked",
    )  # fmt: skip
    entities: list[OwnEntityRequest] = Field([], fail_fast=True, max_length=100, description="entities of your own")
    nested: bool = Field(False, description="whether the known names inside of detected mentions are mentions, too")


class LineSpan(Span):
    """The span of a mention. Other fields are ignored."""

    model_config = ConfigDict(extra="ignore")


class LineRequest(LinkRequest):
    """A line of `/v1/batch`: a request to `/v1/link`, or a record as `wikilda link` reads it."""

    model_config = ConfigDict(extra="ignore")

    mentions: list[LineSpan] | None = Field(None, fail_fast=True)  # type: ignore[assignment]

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, row: Any) -> Any:
        return plain(row) if isinstance(row, dict) else row


class ExplainRequest(LinkRequest):
    """A document to link and to explain, with the options of `/v1/link`."""

    mention: FromZero | None = Field(None, description="the number of the mention to explain, from 0; absent: all")


class BatchRequest(_Request):
    """Documents to link."""

    documents: list[LinkRequest] = Field(fail_fast=True, min_length=1, examples=[[{"text": _CROFT}]])


class EntityAnswer(BaseModel):
    """An article of the wiki, or an entity of the client's own."""

    id: str | None = Field(None, examples=["C-17"], description="in the list of entities that it came from")
    title: str = Field(examples=["Robert Croft"])
    page_id: int = Field(examples=[1017], description="0 for an entity of the client's own")
    wikidata: str | None = Field(examples=["Q7343972"])
    url: str | None = Field(examples=["https://en.wikipedia.org/wiki/Robert_Croft"])
    type: str | None = Field(None, description="its coarse type, where the knowledge has types", examples=["person"])


class CandidateAnswer(EntityAnswer):
    """A candidate of a mention, with its posterior and its prior."""

    probability: float = Field(ge=0, le=1, examples=[0.93])
    prior: float = Field(ge=0, le=1, examples=[0.2])


_Nil = Annotated[
    float, Field(ge=0, le=1, examples=[0.07], description="how probable it is that it means nothing that is known")
]


class MentionAnswer(BaseModel):
    """A mention. `title` and what belongs to it are null where it probably means nothing that the knowledge has.

    That is where `nil` is over ½, and where the knowledge does not have the string.
    """

    start: int
    end: int
    text: str = Field(examples=["Croft"])
    id: str | None = Field(None, examples=["C-17"])
    title: str | None = Field(examples=["Robert Croft"])
    page_id: int | None
    wikidata: str | None
    url: str | None
    type: str | None = Field(examples=["person"])
    probability: float | None = Field(ge=0, le=1, examples=[0.93])
    confidence: float | None = Field(ge=0, le=1, examples=[0.86], description="probability · (1 − nil)")
    nil: _Nil
    candidates: list[CandidateAnswer]


class TopicAnswer(EntityAnswer):
    """A topic of a document, with its share."""

    share: float = Field(ge=0, le=1, examples=[0.12])


class SourceAnswer(BaseModel):
    """The knowledge that an answer refers to."""

    wiki: str
    language: str
    files: list[str]
    identity: str


class LinkAnswer(BaseModel):
    """A linked document: its mentions, its topics, and the knowledge."""

    id: str
    mentions: list[MentionAnswer]
    topics: list[TopicAnswer]
    knowledge: SourceAnswer


class BatchAnswer(BaseModel):
    """Documents in their order."""

    documents: list[LinkAnswer]


class WordAnswer(BaseModel):
    """A word of the document, with its contribution to the candidate's log weight, and relative to the rival's."""

    word: str = Field(examples=["wickets"])
    occurrences: int
    weight: float
    against: float


class SupportAnswer(EntityAnswer):
    """Another string of the document, its entity that supports the candidate most, and its contribution."""

    mention: str
    times: int = Field(description="how many mentions have the string")
    probability: float = Field(description="how probable that meaning is")
    weight: float = Field(description="what the mentions of the string add to the candidate's log odds")
    linked: bool = Field(description="whether the meaning and the candidate have a link")
    shared: int = Field(description="how many neighbours they share in the link graph")


class OddsAnswer(BaseModel):
    """The log odds of the candidate against its rival, in terms that add up to `total`."""

    prior: float = Field(description="how often the string means it")
    words: float = Field(description="similarity of the document's words with it and its neighbours")
    title: float = Field(description="whether its title looks like the string, or like what that abbreviates")
    context: float = Field(description="the context of the mention, if the model was trained on texts")
    graph: float = Field(description="what the other mentions mean")
    total: float = Field(description="the log odds of the candidate's probability against that of the rival")


class NilReasonsAnswer(BaseModel):
    """The log odds of NIL, in terms that add up to `total`."""

    string: float = Field(description="how often the string has a meaning that the wiki lacks")
    title: float = Field(description="the best candidate's title and type")
    document: float = Field(description="how well the other mentions fit")
    names: float = Field(description="other mentions of the name, and longer names, that are NIL")
    candidate: float = Field(description="the evidence for the best candidate, negated")
    new_meaning: float = Field(description="the probability behind `string`")
    parents: list[tuple[str, float]] = Field(description="longer names, and the probability of NIL of each")
    total: float


class ReasonsAnswer(CandidateAnswer):
    """A candidate and its evidence."""

    sentence: str = Field(description="the article's first sentence")
    rival: str | None = Field(description="the best other candidate, which the odds are against")
    odds: OddsAnswer
    top_words: list[WordAnswer]
    support: list[SupportAnswer]


class ExplanationAnswer(BaseModel):
    """A mention and the reasons for its candidates, best first."""

    start: int
    end: int
    text: str
    title: str | None = Field(description="the answer; null for NIL")
    confidence: float = Field(description="the probability that the mention refers to its best candidate")
    nil: _Nil
    unknown: NilReasonsAnswer | None = Field(description="the evidence for NIL; null where there is no candidate")
    candidates: list[ReasonsAnswer]


class RelationAnswer(BaseModel):
    """The relatedness of two candidates, by links and by shared neighbours."""

    first: str
    second: str
    relatedness: float


class ExplainAnswer(BaseModel):
    """Mentions explained, how their candidates are related, and the document's topics."""

    id: str
    mentions: list[ExplanationAnswer]
    related: list[RelationAnswer]
    topics: list[TopicAnswer]


class StringAnswer(BaseModel):
    """A mention string or a word of a topic."""

    string: str
    count: int
    probability: float


class NearAnswer(BaseModel):
    """A topic that is similar to another."""

    title: str
    similarity: float


class TopicDescription(EntityAnswer):
    """A topic: its sentence and types, its strings, words, links and nearest topics."""

    sentence: str
    types: dict[str, float] = Field(description="coarse types and their probabilities, best first")
    categories: list[str]
    mentions: list[StringAnswer]
    words: list[StringAnswer]
    in_links: int
    out_links: int
    linked_from: list[str]
    nearest: list[NearAnswer]


class MeaningAnswer(BaseModel):
    """A candidate of a string."""

    title: str
    probability: float
    count: int
    sentence: str


class MentionDescription(BaseModel):
    """A mention string: its topics with P(k|v), and its link probability."""

    mention: str
    link_probability: float
    linked: int
    occurrences: int
    ambiguity: int
    topics: list[MeaningAnswer]


class ReloadAnswer(BaseModel):
    """The model that is served from now on."""

    identity: str = Field(description="the model's digest, as in its manifest")


class ModelAnswer(BaseModel):
    """The model that is served."""

    version: str
    wiki: str
    language: str
    topics: int
    mentions: int
    words: int
    iteration: int
    identity: str
    limits: dict[str, float]


class ExampleAnswer(BaseModel):
    """A text to try."""

    title: str
    text: str


class HealthAnswer(BaseModel):
    """Whether the server can link."""

    status: str = Field(examples=["ready"])


class ErrorBody(BaseModel):
    """What went wrong, for programs (`code`) and for people (`message`)."""

    code: str = Field(examples=["text_too_large"])
    message: str
    suggestions: list[str] | None = None


class ErrorAnswer(BaseModel):
    """The body of every error."""

    error: ErrorBody


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with."""
    about = {
        403: "not allowed",
        409: "under way already",
        500: "not done; see the log",
        400: "the body cannot be read",
        401: "no API key",
        404: "not known",
        408: "sent too slowly",
        413: "over a limit",
        415: "another content type is wanted",
        422: "a value cannot be used",
        501: "the server decides by a sampler that it cannot explain",
        503: "busy or not ready: try again",
        504: "not done in time",
    }
    return {status: {"model": ErrorAnswer, "description": about[status]} for status in statuses}
