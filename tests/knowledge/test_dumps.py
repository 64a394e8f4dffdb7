"""Dumps as they come: parts, exports that say little of their wiki, dumps of all namespaces, other containers."""

import bz2
import gzip
import hashlib
import io
import json
import random
import re
import tarfile
import time
from pathlib import Path

import pytest

from tests.knowledge.conftest import EASY, ONE, build
from tests.mediawiki.dumps import multistream, zim_file
from tests.wikis import FILLER, dump, page
from wikilda import Document, InputError, read_documents
from wikilda.knowledge import build_from_dump
from wikilda.mediawiki import zim
from wikilda.mediawiki.dump import cut, read_piece, site_of

PAGES = [page(f"Topic {n}", f"About [[Topic {(n + 1) % 9}|it]]. {FILLER}", number=n + 1) for n in range(9)]
TALK = [page(f"Talk:Topic {n}", f"Is [[Topic 1]] right? {FILLER}", number=100 + n, namespace=1) for n in range(3)]


def test_parts_under_the_names_that_wikimedia_gives_them(tmp_path: Path) -> None:
    whole = build(tmp_path, PAGES)
    parts = []
    for number, pages in enumerate((PAGES[:4], PAGES[4:]), 1):
        xml = dump(pages).encode()
        path = tmp_path / f"testwiki-20240101-pages-articles{number}.xml-p{number}p{4 * number}.bz2"
        path.write_bytes(multistream(tmp_path, xml).read_bytes() if number == 1 else bz2.compress(xml))
        parts.append(path)
    known = build_from_dump(parts, tmp_path / "parts", EASY, resources=ONE)
    assert known.identity == whole.identity
    assert known.source["dumps"] == [path.name for path in parts]


@pytest.mark.parametrize("kept", ["", "<siteinfo></siteinfo>", "<siteinfo><sitename>Our Wiki</sitename></siteinfo>"])
def test_exports_that_say_little_of_their_wiki(tmp_path: Path, kept: str) -> None:
    """As Special:Export of old versions and Fandom's exports have it."""
    whole = build(tmp_path, PAGES)
    file = tmp_path / "export.xml"
    text = re.sub(r"<siteinfo>.*?</siteinfo>", kept, dump(PAGES), flags=re.DOTALL)
    file.write_text(re.sub(r"<ns>\d+</ns>", "", text), "utf-8")
    known = build_from_dump([file], tmp_path / "little", EASY, resources=ONE)
    assert known.identity == whole.identity


def test_a_dump_of_all_namespaces_gives_the_same(tmp_path: Path) -> None:
    whole = build(tmp_path, PAGES)
    (tmp_path / "meta-current.xml").write_text(dump([*PAGES, *TALK]), "utf-8")
    known = build_from_dump([tmp_path / "meta-current.xml"], tmp_path / "current", EASY, resources=ONE)
    assert known.identity == whole.identity
    assert known.summary["pages"] == whole.summary["pages"] + len(TALK)


def test_seven_zip(tmp_path: Path) -> None:
    """As Fandom and full histories of Wikimedia come."""
    py7zr = pytest.importorskip("py7zr")
    whole = build(tmp_path, PAGES)
    path = tmp_path / "wiki_pages_current.xml.7z"
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.write(tmp_path / "wiki.xml", "wiki_pages_current.xml")
    assert build_from_dump([path], tmp_path / "seven", EASY, resources=ONE).identity == whole.identity
    data = path.read_bytes()
    for number, damaged in enumerate((data[:-40], data[:90] + b"damaged" + data[97:], b"", b"7z")):
        bad = tmp_path / f"bad{number}.xml.7z"
        bad.write_bytes(damaged)
        with pytest.raises(InputError, match=r"bad\d\.xml\.7z"):
            build_from_dump([bad], tmp_path / "none", EASY, resources=ONE)
        assert not (tmp_path / "none").exists()
    refused = 0
    for at in (*range(32), *range(len(data) - 150, len(data))):  # headers
        bad.write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])
        try:
            assert sum(len(read_piece(each)) for each in cut(bad, 1 << 20)) > 1000
        except InputError:
            refused += 1
    assert refused > 150
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.writestr(b"1", "one.txt")
        archive.writestr(b"2", "two.txt")
    with pytest.raises(InputError, match="holds 2 files"):
        build_from_dump([path], tmp_path / "none", EASY, resources=ONE)


