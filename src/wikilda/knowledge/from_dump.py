"""First half of a build: each piece of a dump to tables on disk.

A piece leaves a folder (`_pieces.py`). Pages are numbered by piece and place, titles and mentions are 64-bit hashes.
Extraction of a page depends on the page only, so that an update takes unchanged pages from the pieces of an earlier
build. The digest of a page covers all that extraction reads.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.errors import Report
from wikilda.knowledge import link_contexts
from wikilda.knowledge._pieces import (
    ARTICLE,
    BROKEN,
    CATEGORIES,
    NOT_WIKITEXT,
    OTHER,
    PAGES_A_PIECE,
    REDIRECT,
    TEMPLATES,
    Folder,
)
from wikilda.knowledge._text_kernels import normalized, target_hashes, title_strings
from wikilda.knowledge.held_out import sample_piece
from wikilda.knowledge.settings import BuildSettings
from wikilda.mediawiki.dump import Piece, read_piece
from wikilda.mediawiki.pages import BadPage, RawPage, pages_in
from wikilda.mediawiki.site import CATEGORY, MAIN, TEMPLATE, Site
from wikilda.mediawiki.titles import LONGEST_TITLE
from wikilda.mediawiki.wikitext import (
    ACCOUNT,
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
    """Turns pieces of one dump into folders. There is one per process.

    `known` is a file with three rows of integers, the two halves of digests (sorted by the first) and page numbers:
    pages with these digests are not extracted again.
    """

    def __init__(self, chunks: Path, site: Site, settings: BuildSettings, known: Path | None = None) -> None:
        self.chunks, self.settings, self.site, self._known_file = chunks, settings, site, known
        self.dialect = dialect_of(site)
        self.template_dialect = dialect_of(site, transcluded=True)
        redirects = "|".join(map(re.escape, settings.redirect_words or site.words.redirect))
        self._redirect = re.compile(rf"^\s*#\s*(?:{redirects})\s*:?\s*\[\[([^\]|]+)", re.IGNORECASE)

    def extract(self, number: int, piece: Piece) -> None:
        """Write the folder of one piece."""
        report = Report()
        pages = list(self._read(read_piece(piece), piece, report))
        kinds = np.array([_kind(page) for page in pages], np.uint8)
        digests = np.array([_digest(page) for page in pages], np.uint64).reshape(-1, 2)
        numbers = np.where(kinds < OTHER, self._known(digests), -1)
        fresh = np.flatnonzero(numbers < 0)
        order = fresh[np.argsort(kinds[fresh], kind="stable")]
        numbers[order] = number * PAGES_A_PIECE + np.arange(len(order))
        with Folder(self.chunks, number) as folder:
            folder.write("census", _census(pages, kinds, digests, numbers))
            first, owned = number * PAGES_A_PIECE, int((kinds[fresh] < OTHER).sum())
            folder.write("owners", {"page": np.arange(first, first + owned, dtype=np.uint64)})
            self._write(folder, [page for at in order if isinstance(page := pages[at], RawPage)])
            folder.write_report(report)

    @cached_property
    def _known_digests(self) -> Hashes:
        return np.load(self._known_file, mmap_mode="c") if self._known_file else np.empty((3, 0), np.uint64)

    def _known(self, digests: Hashes) -> NDArray[np.int64]:
        """The numbers of pages that were extracted before; -1 for the others."""
        first, second, page = self._known_digests
        if not len(first):
            return np.full(len(digests), -1, np.int64)
        at = np.minimum(np.searchsorted(first, digests[:, 0]), len(first) - 1)
        same = (first[at] == digests[:, 0]) & (second[at] == digests[:, 1])
        return np.where(same, page[at].astype(np.int64), -1)

    def _read(self, xml: bytes, piece: Piece, report: Report) -> Iterator[RawPage | BadPage]:
        """Read all pages. Unreadable ones are reported."""
        for page in pages_in(xml, self.site.namespaces):
            if isinstance(page, BadPage):
                where = f"{piece.path}: page {page.title!r} near byte {piece.start}"
                report.complain("unreadable pages", f"{where}: {page.reason}")
                yield page
            elif len(page.title.encode()) > LONGEST_TITLE or not page.title.strip():
                report.complain(
                    "bad titles",
                    f"{piece.path}: title {page.title[:60]!r}… is empty or longer than {LONGEST_TITLE} bytes",
                )
                yield BadPage(piece.start, page.title, "has a bad title", page.size)
            else:
                if page.repaired:
                    report.complain(
                        "pages with bad UTF-8", f"{piece.path}: page {page.title!r}: invalid UTF-8 replaced"
                    )
                yield self._seen(page)

    def _seen(self, page: RawPage) -> RawPage:
        """Find redirects that only the text declares."""
        if not page.redirect and page.text.lstrip()[:1] == b"#":
            found = self._redirect.match(page.text[:1000].decode("utf-8", "replace"))
            if found:
                page = page._replace(redirect=found.group(1))
        return page

    def _write(self, folder: Folder, pages: list[RawPage]) -> None:
        articles, redirects, templates, categories = (
            [page for page in pages if _kind(page) == kind] for kind in (ARTICLE, REDIRECT, TEMPLATES, CATEGORIES)
        )
        scanned = _scan(articles, self.dialect)
        first = folder.number * PAGES_A_PIECE
        keys = self._title_keys([p.title for p in articles + redirects])
        targets = self._title_keys([p.redirect for p in redirects])
        number = np.arange(first, first + len(keys), dtype=np.uint64)
        folder.write("pages", {
            "page": number,
            "title": pa.array([p.title for p in articles + redirects], pa.string()),
            "key": keys,
            "redirect": np.append(np.zeros(len(articles), np.uint64), targets),
        })  # fmt: skip
        account = scanned.account.astype(np.uint32)
        folder.write("accounts", {"page": number[: len(articles)], **dict(zip(ACCOUNT, account, strict=True))})
        template_pages = first + len(keys) + np.arange(len(templates), dtype=np.uint64)
        category_pages = first + len(keys) + len(templates) + np.arange(len(categories), dtype=np.uint64)
        self._write_marks(folder, first, scanned, templates, template_pages)
        self._write_categories(folder, first, scanned, categories, category_pages)
        self._write_mentions(folder, number, articles + redirects, keys, scanned)
        folder.write_texts(number[: len(articles)], scanned.text, scanned.text_bounds, scanned.lead,
                           language=self.site.language)  # fmt: skip

    def _title_keys(self, titles: list[str]) -> Hashes:
        text, bounds = joined([title.encode("utf-8", "replace") for title in titles])
        return target_hashes(byte_array(text), bounds[:-1], bounds[1:], self.dialect)

    def _write_marks(
        self, folder: Folder, first: int, scanned: Scanned, templates: list[RawPage], pages: Hashes
    ) -> None:
        owner = np.repeat(
            np.arange(first, first + len(scanned.mark_bounds) - 1, dtype=np.uint64), np.diff(scanned.mark_bounds)
        )
        folder.write("marks", {"page": owner, "kind": scanned.marks[0], "name": scanned.marks[1]})
        folder.write("template_names", _template_names(scanned))
        inner = _scan(templates, self.template_dialect)
        names = np.array([mark_key(_after_colon(page.title)) for page in templates], np.uint64)
        uses = np.diff(inner.mark_bounds)
        moved = np.array([bool(page.redirect) for page in templates], np.bool_)
        aliases = np.array([mark_key(_after_colon(page.redirect)) for page in templates if page.redirect], np.uint64)
        folder.write("templates", {
            "page": np.append(np.repeat(pages, uses), pages[moved]),
            "template": np.append(np.repeat(names, uses), names[moved]),
            "kind": np.append(inner.marks[0], np.full(len(aliases), TEMPLATE_MARK, np.uint64)),
            "name": np.append(inner.marks[1], aliases),
        })  # fmt: skip

    def _write_categories(
        self, folder: Folder, first: int, scanned: Scanned, pages: list[RawPage], numbers: Hashes
    ) -> None:
        """The categories of articles; of the categories that have a page, the parents and marks."""
        inner = _scan(pages, self.dialect)
        text, bounds = joined([_after_colon(page.title).encode("utf-8", "replace") for page in pages])
        names, keys = title_strings(byte_array(text), np.stack([bounds[:-1], bounds[1:]]), self.dialect)
        own, own_keys = title_strings(scanned.source, scanned.categories, self.dialect)
        above, above_keys = title_strings(inner.source, inner.categories, self.dialect)
        articles = np.arange(first, first + len(scanned.category_bounds) - 1, dtype=np.uint64)
        columns = {"page": np.repeat(articles, np.diff(scanned.category_bounds)), "category": own_keys}
        folder.write("categories", columns)
        above_of, marks_of = np.diff(inner.category_bounds), np.diff(inner.mark_bounds)
        parents = {"page": np.repeat(numbers, above_of), "category": np.repeat(keys, above_of), "parent": above_keys}
        folder.write("parents", parents)
        marks = {"page": np.repeat(numbers, marks_of), "category": np.repeat(keys, marks_of), "kind": inner.marks[0]}
        folder.write("category_marks", {**marks, "name": inner.marks[1]})
        folder.write("category_pages", {"page": numbers, "category": keys})
        every = np.concatenate([keys, own_keys, above_keys])
        _, once = np.unique(every, return_index=True)
        together = pa.chunked_array([each.cast(pa.string()) for each in (names, own, above)], pa.string())
        folder.write("category_names", {"category": every[once], "name": together.take(pa.array(once))})

    def _write_mentions(
        self, folder: Folder, number: Hashes, pages: list[RawPage], keys: Hashes, scanned: Scanned
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
        anchor = np.empty(len(aside), np.uint64)
        anchor[~aside], anchor[aside] = (hashed for _, hashed in anchors)
        link_contexts.write_piece(folder, articles, keys, scanned, anchor, target)


def _kind(page: RawPage | BadPage) -> int:
    if isinstance(page, BadPage):
        return BROKEN
    if page.namespace == MAIN:
        return REDIRECT if page.redirect else ARTICLE if page.wikitext else NOT_WIKITEXT
    if page.namespace == TEMPLATE:
        return TEMPLATES
    return CATEGORIES if page.namespace == CATEGORY and not page.redirect else OTHER


def _digest(page: RawPage | BadPage) -> tuple[int, int]:
    """Return a digest, in two halves, of all that is extracted; 0 for pages without content."""
    if isinstance(page, BadPage) or _kind(page) >= OTHER:
        return 0, 0
    head = f"{page.namespace}\n{page.title}\n{page.redirect}\n".encode("utf-8", "replace")
    whole = hashlib.blake2b(head, digest_size=16)
    whole.update(page.text)
    digest = whole.digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def _census(
    pages: list[RawPage | BadPage], kinds: NDArray[np.uint8], digests: Hashes, numbers: NDArray[np.int64]
) -> dict[str, Any]:
    """One row for each page of the piece; titles only where no other table has them."""
    bad = RawPage(title="", namespace=MAIN, id=0, redirect="", text=b"", wikitext=False, repaired=False)
    read = [page if isinstance(page, RawPage) else bad for page in pages]
    titles = [
        None if kind <= REDIRECT else page.title.encode("utf-8", "replace").decode()
        for page, kind in zip(pages, kinds.tolist(), strict=True)
    ]
    return {
        "page": numbers.astype(np.uint64),
        "kind": kinds,
        "namespace": np.array([page.namespace for page in read], np.int32),
        "id": np.array([page.id for page in read], np.int64),
        "revision": np.array([page.revision for page in read], np.int64),
        "stamp": np.array([page.stamp for page in read], np.int64),
        "wikitext": np.array([len(page.text) for page in read], np.int64),
        "xml": np.array([page.size for page in pages], np.int64),
        "digest": digests[:, 0],
        "digest_end": digests[:, 1],
        "title": pa.array(titles, pa.string()),
    }  # fmt: skip


def _scan(pages: list[RawPage], dialect: Dialect) -> Scanned:
    return scan(*joined([page.text for page in pages]), dialect)


def _template_names(scanned: Scanned) -> dict[str, Any]:
    """The names of the templates that are used, each once."""
    used = scanned.marks[:, scanned.marks[0] == TEMPLATE_MARK]
    keys, first = np.unique(used[1], return_index=True)
    spans = used[2:, first].astype(np.int64).T.tolist()
    spelled = (scanned.source[start:end].tobytes().decode("utf-8", "replace") for start, end in spans)
    names = [" ".join(name.replace("_", " ").lower().split()) for name in spelled]  # in its first spelling
    return {"name": keys, "string": pa.array(names, pa.string())}


def _names(titles: list[str]) -> tuple[Bytes, Offsets, Offsets, Offsets]:
    """Return titles, also without a final parenthesis, as spans of one buffer."""
    named = [(title, owner) for owner, title in enumerate(titles)]
    for owner, title in enumerate(titles):
        if title.endswith((")", "）")) and (short := PARENTHESIS.match(title)):
            named.append((short.group(1), owner))
    text, bounds = joined([name.encode("utf-8", "replace") for name, _ in named])
    owners = np.array([owner for _, owner in named], np.int64)
    return byte_array(text), bounds[:-1], bounds[1:], owners


def _after_colon(title: str) -> str:
    return title.partition(":")[2] or title
