"""Scanning a page, for tests."""

from typing import NamedTuple

import numpy as np

from wikilda.mediawiki.site import Site
from wikilda.mediawiki.wikitext import Dialect, dialect_of, mark_key, read_page, scan

_KINDS = ("template", "category", "magic")


def dialect(code: str, namespaces: dict[str, int] | None = None, *, transcluded: bool = False) -> Dialect:
    site = Site(language=code)
    site.namespaces = {**site.words.namespaces}
    site.namespaces |= {name.lower(): number for name, number in (namespaces or {}).items()}
    return dialect_of(site, transcluded=transcluded)


ENGLISH = dialect("en")

# Pieces of markup, most of which open or close something.
UNITS = [
    "[[", "]]", "{{", "}}", "{", "}", "[", "{|\n", "|}\n", "{{{", "[[a|", "{{a|", "<ref>", "</ref>", "<ref", "<ref name='x'", "<ref/>",
    "<!--", "-->", "<", "<nowiki>", "<math>", "<table>", "</table>", "''", "'", "'''a", "=", "=\n", "= ", "__", "__A", "&", "&#", "&amp;",
    "http://", "[http://", "[[a]]", "{{a}}", "[[File:a|", "[[a|b", "{{a\n", "\n{|", "\n ", ":", "\n", "é", "<b>", "<ref>[[", "<!-- </ref>",
    "a://", "''<ref>\n{|\n</ref>\n|}\n", "<ref>{{</ref>", "[[a\n", "''[[a|''", "l'''a''", "_" , "<br", "[http://a ", "[[ ",
]  # fmt: skip


class Read(NamedTuple):
    text: str
    links: list[tuple[str, str, bool]]


def read(wikitext: str, wiki: Dialect = ENGLISH) -> Read:
    page = read_page(wikitext, wiki)
    return Read(page.text, page.links)


class Name(str):
    """A mark's name, which only its hash tells: equal to any spelling of it."""

    key: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and mark_key(other) == self.key

    __hash__ = str.__hash__


def marks(wikitext: str, wiki: Dialect = ENGLISH) -> list[tuple[str, str]]:
    data = wikitext.encode()
    found = []
    for kind, key in scan(data, np.array([0, len(data)]), wiki).marks[:2].T:
        name = Name(hex(int(key)))
        name.key = int(key)
        found.append((_KINDS[int(kind)], name))
    return found