def _snapshot(path: Path, *parts: str) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for number, part in enumerate(parts):
            about = tarfile.TarInfo(f"testwiki_namespace_0_{number}.ndjson")
            about.size = len(part.encode())
            archive.addfile(about, io.BytesIO(part.encode()))


_RECORD = json.dumps({
    "name": "A", "identifier": 1, "article_body": {"wikitext": "x"}, "is_part_of": {"identifier": "testwiki"},
    "in_language": {"identifier": "en"},
}).encode() + b"\n"  # fmt: skip


def _tar(name: str, data: bytes, kind: bytes = b"0", size: bytes = b"") -> bytes:
    about = tarfile.TarInfo(name)
    about.size, about.type = len(data), kind
    head = bytearray(about.tobuf(tarfile.USTAR_FORMAT))
    head[124 : 124 + len(size)] = size
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + data + b"\0" * (-len(data) % 512)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (b"", ""),
        (_tar("p", b"28 mtime=1700000000.5000000\n", b"x") + _tar("folder", b"", b"5"), ""),
        (_tar("p", b"9" * 80_000 + b" path=x\n", b"x"), "'p', which is not a plain file"),
        (_tar("p", b"A" * 100_000, b"L"), "'p', which is not a plain file"),
        (_tar("p", b"", b"S"), "'p', which is not a plain file"),
        (_tar("p", b"", b"2"), "'p', which is not a plain file"),
        (_tar("p", b"", size=b"-1         \0"), "'p', which is not a plain file"),
        (_tar("p", b"", size=b"\xff" * 12), "'p', which is not a plain file"),
        (_tar("x.ndjson", b"", size=b"\x80\0\0\0" + b"\x7f" * 8), "cut short"),
        (_tar("x.ndjson", _RECORD)[:700], "not a tar archive"),
        (b"junk" * 128, "not a tar archive"),
        (b"\0" * 512, "has no records"),
    ],
    ids=range(12),
)
def test_headers_of_snapshots_are_plain_or_refused_at_once(tmp_path: Path, before: bytes, message: str) -> None:
    path = tmp_path / "testwiki_namespace_0.tar.gz"
    path.write_bytes(gzip.compress(before + _tar("x.ndjson", _RECORD) + bytes(1024)))
    if not message:
        assert b"<title>A</title>" in b"".join(map(read_piece, cut(path, 1 << 20)))
        return
    started = time.process_time()
    with pytest.raises(InputError, match=message):
        [site_of(path), *cut(path, 1 << 20)]
    assert time.process_time() - started < 5


def test_a_snapshot_of_wikimedia_enterprise(tmp_path: Path) -> None:
    """Records as the documentation of the snapshots shows them."""
    moved = page("Topic eight", redirect="Topic 8")
    whole = build(tmp_path, [*PAGES, moved])
    records = [
        {
            "name": f"Topic {n}", "identifier": n + 1, "date_modified": "2024-01-02T03:04:05Z",
            "version": {"identifier": 1}, "url": f"https://test.example/wiki/Topic_{n}", "namespace": {"identifier": 0},
            "in_language": {"identifier": "en"},
            "is_part_of": {"identifier": "testwiki", "url": "https://test.example"},
            "article_body": {"wikitext": f"About [[Topic {(n + 1) % 9}|it]]. {FILLER}", "html": "<p>…</p>"},
            **({"redirects": [{"name": "Topic eight", "url": "…"}]} if n == 8 else {}),
        } for n in range(9)
    ]  # fmt: skip
    path = tmp_path / "testwiki_namespace_0.tar.gz"
    _snapshot(path, *("".join(json.dumps(each) + "\n" for each in part) for part in (records[:4], records[4:])))
    known = build_from_dump([path], tmp_path / "snapshot", EASY, resources=ONE)
    assert list(known.titles) == list(whole.titles)
    assert list(known.redirects[0]) == list(whole.redirects[0]) == ["Topic eight"]
    assert known.mentions.counts.tolist() == whole.mentions.counts.tolist()
    assert known.graph.out_topics.tolist() == whole.graph.out_topics.tolist()
    assert known.url(0) == "https://test.example/wiki/Topic_0"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"testwiki_namespace_0\.tar\.gz"):
        build_from_dump([path], tmp_path / "none", EASY, resources=ONE)
    assert not (tmp_path / "none").exists()
    for line, message in (('{"text": "a document"}\n', "not a snapshot"), ("{", "is not JSON"), ("", "has no records")):
        _snapshot(path, line)
        with pytest.raises(InputError, match=message):
            build_from_dump([path], tmp_path / "none", EASY, resources=ONE)


