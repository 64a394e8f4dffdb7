"""How much markup is left in the text of real pages: all of enwik8, and the pages of 124 wikis.

    python -m benchmarks.build.residue [--show N]

A line of text counts as having residue if it has one of the patterns below: brackets or braces of links, templates and
tables, cells of tables, attributes, tags, two apostrophes, entities, magic words, options of images.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click

from benchmarks import record
from benchmarks.build.reading import DATA
from wikilda.mediawiki.dump import cut, read_piece, site_of
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.wikitext import dialect_of, read_page

PATTERNS = {
    "template": r"\{\{|\}\}",
    "link": r"\[\[|\]\]",
    "table": r"^\s*(?:\{\||\|\}|\|-|[|!])|\|\||\{\|",
    "attribute": r"\b(?:colspan|rowspan|bgcolor|cellpadding|cellspacing|valign|align|style|width|class)\s*=\s*[\"\w#]",
    "tag": r"</?(?:br|ref|div|span|small|big|sub|sup|table|tr|td|th|center|font|nowiki|math|li|p|b|i)\b[^>\n]*>",
    "quotes": r"(?<!')''+(?!')",
    "entity": r"&(?:[a-z]+|#\d+);",
    "magic word": r"__[A-Z]+__",
    "image": r"\|\s*(?:thumb|right|left|\d+px)\b",
}
ANY = re.compile("|".join(f"(?P<k{at}>{pattern})" for at, pattern in enumerate(PATTERNS.values())), re.IGNORECASE)
NAMES = list(PATTERNS)


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """The title and text of every article."""
    site = site_of(path)
    dialect = dialect_of(site)
    for piece in cut(path, 1 << 24):
        for page in pages_in(read_piece(piece), site.namespaces):
            if isinstance(page, RawPage) and page.namespace == 0 and not page.redirect and page.wikitext:
                yield page.title, read_page(page.text.decode(), dialect).text


def residue(line: str) -> str:
    """Which pattern a line has first; nothing if it is clean."""
    found = ANY.search(line)
    return NAMES[int(found.lastgroup[1:])] if found and found.lastgroup else ""


def count(paths: list[Path]) -> tuple[dict[str, record.Cell], list[str]]:
    """Counts of lines, and those with residue."""
    kinds: Counter[str] = Counter()
    lines = pages = 0
    found = []
    for path in paths:
        for title, text in texts(path):
            pages += 1
            for line in filter(str.strip, text.split("\n")):
                lines += 1
                if kind := residue(line):
                    kinds[kind] += 1
                    found.append(f"{path.stem.split('.')[0]}: {title}: {kind}: {line[:200]}")
    row: dict[str, record.Cell] = {"articles": pages, "lines": lines, "with residue": len(found)}
    return {**row, "per cent": 100 * len(found) / max(lines, 1), **{name: kinds[name] for name in PATTERNS}}, found


@click.command(help=__doc__)
@click.option("--show", default=0, help="Number of lines with residue to print.")
def main(show: int) -> None:
    sources = {
        "enwik8": sorted((DATA / "enwik8").glob("*.xml.xz")),
        "124 wikis": sorted((DATA / "wikis" / "pages").glob("*.xml.bz2")),
    }
    rows = []
    for name, paths in sources.items():
        if not paths:
            raise click.ClickException(f"{DATA}: has no dumps of {name}. Set WIKILDA_DATA to where they are.")
        row, found = count(paths)
        rows.append({"pages of": name, **row})
        print(rows[-1])
        print(*islice(found[:: max(1, len(found) // max(1, show))], show), sep="\n")
    record.write("residue", {"residue": rows})


if __name__ == "__main__":
    main()
