"""Turtle, as far as NIF files use it: prefixes, IRIs, literals, `;` and `,`, nodes in brackets. The rest is refused.

IRIs may hold what the grammar forbids, such as quotation marks: sets made by hand have them. Prefixes that a file does
not declare are read as what they mean elsewhere, with a complaint.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urljoin

from wikilda._core.errors import InputError

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
