"""MediaWiki's own parser tests: cases of wikitext and HTML, and what a reader sees of either."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from tests.mediawiki.scanning import ENGLISH, read
from wikilda.mediawiki.site import Site

_SECTION = re.compile(r"^!!\s*([\w/+]+)[^\n]*\n", re.MULTILINE)
_WORDS = re.compile(r"\w+")
_OTHER = re.compile(
    r"\b(disabled|pst|msg|section|replace|comment|cat|ill|subpage|language|variant|wgRawHtml|lastsavedrevision)\b"
)
_SET_ASIDE = {"table", "figure", "figure-inline", "style", "script", "math", "ol-references", "h-toc", "cite"}
_HIDDEN = re.compile(
    r"thumb|toc\b|toctitle|mw-editsection|reference|gallery|mw-empty|mw-headline-number|floatright|floatleft|floatnone|mw-image-border|"
    r"mw:Extension/(?!nowiki)|mw:File|mw:Image|mw:Video|mw:Audio|mw:MediaLink|mw-file"
)
# Why a case fails, by the first of these that its wikitext has.
REASONS = {
    "templates and parser functions, which are not expanded": r"\{\{",
    "language variants, which are not chosen": r"-\{",
    "tables, which are set aside": r"(?m)^[ :]*\{\||<table|<td|<tr|^\|",
    "images and media, of which no caption is shown": r"(?i)\[\[(file|image|media):",
    "tags of extensions, most of them made for the tests": r"<(gallery|poem|tag|indicator|pre|nowiki|section|ref|\w+tag)",
    "addresses on the web: rare schemes, numbered links, addresses in double brackets": r"//|mailto:|irc:|ISBN|RFC|PMID",
    "titles that MediaWiki refuses, prefixes of its test wiki": r"\[\[",
    "broken HTML": r"<",
    "characters by number that are illegal or too long": r"&",
}
_VOID = {"br", "hr", "img", "meta", "link", "wbr", "input", "area", "col", "source", "track", "base", "embed"}


class Case(NamedTuple):
    """A case with what it gives: words in order, and the titles that links lead to."""

    name: str
    wikitext: str
    words: list[str]
    links: list[str]


def cases(directory: Path) -> Iterator[Case]:
    """All cases that have wikitext and HTML and need no special set-up."""
    seen: dict[str, int] = {}
    for file in sorted(directory.glob("*.txt")):
        for block in re.split(r"^!!\s*test\n", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            parts = _SECTION.split(re.split(r"^!!\s*end\b", block, flags=re.MULTILINE)[0])
            name, sections = " ".join(parts[0].split()), dict(zip(parts[1::2], parts[2::2], strict=True))
            html = next((sections[key] for key in ("html/php", "html", "html/parsoid") if key in sections), None)
            if (
                html is None
                or "wikitext" not in sections
                or _OTHER.search(sections.get("options", ""))
                or "config" in sections
            ):
                continue
            seen[name] = seen.get(name, 0) + 1
            shown = _Shown()
            shown.feed(html)
            number = f" ({seen[name]})" if seen[name] > 1 else ""
            yield Case(f"{file.stem}: {name}{number}", sections["wikitext"], shown.words(), sorted(shown.links))


class _Shown(HTMLParser):
    """The text and links of HTML, without what is set aside on purpose."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.links: list[str] = []
        self.open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        marks = " ".join(known.get(each) or "" for each in ("class", "typeof", "id"))
        hidden = tag in _SET_ASIDE or bool(_HIDDEN.search(marks))
        if tag in _VOID:
            self.parts.append(" ")
            return
        if tag == "a" and not self._is_hidden() and not hidden:
            self._link(known)
        if tag in ("p", "div", "li", "dd", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "tr"):
            self.parts.append(" ")
        self.open.append((tag, hidden))

    def handle_endtag(self, tag: str) -> None:
        places = [at for at, (name, _) in enumerate(self.open) if name == tag]
        if places:
            del self.open[places[-1] :]

    def handle_data(self, data: str) -> None:
        if not self._is_hidden():
            self.parts.append(data)

    def words(self) -> list[str]:
        return _WORDS.findall(re.sub(r"\[\d+\]|https?://\S+", " ", "".join(self.parts)))

    def _is_hidden(self) -> bool:
        return any(hidden for _, hidden in self.open)

    def _link(self, known: dict[str, str | None]) -> None:
        href, classes = known.get("href") or "", f"{known.get('class') or ''} {known.get('rel') or ''}"
        if "external" in classes or "extiw" in classes or "mw:ExtLink" in classes or "Interwiki" in classes:
            return
        found = re.match(r"(?:/wiki/|\./|/index\.php\?title=)([^#&?]+)", href)
        if found and (title := normal(unquote(found.group(1)))):
            self.links.append(title)


def normal(title: str) -> str:
    """A title as MediaWiki writes it; nothing if it is of another namespace."""
    title = " ".join(title.split("#")[0].replace("_", " ").split()).lstrip(":")
    if ":" in title and title.split(":")[0].lower() in Site().words.namespaces:
        return ""
    return title[:1].upper() + title[1:]


def passes(case: Case) -> bool:
    """Whether our text and links are those of the HTML."""
    page = read(case.wikitext, ENGLISH)
    links = sorted(title for target, _, in_text in page.links if in_text and (title := normal(unquote(target))))
    return _WORDS.findall(page.text) == case.words and links == case.links


def reason(case: Case) -> str:
    """The group that a failing case belongs to."""
    return next((name for name, pattern in REASONS.items() if re.search(pattern, case.wikitext)), "other")
