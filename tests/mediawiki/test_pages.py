"""Pages from XML, good and bad."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wikis import page
from wikilda.mediawiki.pages import BadPage, RawPage, pages_in

OFFICIAL = """\
  <page>
    <title>Zürich &amp; co</title>
    <ns>0</ns>
    <id>12</id>
    <redirect title="AT&amp;T &quot;x&quot;" />
    <restrictions>edit=sysop</restrictions>
    <revision>
      <id>99</id>
      <parentid>98</parentid>
      <timestamp>2020-01-01T00:00:00Z</timestamp>
      <contributor><username>X</username><id>7</id></contributor>
      <comment>a &lt;text&gt; b</comment>
      <origin>99</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="5" sha1="x" xml:space="preserve">a &lt;b&gt; &amp;amp; &quot;c&quot;
d</text>
      <sha1>x</sha1>
    </revision>
  </page>
"""


def only(xml: str | bytes) -> RawPage | BadPage:
    (found,) = pages_in(xml.encode() if isinstance(xml, str) else xml, {"template": 10})
    return found


def good(xml: str | bytes) -> RawPage:
    found = only(xml)
    assert isinstance(found, RawPage), found
    return found


def test_a_page_as_wikimedia_writes_it() -> None:
    assert only(OFFICIAL) == RawPage(
        "Zürich & co",
        0,
        12,
        'AT&T "x"',
        b'a <b> &amp; "c"\nd',
        True,
        False,
        99,
        20200101000000,
        len(OFFICIAL.strip().encode()),
    )


def test_without_namespace_and_model() -> None:
    assert good("<page><title>A</title><id>1</id><revision><text>b</text></revision></page>") == RawPage(
        "A", 0, 1, "", b"b", True, False, size=74
    )


@pytest.mark.parametrize(
    ("title", "namespace"),
    [("Template:Box", 10), ("template_:Box", 10), ("Batman: Year One", 0), ("Template", 0), (":Template:Box", 0)],
)
def test_old_exports_have_no_namespace_but_in_the_title(title: str, namespace: int) -> None:
    body = "<revision><id>2</id><text>x</text></revision>"
    assert good(f"<page><title>{title}</title><id>1</id>{body}</page>").namespace == namespace
    assert good(f"<page><id>1</id><title>{title}</title>{body}</page>").namespace == namespace  # in another order
    assert good(f"<page><title>{title}</title><ns>3</ns><id>1</id>{body}</page>").namespace == 3


def test_other_namespaces_and_models() -> None:
    assert good(page("Talk:A", "b", namespace=1, number=3)).namespace == 1
    assert good(page("Special:A", "b", namespace=-1, number=3)).namespace == -1
    assert not good(page("A", "b", number=3).replace("<model>wikitext", "<model>json")).wikitext


@pytest.mark.parametrize("text", ['<text bytes="0" />', "<text/>", '<text deleted="deleted" />', "<text></text>"])
def test_no_text(text: str) -> None:
    assert good(f"<page><title>A</title><ns>0</ns><id>1</id><revision><id>2</id>{text}</revision></page>").text == b""


def test_no_revision_and_no_text_element() -> None:
    assert good("<page><title>A</title><ns>0</ns><id>1</id></page>").text == b""
    assert good("<page><title>A</title><ns>0</ns><id>1</id><revision><id>2</id></revision></page>").text == b""


def test_of_several_revisions_the_last_counts() -> None:
    revisions = "".join(f"<revision><id>{n}</id><text>text {n}</text></revision>" for n in (5, 6, 4))
    assert good(f"<page><title>A</title><ns>0</ns><id>1</id>{revisions}</page>").text == b"text 4"
    assert good(f"<page><id>1</id><title>A</title>{revisions}</page>").text == b"text 4"


def test_an_unusual_order() -> None:
    xml = (
        '<page><id>7</id><redirect title="B &amp; b"/><title>A &lt; a</title><restrictions/><discussion/>'
        '<revision><text xml:space="preserve">é &amp;lt; &#233;</text><model>wikitext</model><id>3</id></revision><ns> 4 </ns></page>'
    )
    assert only(xml) == RawPage(
        "A < a", 4, 7, "B & b", "é &lt; é".encode(), True, False, revision=3, size=len(xml.encode())
    )


def test_other_models_in_an_unusual_order() -> None:
    assert not good(
        "<page><id>7</id><title>A</title><revision><model>json</model><text>x</text></revision></page>"
    ).wikitext


def test_character_data() -> None:
    assert (
        good(page("A", "", number=1).replace("></text>", "><![CDATA[a <b> &amp; c]]></text>")).text == b"a <b> &amp; c"
    )


@pytest.mark.parametrize(
    ("escaped", "text"),
    [
        ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"),
        ("&amp;lt; &amp;amp; &amp;#60;", "&lt; &amp; &#60;"),
        ("&#233; &#xE9; &#x1F600;", "é é 😀"),
        ("&#38;amp; &#38;lt; &amp;#38;", "&amp; &lt; &#38;"),
        ("&#9;a&#10;", "\ta\n"),
        ("a & b &nope; &#;", "a & b &nope; &#;"),
        ("&#xD800;&#0;", "\ufffd\ufffd"),
    ],
)
def test_xml_entities(escaped: str, text: str) -> None:
    found = good(f"<page><title>A</title><ns>0</ns><id>1</id><revision><text>{escaped}</text></revision></page>")
    assert found.text.decode() == text


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])),
    st.text(st.characters(codec="utf-8", categories=["L", "P", "S"]), min_size=1),
)
def test_what_is_written_is_read(text: str, title: str) -> None:
    found = good(page(title, text, number=1))
    assert (found.title, found.text.decode()) == (title, text)
    # Through the careful way, too.
    xml = f"<page><id>1</id><title>{escape(title)}</title><revision><text>{escape(text)}</text></revision></page>"
    if "\ufffe" not in text + title and "\uffff" not in text + title:  # which XML does not admit
        assert (good(xml).title, good(xml).text.decode()) == (title, text)


def test_bad_utf8_is_replaced_and_reported() -> None:
    fine = page("A é", "b é c", number=1).encode()
    assert not good(fine).repaired
    found = good(fine.replace("b é".encode(), b"b \xe9"))
    assert (found.text.decode(), found.repaired) == ("b \ufffd c", True)
    found = good(fine.replace("A é".encode(), b"A \xe9"))
    assert (found.title, found.repaired) == ("A \ufffd", True)
    moved = "<page><id>1</id><title>A</title><revision><text>é</text></revision></page>".encode()
    assert not good(moved).repaired
    assert good(moved.replace("é".encode(), b"\xff")) == RawPage("A", 0, 1, "", "\ufffd".encode(), True, True, size=74)


GOOD = [page(f"P{n}", f"text {n}", number=n) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("bad", "title", "reason"),
    [
        (GOOD[1].replace("</page>", ""), "P2", "has no </page>"),
        (GOOD[1].replace("</text>", ""), "P2", "mismatched tag"),
        (GOOD[1].replace("<title>P2</title>", ""), "", "has no title or no id"),
        (GOOD[1].replace("<id>2</id>", ""), "P2", "has no title or no id"),
        (GOOD[1].replace("<id>2</id>", "<id>two</id>"), "P2", "has no title or no id"),
        (GOOD[1].replace("<id>2</id>", "<id>²</id>"), "P2", "has no title or no id"),
        (GOOD[1].replace("<id>2</id>", f"<id>{'9' * 5000}</id>"), "P2", "has no title or no id"),
        (GOOD[1].replace("<ns>0</ns>", "<ns>zero</ns>"), "P2", "has namespace 'zero'"),
        (GOOD[1].replace("<ns>0</ns>", f"<ns>{'9' * 5000}</ns>"), "P2", "has namespace"),
        (GOOD[1].replace("<ns>0</ns>", "<ns>--1</ns>"), "P2", "has namespace '--1'"),
        (GOOD[1].replace("text 2", "a <b> c"), "P2", "mismatched tag"),
        ("<page></page>", "", "has no title or no id"),
        ("<page><title>P2</title>&bomb;</page>", "P2", "undefined entity"),
        ("<page><title>" + "x" * 9000, "x" * 200, "has no </page>"),
    ],
)
def test_a_bad_page_is_reported_and_the_rest_kept(bad: str, title: str, reason: str) -> None:
    xml = "\n".join([GOOD[0], bad, GOOD[2]])
    first, second, third = pages_in(xml.encode(), {})
    assert [first, third] == [only(GOOD[0]), only(GOOD[2])]
    assert isinstance(second, BadPage)
    assert (second.at, second.title) == (xml.index("<page>", 1), title)
    assert reason in second.reason


def test_the_last_page_may_be_bad() -> None:
    first, second = pages_in((GOOD[0] + "<page><title>X</title>").encode(), {})
    assert (first.title, second) == ("P1", BadPage(len(GOOD[0]), "X", "has no </page>", 22))


def test_nothing() -> None:
    assert list(pages_in(b"", {})) == list(pages_in(b"<mediawiki></mediawiki>", {})) == []


def test_a_title_of_ten_kilobytes_is_read() -> None:
    assert good(page("x" * 10_000, "a", number=1)).title == "x" * 10_000


@given(st.lists(st.sampled_from([b"<page>", b"</page>", b"<title>", b"</title>", b"A", b"<id>", b"</id>", b"1", b"<revision>", b"</revision>",
    b"<text>", b"<text/>", b"</text>", b"&", b"&#x;", b"&amp;", b"\xff", "é".encode(), b"<", b"<ns>", b"</ns>"]), max_size=30).map(b"".join))  # fmt: skip
def test_any_xml_gives_as_many_pages_as_it_begins(xml: bytes) -> None:
    assert len(list(pages_in(xml, {}))) == xml.count(b"<page>")


@pytest.mark.parametrize(
    ("wikitext", "shown"),
    [
        ("一-{zh-hans:联邦州; zh-hant:邦}-之", "一联邦州之"),
        ("-{zh:甲;zh-hant:乙}-", "甲"),
        ("-{不转换}-", "不转换"),
        ("-{A|zh-hans:甲; zh-hant:乙}-", "甲"),
        ("a-{H|zh-hans:甲; zh-hant:乙}-b", "ab"),
        ("a-{T|zh-hans:甲}-b", "ab"),
        ("-{R|甲:乙}-", "甲:乙"),
        ("-{甲=>zh-hans:乙}-", "乙"),
        ("[[-{zh-hans:甲; zh-hant:乙}-]]", "[[甲]]"),
        ("{{a|-{{b}}-}}", "{{a|-{{b}}-}}"),  # no variants
        ("-{unclosed", "-{unclosed"),
    ],
)
def test_variants_of_a_language(wikitext: str, shown: str) -> None:
    found = only(page("A", wikitext, number=1))
    assert isinstance(found, RawPage)
    assert found.text.decode() == shown
