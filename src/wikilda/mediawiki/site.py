"""The description of a wiki in its dump (`<siteinfo>`)."""

import re
from dataclasses import dataclass, field
from urllib.parse import quote
from xml.parsers import expat

from wikilda._core.errors import InputError
from wikilda.mediawiki.languages import Language, language

_WEB = re.compile(r"https?://[^/\s]+/[^\s]*\Z", re.IGNORECASE)
MAIN, FILE, TEMPLATE, CATEGORY = 0, 6, 10, 14


@dataclass
class Site:
    """One wiki: its names, its language, its namespaces by lower-cased name."""

    name: str = ""
    database: str = ""
    language: str = "en"
    base: str = ""
    first_letter_case: bool = True
    namespaces: dict[str, int] = field(default_factory=lambda: dict(language().namespaces))

    @property
    def words(self) -> Language:
        """The words of the wiki, by its database (`dewiki`) or else by its language."""
        return language(self.database.removesuffix("wiki").replace("_", "-"), self.language)

    def url(self, title: str) -> str:
        """Return the address of an article, by the pattern of the main page's; empty if that is not a web address."""
        if not _WEB.match(self.base):  # such as javascript:, which must not be used in a page
            return ""
        return self.base.rsplit("/", 1)[0] + "/" + quote(title.replace(" ", "_"), safe="/:@!$*(),;~'")


class _Header:
    """Collects `<siteinfo>` from expat. Refuses a document type, which can hold entity bombs."""

    def __init__(self, place: str) -> None:
        self.site, self.place = Site(), place
        self.names: dict[str, int] = {}
        self._text, self._key, self.root_seen = "", "", False
        self.parser = expat.ParserCreate("UTF-8")  # the encoding of every export, regardless of its declaration
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    def doctype(self, *_: object) -> None:
        raise InputError(f"{self.place}: has a DOCTYPE, which no MediaWiki export has. Remove it.")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if not self.root_seen:
            self.root_seen = True
            if name != "mediawiki":
                raise InputError(
                    f"{self.place}: the root element is <{name}>, not <mediawiki>. Give a MediaWiki export."
                )
            self.site.language = attributes.get("xml:lang", "en")
        self._text, self._key = "", attributes.get("key", "")

    def characters(self, text: str) -> None:
        self._text += text

    def end(self, name: str) -> None:
        text = self._text.strip()
        if name == "sitename":
            self.site.name = text
        elif name == "dbname":
            self.site.database = text
        elif name == "base":
            self.site.base = text
        elif name == "case":
            self.site.first_letter_case = text != "case-sensitive"
        elif name == "namespace" and text:
            self.names[text.lower().replace("_", " ")] = int(self._key or 0)
        self._text = ""


def read_site(head: bytes, place: str) -> Site:
    """Read the wiki's own description from the first bytes of a dump."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head[:64].strip(b"\0")[:2]:
        raise InputError(f"{place}: is in UTF-16; exports are in UTF-8. Convert it: iconv -f UTF-16 -t UTF-8.")
    header = _Header(place)
    before_pages = head.split(b"<page>", 1)[0]
    try:
        header.parser.Parse(before_pages, False)
    except expat.ExpatError as error:
        raise InputError(
            f"{place}: line {error.lineno}, column {error.offset}: {expat.errors.messages[error.code]}; "
            "not a MediaWiki XML export. Give a file that begins with <mediawiki>."
        ) from None
    except ValueError:
        raise InputError(f"{place}: a <namespace> has a key that is not a number. Download the dump again.") from None
    if not header.root_seen:
        raise InputError(
            f"{place}: has no <mediawiki> at its beginning, so it is not a MediaWiki XML export. Check the path."
        )
    header.site.namespaces = {**header.site.words.namespaces, **header.names}
    return header.site
