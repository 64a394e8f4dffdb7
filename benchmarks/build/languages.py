"""Languages with other scripts: links found of those that a build did not see.

    python -m benchmarks.build.languages [CODE...]

Of each wiki there is its article on Berlin, and a stub for each article that it links to (`benchmarks.raw.wikis`):
title and the paragraphs that link to it. Every fifth link is made plain text before the build, in stubs, too; an
article that only such links lead to has a stub with its title. Then the article's text is linked without spans. German
and English, which have spaces and capitals, are what to compare with.
"""

import bz2
import re
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape, unescape

import click

from benchmarks import record
from benchmarks.build.reading import DATA
from benchmarks.raw.wikis import with_stubs
from wikilda import Document, Linker, build, read_documents
from wikilda.knowledge import BuildSettings

CODES = ("de", "en", "ja", "zh", "th", "ar", "hi", "ko", "he", "fa", "ta", "bn")
_LINK = re.compile(r"\[\[(?P<target>[^\[\]|#:]+)(?:\|(?P<anchor>[^\[\]|]+))?\]\]")
_EACH = 5
_EASY = BuildSettings(min_text=0, min_word_topics=1, max_word_share=0.5)


def hidden(dump: str) -> str:
    """The dump with every fifth link as plain text."""
    count = 0

    def plain(found: "re.Match[str]") -> str:
        nonlocal count
        count += 1
        return found.group("anchor") or found.group("target") if count % _EACH == 0 else found.group()

    return _LINK.sub(plain, dump)


def longest(path: Path) -> Document:
    """The article itself, with its links as mentions."""
    documents = [each for each in read_documents([path]) if isinstance(each, Document)]
    return max(documents, key=lambda each: len(each.text))


def row(code: str, place: Path) -> dict[str, record.Cell]:
    """Build the wiki of a language with links held out, and link its article."""
    dump = bz2.decompress((DATA / "wikis" / "pages" / f"{code}.xml.bz2").read_bytes()).decode()
    whole, partly, wiki = (place / f"{code}-{name}.xml" for name in ("whole", "partly", "wiki"))
    whole.write_text(dump, "utf-8")
    partly.write_text(hidden(dump), "utf-8")
    article, seen = longest(whole), longest(partly)
    wiki.write_text(_with_titles(with_stubs(hidden(dump)), dump), "utf-8")
    build(wiki, place / code, settings=_EASY, workers=1)
    linker = Linker.open(place / code)
    kept = set(seen.mentions or ())
    held_out = [span for span in article.mentions or () if span not in kept] if seen.text == article.text else []
    found = {(each.start, each.end): each for each in linker.link(Document(article.text)).mentions}
    targets = _targets(linker, dump)
    known = [(span, topic) for span in held_out if (topic := targets.get(article.text[span[0] : span[1]], -1)) >= 0]
    detected = [each for span, _ in known if (each := found.get(span))]
    right = [1 for span, topic in known if (each := found.get(span)) and each.entity and each.entity.topic == topic]
    links = set(article.mentions or ())
    return {
        "wiki": code, "characters": len(article.text), "links held out": len(known),
        "links of the article found, %": 100 * len(links & set(found)) / max(len(links), 1),
        "of the mentions found, %": 100 * len(links & set(found)) / max(len(found), 1),
        "held out: detected, %": 100 * len(detected) / max(len(known), 1),
        "held out: right, %": 100 * len(right) / max(len(known), 1),
        "first sentence, characters": len(linker.knowledge.sentences[linker.knowledge.find_topic(article.id)]),
    }  # fmt: skip


def _with_titles(wiki: str, dump: str) -> str:
    """The wiki with a stub for each title that the dump links to and the wiki lacks."""
    there = set(re.findall(r"<title>(.*?)</title>", wiki))
    titles = sorted(
        {escape(title[:1].upper() + title[1:]) for title in (_title(each) for each in _LINK.finditer(dump))}
    )
    stubs = [
        f"<page><title>{title}</title><ns>0</ns><id>{8_000_000 + number}</id><revision><id>1</id>"
        f"<text xml:space=\"preserve\">'''{title}'''.</text></revision></page>"
        for number, title in enumerate(titles) if title and title not in there
    ]  # fmt: skip
    return wiki.replace("</mediawiki>", "\n".join(stubs) + "\n</mediawiki>")


def _title(found: "re.Match[str]") -> str:
    return unescape(found.group("target")).strip().replace("_", " ")


def _targets(linker: Linker, dump: str) -> dict[str, int]:
    """What anchors mean in the article."""
    return {
        (each.group("anchor") or each.group("target")).strip(): linker.knowledge.find_topic(
            each.group("target").strip()
        )
        for each in _LINK.finditer(dump)
    }


@click.command(help=__doc__)
@click.argument("codes", nargs=-1)
def main(codes: tuple[str, ...]) -> None:
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for code in codes or CODES:
            rows.append(row(code, Path(scratch)))
            print(rows[-1], flush=True)
    if not codes:
        record.write("languages", {"links": rows})


if __name__ == "__main__":
    main()
