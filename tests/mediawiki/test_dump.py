"""Dumps: in any compression and any cut, every page is read once, in order, and damage is reported."""

import bz2
import gzip
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.mediawiki.dumps import (
    PAGES,
    XML,
    gz,
    multistream,
    plain,
    read_all,
    single_bz2,
    streams_cut_anywhere,
    titles,
    xz,
)
from tests.wikis import dump, page
from wikilda._core.errors import InputError
from wikilda.mediawiki import dump as module
from wikilda.mediawiki.dump import Piece, cut, read_piece, site_of
from wikilda.mediawiki.pages import BadPage, RawPage, pages_in

TITLES = [f"Page {number}" for number in range(1, len(PAGES) + 1)]
WHOLE = list(pages_in(XML, {}))
FORMS: list[Callable[[Path, bytes], Path]] = [plain, single_bz2, gz, xz, multistream, streams_cut_anywhere]


def test_the_dump_is_what_it_seems() -> None:
    assert [each.title for each in WHOLE] == TITLES
    assert all(isinstance(each, RawPage) and each.text.startswith(b"Text") for each in WHOLE)


# Cutting


def test_plain_xml_in_pieces_of_every_size(tmp_path: Path) -> None:
    path = plain(tmp_path)
    for size in range(1, 400):
        if size < 40 or size % 7 == 0:
            assert read_all(path, size) == WHOLE, size
    assert read_all(path, len(XML)) == read_all(path, 1 << 26) == WHOLE


def test_plain_xml_cut_at_every_position(tmp_path: Path) -> None:
    path = plain(tmp_path)
    for at in range(1, len(XML)):
        halves = Piece(path, 0, at), Piece(path, at, len(XML))
        assert [each.title for half in halves for each in pages_in(read_piece(half), {})] == TITLES, at


@pytest.mark.parametrize("pages_a_stream", [1, 2, 5, 12])
@pytest.mark.parametrize("size", [1, 400, 1500, 4000, 1 << 26])
def test_multistream(tmp_path: Path, pages_a_stream: int, size: int) -> None:
    path = multistream(tmp_path, pages_a_stream=pages_a_stream)
    assert read_all(path, size) == WHOLE


