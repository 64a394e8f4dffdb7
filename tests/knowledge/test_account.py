"""The account of a build: every page, link and byte of a dump is in one class, on small wikis and on real dumps."""

import bz2
import json
import lzma
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.knowledge.conftest import EASY, build, compiled
from tests.wikis import FILLER, page, write_dump
from wikilda._core.errors import InputError
from wikilda.cli import cli
from wikilda.knowledge import build_from_dump
from wikilda.knowledge.account import HTML_FILE, JSON_FILE, Account
from wikilda.knowledge.estimate import estimate
from wikilda.sample import SETTINGS, WIKI


def counts(account: Account, part: str) -> dict[str, int]:
    [found] = [each for each in account.parts if each.name == part]
    return {entry.name: entry.count for entry in found.entries if entry.count}


def check_sums(account: Account, xml: bytes) -> None:
    """Compare totals with the dump, and the sums of classes with totals."""
    pages, links, text, markup = account.parts
    assert pages.total == xml.count(b"<page>")
    assert markup.total == sum(len(each) for each in re.findall(rb"<page>.*?</page>", xml, re.DOTALL))
    for part in account.parts:
        assert sum(entry.count for entry in part.entries) == part.total, part.name
        assert all(entry.count >= 0 for entry in part.entries), part
    assert text.total == counts(account, "bytes of XML in pages").get("wikitext: articles", 0)
    assert links.total <= xml.count(b"[[")


def test_every_page_link_and_byte_is_in_one_class(tmp_path: Path) -> None:
    pages = [
        page("Croft", f"A [[Wales|Welsh]] man, [[Croft]], see [[Names]], [[R. Croft]]. {FILLER} {{{{Box|[[Wales]]}}}}"),
        page("Wales", f"Land.<ref>[[Nothing]]</ref> [[Nothing|gone]] [[Lost]] [[File:A.png]] [[de:Wales]] {FILLER}"),
        page("Names", f"__DISAMBIG__ [[#top]] [[Croft]] {FILLER}"),
        page("List of men", f"[[Category:Men]] {FILLER}"),
        page("Short", "Short."),
        page("Empty", ""),
        page("R. Croft", redirect="Croft"),
        page("Lost", redirect="Nothing"),
        page("Unclear", redirect="Names"),
        page("Loop A", redirect="Loop B"),
        page("Loop B", redirect="Loop A"),
        page("Wales", f"A second page. {FILLER}"),
        page("Data", "{}").replace("<model>wikitext", "<model>json"),
        page("Talk:Croft", "Well.", namespace=1),
        page("Category:Men", "Men.", namespace=14),
        page("Template:Box", "A box.", namespace=10),
        page("Broken", FILLER).replace("</text>", ""),
    ]
    known = build(tmp_path, pages, EASY)
    account = Account.read(known.path)
    check_sums(account, (tmp_path / "wiki.xml").read_bytes())
    assert counts(account, "pages") == {
        "topics": 2, "disambiguation pages": 1, "list pages": 1, "too short": 1, "without text": 1,
        "redirects to topics": 1, "redirects to pages that are not topics": 1, "redirects to missing pages": 1,
        "redirects in circles": 2, "pages that appear twice": 1, "namespace 1 Talk": 1, "namespace 10 Template": 1,
        "namespace 14 Category": 1, "content that is not wikitext": 1, "cannot be read": 1,
    }  # fmt: skip
    assert counts(account, "links") == {
        "to topics": 2, "to the page itself": 2, "to pages that are not topics": 1, "to missing pages": 2,
        "to topics, outside the text": 1, "to missing pages, outside the text": 1,
        "to a section of the page itself": 1, "files": 1, "categories": 1, "to other languages": 1,
    }  # fmt: skip


@pytest.mark.skipif(not compiled(), reason="dumps of megabytes would take hours without the compiler")
@pytest.mark.parametrize(
    "name",
    ["sample", "wikis-full/nds-nl-2014.xml.xz", "wikis-full/nds-nl-2022.xml.xz", "wikis-full/min-2013.xml.xz",
     "enwik8/enwiki-20060303-first-100mb.xml.xz",
     "mini-enwiki/minienwiki-20201231-pages-articles-multistream.xml.bz2"],
)  # fmt: skip
def test_the_sums_hold_on_real_dumps(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    dump = WIKI if name == "sample" else request.getfixturevalue("data") / name
    known = build_from_dump([dump], tmp_path / "kb", SETTINGS)
    data = dump.read_bytes()
    xml = lzma.decompress(data) if dump.suffix == ".xz" else bz2.decompress(data) if dump.suffix == ".bz2" else data
    account = Account.read(known.path)
    check_sums(account, xml)
    assert counts(account, "pages")["topics"] == len(known.titles)
    ends = ("to topics", "to the page itself", "to pages that are not topics", "to missing pages")
    by_end = [entry.count for entry in account.parts[1].entries if entry.name.split(",")[0] in ends]
    assert known.summary["links read"] == sum(by_end)


def test_the_report_is_json_and_html(tmp_path: Path) -> None:
    pages = [page("A <b>", f"See [[B & c]]. {FILLER}"), page("B & c", FILLER), page("Short <i>", "no")]
    known = build_from_dump([write_dump(tmp_path / "w.xml", pages)], tmp_path / "kb", EASY)
    assert [part["name"] for part in json.loads((known.path / JSON_FILE).read_text("utf-8"))["parts"]] == [
        "pages", "links", "bytes of wikitext in articles", "bytes of XML in pages"]  # fmt: skip
    html = (known.path / HTML_FILE).read_text("utf-8")
    assert "Short &lt;i&gt;" in html
    assert "Short <i>" not in html
    assert "min_text" in html
    rows = list(Account.read(known.path).rows())
    assert ("pages", "3", "") in rows
    assert ("  too short", "1", "33.3%") in rows


def test_a_dry_run_estimates_the_report_and_writes_nothing(tmp_path: Path) -> None:
    pages = [page(f"Topic {n}", f"About [[Topic {n + 1}]] and {n}. {FILLER}") for n in range(40)]
    pages += [page(f"Old {n}", redirect=f"Topic {n}") for n in range(10)]
    file = write_dump(tmp_path / "w.xml", pages)
    ran = CliRunner().invoke(cli, ["build", str(file), "-o", str(tmp_path / "model"), "--dry-run"])
    assert ran.exit_code == 0, ran.output
    assert "Estimated from" in ran.output
    assert "redirects" in ran.output
    assert sorted(each.name for each in tmp_path.iterdir()) == ["w.xml"]
    found = estimate(file, EASY, workers=1).account
    assert counts(found, "pages")["redirects"] == pytest.approx(10, rel=0.3)
    assert counts(found, "links") == {"to pages": pytest.approx(40, rel=0.3)}
    with pytest.raises(InputError, match="no such file"):
        estimate([tmp_path / "gone.xml"], EASY)