def test_a_zim_file(tmp_path: Path) -> None:
    pytest.importorskip("libzim")
    pytest.importorskip("lxml")
    fold = "<details><summary class='section-heading'><h2 id='More'>More</h2></summary><p>More of it.</p></details>"
    bodies = {
        f"Topic {n}": f'<p>About <a href="Topic_{(n + 1) % 9}" title="x">it</a>. {FILLER}</p>{fold}' for n in range(9)
    }
    bodies["AC/DC"] = f'<p>See <a href="../Topic_1#More">it</a> and <a href="https://x.org">x</a>. {FILLER}</p>{fold}'
    path = zim_file(tmp_path / "wikipedia_en_test.zim", bodies, {"Topic one": "Topic 1", "One": "Topic one"})
    known = build_from_dump([path], tmp_path / "zim", EASY, resources=ONE)
    whole = build(tmp_path, [
        *(page(f"Topic {n}", f"About [[Topic {(n + 1) % 9}|it]]. {FILLER}\n\n== More ==\nMore of it.") for n in range(9)),
        page("AC/DC", f"See [[Topic 1#More|it]] and x. {FILLER}\n\n== More ==\nMore of it."),
        page("Topic one", redirect="Topic 1"), page("One", redirect="Topic 1"),
    ])  # fmt: skip
    assert list(known.titles) == list(whole.titles)
    assert sorted(known.redirects[0]) == sorted(whole.redirects[0])
    assert list(known.mention_strings) == list(whole.mention_strings)
    assert known.mentions.counts.tolist() == whole.mentions.counts.tolist()
    assert known.graph.out_topics.tolist() == whole.graph.out_topics.tolist()
    assert list(known.word_strings) == list(whole.word_strings)
    assert known.url(0) == "https://en.wikipedia.org/wiki/AC/DC"
    assert known.sentences[1] == "About it." == whole.sentences[1]
    documents = {each.id: each for each in read_documents([path]) if isinstance(each, Document)}
    assert documents["Topic 3"].text.startswith("About it.")
    assert documents["Topic 3"].mentions == [(6, 8)]
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"is not a whole ZIM file"):
        build_from_dump([path], tmp_path / "none", EASY, resources=ONE)


def test_damaged_zim_files_are_one_message_or_pages(tmp_path: Path) -> None:
    """Damage is found by the checksum. Where somebody has made that fit, the library must not end the process."""
    pytest.importorskip("libzim")
    pytest.importorskip("lxml")
    bodies = {f"Topic {n}": f'<p>About <a href="Topic_{(n + 1) % 9}">it</a>. {FILLER}</p>' for n in range(9)}
    whole = zim_file(tmp_path / "whole.zim", bodies, {"One": "Topic 1"}).read_bytes()
    chance, refused = random.Random(1), 0
    for number in range(300):
        data = bytearray(whole)
        at = chance.randrange(len(data) - 16) if chance.random() < 0.7 else chance.randrange(3000)
        data[at : at + chance.choice((1, 1, 8))] = chance.randbytes(1)
        path = tmp_path / f"{number}.zim"
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"Download (it|the file) again"):
            zim.check(path)
        path.write_bytes(data[:-16] + hashlib.md5(data[:-16], usedforsecurity=False).digest())
        try:
            site_of(path)
            assert all(b"<page>" in xml or not xml for xml in map(read_piece, cut(path, 1 << 12)))
        except InputError:
            refused += 1
    assert refused > 20


def test_pieces_of_a_zim_file_do_not_change_the_result(tmp_path: Path) -> None:
    pytest.importorskip("libzim")
    pytest.importorskip("lxml")
    bodies = {f"Topic {n}": f'<p>About <a href="Topic_{(n + 1) % 40}">it</a>. {FILLER}</p>' for n in range(40)}
    path = zim_file(tmp_path / "many.zim", bodies, {f"Other {n}": f"Topic {n}" for n in range(40)})
    whole = b"".join(map(read_piece, cut(path, 1 << 30)))
    pieces = list(cut(path, 1))
    assert len(pieces) > 10
    assert b"".join(map(read_piece, pieces)) == whole
    assert whole.count(b"<page>") == 80
