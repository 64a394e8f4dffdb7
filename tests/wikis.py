"""Small wikis, written as dumps."""

import bz2
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

FILLER = "This sentence only makes the text of the article long enough to be a topic."


def page(title: str, text: str = "", *, number: int = 0, namespace: int = 0, redirect: str = "") -> str:
    """One page; `number` 0 lets `dump` count."""
    target = f"<redirect title={quoteattr(redirect)} />" if redirect else ""
    text = text or (f"#REDIRECT [[{redirect}]]" if redirect else "")
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>{number or 'ID'}</id>{target}"
        f"<revision><id>1</id><model>wikitext</model><format>text/x-wiki</format>"
        f'<text xml:space="preserve">{escape(text)}</text></revision></page>'
    )


def dump(
    pages: Iterable[str], *, language: str = "en", namespaces: dict[str, int] | None = None, case: str = "first-letter"
) -> str:
    """A whole export of pages."""
    names = {"": 0, "Template": 10, "File": 6, "Category": 14} if namespaces is None else namespaces
    listed = "".join(f'<namespace key="{key}">{name}</namespace>' for name, key in names.items())
    body = "\n".join(each.replace("<id>ID</id>", f"<id>{at}</id>") for at, each in enumerate(pages, 1))
    return (
        f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="{language}">\n'
        f"<siteinfo><sitename>Test</sitename><dbname>testwiki</dbname><base>https://test.example/wiki/Main_Page</base>"
        f"<case>{case}</case><namespaces>{listed}</namespaces></siteinfo>\n{body}\n</mediawiki>\n"
    )


def write_dump(path: Path, pages: Iterable[str], **about: object) -> Path:
    """Write a dump; as bz2 when the name says so."""
    data = dump(pages, **about).encode()  # type: ignore[arg-type]
    path.write_bytes(bz2.compress(data) if path.suffix == ".bz2" else data)
    return path
