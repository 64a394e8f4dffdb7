"""Dumps as they come: parts, exports that say little of their wiki, dumps of all namespaces."""

import bz2
import re
from pathlib import Path

import pytest

from tests.knowledge.conftest import EASY, ONE, build
from tests.mediawiki.dumps import multistream
from tests.wikis import FILLER, dump, page
from wikilda.knowledge import build_from_dump

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
