"""Sources of pages: a folder of notes, or a MediaWiki dump. Both can be built into a model."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from urllib.parse import unquote
from xml.sax.saxutils import escape, quoteattr

from wikilda._core.errors import InputError, Report
from wikilda.knowledge import BuildSettings, Knowledge
from wikilda.mediawiki.dump import cut, read_piece, site_of
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.site import MAIN
from wikilda.suggestions.markdown import markdown_link, read_markdown
from wikilda.suggestions.pages import Page
from wikilda.suggestions.wikitext import read_wikitext, wikitext_link
from wikilda.training.build import build

_PIECE = 1 << 24
_FOLDERS = ("logseq", "node_modules")  # folders without notes
_NOT_IN_TITLES = re.compile(r"[_#|\[\]{}<>\x00-\x1f\x7f\ufffd]|%(?=[0-9A-Fa-f]{2})|&(?=#?\w+;)|~{3,}")
_PREFIX = re.compile(r"^\s*:*([\w.-]{1,20}):")  # may be a namespace or a language
_NOT_IN_TEXT = re.compile(r"[\[\]{}<>|&]|''+|^[ \t=*#:;-]+|__", re.MULTILINE)
_LONGEST = 200  # bytes of a title; a wiki takes 255


class Source(Protocol):
    """Pages, their model, and the form of their links."""

    report: Report

    def pages(self) -> Iterator[Page]:
        """Read the pages."""

    def build(self, target: Path, workers: int | None) -> None:
        """Build a model from the pages."""

    def topic(self, knowledge: Knowledge, title: str) -> int:
        """Return the topic of a page or of the target of a link; −1 if it is none."""

    def target(self, knowledge: Knowledge, topic: int) -> str:
        """Return the title by which a topic is linked."""

    def link(self, target: str, text: str) -> str:
        """Return a link."""


def open_source(path: Path) -> Source:
    """Return the pages of a folder of notes or of a dump."""
    if path.is_dir():
        return Notes(path)
    if not path.exists():
        raise InputError(f"{path}: no such file or directory. Check the path.")
    if path.suffix.lower() in (".md", ".markdown"):
        raise InputError(f"{path}: is one note. Give the folder of all notes; --page chooses among them.")
    return Dump(path)


class Dump:
    """The articles of a MediaWiki dump."""

    def __init__(self, path: Path) -> None:
        self.path, self.report, self.site = path, Report(), site_of(path)

    def pages(self) -> Iterator[Page]:
        """Read the articles."""
        for piece in cut(self.path, _PIECE):
            for page in pages_in(read_piece(piece), self.site.namespaces):
                if isinstance(page, RawPage) and page.namespace == MAIN and not page.redirect and page.wikitext:
                    source = page.text.decode()
                    yield Page(page.title, page.title, page.title, source, read_wikitext(source, self.site.namespaces))

    def build(self, target: Path, workers: int | None) -> None:
        """Build a model from the dump."""
        build(self.path, target, workers=workers)

    def topic(self, knowledge: Knowledge, title: str) -> int:
        """Return the topic of a title."""
        return knowledge.find_topic(title.partition("#")[0])

    def target(self, knowledge: Knowledge, topic: int) -> str:
        """Return the title of an article."""
        return knowledge.titles[topic]

    def link(self, target: str, text: str) -> str:
        """Return a link in wikitext."""
        return wikitext_link(target, text)


class Notes:
    """The Markdown files of a folder: an Obsidian vault, a Logseq graph, or any other."""

    def __init__(self, path: Path) -> None:
        self.path, self.report = path, Report()
        self._logseq = (path / "logseq" / "config.edn").is_file()
        if not self._notes:
            raise InputError(f"{path}: has no notes that can be read (*.md). Check the path.")

    @cached_property
    def _notes(self) -> list[Page]:
        """Return all notes. Those with equal names are named by their paths."""
        read = [page for file in self._files() if (page := self._read(file)) is not None]
        names: dict[str, int] = {}
        for page in read:
            names[page.title.casefold()] = names.get(page.title.casefold(), 0) + 1
        return [
            page if names[page.title.casefold()] == 1
            else replace(page, title=page.place.rsplit(".", 1)[0])
            for page in read
        ]  # fmt: skip

    def _files(self) -> Iterator[Path]:
        for file in sorted(self.path.rglob("*")):
            inside = file.relative_to(self.path).parts
            hidden = any(part.startswith(".") for part in inside) or inside[0] in _FOLDERS
            if file.suffix.lower() in (".md", ".markdown") and not hidden and file.is_file():
                yield file

    def _read(self, file: Path) -> Page | None:
        place = file.relative_to(self.path).as_posix()
        try:
            source = file.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else f"cannot be read ({error.strerror})"
            self.report.complain("notes that cannot be read", f"{file}: {reason}; it is left out")
            return None
        note = read_markdown(source)
        if note.wrong:
            self.report.complain("notes with broken front matter", f"{file}: {note.wrong}")
        stem = unquote(file.stem.replace("___", "/")) if self._logseq else file.stem
        title = note.title if self._logseq and note.title else stem
        return Page(title, title, place, source, note.prose, note.aliases)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Return notes by their names in links: path, name, the end of the path, alias."""
        found: dict[str, int] = {}
        for names in (
            lambda page: [page.place.rsplit(".", 1)[0], page.place], lambda page: [page.title],
            lambda page: [page.place.rsplit(".", 1)[0].rsplit("/", 1)[-1]], lambda page: page.aliases,
        ):  # fmt: skip
            for number, page in enumerate(self._notes):
                for name in names(page):
                    found.setdefault(name.casefold(), number)
        return found

    def _number(self, target: str) -> int:
        found = self._numbers.get(target.casefold(), -1)
        if found < 0 and "/" in target:
            found = self._numbers.get(target.rsplit("/", 1)[-1].casefold(), -1)
        return found

    @cached_property
    def _titles(self) -> list[str]:
        """Return the title of each note in the model: valid in a wiki, and unique."""
        used, found = set[str](), list[str]()
        for number, page in enumerate(self._notes):
            folder = page.place.rpartition("/")[0].replace("/", " ")
            title = _admitted(page.name if page.title == page.name or not folder else f"{page.name} ({folder})")
            title = title if title and title not in used else f"{title} (note {number + 1})".strip()
            used.add(title)
            found.append(title)
        return found

    def pages(self) -> Iterator[Page]:
        """Return the notes."""
        yield from self._notes

    def build(self, target: Path, workers: int | None) -> None:
        """Build a model from the notes, as from a wiki."""
        with TemporaryDirectory(prefix="wikilda-notes-") as work:
            dump = Path(work) / f"{self.path.resolve().name or 'notes'}.xml"
            with dump.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.writelines(self._export())
            build(dump, target, workers=workers, settings=BuildSettings(min_text=0))

    def _export(self) -> Iterator[str]:
        """Write the notes as an export of a wiki. Aliases are redirects."""
        name = escape(self.path.resolve().name)
        yield (
            f'<mediawiki xml:lang="en"><siteinfo><sitename>{name}</sitename><dbname>notes</dbname>'
            "<case>case-sensitive</case></siteinfo>\n"
        )
        taken, number = set(self._titles), 0
        for number, (page, title) in enumerate(zip(self._notes, self._titles, strict=True), 1):
            yield _page(number, title, "", self._wikitext(page) or title)
        for page, title in zip(self._notes, self._titles, strict=True):
            for alias in page.aliases:
                called = _admitted(alias)
                if called and called not in taken:
                    number += 1
                    taken.add(called)
                    yield _page(number, called, title, "")
        yield "</mediawiki>\n"

    def _wikitext(self, page: Page) -> str:
        parts, at, text = [], 0, page.prose.text
        for link in page.prose.links:
            number = self._number(link.target)
            shown = _NOT_IN_TEXT.sub(" ", text[link.start : link.end]).strip()
            parts += [_NOT_IN_TEXT.sub(" ", text[at : link.start])]
            parts += [f"[[{self._titles[number]}|{shown}]]" if number >= 0 and shown else shown]
            at = link.end
        lines = "".join([*parts, _NOT_IN_TEXT.sub(" ", text[at:])]).split("\n")
        return "\n".join(" ".join(line.split()) for line in lines).strip()

    def topic(self, knowledge: Knowledge, title: str) -> int:
        """Return the topic of a note, by its name, path or alias."""
        number = self._number(title)
        return knowledge.find_topic(self._titles[number]) if number >= 0 else -1

    def target(self, knowledge: Knowledge, topic: int) -> str:
        """Return the name of a note."""
        return self._notes[self._of_title[knowledge.titles[topic]]].title

    @cached_property
    def _of_title(self) -> dict[str, int]:
        return {title: number for number, title in enumerate(self._titles)}

    def link(self, target: str, text: str) -> str:
        """Return a wikilink."""
        return markdown_link(target, text)


def _admitted(name: str) -> str:
    """Return a name as a valid title of a wiki."""
    name = _PREFIX.sub(r"\1 ", _NOT_IN_TITLES.sub(" ", name))
    return " ".join(name.encode()[:_LONGEST].decode("utf-8", "ignore").split())


def _page(number: int, title: str, redirect: str, text: str) -> str:
    moved = f"<redirect title={quoteattr(redirect)}/>" if redirect else ""
    return (
        f"<page><title>{escape(title)}</title><ns>0</ns><id>{number}</id>{moved}"
        f'<revision><id>{number}</id><text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )
