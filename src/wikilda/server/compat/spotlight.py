"""DBpedia Spotlight: `/annotate`, `/spot`, `/candidates`, `/disambiguate`; JSON of strings, or NIF."""

from dataclasses import dataclass
from typing import Annotated, Any
from xml.parsers import expat

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from wikilda.knowledge.types import TYPES
from wikilda.linking import Candidate, Document, LinkedMention, Linker, marked
from wikilda.server.compat import DBPEDIA_TYPES, dbpedia, resource_name, tagme
from wikilda.server.compat._turtle import Context, Phrase, write
from wikilda.server.errors import Problem, invalid, shortened
from wikilda.server.openapi import Fields, fields_of, parameters
from wikilda.server.schemas import errors
from wikilda.server.service import Service, dumps, service_of


def read_annotation(data: str) -> Document:
    """The text of an annotation and the spans of its surface forms."""
    texts: list[str] = []
    forms: list[dict[str, str]] = []

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "annotation":
            texts.append(attributes.get("text", ""))
        elif name == "surfaceForm":
            forms.append(attributes)

    def doctype(*_: object) -> None:
        raise Problem(400, "doctype", "The XML has a DOCTYPE, which no annotation has.")

    parser = expat.ParserCreate("UTF-8")
    parser.StartElementHandler, parser.StartDoctypeDeclHandler = start, doctype
    try:
        parser.Parse(data.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        what = expat.errors.messages[error.code]
        raise Problem(400, "not_xml", f"line {error.lineno}, column {error.offset}: {what}.") from None
    if len(texts) != 1:
        raise invalid('text: there must be one <annotation text="…"> with <surfaceForm name="…" offset="…"/> in it.')
    return Document(texts[0], [_span(each, texts[0]) for each in forms])


def _span(form: dict[str, str], text: str) -> tuple[int, int]:
    name, offset = form.get("name", ""), form.get("offset", "")
    if not (name and offset.isascii() and offset.isdigit() and len(offset) < 10):
        raise invalid('text: a <surfaceForm> needs a name="…" and an offset="…" in characters.')
    start = int(offset)
    if text[start : start + len(name)] != name:
        raise invalid(f"text: the surface form at offset {start} is not what the text has there.")
    return start, start + len(name)


router = APIRouter(tags=["DBpedia Spotlight"], responses=errors(400, 401, 408, 413, 415, 422, 503, 504))
_Service = Annotated[Service, Depends(service_of)]
_NIF = ("text/turtle", "application/x-turtle", "application/turtle")
_BASE = "http://dbpedia.org/spotlight/isString"

_FIELDS = {
    "text": "the text, required",
    "confidence": "the least probability of an answer, 0.5 if not given",
    "support": "the least number of in-links of an answer, 0 if not given",
    "types": "DBpedia:Person, DBpedia:Place, …: the types that answers have",
    "policy": "whitelist, or blacklist for answers that do not have these types",
}
_TEXT = {"text": "the text, required"}
_XML = {"text": '<annotation text="…"><surfaceForm name="…" offset="…"/></annotation>, or text with [[mentions]]'}


def _also(name: str) -> tuple[str, ...]:
    """Return the other paths of a service on Spotlight's servers."""
    return f"/rest/{name}", f"/{{language}}/{name}"


@dataclass(frozen=True)
class Filter:
    """Conditions for answers."""

    confidence: float
    support: int
    policy: str
    types: tuple[str, ...] = ()

    @classmethod
    def of(cls, fields: Fields) -> "Filter":
        """The filter that a request has; types are DBpedia's or our own."""
        if fields.get("sparql").strip():
            raise invalid("sparql: there is no SPARQL endpoint to ask. Leave it out.")
        known = {each.lower(): name for name, each in DBPEDIA_TYPES.items()} | {each: each for each in TYPES}
        given = [each.strip().lower() for each in fields.get("types").split(",") if each.strip()]
        for each in given:
            if each not in known:
                raise invalid(f"types: there is no type {each!r}; there are {', '.join(DBPEDIA_TYPES.values())}.")
        return cls(
            fields.number("confidence", 0.5), int(fields.number("support", 0)), fields.get("policy") or "whitelist",
            tuple(known[each] for each in given),
        )  # fmt: skip


@parameters(router, "/annotate", _FIELDS, "Link, as Spotlight does", required="text", also=_also("annotate"))
async def annotate(request: Request, service: _Service) -> Response:
    """Return mentions with their DBpedia resources, as JSON or, if accepted, as NIF in Turtle."""
    fields = await fields_of(request, service)
    wanted = Filter.of(fields)
    document = service.text(fields.text())
    return await _annotated(request, service, document, wanted)


@parameters(router, "/disambiguate", _XML, "Link given mentions", required="text", also=_also("disambiguate"))
async def disambiguate(request: Request, service: _Service) -> Response:
    """The same for given mentions, in Spotlight's XML or in double brackets."""
    fields = await fields_of(request, service)
    wanted, given = Filter.of(fields), fields.text()
    document = await service.work.run(read_annotation if given.lstrip().startswith("<") else marked, given)
    return await _annotated(request, service, service.text(document.text, document.mentions or []), wanted)


@parameters(router, "/candidates", _FIELDS, "Candidates, as Spotlight's", required="text", also=_also("candidates"))
async def candidates(request: Request, service: _Service) -> Response:
    """Return mentions with all candidates."""
    fields = await fields_of(request, service)
    wanted, document = Filter.of(fields), service.text(fields.text())

    def work() -> dict[str, Any]:
        linker = service.linker
        linked = service.link(document, candidates=10, topics=0)
        forms = [_form(each, linker) for each in linked.mentions if _passes(each, wanted, linker)]
        found: dict[str, Any] = {"@text": document.text}
        if forms:
            found["surfaceForm"] = _bare(forms)
        return {"annotation": found}

    return await service.answer(work)


@parameters(router, "/spot", _TEXT, "Find mentions, as Spotlight or TagMe", required="text", also=_also("spot"))
async def spot(request: Request, service: _Service) -> Response:
    """Return the mentions of a text: in TagMe's form for requests with its token, else in Spotlight's."""
    fields = await fields_of(request, service)
    if fields.all("gcube-token"):
        return await tagme.spot(service, fields)
    document = service.text(fields.text())

    def work() -> dict[str, Any]:
        spans = service.linker.detector.detect(document.text)
        forms = [{"@name": document.text[start:end], "@offset": str(start)} for start, end in spans]
        return {"annotation": {"@text": document.text, **({"surfaceForm": forms} if forms else {})}}

    return await service.answer(work)


async def _annotated(request: Request, service: Service, document: Document, wanted: Filter) -> Response:
    nif = any(kind in request.headers.get("accept", "") for kind in _NIF)

    def work() -> tuple[bytes, str]:
        linker = service.linker
        linked = service.link(document, candidates=2, topics=0)
        kept = [each for each in linked.mentions if _passes(each, wanted, linker)]
        if nif:
            return _turtle(document.text, kept, linker.knowledge.site.language), "text/turtle; charset=utf-8"
        return dumps(_json(document.text, kept, wanted, linker)), "application/json"

    service.linker  # noqa: B018 - says so at once when it is not there
    body, kind = await service.work.run(work)
    return Response(body, media_type=kind)


def _passes(mention: LinkedMention, wanted: Filter, linker: Linker) -> bool:
    if not mention.entity or mention.confidence < wanted.confidence:
        return False
    if wanted.types and (mention.entity.type in wanted.types) == (wanted.policy == "blacklist"):
        return False
    return not wanted.support or _support(mention.candidates[0], linker) >= wanted.support


def _support(candidate: Candidate, linker: Linker) -> int:
    """Return the number of articles that link to an entity."""
    topic = linker.knowledge.find_topic(candidate.entity.title)
    offsets = linker.knowledge.graph.in_offsets
    return int(offsets[topic + 1] - offsets[topic])


def _second(found: list[Candidate]) -> str:
    best = found[0].probability
    return str(found[1].probability / best if len(found) > 1 and best else 0.0)


def _json(text: str, mentions: list[LinkedMention], wanted: Filter, linker: Linker) -> dict[str, Any]:
    language = linker.knowledge.site.language
    head = {
        "@text": text, "@confidence": str(wanted.confidence), "@support": str(wanted.support),
        "@types": ",".join(wanted.types), "@sparql": "", "@policy": shortened(wanted.policy),
    }  # fmt: skip
    resources = [
        {
            "@URI": dbpedia(each.candidates[0].entity.title, language),
            "@support": str(_support(each.candidates[0], linker)),
            "@types": DBPEDIA_TYPES.get(each.candidates[0].entity.type or "", ""),
            "@surfaceForm": each.text,
            "@offset": str(each.start),
            "@similarityScore": str(each.confidence),
            "@percentageOfSecondRank": _second(each.candidates),
        }
        for each in mentions
    ]
    return {**head, "Resources": resources} if resources else head


def _form(mention: LinkedMention, linker: Linker) -> dict[str, Any]:
    found = mention.candidates
    evidence = [
        each.probability / each.prior if each.prior else 0.0 for each in found
    ]  # the contribution of the text to priors
    total = sum(evidence) or 1.0
    resources = [
        {
            "@label": each.entity.title,
            "@uri": resource_name(each.entity.title),
            "@contextualScore": str(evidence[place] / total),
            "@percentageOfSecondRank": _second(found[place:]),
            "@support": str(_support(each, linker)),
            "@priorScore": str(each.prior),
            "@finalScore": str(each.probability),
            "@types": DBPEDIA_TYPES.get(each.entity.type or "", ""),
        }
        for place, each in enumerate(found)
    ]
    return {"@name": mention.text, "@offset": str(mention.start), "resource": _bare(resources)}


def _bare(items: list[Any]) -> Any:
    """Return a list of one as its element, as Spotlight does in JSON made from XML."""
    return items[0] if len(items) == 1 else items


def _turtle(text: str, mentions: list[LinkedMention], language: str) -> bytes:
    phrases = [
        Phrase(each.start, each.end, each.text, dbpedia(each.candidates[0].entity.title, language), each.confidence)
        for each in mentions
    ]  # fmt: skip
    return write([Context(f"{_BASE}#char=0,{len(text)}", text, phrases)])
