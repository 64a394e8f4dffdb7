"""HTML of MediaWiki as wikitext: the scanner reads from it the text and the links that a browser shows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("lxml", reason="needs the extra zim")

from wikilda.mediawiki.html import _without_long_tags, wikitext_of
from wikilda.mediawiki.languages import language
from wikilda.mediawiki.site import Site
from wikilda.mediawiki.wikitext import ANCHOR_END, ANCHOR_START, IN_ASIDE, TARGET_END, TARGET_START, dialect_of, scan

SITE = Site(namespaces=dict(language("en").namespaces))


def target(address: str) -> str | None:
    return address.replace("_", " ").removeprefix("./").partition("#")[0] if "://" not in address else None


def read(html: str) -> tuple[str, list[tuple[str, str, bool]]]:
    """The text, and of each link its target, its anchor and whether it is aside."""
    raw = wikitext_of(html.encode(), target).encode()
    found = scan(raw, np.array([0, len(raw)]), dialect_of(SITE))
    links = []
    for link in found.links.T.tolist():
        shown = found.aside if link[IN_ASIDE] else found.text
        links.append((
            found.source[link[TARGET_START] : link[TARGET_END]].tobytes().decode(),
            shown[link[ANCHOR_START] : link[ANCHOR_END]].tobytes().decode(), bool(link[IN_ASIDE]),
        ))  # fmt: skip
    return found.text.tobytes().decode().strip(), links


@pytest.mark.parametrize(
    ("html", "text", "links"),
    [
        ('<p>In <a href="./Berlin">the\ncity</a>.</p>', "In the city.", [("Berlin", "the city", False)]),
        ('<p>two <a href="Bus">bus</a>es</p>', "two buses", [("Bus", "bus", False)]),
        ('<p><a href="AC/DC"><i>AC</i>/DC</a> play</p>', "AC/DC play", [("AC/DC", "AC/DC", False)]),
        ('<p><a href="https://x.org/Y">out</a> <a href="#s">here</a></p>', "out here", []),
        ("<p>[[not]] {{a}} &lt;b&gt; ''x'' a|b __TOC__ &amp;amp; ~~~~</p>", "[[not]] {{a}} <b> ''x'' a|b __TOC__ &amp; ~~~~", []),
        ("<p>* star</p><p># one</p><p>= is</p>", "* star\n\n# one\n\n= is", []),
        ("<p>a</p><script>x()</script><style>y</style><span class=mw-editsection>edit</span><p>b</p>", "a\n\nb", []),
        ('<table class="infobox"><tr><td><a href="Berlin">B</a></td></tr></table><p>Text</p>', "Text", [("Berlin", "B", True)]),
        ('<p>Text<sup class="reference"><a href="#c">[1]</a></sup>.</p>', "Text.", []),
        ('<figure><a href="X"><img src="x.png"></a><figcaption>A <a href="Y">y</a></figcaption></figure><p>T</p>', "T", [("Y", "y", True)]),
        ("<h2>Head</h2><p><b>Bold</b> text</p><ul><li>one</li><li>two</li></ul>", "Head\nBold text\n\none\ntwo", []),
        ('<p><a href="A|B">x</a> <a href="Category:K">k</a></p>', "x k", []),
        ("<p>open <b>bold<p>next", "open bold\n\nnext", []),
        ("", "", []),
    ],
)  # fmt: skip
def test_text_and_links(html: str, text: str, links: list[tuple[str, str, bool]]) -> None:
    found, linked = read(html)
    assert [line.strip() for line in found.split("\n") if line.strip()] == [line for line in text.split("\n") if line]
    assert linked == links


def test_marks() -> None:
    html = (
        '<html><head><meta property="mw:PageProp/disambiguation"><link rel="mw:PageProp/Category" '
        'href="./Category:Big_Cities#x"></head><body><p>Text</p></body></html>'
    )
    assert wikitext_of(html.encode(), target).splitlines() == ["Text", "__DISAMBIG__", "[[Category:Big Cities]]"]


MANY = b" ".join(b"a%d=1" % number for number in range(20_000))


@pytest.mark.parametrize(
    "html",
    [
        b"<p " + MANY + b">text", b'<p z=">" ' + MANY + b">text", b'<p z="<i" ' + MANY + b">text", b"<p = " + MANY + b">text",
        b"<p z='<i' \n=" + MANY + b">text", b"<p" + MANY.replace(b" ", b"/") + b">text", b'<p " ' + MANY + b">text",
        b"<!-- <a ' -->" + b"<p " + MANY + b">text",
    ],
    ids=range(8),
)  # fmt: skip
def test_attributes_of_tags_that_have_thousands_are_not_read(html: bytes) -> None:
    """Reading them takes time with the square of their number: 300,000 take minutes."""
    kept = _without_long_tags(html)
    assert len(kept) < 40
    assert kept.endswith(b"text")
    assert wikitext_of(html, target) == "text"


@pytest.mark.parametrize(
    "html",
    [
        b"<p>" + b"word " * 20_000 + b"</p>", b'<p title="' + b"word " * 4_000 + b'">text</p>',
        b"<script>" + b"a<b = 'x' " * 10_000 + b"</script>text", b"<!-- " + b"a <b c " * 10_000 + b" -->text",
    ],
    ids=range(4),
)  # fmt: skip
def test_long_texts_scripts_and_comments_are_kept(html: bytes) -> None:
    assert _without_long_tags(html) == html


@given(
    st.lists(
        st.sampled_from([b"<a ", b"<b", b'x="', b'"', b"'", b" ", b"/", b">", b"=", b"y", b"<!--", b"-->", b"<p>"])
    )
)
def test_pages_without_long_tags_are_not_changed(parts: list[bytes]) -> None:
    assert _without_long_tags(b"".join(parts)) == b"".join(parts)
