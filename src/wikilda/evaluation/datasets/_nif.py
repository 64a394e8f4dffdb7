"""NIF 2.0 in Turtle, as GERBIL's sets are (KORE50, N3, …): a context with its text, phrases with what they mean."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from wikilda._core.errors import InputError
from wikilda.evaluation.gold import GoldDocument, place

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
    |(?P<iri><[^<>\r\n]*>)
    |(?P<long>\"\"\"(?:\"{0,2}(?:[^"\\]|\\.))*\"\"\"|'''(?:'{0,2}(?:[^'\\]|\\.))*''')
    |(?P<short>"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
    |(?P<directive>@prefix\b|@base\b|PREFIX\b|BASE\b)
    |(?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<typed>\^\^)
    |(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?<!\.))
    |(?P<blank>_:[\w.-]*[\w-])
    |(?P<name>[^\W\d_][\w.-]*(?<!\.)|(?=:))(?P<local>:(?:(?:[\w:-]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])
        (?:(?:[\w.:-]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])*(?:[\w:-]|%[0-9A-Fa-f]{2}))?)?)
    |(?P<word>a|true|false)(?=[\s<])
    |(?P<mark>[.;,\[\]()])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
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
_PLAIN = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


class Triple(NamedTuple):
    """A statement; an object that is a literal has lost its type and language."""

    subject: str
    predicate: str
    object: str


class _Tokens:
    def __init__(self, text: str, where: str) -> None:
        self.text, self.where, self.at = text, where, 0

    def next(self) -> tuple[str, str]:
        """The kind and the text of the next token; ("end", "") after the last."""
        while self.at < len(self.text):
            found = _TOKEN.match(self.text, self.at)
            if not found:
                raise self.error("this is not Turtle, or a form of it that NIF files do not use")
            self.at = found.end()
            kind = "name" if found.lastgroup == "local" else str(found.lastgroup)
            if kind != "space":
                return kind, found.group()
        return "end", ""

    def peek(self) -> tuple[str, str]:
        at = self.at
        token = self.next()
        self.at = at
        return token

    def expect(self, mark: str) -> None:
        found = self.next()
        if found != ("mark", mark):
            raise self.error(f"{mark!r} was expected, not {found[1]!r}")

    def error(self, what: str) -> InputError:
        line = self.text.count("\n", 0, self.at) + 1
        return InputError(f"{self.where}: line {line}: {what} (near {self.text[self.at : self.at + 30]!r}).")


def read_turtle(text: str, where: str, complaints: list[str]) -> Iterator[Triple]:
    """The statements of a Turtle document; undeclared prefixes are complaints."""
    return _Reader(_Tokens(text, where), complaints).triples()


class _Reader:
    def __init__(self, tokens: _Tokens, complaints: list[str]) -> None:
        self.tokens, self.base, self.blanks, self.complaints = tokens, "", 0, complaints
        self.prefixes: dict[str, str] = {}
        self.nested: list[Triple] = []  # what was said in brackets

    def triples(self) -> Iterator[Triple]:
        while (token := self.tokens.next())[0] != "end":
            if token[0] == "directive":
                self._directive(token[1])
            else:
                yield from self._statements(self._resource(token))
                yield from self.nested
                self.nested.clear()

    def _directive(self, kind: str) -> None:
        if kind.lower().endswith("prefix"):
            name = self.tokens.next()[1]
            self.prefixes[name.removesuffix(":")] = self._resource(self.tokens.next())
        else:
            self.base = self._resource(self.tokens.next())
        if kind.startswith("@"):
            self.tokens.expect(".")

    def _statements(self, subject: str, end: str = ".") -> Iterator[Triple]:
        if subject.startswith("_:[") and self.tokens.peek() == ("mark", end):  # `[ … ] .` says all that there is
            self.tokens.next()
            return
        while True:
            token = self.tokens.next()
            predicate = TYPE if token == ("word", "a") else self._resource(token)
            while True:
                yield Triple(subject, predicate, self._object())
                kind, mark = self.tokens.next()
                if (kind, mark) != ("mark", ","):
                    break
            while (kind, mark) == ("mark", ";"):
                if self.tokens.peek() not in (("mark", ";"), ("mark", end)):
                    break
                kind, mark = self.tokens.next()
            if (kind, mark) == ("mark", end):
                return
            if (kind, mark) != ("mark", ";"):
                raise self.tokens.error(f"{end!r}, ';' or ',' was expected, not {mark!r}")

    def _object(self) -> str:
        token = kind, text = self.tokens.next()
        if kind in ("number", "word"):
            return text
        if kind not in ("long", "short"):
            return self._resource(token)
        quotes = 3 if kind == "long" else 1
        if self.tokens.peek()[0] == "language":
            self.tokens.next()
        elif self.tokens.peek()[0] == "typed":
            self.tokens.next()
            self._resource(self.tokens.next())
        return _unescape(text[quotes:-quotes])

    def _resource(self, token: tuple[str, str]) -> str:
        kind, text = token
        if token in (("mark", "["), ("mark", "(")):
            return self._bracketed(text)
        if kind == "iri":
            iri = _unescape(text[1:-1])
            return urljoin(self.base, iri) if self.base and "://" not in iri else iri
        if kind == "blank":
            return text
        if kind != "name":
            raise self.tokens.error(f"an IRI was expected, not {text!r}")
        prefix, local = text.split(":", 1)
        if prefix not in self.prefixes:
            self._assume(prefix)
        return self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)

    def _assume(self, prefix: str) -> None:
        """Take an undeclared prefix for the one that everybody means by it, or for an IRI of its own."""
        meant = self.prefixes[prefix] = _WELL_KNOWN.get(prefix, f"{prefix}:")
        told = self.tokens.error(f"the prefix {prefix!r} is not declared; it is read as <{meant}>")
        self.complaints.append(str(told))

    def _bracketed(self, mark: str) -> str:
        """A node without a name, `[ … ]`, or a list, `( … )`, of which nothing is kept but what its nodes say."""
        self.blanks += 1
        name = f"_:[{self.blanks}"
        if mark == "[":
            self.nested += list(self._statements(name, "]"))
            return name
        while self.tokens.peek() != ("mark", ")"):
            self._object()
        self.tokens.next()
        return name


def _unescape(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        code = found.group(1) or found.group(2)
        return chr(int(code, 16)) if code else _PLAIN.get(found.group(3), found.group(3))

    return _ESCAPE.sub(plain, text) if "\\" in text else text


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
