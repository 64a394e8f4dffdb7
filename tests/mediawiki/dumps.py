"""Dumps in every form that they come in."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

from tests.wikis import FILLER, dump, page
from wikilda.mediawiki.dump import cut, read_piece
from wikilda.mediawiki.pages import BadPage, RawPage, pages_in

Write = Callable[[Path, bytes], Path]

PAGES = [page(f"Page {number}", f"Text {number} é東😀 " + "x" * (number * 37 % 90)) for number in range(1, 13)]
XML = dump(PAGES).encode()


def plain(directory: Path, xml: bytes = XML) -> Path:
    return _written(directory / "wiki.xml", xml)


def single_bz2(directory: Path, xml: bytes = XML) -> Path:
    return _written(directory / "wiki.xml.bz2", bz2.compress(xml))


def gz(directory: Path, xml: bytes = XML) -> Path:
    return _written(directory / "wiki.xml.gz", gzip.compress(xml))


def xz(directory: Path, xml: bytes = XML) -> Path:
    return _written(directory / "wiki.xml.xz", lzma.compress(xml))


def multistream(directory: Path, xml: bytes = XML, pages_a_stream: int = 2) -> Path:
    """As Wikimedia writes them: the head, then some pages a stream, then the end, each a stream of its own."""
    head, *rest = xml.split(b"<page>")
    *pages, last = [b"<page>" + each for each in rest]
    last, end = last[: last.index(b"</mediawiki>")], last[last.index(b"</mediawiki>") :]
    pages.append(last)
    streams = [b"".join(pages[at : at + pages_a_stream]) for at in range(0, len(pages), pages_a_stream)]
    return _written(directory / "wiki-multistream.xml.bz2", b"".join(map(bz2.compress, [head, *streams, end])))


def streams_cut_anywhere(directory: Path, xml: bytes = XML, size: int = 100) -> Path:
    """As pbzip2 writes them: a fixed number of bytes per stream."""
    streams = [bz2.compress(xml[at : at + size]) for at in range(0, len(xml), size)]
    return _written(directory / "wiki-parallel.xml.bz2", b"".join(streams))


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def read_all(path: Path, size: int) -> list[RawPage | BadPage]:
    """All pages, piece by piece."""
    return [each for piece in cut(path, size) for each in pages_in(read_piece(piece), {})]


def titles(path: Path, size: int) -> list[str]:
    return [each.title for each in read_all(path, size)]


ZIM_PAGE = """<!DOCTYPE html><html class="client-js"><head><meta charset="UTF-8"><title>{title}</title>
<link rel="stylesheet" href="_mw_/style.css"></head><body class="mw-body mediawiki"><div id="content" class="mw-body">
<h1 id="firstHeading" class="firstHeading">{title}</h1><div id="bodyContent"><div id="mw-content-text">
<div class="mw-parser-output">{body}</div></div></div></div></body></html>"""


def zim_file(path: Path, pages: dict[str, str], redirects: dict[str, str]) -> Path:
    """A ZIM file as mwoffliner makes them."""
    from libzim.writer import Creator, Hint, Item, StringProvider

    class Entry(Item):
        def __init__(self, path: str, data: str, kind: str) -> None:
            super().__init__()
            self.path, self.data, self.kind = path, data, kind

        def get_path(self) -> str:
            return self.path

        def get_title(self) -> str:
            return self.path.replace("_", " ")

        def get_mimetype(self) -> str:
            return self.kind

        def get_contentprovider(self) -> StringProvider:
            return StringProvider(self.data)

        def get_hints(self) -> dict[Hint, int]:
            return {Hint.FRONT_ARTICLE: self.kind == "text/html"}

    with Creator(path).config_indexing(False, "eng") as made:
        made.set_mainpath("index")
        made.add_item(Entry("index", ZIM_PAGE.format(title="Welcome", body=f"<p>{FILLER}</p>"), "text/html"))
        made.add_item(Entry("_mw_/style.css", "p { color: red }", "text/css"))
        for title, body in pages.items():
            made.add_item(Entry(title.replace(" ", "_"), ZIM_PAGE.format(title=title, body=body), "text/html"))
        for title, to in redirects.items():
            made.add_redirection(title.replace(" ", "_"), title, to.replace(" ", "_"), {})
        about = {"Title": "Test", "Language": "eng", "Name": "wikipedia_en_test", "Source": "https://en.wikipedia.org"}
        for name, value in about.items():
            made.add_metadata(name, value)
    return path
