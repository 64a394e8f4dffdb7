"""The scanner on generated wikitext: what holds for any, and what a parsing library says of the well-formed."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import mwparserfromhell
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.mediawiki.scanning import ENGLISH, dialect, marks, read
from wikilda._core.jit import DISABLED
from wikilda.mediawiki.wikitext import ACCOUNT, IN_ASIDE, scan

ROOT = Path(__file__).parents[2]
MARKUP = [
    "[[", "]]", "[", "]", "{{", "}}", "{", "}", "{{{", "}}}", "|", "{|", "|}", "\n{|\n", "\n|}\n", "\n|-\n", "<ref>", "</ref>", "<ref/>",
    "<ref name=x>", "<nowiki>", "</nowiki>", "<nowiki/>", "<pre>", "</pre>", "<math>", "</math>", "<table>", "</table>", "<b>", "</b>",
    "<br>", "<td>", "<!--", "-->", "<", ">", "/", "''", "'''", "'''''", "'", "==", "\n==", "=", "\n", "\n*", "\n:", "\n----", "__", "__NOTOC__",
    "_", "&", "&amp;", "&#8211;", "&#x1F600;", ";", "#", ":", "http://", "x.org", "//", "[http://x.org ", "File:", "Category:", "de:", "wikt:",
    "a", "Foo", " ", "é", "ß", "東", "😀", "\x01", "\x02", "\x0e", "\t", "\r",
]  # fmt: skip
WIKITEXT = st.lists(st.sampled_from(MARKUP), max_size=40).map("".join)
GERMAN = dialect("de", {"Datei": 6})


@given(WIKITEXT)
@example("[[foo]]http://")
@example("<ref><!-- </ref> -->[[a]]")
@example("[[a|\n{|\nb]]c\n|}")
@example("{|\n[[a|\n|}\nb]]")
@example("[[a|http://x]]")
def test_any_markup(wikitext: str) -> None:
    data = wikitext.encode()
    for wiki in (ENGLISH, GERMAN):
        got = scan(data, np.array([0, len(data)]), wiki)
        text, aside = got.text.tobytes().decode(), got.aside.tobytes().decode()
        assert len(text.encode()) + len(aside.encode()) <= len(data)
        assert not set(text) & set(map(chr, range(32))) - {"\n"}
        assert got.links.shape[1] <= without_comments(wikitext).count("[[")
        assert 0 <= got.lead[0] <= len(got.text)
        assert_links_lie_in_order(got.links[:, got.links[IN_ASIDE] == 0], len(got.text))
        assert_links_lie_in_order(got.links[:, got.links[IN_ASIDE] == 1], len(got.aside))
        page = read(wikitext, wiki)  # decodes every target and anchor
        assert page.text == text
        assert all(anchor in text for _, anchor, in_text in page.links if in_text)
        assert all(target and not set(target) & set("[]{}<>|\n") for target, _, _ in page.links)


def without_comments(wikitext: str) -> str:
    parts = wikitext.split("<!--")
    return parts[0] + "".join(part.partition("-->")[2].removeprefix("\n") for part in parts[1:])


def assert_links_lie_in_order(links: np.ndarray, size: int) -> None:  # type: ignore[type-arg]
    anchors = links[2:4].T.ravel()
    assert np.all(np.diff(anchors) >= 0)
    assert len(anchors) == 0 or (anchors[0] >= 0 and anchors[-1] <= size)


@given(st.text(st.characters(codec="utf-8", categories=["L", "M", "N", "Zs", "So", "Sm", "Sc", "Po"]), max_size=60))
def test_plain_text_is_not_changed(text: str) -> None:
    plain = "".join(c for c in text if c not in "<>&*#:;='=_[]{}|~!")
    assert read(plain + "\nx " + plain) == (plain + "\nx " + plain, [])


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])))
def test_any_text_can_be_read(text: str) -> None:
    page = read(text)
    assert len(page.text.encode()) <= len(text.encode())


@given(st.lists(WIKITEXT, min_size=1, max_size=5))
def test_pages_together_are_as_pages_apart(pages: list[str]) -> None:
    data = [page.encode() for page in pages]
    bounds = np.cumsum([0, *map(len, data)])
    together = scan(b"".join(data), bounds, ENGLISH)
    for number, wikitext in enumerate(pages):
        first, last = together.text_bounds[number : number + 2]
        alone = read(wikitext)
        assert together.text[first:last].tobytes().decode() == alone.text
        links = together.links[:, slice(*together.link_bounds[number : number + 2])]
        shown = [
            ((together.aside if aside else together.text)[start:end].tobytes().decode())
            for _, _, start, end, aside in links.T
        ]
        targets = [together.source[start:end].tobytes().decode() for start, end in links[:2].T]
        assert list(zip(targets, shown, (links[IN_ASIDE] == 0).tolist(), strict=True)) == alone.links
        found = together.marks[:, slice(*together.mark_bounds[number : number + 2])]
        assert [int(key) for key in found[1]] == [name.key for _, name in marks(wikitext)]
        assert together.lead[number] - first == scan(data[number], np.array([0, len(data[number])]), ENGLISH).lead[0]


@given(st.lists(WIKITEXT, min_size=1, max_size=4))
def test_accounts_of_any_page_add_up(pages: list[str]) -> None:
    data = [page.encode() for page in pages]
    links = ACCOUNT.index("links")
    bounds = np.concatenate(([0], np.cumsum([len(each) for each in data])))
    found = scan(b"".join(data), bounds, ENGLISH)
    assert found.account[0].tolist() == [len(each) for each in data]
    assert (found.account[0] == found.account[1:links].sum(axis=0)).all()
    assert (found.account[links] == found.account[links + 1 :].sum(axis=0)).all()
    assert (found.account[links:] >= 0).all()
    in_articles = found.account[[ACCOUNT.index("in_text"), ACCOUNT.index("outside_text")]]
    assert in_articles.sum() == found.links.shape[1]
    assert found.account[1].sum() == len(found.text)


def generated(count: int) -> list[str]:
    chance = random.Random(1)
    return ["".join(chance.choices(MARKUP, k=chance.randrange(60))) for _ in range(count)]


def as_json(pages: list[str]) -> str:
    return json.dumps([(read(page), [name.key for _, name in marks(page)]) for page in pages])


def test_the_compiled_scanner_does_what_python_does() -> None:
    """In one process compiled, in another with the compiler off."""
    other = "0" if DISABLED else "1"
    code = "from tests.mediawiki import test_wikitext_properties as t; print(t.as_json(t.generated(200)))"
    environment = os.environ | {"NUMBA_DISABLE_JIT": other, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(as_json(generated(200)))


# A parsing library as the oracle

WORDS = st.lists(
    st.sampled_from(["alpha", "Beta", "größe", "東京", "x1", "de", "U.S.", "it's", "naïve,"]), min_size=1, max_size=4
).map(" ".join)
TITLES = st.sampled_from(["Foo", "Foo bar", "Zürich", "東京", "Foo (bar)", "C++", "Foo#Section", "A, B & C"])
LINKS = st.one_of(TITLES.map("[[{}]]".format), st.tuples(TITLES, WORDS).map(lambda pair: "[[{}|{}]]".format(*pair)))


def in_template(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    content = st.lists(inner, min_size=1, max_size=3).map(" ".join)
    return st.tuples(st.sampled_from(["cite book", "cite web"]), content).map(
        lambda pair: "{{{{{}|{}}}}}".format(*pair)
    )


TEMPLATES = st.recursive(WORDS | LINKS, in_template, max_leaves=4)
REFS = st.lists(TEMPLATES, min_size=1, max_size=3).map(" ".join).map("<ref>{}</ref>".format)
PIECES = st.one_of(
    WORDS,
    LINKS,
    TEMPLATES,
    REFS,
    in_template(REFS),
    WORDS.map("'''{}'''".format),
    WORDS.map("''{}''".format),
    WORDS.map("<!-- {} -->".format),
    WORDS.map("<small>{}</small>".format),
    st.just('<ref name="x" />'),
    st.sampled_from(["&ndash;", "&amp;", "&#233;"]),
)
WELL_FORMED = st.lists(st.lists(PIECES, min_size=1, max_size=6).map(" ".join), max_size=4).map("\n\n".join)


@given(WELL_FORMED)
def test_well_formed_wikitext_as_a_library_reads_it(wikitext: str) -> None:
    ours = read(wikitext)
    code = mwparserfromhell.parse(wikitext)
    for ref in code.filter_tags(matches=lambda tag: tag.tag == "ref", recursive=True):
        if code.contains(ref):
            code.remove(ref)
    for template in code.filter_templates(recursive=False):
        code.remove(template)
    theirs = [
        (str(link.title), link.text.strip_code() if link.text else str(link.title)) for link in code.filter_wikilinks()
    ]
    assert [(target, anchor) for target, anchor, in_text in ours.links if in_text] == theirs
    assert ours.text.split() == str(code.strip_code(normalize=True, collapse=False)).split()
    every = mwparserfromhell.parse(wikitext).filter_wikilinks(recursive=True)
    assert sorted(target for target, _, _ in ours.links) == sorted(str(link.title) for link in every)


@pytest.mark.parametrize("wikitext", ["a [[Foo|b]] '''c''' {{d|[[e]]}}<ref>f [[g]]</ref> h"])
def test_the_oracle_is_not_vacuous(wikitext: str) -> None:
    assert read(wikitext) == ("a b c  h", [("Foo", "b", True), ("e", "e", False), ("g", "g", False)])
