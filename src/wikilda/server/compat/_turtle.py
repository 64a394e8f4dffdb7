"""NIF in Turtle: texts and their phrases.

The parser takes linear time. Literals stay the strings that they are written as.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse, serialize

from wikilda.server.errors import Problem, invalid, too_large

MAX_TRIPLES = 100_000
NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITSRDF = "http://www.w3.org/2005/11/its/rdf#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_PREFIXES = {"nif": NIF, "itsrdf": ITSRDF, "xsd": _XSD}
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NUMBER = re.compile(r"[0-9]{1,12}")
_NO_IRI = re.compile(r'[\x00-\x20<>"\\]')

Values = dict[str, dict[str, str]]  # of each subject, by predicate, one of its objects


@dataclass(frozen=True)
class Phrase:
    """A span of a text, its address if it has one, and its entity."""

    start: int
    end: int
    text: str
    means: str | None = None
    confidence: float | None = None
    uri: str = ""


@dataclass(frozen=True)
class Context:
    """A text with its address, and its phrases."""

    uri: str
    text: str
    phrases: list[Phrase] = field(default_factory=list)


def read(data: bytes) -> list[Context]:
    """The contexts of a Turtle document, each with the phrases that refer to it, in order."""
    values, contexts = _read_triples(data)
    if not contexts:
        raise Problem(400, "no_context", f"There is no nif:Context in the body ({NIF}Context).")
    phrases: dict[str, list[str]] = {}
    for subject, about in values.items():
        if (context := about.get(NIF + "referenceContext", subject)) != subject:
            phrases.setdefault(context, []).append(subject)
    return [_context(values, each, phrases.get(each, [])) for each in sorted(contexts)]


def _read_triples(data: bytes) -> tuple[Values, set[str]]:
    """Return NIF's properties of each subject, and the contexts. Blank nodes begin with an underscore."""
    values: Values = {}
    contexts: set[str] = set()
    try:
        for number, (subject, predicate, found) in enumerate(_triples(data)):
            if number == MAX_TRIPLES:
                raise too_large("The triples of a request", number + 1, MAX_TRIPLES)
            if predicate == _TYPE and found == NIF + "Context" and not subject.startswith("_"):
                contexts.add(subject)
            elif predicate.startswith(NIF):
                values.setdefault(subject, {}).setdefault(predicate, found)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f" (line {line})" if line else ""
        raise Problem(400, "not_turtle", f"The body is not Turtle{where}.") from None
    return values, contexts


def _triples(data: bytes) -> Iterator[tuple[str, str, str]]:
    for each in parse(input=data, format=RdfFormat.TURTLE, lenient=True):
        subject = each.subject.value if isinstance(each.subject, NamedNode) else f"_{each.subject}"
        found = each.object.value if isinstance(each.object, NamedNode | Literal) else f"_{each.object}"
        yield subject, each.predicate.value, found


def _context(values: Values, node: str, phrases: list[str]) -> Context:
    text = values.get(node, {}).get(NIF + "isString")
    if text is None:
        raise invalid("A nif:Context has no nif:isString, the text.")
    found = []
    for each in phrases:
        start, end = (_number(values[each], name) for name in ("beginIndex", "endIndex"))
        if not 0 <= start < end <= len(text):
            raise invalid(f"A phrase from {start} to {end} is empty or not inside its text of {len(text)} characters.")
        found.append(Phrase(start, end, text[start:end], uri="" if each.startswith("_") else each))
    return Context(node, text, sorted(found, key=lambda each: (each.start, each.end, each.uri)))


def _number(about: dict[str, str], name: str) -> int:
    value = about.get(NIF + name, "")
    if not _NUMBER.fullmatch(value):
        raise invalid(f"A phrase needs nif:{name}, a whole number.")
    return int(value)


def write(contexts: list[Context]) -> bytes:
    """Contexts and their phrases as Turtle."""
    triples = [triple for context in contexts for triple in _of_context(context)]
    return serialize(triples, format=RdfFormat.TURTLE, prefixes=_PREFIXES) or b""


def _of_context(context: Context) -> Iterator[Triple]:
    node = _iri(context.uri)
    yield from _of_string(node, "Context", 0, len(context.text))
    yield Triple(node, NamedNode(NIF + "isString"), _literal(context.text))
    for phrase in context.phrases:
        yield from _of_phrase(context, phrase)


def _of_phrase(context: Context, phrase: Phrase) -> Iterator[Triple]:
    uri = phrase.uri or f"{context.uri.rpartition('#')[0] or context.uri}#char={phrase.start},{phrase.end}"
    node = _iri(uri)
    yield from _of_string(node, "Phrase", phrase.start, phrase.end)
    yield Triple(node, NamedNode(NIF + "referenceContext"), _iri(context.uri))
    if phrase.means:
        yield Triple(node, NamedNode(ITSRDF + "taIdentRef"), _iri(phrase.means))
        if phrase.confidence is not None:
            confidence = Literal(f"{phrase.confidence:.6f}", datatype=NamedNode(_XSD + "double"))
            yield Triple(node, NamedNode(ITSRDF + "taConfidence"), confidence)
    yield Triple(node, NamedNode(NIF + "anchorOf"), _literal(phrase.text))


def _of_string(node: NamedNode, kind: str, start: int, end: int) -> Iterator[Triple]:
    for each in (kind, "String", "RFC5147String"):
        yield Triple(node, NamedNode(_TYPE), NamedNode(NIF + each))
    for name, value in (("beginIndex", start), ("endIndex", end)):
        number = Literal(str(value), datatype=NamedNode(_XSD + "nonNegativeInteger"))
        yield Triple(node, NamedNode(NIF + name), number)


def _iri(uri: str) -> NamedNode:
    """Return an address unchanged, except for characters that would end it, which are percent-encoded."""
    clean = _NO_IRI.sub(lambda found: f"%{ord(found.group()):02X}", uri.encode("utf-8", "replace").decode())
    try:
        return NamedNode(clean)
    except ValueError:  # not a valid address by the standard
        [made] = parse(input=f"<{clean}> <a:a> <a:a> .", format=RdfFormat.TURTLE, lenient=True)
        node: NamedNode = made.subject
        return node


def _literal(text: str) -> Literal:
    return Literal(text.encode("utf-8", "replace").decode())
