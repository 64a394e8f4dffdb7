"""Titles as MediaWiki normalises them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mediawiki.scanning import ENGLISH
from wikilda.mediawiki.site import Site
from wikilda.mediawiki.titles import LONGEST_TITLE, hash_title, normalize_title
from wikilda.mediawiki.wikitext import Dialect, dialect_of
from wikilda.text.tokens import as_bytes

SENSITIVE = dialect_of(Site(language="en", first_letter_case=False))


def clean_title(title: str, dialect: Dialect) -> str:
    source = as_bytes(title)
    out = np.empty(2 * len(source) + 8, np.uint8)
    return out[: normalize_title(source, 0, len(source), dialect, out, 0)].tobytes().decode()


def title_key(title: str) -> int:
    source = as_bytes(title)
    return int(hash_title(source, 0, len(source)))


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Foo bar", "Foo bar"),
        ("foo", "Foo"),
        ("iPhone", "IPhone"),
        ("élan", "Élan"),
        ("жук", "Жук"),
        ("ɐbc", "Ɐbc"),
        ("ßuper", "ßuper"),
        ("ﬁn", "ﬁn"),
        ("東京", "東京"),
        ("1st", "1st"),
        ("Foo_bar__baz", "Foo bar baz"),
        ("  Foo   bar  ", "Foo bar"),
        ("_foo_", "Foo"),
        ("Foo\u00a0bar\u3000baz\u2003x\u180ey", "Foo bar baz x y"),
        ("Foo\u200e bar\u202a", "Foo bar"),
        ("\u200ffoo", "Foo"),
        ("Foo#Section", "Foo"),
        ("Foo_#Section", "Foo"),
        ("#Section", ""),
        ("Foo%20bar", "Foo bar"),
        ("Foo%23bar", "Foo"),
        ("%66oo", "Foo"),
        ("Z%C3%BCrich", "Zürich"),
        ("%c3%a9lan", "Élan"),
        ("%E6%9D%B1%E4%BA%AC", "東京"),
        ("%F0%9F%98%80", "😀"),
        ("100%", "100%"),
        ("100%2", "100%2"),
        ("5%zz", "5%zz"),
        ("%C3", "%C3"),
        ("%C3%41", "%C3A"),
        ("%FF%FE", "%FF%FE"),
        ("%ED%A0%80", "%ED%A0%80"),
        ("AT&amp;T", "AT&T"),
        ("&eacute;lan", "Élan"),
        ("Foo&nbsp;bar", "Foo bar"),
        ("Foo&#8211;bar", "Foo–bar"),
        ("R&D; x", "R&D; x"),
        (":Foo", "Foo"),
        (": foo", "Foo"),
        ("Foo: bar", "Foo: bar"),
        ("Foo\tbar\n", "Foobar"),
        ("", ""),
        (" _ ", ""),
    ],
)
def test_titles(written: str, title: str) -> None:
    assert clean_title(written, ENGLISH) == title


def test_the_first_letter_of_a_case_sensitive_wiki() -> None:
    assert clean_title("foo_bar", SENSITIVE) == "foo bar"
    assert clean_title("Foo", SENSITIVE) == "Foo"


@given(
    st.text(st.characters(codec="utf-8"), max_size=40)
    | st.lists(st.sampled_from(["%", "C3", "A9", "&", "amp;", "#", "_", " ", "é", ":", "ß"])).map("".join)
)
def test_any_text_makes_a_title_or_none(written: str) -> None:
    title = clean_title(written, ENGLISH)
    assert title == title.strip(" ")
    assert "#" not in title
    assert "_" not in title
    assert "  " not in title
    assert not title.startswith(":")


@given(st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=20))
def test_normalising_twice_changes_nothing(title: str) -> None:
    once = clean_title(title, ENGLISH)
    assert clean_title(once, ENGLISH) == once
    assert once[1:] == title[1:]


def test_writes_only_where_it_may() -> None:
    """The room that is asked for is enough even where an upper-case letter is longer."""
    source = as_bytes("ɐ")
    out = np.zeros(len(source) * 3 // 2 + 2, np.uint8)
    assert normalize_title(source, 0, len(source), ENGLISH, out, np.int64(0)) == 3
    assert out.tolist() == [*"Ɐ".encode(), *[0] * (len(out) - 3)]


def test_hashes() -> None:
    titles = ["Foo", "foo", "Foo bar", "Foobar", "Bar foo", "東京", "京東"]
    keys = [title_key(title) for title in titles]
    assert len(set(keys)) == len(titles)
    assert 0 not in keys
    joined = as_bytes("xFoo bary")
    assert int(hash_title(joined, 1, 8)) == title_key("Foo bar")


def test_what_is_no_title_has_no_hash() -> None:
    assert title_key("") == 0
    assert title_key("x" * LONGEST_TITLE) != 0
    assert title_key("x" * (LONGEST_TITLE + 1)) == 0
    assert title_key("é" * 128) == 0
    assert title_key("x" * 10_000) == 0
