"""Documents of a batch, one after the other: what is wrong with one is counted, and does not stop the rest."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from wikilda._core.diagnostics import Report
from wikilda._core.errors import InputError
from wikilda._core.parquet import ParquetError, open_parquet, parquet_batches
from wikilda.knowledge.from_dump import joined
from wikilda.mediawiki.dump import read_piece
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.site import MAIN
from wikilda.mediawiki.wikitext import Scanned, dialect_of, scan
from wikilda.mediawiki.wikitext.render import ANCHOR_END, ANCHOR_START, IN_ASIDE
from wikilda.training.corpus.settings import CorpusSettings
from wikilda.training.corpus.sources import Articles, Batch, Lines, RowGroup, TextFiles

_ROWS = 256  # of Parquet held at a time

Spans = list[tuple[int, int]]


class Draft(NamedTuple):
    """A document as it was found; spans are in characters, or None where none were given."""

    id: str
    text: str
    spans: Spans | None


def drafts(batch: Batch, settings: CorpusSettings, report: Report) -> Iterator[Draft]:
    """The documents of a batch that can be read."""
    if isinstance(batch, TextFiles):
        return _text_files(batch, settings, report)
    if isinstance(batch, Lines):
        return _json_lines(batch, settings, report)
    if isinstance(batch, RowGroup):
        return _rows(batch, settings, report)
    return _articles(batch, report)


def _text_files(batch: TextFiles, settings: CorpusSettings, report: Report) -> Iterator[Draft]:
    encoding = "utf-8-sig" if settings.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else settings.encoding
    for path, name in batch.files:
        report.count("documents read")
        try:
            yield Draft(name, path.read_bytes().decode(encoding), None)
        except UnicodeDecodeError as error:
            reason = f"is not {settings.encoding} ({error.reason} at byte {error.start}); say --encoding"
            report.complain("documents in another encoding", f"{path}: {reason}")


def _json_lines(batch: Lines, settings: CorpusSettings, report: Report) -> Iterator[Draft]:
    for number, line in enumerate(batch.lines, batch.first):
        if not line.strip():
            continue
        report.count("documents read")
        place = f"{batch.name}: line {number}"
        try:
            row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            report.complain("documents in another encoding", f"{place}: is not UTF-8 (byte {error.start})")
            continue
        except (ValueError, RecursionError) as error:
            report.complain("lines that are not JSON", f"{place}: {error}")
            continue
        found = _from_row(row, f"{batch.name}:{number}", place, settings, report)
        if found:
            yield found


def _from_row(row: Any, name: str, place: str, settings: CorpusSettings, report: Report) -> Draft | None:
    text = row.get(settings.text) if isinstance(row, dict) else None
    if not isinstance(text, str):
        report.complain("documents without text", f'{place}: has no "{settings.text}" that is a string')
        return None
    given, known = row.get(settings.mentions), row.get(settings.id)
    identity = name if known is None else str(known)
    if given is None:
        return Draft(_clean(identity), _clean(text), None)
    if not isinstance(given, list):
        report.complain("bad spans", f'{place}: "{settings.mentions}" is not a list')
        return Draft(_clean(identity), _clean(text), [])
    return Draft(_clean(identity), _clean(text), _spans(given, len(text), place, report))


def _spans(given: list[Any], length: int, place: str, report: Report) -> Spans:
    """The spans that are what they should be; of those that overlap, the first and then the longest stays."""
    found: Spans = []
    for each in given:
        pair: Any = (each.get("start"), each.get("end")) if isinstance(each, dict) else each
        whole = isinstance(pair, list | tuple) and len(pair) == 2 and all(type(end) is int for end in pair)
        if not whole or not 0 <= pair[0] < pair[1] <= length:
            report.complain("bad spans", f"{place}: span {each!r:.80} is not inside the text of {length} characters")
        else:
            found.append((pair[0], pair[1]))
    kept: Spans = []
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if kept and start < kept[-1][1]:
            report.complain("overlapping spans", f"{place}: span [{start}, {end}) overlaps {list(kept[-1])}")
        else:
            kept.append((start, end))
    return kept


def _clean(text: str) -> str:
    """Text without halves of characters, which JSON can have and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _rows(batch: RowGroup, settings: CorpusSettings, report: Report) -> Iterator[Draft]:
    try:
        file = open_parquet(batch.path)
        there = [name for name in (settings.text, settings.id, settings.mentions) if name in file.schema_arrow.names]
        if settings.text not in there:
            columns = ", ".join(file.schema_arrow.names)[:200]
            raise ParquetError(f"has no column {settings.text!r} (--text). Its columns are {columns}.")
        rows = (row for some in parquet_batches(file, _ROWS, there, [batch.group]) for row in some.to_pylist())
        for number, row in enumerate(rows, batch.first):
            report.count("documents read")
            found = _from_row(row, f"{batch.path.name}:{number}", f"{batch.path}: row {number}", settings, report)
            if found:
                yield found
    except ParquetError as error:
        raise InputError(f"{batch.path}: {error}") from None


def _articles(batch: Articles, report: Report) -> Iterator[Draft]:
    """Articles of a wiki with their links as mentions."""
    pages: list[RawPage] = []
    for page in pages_in(read_piece(batch.piece), batch.site.namespaces):
        if not isinstance(page, RawPage):
            report.count("documents read")
            report.complain("unreadable pages", f"{batch.piece.path}: page {page.title!r}: {page.reason}")
        elif page.namespace == MAIN and not page.redirect and page.wikitext:
            pages.append(page)
    report.count("documents read", len(pages))
    scanned = scan(*joined([page.text for page in pages]), dialect_of(batch.site))
    for number, page in enumerate(pages):
        yield _article(number, page, scanned)


def _article(number: int, page: RawPage, scanned: Scanned) -> Draft:
    start, end = scanned.text_bounds[number : number + 2]
    links = scanned.links[:, scanned.link_bounds[number] : scanned.link_bounds[number + 1]]
    data = scanned.text[start:end]
    anchors = links[ANCHOR_START : ANCHOR_END + 1, links[IN_ASIDE] == 0].T - start
    characters = ((data & 0xC0) != 0x80).cumsum()  # how many begin up to each byte
    spans: Spans = []
    for first, last in anchors.tolist():
        if first < last and (not spans or characters[first] - 1 >= spans[-1][1]):
            spans.append((int(characters[first]) - 1, int(characters[last - 1])))
    return Draft(page.title, data.tobytes().decode(), spans)
