"""HTML of MediaWiki as wikitext: the scanner reads from it the text and the links that a browser shows."""

import numpy as np
import pytest

pytest.importorskip("lxml", reason="needs the extra zim")

from wikilda.mediawiki.html import wikitext_of
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
