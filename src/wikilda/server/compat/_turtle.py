"""NIF in Turtle: texts and their phrases, read with rdflib and written by hand."""

import logging
import re
from dataclasses import dataclass, field
from typing import Any

from wikilda.server.errors import Problem, invalid

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITSRDF = "http://www.w3.org/2005/11/its/rdf#"
_PREFIXES = f"""@prefix nif: <{NIF}> .
@prefix itsrdf: <{ITSRDF}> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
_NO_IRI = re.compile('[\\x00-\\x20<>"{}|^`\\\\]')
_NO_LITERAL = re.compile('[\\x00-\\x1f"\\\\\\x7f]')


@dataclass(frozen=True)
class Phrase:
    """A span of a text, its address if it has one, and what it means."""

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
    from rdflib import RDF, Graph, URIRef

    logging.getLogger("rdflib").setLevel(logging.CRITICAL)  # it would log what it does not like, users' texts too
    graph = Graph()
    try:
        graph.parse(data=data, format="turtle")
    except RecursionError:
        raise Problem(400, "not_turtle", "The Turtle is nested too deep.") from None
    except Exception as error:  # rdflib's parser raises whatever its parts do
        line = getattr(error, "lines", None)
        where = f" (line {line + 1})" if isinstance(line, int) else ""
        raise Problem(400, "not_turtle", f"The body is not Turtle{where}.") from None
    found = sorted(each for each in graph.subjects(RDF.type, URIRef(NIF + "Context")) if isinstance(each, URIRef))
    if not found:
        raise Problem(400, "no_context", f"There is no nif:Context in the body ({NIF}Context).")
    return [_context(graph, each) for each in found]


def _context(graph: Any, node: Any) -> Context:
    from rdflib import URIRef

    text = graph.value(node, URIRef(NIF + "isString"))
    if text is None:
        raise invalid("A nif:Context has no nif:isString, the text.")
    phrases = []
    for each in graph.subjects(URIRef(NIF + "referenceContext"), node):
        if each == node:
            continue
        start, end = (_number(graph, each, name) for name in ("beginIndex", "endIndex"))
        if not 0 <= start < end <= len(text):
            raise invalid(f"A phrase from {start} to {end} is empty or not inside its text of {len(text)} characters.")
        uri = str(each) if isinstance(each, URIRef) else ""
        phrases.append(Phrase(start, end, str(text)[start:end], uri=uri))
    return Context(str(node), str(text), sorted(phrases, key=lambda each: (each.start, each.end, each.uri)))


def _number(graph: Any, node: Any, name: str) -> int:
    from rdflib import URIRef

    value = graph.value(node, URIRef(NIF + name))
    if value is None or not re.fullmatch(r"[0-9]{1,12}", str(value)):
        raise invalid(f"A phrase needs nif:{name}, a whole number.")
    return int(value)


def write(contexts: list[Context]) -> bytes:
    """Contexts and their phrases as Turtle."""
    parts = [_PREFIXES]
    for context in contexts:
        parts.append(
            f"\n{_iri(context.uri)} a nif:Context, nif:String, nif:RFC5147String ;\n"
            f"    nif:beginIndex {_whole(0)} ;\n    nif:endIndex {_whole(len(context.text))} ;\n"
            f"    nif:isString {_literal(context.text)} .\n"
        )
        parts += [_phrase(context, each) for each in context.phrases]
    return "".join(parts).encode("utf-8", "replace")


def _phrase(context: Context, phrase: Phrase) -> str:
    uri = phrase.uri or f"{context.uri.rpartition('#')[0] or context.uri}#char={phrase.start},{phrase.end}"
    lines = [
        f"\n{_iri(uri)} a nif:Phrase, nif:String, nif:RFC5147String ;",
        f"    nif:referenceContext {_iri(context.uri)} ;",
        f"    nif:beginIndex {_whole(phrase.start)} ;",
        f"    nif:endIndex {_whole(phrase.end)} ;",
    ]
    if phrase.means:
        lines.append(f"    itsrdf:taIdentRef {_iri(phrase.means)} ;")
    if phrase.means and phrase.confidence is not None:
        lines.append(f'    itsrdf:taConfidence "{phrase.confidence:.6f}"^^xsd:double ;')
    lines.append(f"    nif:anchorOf {_literal(phrase.text)} .\n")
    return "\n".join(lines)


def _whole(number: int) -> str:
    return f'"{number}"^^xsd:nonNegativeInteger'


def _iri(uri: str) -> str:
    return "<" + _NO_IRI.sub(_escape, uri) + ">"


def _literal(text: str) -> str:
    return '"' + _NO_LITERAL.sub(_escape, text) + '"'


def _escape(found: "re.Match[str]") -> str:
    return f"\\u{ord(found.group()):04X}"
