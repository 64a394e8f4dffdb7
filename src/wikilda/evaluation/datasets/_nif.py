"""NIF 2.0 in Turtle, as GERBIL's sets are (KORE50, N3, …): a context with its text, phrases with what they mean."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from wikilda.evaluation.datasets._align_spans import place
from wikilda.evaluation.datasets._turtle import TYPE, read_turtle
from wikilda.evaluation.gold import GoldDocument

_NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
_MEANS = "http://www.w3.org/2005/11/its/rdf#taIdentRef"
_SAME = "http://www.w3.org/2002/07/owl#sameAs"

Resources = dict[str, dict[str, list[str]]]


def is_nif(head: str) -> bool:
    """Whether a file that begins like this is Turtle, or triples of NIF."""
    return (
        _NIF in head
        or "nif:isString" in head
        or any(line.lstrip().lower().startswith(("@prefix", "@base", "prefix ")) for line in head.split("\n")[:50])
    )


def read_nif(path: Path, complaints: list[str]) -> Iterator[GoldDocument]:
    """A document a context, in the order of the file.

    What has a meaning (taIdentRef) is a mention; so is a nif:Phrase without one, and its gold is NIL. A meaning
    that is not in Wikipedia, DBpedia or Wikidata (`notInWiki`), nor owl:sameAs one that is, is NIL, too.
    """
    resources: Resources = {}
    for triple in read_turtle(path.read_text("utf-8-sig"), str(path), complaints):
        values = resources.setdefault(triple.subject, {})
        values.setdefault(triple.predicate, []).append(triple.object)
    mentions: dict[str, list[str]] = defaultdict(list)
    for name, values in resources.items():
        if _MEANS in values or _NIF + "Phrase" in values.get(TYPE, []):
            mentions[_first(values, "referenceContext")].append(name)
    contexts = [name for name, values in resources.items() if _NIF + "isString" in values]
    for name in contexts:
        yield _document(name, mentions.pop(name, []), resources, complaints)
    complaints += [f"{path}: {each[0]}: its context {name!r} has no text." for name, each in mentions.items()]


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