@pytest.mark.parametrize("library", [None, module.indexed_bzip2])
def test_multistream_by_either_library(tmp_path: Path, library: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "indexed_bzip2", library)
    assert read_all(multistream(tmp_path), 1500) == WHOLE
    damaged = bytearray((path := multistream(tmp_path)).read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(InputError, match="cannot be decompressed at byte"):
        read_all(path, 1 << 26)


def test_multistream_is_cut_between_streams(tmp_path: Path) -> None:
    path = multistream(tmp_path)
    pieces = list(cut(path, 1))
    assert len(pieces) == len(PAGES) // 2 + 2
    assert pieces[0].start == 0
    assert pieces[-1].end == path.stat().st_size
    assert all(before.end == after.start for before, after in pairwise(pieces))
    assert b"".join(map(read_piece, reversed(pieces))).count(b"<page>") == len(PAGES)  # each separately


@pytest.mark.parametrize("stream", [7, 50, 333])
@pytest.mark.parametrize("size", [1, 700, 1 << 26])
def test_streams_that_cut_pages(tmp_path: Path, stream: int, size: int) -> None:
    assert read_all(streams_cut_anywhere(tmp_path, size=stream), size) == WHOLE


def test_streams_cut_at_every_position(tmp_path: Path) -> None:
    path, xml = tmp_path / "wiki.xml.bz2", dump(PAGES[:3]).encode()
    for at in range(1, len(xml)):
        path.write_bytes(bz2.compress(xml[:at], 1) + bz2.compress(xml[at:], 1))
        assert titles(path, 1) == TITLES[:3], at


def test_a_page_over_large_blocks(tmp_path: Path) -> None:
    """A block of bz2 gives nothing until it is read in full, which takes several readings of the file."""
    noise = random.Random(1).randbytes(500_000).hex()
    xml = dump([page("Before", "a"), page("Large", noise), page("After", "b")]).encode()
    at = xml.index(b"Large") + 1000
    path = tmp_path / "wiki.xml.bz2"
    path.write_bytes(bz2.compress(xml[:at]) + bz2.compress(xml[at:]))
    pages = read_all(path, 1)
    assert [each.title for each in pages] == ["Before", "Large", "After"]
    assert isinstance(pages[1], RawPage)
    assert pages[1].text.decode() == noise
    assert read_all(plain(tmp_path, xml), 300_000) == pages


@pytest.mark.parametrize("form", [single_bz2, gz, xz])
@pytest.mark.parametrize("size", [1, 300, 1 << 26])
def test_one_stream(
    tmp_path: Path, form: Callable[[Path, bytes], Path], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_READ", 128)
    path = form(tmp_path, XML)
    assert read_all(path, size) == WHOLE
    assert (len(list(cut(path, size))) > 2) == (size < 1000)


def test_empty_streams_between(tmp_path: Path) -> None:
    path = tmp_path / "wiki.xml.bz2"
    path.write_bytes(b"".join(bz2.compress(part) for part in (b"", XML[:500], b"", b"", XML[500:], b"")))
    assert site_of(path).name == "Test"
    assert titles(path, 1) == TITLES


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [3, len(PAGES)])
def test_a_page_without_its_end_costs_no_other(
    tmp_path: Path, form: Callable[[Path, bytes], Path], missing: int
) -> None:
    parts = XML.split(b"</page>")
    xml = b"</page>".join(parts[:missing]) + b"</page>".join([b"", *parts[missing:]]).removeprefix(b"</page>")
    assert xml.count(b"</page>") == len(PAGES) - 1
    path = form(tmp_path, xml)
    for size in (1, 100, 431, 1 << 26):
        pages = read_all(path, size)
        assert [each.title for each in pages] == TITLES
        assert [each.title for each in pages if isinstance(each, BadPage)] == [f"Page {missing}"]


# What the dump says of itself


@pytest.mark.parametrize("form", FORMS)
def test_the_site(tmp_path: Path, form: Callable[[Path, bytes], Path]) -> None:
    site = site_of(form(tmp_path, XML))
    assert (site.name, site.database, site.language) == ("Test", "testwiki", "en")


def test_the_end_in_a_stream_of_its_own_or_in_two(tmp_path: Path) -> None:
    path = tmp_path / "wiki.xml.bz2"
    for cuts in ([XML.index(b"</mediawiki>")], [len(XML) - 4], [len(XML) - 8, len(XML) - 3]):
        parts = [XML[start:end] for start, end in zip([0, *cuts], [*cuts, len(XML)], strict=True)]
        path.write_bytes(b"".join(map(bz2.compress, parts)))
        assert site_of(path).name == "Test"


# What is wrong with it


def attempt(path: Path) -> str:
    """Read all, as a build does; the words of the error."""
    with pytest.raises(InputError) as raised:
        assert (site_of(path), read_all(path, 300)) == "not reached"
    assert str(raised.value).startswith(f"{path}: ")
    return str(raised.value)


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_cut_short_anywhere(tmp_path: Path, form: Callable[[Path, bytes], Path]) -> None:
    """A cut anywhere is an error with a message; no part is taken for the whole."""
    data = form(tmp_path, XML).read_bytes()
    path = tmp_path / f"short{''.join(form(tmp_path, XML).suffixes[-2:])}"
    for length in [*range(0, len(data) - 14, 41), len(data) - 14, len(data) - 20]:
        path.write_bytes(data[:length])
        said = attempt(path)
        assert "Download it again" in said or "MediaWiki" in said, (length, said)


@pytest.mark.parametrize("form", [single_bz2, gz, xz, multistream, streams_cut_anywhere])
def test_damage_anywhere_is_reported_or_harmless(tmp_path: Path, form: Callable[[Path, bytes], Path]) -> None:
    path = form(tmp_path, XML)
    data = path.read_bytes()
    told = 0
    for at in range(0, len(data), 23):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        try:
            site_of(path)
            assert read_all(path, 300) == WHOLE  # a byte of the header that says nothing, as a time stamp
        except InputError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017
            told += 1
    assert told > len(range(0, len(data), 23)) * 0.9


def test_truncated(tmp_path: Path) -> None:
    multi = multistream(tmp_path)
    multi.write_bytes(multi.read_bytes()[:-60])
    assert "is cut short" in attempt(multi)
    single = single_bz2(tmp_path)
    single.write_bytes(single.read_bytes()[:-60])
    assert "is cut short" in attempt(single)
    assert "is cut short" in attempt(plain(tmp_path, XML[:-600]))
    assert "is cut short" in attempt(single_bz2(tmp_path, XML[:-600]))  # whole as bz2, yet not as XML
    assert "is cut short" in attempt(gz(tmp_path, XML[:-600]))
    assert "is cut short" in attempt(streams_cut_anywhere(tmp_path, XML[:-600]))


def test_a_stream_missing_in_the_middle_of_a_page(tmp_path: Path) -> None:
    path = streams_cut_anywhere(tmp_path, XML[: XML.index(b"Text 7") + 3])
    with pytest.raises(InputError, match="is cut short"):
        read_all(path, 1)


@pytest.mark.parametrize(("name", "data", "said"), [
    ("wiki.xml", b"", "is empty"),
    ("wiki.xml", b" \n\n", "is empty"),
    ("wiki.xml.bz2", b"", "is empty"),
    ("wiki.xml.bz2", bz2.compress(b""), "is empty"),
    ("wiki.xml.gz", b"", "is empty"),
    ("wiki.xml.bz2", b"This is no bzip2.", "cannot be decompressed"),
    ("wiki.xml.bz2", XML, "cannot be decompressed"),
    ("wiki.xml.bz2", bytes(range(256)) * 20, "cannot be decompressed"),
    ("wiki.xml.gz", XML, "cannot be decompressed"),
    ("wiki.xml", bz2.compress(XML), "not a MediaWiki XML export"),
    ("wiki.xml.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 300, "cannot be decompressed"),
])  # fmt: skip
def test_files_that_are_no_dumps(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert said in attempt(path)


def test_cutting_what_is_empty_or_no_bz2(tmp_path: Path) -> None:
    """Also without having asked for the site first."""
    path = tmp_path / "wiki.xml.bz2"
    for data in (b"", b"no", XML):
        path.write_bytes(data)
        with pytest.raises(InputError, match="Download it again"):
            list(cut(path, 100))


def test_no_file(tmp_path: Path) -> None:
    for path in (tmp_path / "none.xml", tmp_path):
        with pytest.raises(InputError, match="no such file"):
            site_of(path)


def test_a_page_that_does_not_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONGEST_PAGE", 1000)
    monkeypatch.setattr(module, "_READ", 500)
    xml = XML.replace(b"Text 5", b"y" * 200_000)
    for form in (plain, single_bz2, gz, streams_cut_anywhere):
        with pytest.raises(InputError, match="does not end"):
            read_all(form(tmp_path, xml), 300)


def test_a_header_that_is_broken(tmp_path: Path) -> None:
    assert "line 2, column" in attempt(plain(tmp_path, XML.replace(b"</sitename>", b"</sitenam>")))
    assert "the root element is <html>" in attempt(plain(tmp_path, b"<html><body/></html>"))
    assert "DOCTYPE" in attempt(plain(tmp_path, b"<!DOCTYPE mediawiki>" + XML))
