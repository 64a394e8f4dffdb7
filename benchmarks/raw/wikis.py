"""Small wikis of other languages: one real article, and a stub for each article that it links to.

python -m benchmarks.raw.wikis PAGES OUT CODE...

A stub has the paragraphs of the article that link to it, so that names have contexts and a link graph.
"""

import argparse
import bz2
import re
from pathlib import Path
from xml.sax.saxutils import escape, unescape

_PAGE = re.compile(r"<page>.*?</page>", re.DOTALL)
_TEXT = re.compile(r"<text[^>]*>(.*?)</text>", re.DOTALL)
_LINK = re.compile(r"\[\[([^\[\]|#:]+)(?:\|[^\[\]]*)?\]\]")


def with_stubs(dump: str) -> str:
    """An export with a stub for each page that its pages link to and that it lacks."""
    pages = _PAGE.findall(dump)
    titles = {unescape(re.findall(r"<title>(.*?)</title>", page)[0]) for page in pages}
    paragraphs: dict[str, list[str]] = {}
    for page in pages:
        for paragraph in unescape("".join(_TEXT.findall(page))).split("\n"):
            if paragraph[:1] in ("|", "{", "!", "=", "}"):
                continue
            for title in dict.fromkeys(each.strip() for each in _LINK.findall(paragraph)):
                title = title[:1].upper() + title[1:].replace("_", " ")
                if title not in titles and title:
                    paragraphs.setdefault(title, []).append(paragraph)
    stubs = [_stub(title, number, found) for number, (title, found) in enumerate(sorted(paragraphs.items()))]
    return dump.replace("</mediawiki>", "\n".join(stubs) + "\n</mediawiki>")


def _stub(title: str, number: int, paragraphs: list[str]) -> str:
    text = escape(f"'''{title}'''. " + "\n\n".join(paragraphs))
    return (
        f"<page><title>{escape(title)}</title><ns>0</ns><id>{9_000_000 + number}</id><revision><id>1</id>"
        f'<timestamp>2020-01-01T00:00:00Z</timestamp><text xml:space="preserve">{text}</text></revision></page>'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, help="the directory with CODE.xml.bz2")
    parser.add_argument("out", type=Path)
    parser.add_argument("codes", nargs="+")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for code in options.codes:
        dump = bz2.decompress((options.pages / f"{code}.xml.bz2").read_bytes()).decode()
        (options.out / f"{code}.xml").write_text(with_stubs(dump), "utf-8")


if __name__ == "__main__":
    main()
