"""How fast a dump is read, a core, beside peers: `python -m benchmarks.build.reading [--dump FILE]`.

All read the same streams of the same dump, one after the other on one core; CPU seconds are compared, the best
of some rounds. Peers that are not installed are left out: `pip install gensim wikipedia2vec`.
"""

import bz2
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import click

from wikilda.knowledge import BuildSettings
from wikilda.knowledge.from_dump import Extractor
from wikilda.mediawiki.dump import cut, read_piece, site_of
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.wikitext import dialect_of, scan
from wikilda.text.tokens import joined

DATA = Path(os.environ.get("WIKILDA_DATA", "../shared/data"))
MINI_ENWIKI = DATA / "mini-enwiki" / "minienwiki-20201231-pages-articles-multistream.xml.bz2"
_PIECE = 1 << 24
_END = bz2.compress(b"</mediawiki>\n")


@dataclass(frozen=True)
class Subset:
    """Some streams of a dump, as a dump."""

    path: Path
    megabytes: float
    pages: int


def streams(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The streams of a multistream dump: as they are, and decompressed."""
    data = path.read_bytes()
    while data:
        decompressor = bz2.BZ2Decompressor()
        xml = decompressor.decompress(data)
        rest = decompressor.unused_data
        yield data[: len(data) - len(rest)], xml
        data = rest


def subset(path: Path, target: Path, every: int) -> Subset:
    """Every n-th stream of a dump, so that articles and redirects are there in proportion."""
    size = pages = 0
    with target.open("wb") as out:
        for number, (compressed, xml) in enumerate(streams(path)):
            last = b"</mediawiki>" in xml
            if number == 0 or (not last and (number - 1) % every == 0):
                out.write(compressed)
                size, pages = size + len(xml), pages + xml.count(b"<page>")
        out.write(_END)
    return Subset(target, size / 1e6, pages)


# -- readers: each returns a word on what it found ------------------------------------------------------------


def decompress(dump: Path) -> str:
    """The floor: bz2 alone."""
    with bz2.open(dump) as stream:
        return f"{sum(len(block) for block in iter(lambda: stream.read(1 << 20), b'')):,} bytes"


def wikilda_pages(dump: Path) -> str:
    """Decompress and find pages."""
    return f"{sum(1 for piece in cut(dump, _PIECE) for _ in pages_in(read_piece(piece), {})):,} pages"


def wikilda_scan(dump: Path) -> str:
    """Decompress, find pages, scan their wikitext."""
    site = site_of(dump)
    dialect = dialect_of(site)
    links = 0
    for piece in cut(dump, _PIECE):
        pages = (page for page in pages_in(read_piece(piece), {}) if isinstance(page, RawPage))
        texts = [page.text for page in pages if page.namespace == 0 and not page.redirect]
        links += scan(*joined(texts), dialect).links.shape[1]
    return f"{links:,} links"


def wikilda_extract(dump: Path) -> str:
    """All of a build's first half: pages, links, mentions, words counted, tables written."""
    with tempfile.TemporaryDirectory() as chunks:
        extractor = Extractor(Path(chunks), site_of(dump), BuildSettings())
        for number, piece in enumerate(cut(dump, _PIECE)):
            extractor.extract(number, piece)
        return f"{sum(file.stat().st_size for file in Path(chunks).rglob('*.*')):,} bytes of tables"


def gensim_reader(dump: Path) -> str:
    """What gensim's WikiCorpus does with a page: strip its markup by regular expressions, split it into words."""
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki, tokenize

    tokens = 0
    with bz2.BZ2File(dump) as stream:
        for _, text, _ in extract_pages(stream, ("0",)):
            tokens += len(tokenize(filter_wiki(text)))
    return f"{tokens:,} words"


def wikipedia2vec_reader(dump: Path) -> str:
    """What wikipedia2vec's build-dump-db does with a page: parse it, keep paragraphs with their links."""
    from wikipedia2vec.dump_db import _parse_page
    from wikipedia2vec.utils.wiki_dump_reader import WikiDumpReader

    kept = [_parse_page(page, preprocess_func=None) for page in WikiDumpReader(str(dump))]
    return f"{sum(1 for each in kept if each and each[0] == 'page'):,} articles"


READERS: dict[str, tuple[Callable[[Path], str], str]] = {
    "bz2 alone": (decompress, ""),
    "wikilda: pages": (wikilda_pages, ""),
    "wikilda: pages + scan": (wikilda_scan, ""),
    "wikilda: whole extraction": (wikilda_extract, ""),
    "gensim": (gensim_reader, "gensim"),
    "wikipedia2vec": (wikipedia2vec_reader, "wikipedia2vec"),
}


def measured(reader: Callable[[Path], str], dump: Path, rounds: int) -> tuple[float, str]:
    """The least CPU seconds of some rounds, and what was found."""
    best, found = float("inf"), ""
    for _ in range(rounds):
        start = time.process_time()
        found = reader(dump)
        best = min(best, time.process_time() - start)
    return best, found


def results(part: Subset, rounds: int) -> str:
    """The table as Markdown; the last column says how many times as fast the whole extraction is."""
    seconds: dict[str, tuple[float, str]] = {}
    for name, (reader, needed) in READERS.items():
        if not needed or find_spec(needed):
            seconds[name] = measured(reader, part.path, rounds)
    ours = seconds["wikilda: whole extraction"][0]
    lines = ["| reader | CPU s | MB XML/s | pages/s | found | time / our extraction |", "|---|---:|---:|---:|---|---:|"]
    for name, (spent, found) in seconds.items():
        rates = f"{part.megabytes / spent:,.1f} | {part.pages / spent:,.0f}"
        lines.append(f"| {name} | {spent:,.2f} | {rates} | {found} | {spent / ours:,.2f} |")
    missing = [name for name, (_, needed) in READERS.items() if needed and not find_spec(needed)]
    return "\n".join(lines + [f"\n{name}: not installed, left out" for name in missing])


@click.command()
@click.option(
    "--dump", type=click.Path(path_type=Path), default=MINI_ENWIKI, show_default=True, help="a multistream .xml.bz2"
)
@click.option("--every", default=4, show_default=True, help="take every n-th stream of it")
@click.option("--rounds", default=2, show_default=True)
def main(dump: Path, every: int, rounds: int) -> None:
    """Compare readers of dumps on one core."""
    if not dump.is_file():
        raise SystemExit(f"{dump}: not there, skipped. Give another with --dump, or set WIKILDA_DATA.")
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as scratch:
        warm = subset(dump, Path(scratch) / "warm.xml.bz2", 200)
        for reader in (wikilda_scan, wikilda_extract):
            reader(warm.path)  # compiles the kernels
        part = subset(dump, Path(scratch) / "subset.xml.bz2", every)
        click.echo(f"{dump.name}: {part.pages:,} pages, {part.megabytes:,.1f} MB of XML, one core, best of {rounds}\n")
        click.echo(results(part, rounds))


if __name__ == "__main__":
    main()
