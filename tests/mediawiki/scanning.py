"""Scanning a page, for tests."""

import numpy as np

from wikilda.mediawiki.languages import language
from wikilda.mediawiki.site import Site
from wikilda.mediawiki.wikitext import Dialect, Page, dialect_of, mark_key, read_page, scan

_KINDS = ("template", "category", "magic")


def dialect(code: str, namespaces: dict[str, int] | None = None, *, transcluded: bool = False) -> Dialect:
    site = Site(language=code)
    site.namespaces |= {name.lower(): number for name, number in (namespaces or {}).items()}
    return dialect_of(site, language(code), transcluded=transcluded)


ENGLISH = dialect("en")


def read(wikitext: str, wiki: Dialect = ENGLISH) -> Page:
    return read_page(wikitext, wiki)


class Name(str):
    """A mark's name, which only its hash tells: equal to any spelling of it."""

    key: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and mark_key(other) == self.key

    __hash__ = str.__hash__


def marks(wikitext: str, wiki: Dialect = ENGLISH) -> list[tuple[str, str]]:
    data = wikitext.encode()
    found = []
    for kind, key in scan(data, np.array([0, len(data)]), wiki).marks.T:
        name = Name(hex(int(key)))
        name.key = int(key)
        found.append((_KINDS[int(kind)], name))
    return found
