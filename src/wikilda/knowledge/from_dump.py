"""First half of a build: one piece of a dump → tables on disk, each piece on its own.

A piece leaves a folder (`_pieces.py`). Pages are numbered by piece and place, titles and mentions are 64-bit hashes.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from wikilda._core.errors import Report
from wikilda.knowledge._pieces import PAGES_A_PIECE, Folder
from wikilda.knowledge._text_kernels import normalized, target_hashes, title_strings
from wikilda.knowledge.held_out import sample_piece
from wikilda.knowledge.settings import BuildSettings
from wikilda.mediawiki.dump import Piece, read_piece
from wikilda.mediawiki.pages import BadPage, RawPage, pages_in
from wikilda.mediawiki.site import CATEGORY, MAIN, TEMPLATE, Site
from wikilda.mediawiki.titles import LONGEST_TITLE
from wikilda.mediawiki.wikitext import (
    ANCHOR_END,
    ANCHOR_START,
    IN_ASIDE,
    TARGET_END,
    TARGET_START,
    TEMPLATE_MARK,
    Dialect,
    Scanned,
    dialect_of,
    mark_key,
    scan,
)
from wikilda.text.tokens import Bytes, Hashes, Offsets, byte_array, joined

PARENTHESIS = re.compile(r"^(.+?)\s*[(（][^()（）]*[)）]$")


class Extractor:
    """Turns pieces of one dump into folders; made once in each process."""

    def __init__(self, chunks: Path, site: Site, settings: BuildSettings) -> None:
        self.chunks, self.settings, self.site = chunks, settings, site
        self.dialect = dialect_of(site)
        self.template_dialect = dialect_of(site, transcluded=True)
        redirects = "|".join(map(re.escape, settings.redirect_words or site.words.redirect))
        self._redirect = re.compile(rf"^\s*#\s*(?:{redirects})\s*:?\s*\[\[([^\]|]+)", re.IGNORECASE)

    def extract(self, number: int, piece: Piece) -> None:
        """Write the folder of one piece."""
        report = Report()
        pages = list(self._readable(read_piece(piece), piece, report))
        with Folder(self.chunks, number) as folder:
            self._write(folder, pages, report)
            folder.write_report(report)

    def _readable(self, xml: bytes, piece: Piece, report: Report) -> Iterator[RawPage]:
        for page in pages_in(xml, self.site.namespaces):
            report.count("pages")
            if isinstance(page, BadPage):
                where = f"{piece.path}: page {page.title!r} near byte {piece.start}"
                report.complain("unreadable pages", f"{where}: {page.reason}")
            elif len(page.title.encode()) > LONGEST_TITLE or not page.title.strip():
                report.complain(
                    "bad titles",
                    f"{piece.path}: title {page.title[:60]!r}… is empty or longer than {LONGEST_TITLE} bytes",
                )
            else:
                if page.repaired:
                    report.complain(
                        "pages with bad UTF-8", f"{piece.path}: page {page.title!r}: invalid UTF-8 replaced"
                    )
                yield self._seen(page, report)

    def _seen(self, page: RawPage, report: Report) -> RawPage:
        """Find redirects that only their text shows."""
        if not page.redirect and page.text.lstrip()[:1] == b"#":
            found = self._redirect.match(page.text[:1000].decode("utf-8", "replace"))
            if found:
                page = page._replace(redirect=found.group(1))
        if page.namespace == MAIN:
            report.count("redirects" if page.redirect else "articles")
        if page.namespace == MAIN and not page.redirect and not page.text.strip():
            report.complain("pages without text", f"page {page.title!r} has no text")
        return page

    def _write(self, folder: Folder, pages: list[RawPage], report: Report) -> None:
        articles = [p for p in pages if p.namespace == MAIN and not p.redirect and p.wikitext]
        redirects = [p for p in pages if p.namespace == MAIN and p.redirect]
        templates = [p for p in pages if p.namespace == TEMPLATE]
        categories = [p for p in pages if p.namespace == CATEGORY and not p.redirect]
        scanned = _scan(articles, self.dialect)
        first = folder.number * PAGES_A_PIECE
        keys = self._title_keys([p.title for p in articles + redirects])
        targets = self._title_keys([p.redirect for p in redirects])
        number = np.arange(first, first + len(keys), dtype=np.uint64)
        folder.write("pages", {
            "page": number,
            "id": np.array([p.id for p in articles + redirects], np.int64),
            "title": pa.array([p.title for p in articles + redirects], pa.string()),
            "key": keys,
            "redirect": np.append(np.zeros(len(articles), np.uint64), targets),
        })  # fmt: skip
        self._write_marks(folder, first, scanned, templates)
        self._write_categories(folder, first, scanned, categories)
        self._write_mentions(folder, number, articles + redirects, keys, scanned, report)
        folder.write_texts(number[: len(articles)], scanned.text, scanned.text_bounds, scanned.lead,
                           language=self.site.language)  # fmt: skip

    def _title_keys(self, titles: list[str]) -> Hashes:
        text, bounds = joined([title.encode("utf-8", "replace") for title in titles])
        return target_hashes(byte_array(text), bounds[:-1], bounds[1:], self.dialect)

    def _write_marks(self, folder: Folder, first: int, scanned: Scanned, templates: list[RawPage]) -> None:
        owner = np.repeat(
            np.arange(first, first + len(scanned.mark_bounds) - 1, dtype=np.uint64), np.diff(scanned.mark_bounds)
        )
        folder.write("marks", {"page": owner, "kind": scanned.marks[0], "name": scanned.marks[1]})
        folder.write("template_names", _template_names(scanned))
        inner = _scan(templates, self.template_dialect)
        names = np.array([mark_key(_after_colon(page.title)) for page in templates], np.uint64)
        uses = {
            "template": np.repeat(names, np.diff(inner.mark_bounds)),
            "kind": inner.marks[0],
            "name": inner.marks[1],
        }
        aliases = [
            (mark_key(_after_colon(p.title)), mark_key(_after_colon(p.redirect))) for p in templates if p.redirect
        ]
        alias = np.array(aliases, np.uint64).reshape(-1, 2)
        folder.write("templates", {
            "template": np.append(uses["template"], alias[:, 0]),
            "kind": np.append(uses["kind"], np.full(len(alias), TEMPLATE_MARK, np.uint64)),
            "name": np.append(uses["name"], alias[:, 1]),
        })  # fmt: skip

    def _write_categories(self, folder: Folder, first: int, scanned: Scanned, pages: list[RawPage]) -> None:
        """The categories of articles; of the categories that have a page, the parents and marks."""
        inner = _scan(pages, self.dialect)
        text, bounds = joined([_after_colon(page.title).encode("utf-8", "replace") for page in pages])
        names, keys = title_strings(byte_array(text), np.stack([bounds[:-1], bounds[1:]]), self.dialect)
        own, own_keys = title_strings(scanned.source, scanned.categories, self.dialect)
        above, above_keys = title_strings(inner.source, inner.categories, self.dialect)
        articles = np.arange(first, first + len(scanned.category_bounds) - 1, dtype=np.uint64)
        columns = {"page": np.repeat(articles, np.diff(scanned.category_bounds)), "category": own_keys}
        folder.write("categories", columns)
        folder.write("parents", {"category": np.repeat(keys, np.diff(inner.category_bounds)), "parent": above_keys})
        marks = {"category": np.repeat(keys, np.diff(inner.mark_bounds)), "kind": inner.marks[0]}
        folder.write("category_marks", {**marks, "name": inner.marks[1]})
        folder.write("category_pages", {"category": keys, "id": np.array([page.id for page in pages], np.int64)})
        every = np.concatenate([keys, own_keys, above_keys])
        _, once = np.unique(every, return_index=True)
        together = pa.chunked_array([each.cast(pa.string()) for each in (names, own, above)], pa.string())
        folder.write("category_names", {"category": every[once], "name": together.take(pa.array(once))})

    def _write_mentions(
        self, folder: Folder, number: Hashes, pages: list[RawPage], keys: Hashes, scanned: Scanned, report: Report
    ) -> None:
        """Titles, with and without a trailing parenthesis, and the anchors of links."""
        text, starts, ends, owner = _names([page.title for page in pages])
        strings, hashes = normalized(text, starts, ends)
        ones = np.ones(len(owner), np.uint32)
        folder.write("names", {"page": number[owner], "target": keys[owner], "mention": hashes, "count": ones})
        links = scanned.links
        aside = links[IN_ASIDE] != 0
        anchors = [normalized(part, *links[ANCHOR_START : ANCHOR_END + 1, chosen])
                   for part, chosen in ((scanned.text, ~aside), (scanned.aside, aside))]  # fmt: skip
        _, *shown = folder.write_mentions((strings, hashes), *anchors)
        mention = np.empty(len(aside), np.uint32)
        mention[~aside], mention[aside] = shown
        source = np.repeat(np.arange(len(scanned.link_bounds) - 1), np.diff(scanned.link_bounds))
        target = target_hashes(scanned.source, links[TARGET_START], links[TARGET_END], self.dialect)
        folder.write_links(source, mention, target, aside)
        articles = number[: len(scanned.link_bounds) - 1]
        sample_piece(folder, articles, keys, scanned, target)
        report.count("links read", len(aside))


def _scan(pages: list[RawPage], dialect: Dialect) -> Scanned:
    return scan(*joined([page.text for page in pages]), dialect)


def _template_names(scanned: Scanned) -> dict[str, Any]:
    """The names of the templates that are used, each once."""
    used = scanned.marks[:, scanned.marks[0] == TEMPLATE_MARK]
    keys, first = np.unique(used[1], return_index=True)
    spans = used[2:, first].astype(np.int64).T.tolist()
    names = [scanned.source[start:end].tobytes().decode("utf-8", "replace").strip() for start, end in spans]
    return {"name": keys, "string": pa.array(names, pa.string())}


def _names(titles: list[str]) -> tuple[Bytes, Offsets, Offsets, Offsets]:
    """Titles and, where they end with a parenthesis, titles without it: as spans of one buffer."""
    named = [(title, owner) for owner, title in enumerate(titles)]
    for owner, title in enumerate(titles):
        if title.endswith((")", "）")) and (short := PARENTHESIS.match(title)):
            named.append((short.group(1), owner))
    text, bounds = joined([name.encode("utf-8", "replace") for name, _ in named])
    owners = np.array([owner for _, owner in named], np.int64)
    return byte_array(text), bounds[:-1], bounds[1:], owners


def _after_colon(title: str) -> str:
    return title.partition(":")[2] or title
