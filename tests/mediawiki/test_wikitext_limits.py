"""Pages that are made to hurt: what they cost must grow no faster than they do."""

import time

import pytest

from tests.mediawiki.scanning import UNITS, marks, read
from wikilda._core.jit import DISABLED

MILLION = 20_000 if DISABLED else 1_000_000
SECONDS = 30.0 if DISABLED else 5.0


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    read("")


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_page_of_one_piece_takes_linear_time(unit: str) -> None:
    wikitext = unit * (MILLION // len(unit.encode()))
    started = time.thread_time()
    page = read(wikitext)
    assert time.thread_time() - started < SECONDS
    assert len(page.text) <= len(wikitext)


def test_ten_thousand_links_that_are_never_closed() -> None:
    page = read("[[Foo " * 10_000 + "[[Bar]] end")
    assert page.text == "[[Foo " * 10_000 + "Bar end"
    assert page.links == [("Bar", "Bar", True)]


def test_ten_thousand_links_in_each_other() -> None:
    page = read("[[a|" * 10_000 + "[[Bar]]" + "]]" * 10_000 + " end")
    assert page == ("Bar end", [("Bar", "Bar", True)])


def test_templates_a_thousand_deep() -> None:
    page = read("{{a|" * 1000 + "[[Bar]]" + "}}" * 1000 + " end")
    assert page == (" end", [("Bar", "Bar", False)])
    assert len(marks("{{a|" * 1000 + "}}" * 1000)) == 1000


def test_templates_a_thousand_deep_that_are_not_closed() -> None:
    assert read("{{a|" * 1000 + " [[Bar]]").text == "{{a|" * 1000 + " Bar"


def test_braces_and_references_by_the_million() -> None:
    assert read("{" * MILLION) == ("{" * MILLION, [])
    assert read("<ref>" * (MILLION // 5)) == ("", [])
    assert read("<ref>" * (MILLION // 5) + "</ref>[[a]]") == ("a", [("a", "a", True)])


@pytest.mark.parametrize(
    ("unit", "links", "found"),
    [
        ("[[a]]", 1, 0),
        ("{{}}", 0, 1),
        ("{<!---->{a}}", 0, 1),
        ("[<!---->[a]]", 1, 0),
        ("_<!---->_a__", 0, 1),
        ("[<!---->[Category:a]]", 0, 1),
        ("{{{}}}", 0, 1),
        ("{{{{}}}}", 0, 1),
        ("[[a|b]]{{c}}__D__", 1, 2),
    ],
)
def test_as_many_links_and_marks_as_there_can_be(unit: str, links: int, found: int) -> None:
    """Also those that only come about when comments are gone."""
    assert len(read(unit * 2000).links) == links * 2000
    assert len(marks(unit * 2000)) == found * 2000


def test_a_link_with_a_title_of_ten_kilobytes() -> None:
    title = "x" * 10_000
    assert read(f"[[{title}]]s") == (title + "s", [(title, title + "s", True)])
