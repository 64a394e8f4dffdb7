"""Wikitext libraries beside our scanner, on the same pages: `python -m benchmarks.build.wikitext`.

Each turns pages into plain text and links. Speed is in MB of wikitext a CPU second, on one core; agreement
compares the links' targets page by page with those that our scanner finds.
"""

import os
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise

import click
import numpy as np

from benchmarks import record
from benchmarks.build.reading import part_of_enwik8
from benchmarks.generate.articles import Author
from benchmarks.generate.world import World
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.site import Site
from wikilda.mediawiki.wikitext import TARGET_END, TARGET_START, dialect_of, scan
from wikilda.text.tokens import joined

Targets = list[list[str]]  # of each page, as written
_DIALECT = dialect_of(Site())
_ELSEWHERE = ("category:", "file:", "image:", "media:")
_PAGES_A_CALL = 1000


def ours(pages: list[str]) -> Targets:
    """The scanner, many pages a call."""
    found: Targets = []
    for first in range(0, len(pages), _PAGES_A_CALL):
        got = scan(*joined([page.encode() for page in pages[first : first + _PAGES_A_CALL]]), _DIALECT)
        source = got.source.tobytes()
        targets = [source[start:end].decode() for start, end in got.links[[TARGET_START, TARGET_END]].T.tolist()]
        bounds = got.link_bounds.tolist()
        found += [targets[start:end] for start, end in pairwise(bounds)]
    return found


def mwparserfromhell(pages: list[str]) -> Targets:
    """A full parser in C."""
    import mwparserfromhell as library

    found: Targets = []
    for page in pages:
        parsed = library.parse(page)
        parsed.strip_code()
        found.append([str(link.title) for link in parsed.filter_wikilinks()])
    return found


def wikitextparser(pages: list[str]) -> Targets:
    """A parser by regular expressions over a mutable text."""
    import wikitextparser as library

    found: Targets = []
    for page in pages:
        parsed = library.parse(page)
        found.append([link.title for link in parsed.wikilinks])
        parsed.plain_text()
    return found


def gensim(pages: list[str]) -> Targets:
    """Regular expressions that delete markup; links in templates and tables go with them."""
    from gensim.corpora.wikicorpus import filter_wiki, find_interlinks

    found: Targets = []
    for page in pages:
        filter_wiki(page)
        found.append([target for target, _ in find_interlinks(page)])
    return found


LIBRARIES: dict[str, Callable[[list[str]], Targets]] = {
    "wikilda": ours, "mwparserfromhell": mwparserfromhell, "wikitextparser": wikitextparser, "gensim": gensim,
}  # fmt: skip


def real_pages(megabytes: int) -> list[str]:
    """Articles of enwik8."""
    pages = pages_in(part_of_enwik8(megabytes * 1_000_000), {})
    return [
        page.text.decode() for page in pages if isinstance(page, RawPage) and page.namespace == 0 and not page.redirect
    ]


def generated_pages(count: int) -> list[str]:
    """Articles with infoboxes, references and tables."""
    author = Author(World(20_000))
    return author.articles(np.arange(0, 20_000, 20_000 // count), np.random.default_rng(1)).to_pylist()


def hard_pages(count: int) -> list[str]:
    """Small pages dense with what parsers find hard: templates in templates, tables in tables, files in captions."""
    nested = "{{a|x={{b|[[Inner one]]|{{c|{{{p|[[Inner two|two]]}}}}}}}|y=[[Other]]}}"
    cells = "! [[Head]]\n| {{n|[[Cell]]}} || <ref>{{cite|title=[[Cited]]}}</ref>\n"
    table = f'{{| class="a"\n|-\n{cells}{{|\n| [[Deep]]\n|}}\n|}}\n'
    image = "[[File:A.jpg|thumb|A [[Caption link|caption]] with <ref>[[Note]]</ref> text]]\n"
    plain = "''[[Italic]]'' and '''[[Bold|b]]'''s <nowiki>[[no]]</nowiki> <!-- [[hidden]] --> "
    broken = "[[Broken|[[Nested]] [[:Category:C|c]] [[Open\n"
    return [f"{nested * 4}\n{image}{table * 3}{plain}{broken}{number} text.\n" * 3 for number in range(count)]


def measured(library: Callable[[list[str]], Targets], pages: list[str], rounds: int) -> tuple[float, Targets]:
    """The least CPU seconds of some rounds, and the links."""
    best, found = float("inf"), []
    for _ in range(rounds):
        start = time.process_time()
        found = library(pages)
        best = min(best, time.process_time() - start)
    return best, found


def normal(targets: list[str]) -> Counter[str]:
    """Targets as titles, without sections, and without links to categories and files."""
    titles = (target.split("#")[0].strip(" _:\n").replace("_", " ") for target in targets)
    kept = [title for title in titles if title and not title.lower().startswith(_ELSEWHERE)]
    return Counter(title[0].upper() + title[1:] for title in kept)


def agreement(own: Targets, other: Targets) -> tuple[int, float, float]:
    """How many links the other has; the share of ours that it has; the share of its that we have."""
    pairs = [(normal(a), normal(b)) for a, b in zip(own, other, strict=True)]
    both = sum((a & b).total() for a, b in pairs)
    mine, theirs = sum(a.total() for a, _ in pairs), sum(b.total() for _, b in pairs)
    return theirs, both / max(mine, 1), both / max(theirs, 1)


def results(pages: list[str], rounds: int) -> list[dict[str, record.Cell]]:
    """The libraries on some pages."""
    megabytes = sum(len(page.encode()) for page in pages) / 1e6
    rows: list[dict[str, record.Cell]] = []
    own: Targets = []
    base = 0.0
    for name, library in LIBRARIES.items():
        if name != "wikilda" and not find_spec(name):
            rows.append({"library": f"{name}: not installed"})
            continue
        spent, found = measured(library, pages, rounds)
        own, base = own or found, base or spent
        count, recall, precision = agreement(own, found)
        known = name if name == "wikilda" else f"{name} {version(name)}"
        rows.append({
            "library": known, "MB a CPU s": megabytes / spent, "times our time": spent / base, "links": count,
            "of ours, it has, %": 100 * recall, "of its, we have, %": 100 * precision,
        })  # fmt: skip
    return rows


@click.command(help=__doc__)
@click.option("--megabytes", default=8, show_default=True, help="Of enwik8, from its beginning.")
@click.option("--rounds", default=2, show_default=True)
def main(megabytes: int, rounds: int) -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    ours(hard_pages(1))  # compiles the kernels
    tables = {"generated": results(generated_pages(2000), rounds), "hard": results(hard_pages(200), rounds)}
    tables["real"] = results(real_pages(megabytes), rounds)
    record.write("wikitext", tables)
    for name, rows in tables.items():
        print(f"{name}\n{record.table(rows)}")


if __name__ == "__main__":
    main()
