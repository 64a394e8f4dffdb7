"""Wikitext from the HTML that MediaWiki makes of it, as ZIM files have it.

The wikitext has the text, the links and their places (paragraphs, headings, tables, references), so that it is read
like that of a dump. Templates are expanded already; scripts, styles and edit links are dropped.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from lxml import etree

Target = Callable[[str], str | None]

_DROPPED = frozenset(["script", "style", "head", "noscript", "math", "svg", "audio", "video", "template", "button"])
_DROPPED_CLASSES = frozenset(["mw-editsection", "noprint", "toc", "mw-cite-backlink", "mwe-math-element"])
_REFERENCES = frozenset(["references", "reference", "reflist", "mw-references-wrap"])
_CAPTIONS = frozenset(["thumb", "gallery", "gallerybox", "hatnote"])
_BLOCKS = frozenset([
    "p", "div", "section", "article", "main", "details", "summary", "blockquote", "pre", "center",
    "ul", "ol", "dl", "hr",
])  # fmt: skip
_LISTED = {"li": "* ", "dt": ": ", "dd": ": "}
_BOLD, _ITALIC = frozenset(["b", "strong"]), frozenset(["i", "em"])
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_DISAMBIGUATION = '//meta[@property="mw:PageProp/disambiguation"] | //*[@id="disambigbox" or @id="disambig"]'
_CATEGORIES = '//link[@rel="mw:PageProp/Category"]/@href'
_CONTENT = '//*[@id="mw-content-text"]', "//body"
_SPACES = re.compile(r"[ \t\r\n\f]+")
_SPECIAL = re.compile(r"[&<>\[\]{}|]|''|__|~~~")
_AT_START = re.compile(r"^[*#:;=! -]")
_NOT_IN_TITLES = re.compile(r"[\[\]{}|<>\n]")


_MOST_ATTRIBUTES = 5000  # of a tag; reading them takes time with the square of their number
_SEPARATOR = re.compile(rb"[\s\"'/=]")
_MARKUP = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)"
    rb"|(?P<tag>(?P<name><[a-z][^\s/>]*+)(?:[\s/]++|(?:(?<=[\s/])=[^\s/=>]*+|[^\s/=>]++)(?:\s*+=\s*+"
    rb"(?:\"[^\"]*+\"|'[^']*+'|[^\s\"'>][^\s>]*+|(?=>)))?)*+)",
    re.IGNORECASE | re.DOTALL,
)


def _without_long_tags(html: bytes) -> bytes:
    """Remove the attributes of tags that have thousands."""
    parts = html.split(b"<")
    if all(len(each) < _MOST_ATTRIBUTES or len(_SEPARATOR.findall(each)) < _MOST_ATTRIBUTES for each in parts):
        return html
    kept: list[bytes] = []
    at = 0
    for found in _MARKUP.finditer(html):
        tag = found["tag"] or b""
        if len(tag) > _MOST_ATTRIBUTES and len(_SEPARATOR.findall(tag)) > _MOST_ATTRIBUTES:
            kept += html[at : found.start()], found["name"]
            at = found.end()
    return b"".join([*kept, html[at:]])


def wikitext_of(html: bytes, target: Target) -> str:
    """Return the wikitext of a page; `target` gives the title that the address of a link leads to, or None."""
    root = etree.fromstring(_without_long_tags(html), etree.HTMLParser(encoding="utf-8"))
    if root is None:
        return ""
    writer = _Writer(target)
    for content in islice((each for path in _CONTENT for each in root.xpath(path)), 1):
        writer.children(content, aside=False)
    marks = ["__DISAMBIG__"] if root.xpath(_DISAMBIGUATION) else []
    for address in root.xpath(_CATEGORIES):
        title = target(address)
        if title and ":" in title:
            marks.append(f"[[Category:{title.partition(':')[2]}]]")
    return "\n".join(["".join(writer.parts).strip("\n"), *marks])


class _Writer:
    """Collects wikitext; what is aside, such as a table, holds nothing that is aside within it."""

    def __init__(self, target: Target) -> None:
        self.target, self.parts = target, [""]
        self._at_start, self._after_link = True, False

    def children(self, element: Any, *, aside: bool) -> None:
        self.text(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self.element(child, aside=aside)
            self.text(child.tail)

    def element(self, element: Any, *, aside: bool) -> None:
        name, classes = element.tag, frozenset((element.get("class") or "").split())
        if name in _DROPPED or classes & _DROPPED_CLASSES:
            return
        if not aside and (name in ("table", "figure") or classes & (_REFERENCES | _CAPTIONS)):
            self.aside(element, table=name == "table")
        elif name == "a":
            self.link(element, aside=aside)
        elif name in _HEADINGS and not aside:
            self.between(element, "\n== ", " ==\n", aside=aside)
        elif name in _LISTED:
            self.between(element, f"\n{_LISTED[name]}", "\n", aside=aside)
        elif name in _BLOCKS or name in _HEADINGS:
            self.between(element, "\n\n", "\n\n", aside=aside)
        elif name in ("tr", "td", "th", "caption", "figcaption", "br"):
            self.between(element, "\n", "\n", aside=aside)
        elif name in _BOLD or name in _ITALIC:
            quotes = "'''" if name in _BOLD else "''"
            self.between(element, quotes, quotes, aside=aside)
        else:
            self.children(element, aside=aside)

    def between(self, element: Any, before: str, after: str, *, aside: bool) -> None:
        self.markup(before)
        self.children(element, aside=aside)
        self.markup(after)

    def aside(self, element: Any, *, table: bool) -> None:
        self.markup("\n{|\n|\n" if table else "<ref>")
        self.children(element, aside=True)
        self.markup("\n|}\n" if table else "</ref>")

    def link(self, element: Any, *, aside: bool) -> None:
        title = self.target(element.get("href") or "")
        if not title or _NOT_IN_TITLES.search(title):
            self.children(element, aside=aside)
            return
        inner = _Writer(lambda _: None)
        inner._at_start = False
        inner.children(element, aside=True)
        anchor = " ".join("".join(inner.parts).replace("'''", "").replace("''", "").split())
        if anchor:
            self.markup(f"[[{':' if ':' in title else ''}{title}|{anchor}]]")
            self._after_link = True

    def markup(self, part: str) -> None:
        self.parts.append(part)
        self._at_start = part.endswith(("\n", "* ", ": ")) or (self._at_start and part.startswith("'"))
        self._after_link = False

    def text(self, text: str | None) -> None:
        """Return text as wikitext in which nothing is markup."""
        if not text:
            return
        plain = _SPACES.sub(" ", text)
        if self._at_start:
            plain = plain.lstrip(" ")
        if not plain:
            return
        if self._after_link and plain[0].isalpha():
            self.parts.append("<nowiki/>")  # otherwise these letters would belong to the link
        escaped = _SPECIAL.sub(_escaped, plain)
        self.parts.append(_AT_START.sub(_escaped, escaped) if self._at_start else escaped)
        self._at_start = self._after_link = False


def _escaped(found: "re.Match[str]") -> str:
    return "".join(f"&#{ord(each)};" for each in found.group())
