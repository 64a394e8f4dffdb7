"""NIF 2.0 in Turtle, the format of GERBIL's sets (KORE50, N3, …): contexts with texts, phrases with entities."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wikilda._core.errors import InputError, WikildaError
from wikilda.evaluation.gold import GoldDocument, place

if TYPE_CHECKING:
    from pyoxigraph import Quad

_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
_MEANS = "http://www.w3.org/2005/11/its/rdf#taIdentRef"
_SAME = "http://www.w3.org/2002/07/owl#sameAs"
_UNDECLARED = re.compile(r"The prefix ([^\s:]*): has not been declared")
_WELL_KNOWN = {
    "dbo": "http://dbpedia.org/ontology/",
    "dbpedia": "http://dbpedia.org/resource/",
    "dbpedia-owl": "http://dbpedia.org/ontology/",
    "dbr": "http://dbpedia.org/resource/",
    "itsrdf": "http://www.w3.org/2005/11/its/rdf#",
    "nif": "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "wd": "http://www.wikidata.org/entity/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}

Resources = dict[str, dict[str, list[str]]]


def is_nif(head: str) -> bool:
    """Whether the beginning of a file is Turtle, or triples of NIF."""
    return (
        _NIF in head
        or "nif:isString" in head
        or any(line.lstrip().lower().startswith(("@prefix", "@base", "prefix ")) for line in head.split("\n")[:50])
    )


def read_nif(path: Path, complaints: list[str]) -> Iterator[GoldDocument]:
    """Read one document per context, in the order of the file.

    Everything with an entity (taIdentRef) is a mention. So is a nif:Phrase without one, and its gold is NIL. An entity
    outside Wikipedia, DBpedia and Wikidata (`notInWiki`), and not owl:sameAs one of theirs, is NIL, too.
    """
    resources: Resources = {}
    for subject, predicate, found in _triples(path.read_text("utf-8-sig"), str(path), complaints):
        resources.setdefault(subject, {}).setdefault(predicate, []).append(found)
    mentions: dict[str, list[str]] = defaultdict(list)
    for name, values in resources.items():
        if _MEANS in values or _NIF + "Phrase" in values.get(_TYPE, []):
            mentions[_first(values, "referenceContext")].append(name)
    contexts = [name for name, values in resources.items() if _NIF + "isString" in values]
    for name in contexts:
        yield _document(name, mentions.pop(name, []), resources, complaints)
    complaints += [f"{path}: {each[0]}: its context {name!r} has no text." for name, each in mentions.items()]


def _triples(text: str, where: str, complaints: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the statements of a Turtle document; literals lose their type and language.

    An undeclared prefix is a complaint. It is read as the well-known one, or as an IRI of its own.
    """
    try:
        from pyoxigraph import Literal, NamedNode
    except ModuleNotFoundError:
        raise WikildaError("reading NIF needs pyoxigraph. Install it: pip install 'wikilda[server]'") from None

    for each in _parsed(text, where, complaints):
        subject = each.subject.value if isinstance(each.subject, NamedNode) else str(each.subject)
        found = each.object.value if isinstance(each.object, NamedNode | Literal) else str(each.object)
        yield subject, each.predicate.value, found


def _parsed(text: str, where: str, complaints: list[str]) -> "list[Quad]":
    from pyoxigraph import RdfFormat, parse

    declared = ""
    while True:
        try:
            return list(parse((declared + text).encode(), format=RdfFormat.TURTLE, lenient=True))
        except (SyntaxError, ValueError) as error:
            place = f"{where}: line {getattr(error, 'lineno', None) or '?'}"
            missing = _UNDECLARED.search(str(error))
            if not missing or f"@prefix {missing[1]}:" in declared:
                raise InputError(
                    f"{place}: is not Turtle ({error}). Correct the file, or choose another --format."
                ) from None
            meant = _WELL_KNOWN.get(missing[1], f"{missing[1]}:")
            declared += f"@prefix {missing[1]}: <{meant}> . "  # on the first line, so that line numbers stay
            complaints.append(f"{place}: the prefix {missing[1]!r} is not declared; it is read as <{meant}>.")


def _document(name: str, mentions: list[str], resources: Resources, complaints: list[str]) -> GoldDocument:
    text = _first(resources[name], "isString")
    found: dict[tuple[int, int], tuple[str, ...]] = {}
    for mention in mentions:
        values = resources[mention]
        begin, end, surface = (_first(values, key) for key in ("beginIndex", "endIndex", "anchorOf"))
        span = place(text, int(begin), int(end), surface) if begin.isdigit() and end.isdigit() else None
        if span is None:
            complaints.append(f"{mention}: {surface!r} is not at {begin or '?'} in the text of its context, nor near.")
        else:
            named = [each for iri in values.get(_MEANS, []) for each in (iri, *resources.get(iri, {}).get(_SAME, []))]
            meant = tuple(dict.fromkeys(each for each in named if _is_known_place(each)))
            found[span] = found.get(span, ()) + meant
    spans = sorted(found)
    return GoldDocument(text, spans, name, [found[span] for span in spans], "test")


def _first(values: dict[str, list[str]], key: str) -> str:
    return values.get(_NIF + key, [""])[0]


def _is_known_place(iri: str) -> bool:
    return any(host in iri for host in ("wikipedia.org/wiki/", "dbpedia.org/", "wikidata.org/"))
