"""How fast a dump is read, a core, beside peers: `python -m benchmarks.build.reading [--megabytes N] [--rounds N]`.

All read the same pages of enwik8, one after the other on one core; CPU seconds are compared, the best of some rounds.
Peers read multistream bz2, ours also plain XML. Old exports have no `<ns>`, which peers need: it is put in. Peers that
are not installed are named: `pip install gensim wikipedia2vec mwxml mwparserfromhell wikiextractor`.
"""

import bz2
import io
import lzma
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from benchmarks import record
from wikilda.knowledge import BuildSettings
from wikilda.knowledge.from_dump import Extractor
from wikilda.mediawiki.dump import cut, read_piece, site_of
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.wikitext import dialect_of, scan
from wikilda.text.tokens import joined

DATA = Path(os.environ.get("WIKILDA_DATA", "../shared/data"))
MINI_ENWIKI = DATA / "mini-enwiki" / "minienwiki-20201231-pages-articles-multistream.xml.bz2"
_PIECE = 1 << 24
_STREAM = 1 << 20  # bytes of XML in a stream; the dumps of large wikis have 100 pages
_TITLE = re.compile(rb"<title>(?:(\w[\w ]*):)?[^<]*</title>\n")


def streams(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """The streams of a multistream dump: as they are, and decompressed."""
    data = path.read_bytes()
    while data:
        decompressor = bz2.BZ2Decompressor()
        xml = decompressor.decompress(data)
        rest = decompressor.unused_data
        yield data[: len(data) - len(rest)], xml
        data = rest


def part_of_enwik8(size: int) -> bytes:
    """The first pages of enwik8, with their namespaces, as a dump of today has them."""
    with lzma.open(next((DATA / "enwik8").glob("*.xml.xz"))) as stream:
        xml = stream.read(size)
    names = {name.encode(): key for name, key in site_of_bytes(xml).items()}

    def with_namespace(found: "re.Match[bytes]") -> bytes:
        key = names.get((found.group(1) or b"").lower(), 0)
        return found.group() + b"    <ns>%d</ns>\n" % key

    whole = xml[: xml.rfind(b"</page>") + len(b"</page>")]
    return _TITLE.sub(with_namespace, whole) + b"\n</mediawiki>\n"


def site_of_bytes(xml: bytes) -> dict[str, int]:
    """The namespaces that a dump declares."""
    from wikilda.mediawiki.site import read_site

    return read_site(xml[:100_000], "enwik8").namespaces


def multistream(xml: bytes) -> bytes:
    """A dump as bz2 streams, cut between pages."""
    first = xml.find(b"  <page>")
    parts, at = [xml[:first]], first
    while at < len(xml):
        end = xml.find(b"</page>\n", at + _STREAM)
        end = end + len(b"</page>\n") if end >= 0 else len(xml)
        parts.append(xml[at:end])
        at = end
    return b"".join(map(bz2.compress, parts))


# -- readers: each returns a word on what it found ------------------------------------------------------------


def decompress(dump: Path) -> str:
    """only bz2."""
    with bz2.open(dump) as stream:
        return f"{sum(len(block) for block in iter(lambda: stream.read(1 << 20), b'')):,} bytes"


def wikilda_pages(dump: Path) -> str:
    """Pages."""
    namespaces = site_of(dump).namespaces
    return f"{sum(1 for piece in cut(dump, _PIECE) for _ in pages_in(read_piece(piece), namespaces)):,} pages"


def wikilda_scan(dump: Path) -> str:
    """Text and links."""
    site = site_of(dump)
    dialect = dialect_of(site)
    links = 0
    for piece in cut(dump, _PIECE):
        pages = (page for page in pages_in(read_piece(piece), site.namespaces) if isinstance(page, RawPage))
        texts = [page.text for page in pages if page.namespace == 0 and not page.redirect]
        links += scan(*joined(texts), dialect).links.shape[1]
    return f"{links:,} links"


def wikilda_extract(dump: Path) -> str:
    """All of a build's first half: text, links, mentions, tokens, first sentences, written to disk."""
    with tempfile.TemporaryDirectory() as chunks:
        extractor = Extractor(Path(chunks), site_of(dump), BuildSettings())
        for number, piece in enumerate(cut(dump, _PIECE)):
            extractor.extract(number, piece)
        return f"{sum(file.stat().st_size for file in Path(chunks).rglob('*.*')):,} bytes of tables"


def gensim_reader(dump: Path) -> str:
    """Words without markup, no links."""
    from gensim.corpora.wikicorpus import extract_pages, filter_wiki, tokenize

    with bz2.BZ2File(dump) as stream:
        pages = (text for _, text, _ in extract_pages(stream, ("0",)))
        return f"{sum(len(tokenize(filter_wiki(text))) for text in pages):,} words"


def wikipedia2vec_reader(dump: Path) -> str:
    """Paragraphs with their links."""
    from wikipedia2vec.dump_db import _parse_page
    from wikipedia2vec.utils.wiki_dump_reader import WikiDumpReader

    kept = [_parse_page(page, preprocess_func=None) for page in WikiDumpReader(str(dump))]
    return f"{sum(1 for each in kept if each and each[0] == 'page'):,} articles"


def mwxml_pages(dump: Path) -> Iterator[Any]:
    """The articles that mwxml reads, with their text."""
    import mwxml

    with bz2.open(dump) as stream:
        for page in mwxml.Dump.from_file(stream):
            if page.namespace == 0:
                for revision in page:
                    yield page, revision.text or ""


def mwparserfromhell_reader(dump: Path) -> str:
    """Text and links."""
    import mwparserfromhell

    links = 0
    for _, text in mwxml_pages(dump):
        parsed = mwparserfromhell.parse(text)
        parsed.strip_code()
        links += len(parsed.filter_wikilinks())
    return f"{links:,} links"


def wikiextractor_reader(dump: Path) -> str:
    """Text, templates dropped, no links; pages by mwxml."""
    from wikiextractor.extract import Extractor as Peer

    size = 0
    for page, text in mwxml_pages(dump):
        out = io.StringIO()
        Peer(str(page.id), "0", "", page.title, text.split("\n")).extract(out)
        size += out.tell()
    return f"{size:,} characters"


OURS: dict[str, Callable[[Path], str]] = {
    "wikilda: pages": wikilda_pages, "wikilda: text and links": wikilda_scan,
    "wikilda: whole extraction": wikilda_extract,
}  # fmt: skip
PEERS: dict[str, tuple[Callable[[Path], str], tuple[str, ...]]] = {
    "gensim": (gensim_reader, ("gensim",)),
    "wikipedia2vec": (wikipedia2vec_reader, ("wikipedia2vec",)),
    "mwxml + mwparserfromhell": (mwparserfromhell_reader, ("mwxml", "mwparserfromhell")),
    "mwxml + wikiextractor": (wikiextractor_reader, ("mwxml", "wikiextractor")),
}


def measured(reader: Callable[[Path], str], dump: Path, rounds: int) -> tuple[float, str]:
    """The least CPU seconds of some rounds, and what was found."""
    best, found = float("inf"), ""
    for _ in range(rounds):
        start = time.process_time()
        found = reader(dump)
        best = min(best, time.process_time() - start)
    return best, found


def row(name: str, form: str, does: str, megabytes: float, spent: float, found: str) -> dict[str, record.Cell]:
    """One line of the table."""
    return {
        "reader": name, "from": form, "gives": does.split("\n")[0].rstrip("."), "found": found, "CPU s": spent,
        "MB of XML a CPU s": megabytes / spent,
    }  # fmt: skip


def rows(directory: Path, megabytes: int, rounds: int) -> Iterator[dict[str, record.Cell]]:
    """Ours from plain XML and bz2, then the peers."""
    xml = part_of_enwik8(megabytes * 1_000_000)
    plain, packed = directory / "part.xml", directory / "part.xml.bz2"
    plain.write_bytes(xml)
    packed.write_bytes(multistream(xml))
    size = len(xml) / 1e6
    wikilda_extract(plain)  # compiles the kernels
    for form, path in (("XML", plain), ("bz2", packed)):
        for name, reader in OURS.items():
            yield row(name, form, reader.__doc__ or "", size, *measured(reader, path, rounds))
    yield row("only bz2", "bz2", "nothing", size, *measured(decompress, packed, rounds))
    for name, (reader, needed) in PEERS.items():
        if all(map(find_spec, needed)):
            known = f"{name} ({', '.join(map(version, needed))})"
            yield row(known, "bz2", reader.__doc__ or "", size, *measured(reader, packed, 1))
        else:
            yield {"reader": name, "from": "bz2", "gives": "not installed"}


@click.command(help=__doc__)
@click.option("--megabytes", default=34, show_default=True, help="Of enwik8, from its beginning.")
@click.option("--rounds", default=3, show_default=True, help="For ours; peers run once.")
def main(megabytes: int, rounds: int) -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    made = []
    with tempfile.TemporaryDirectory() as scratch:
        for each in rows(Path(scratch), megabytes, rounds):
            print(each, flush=True)
            made.append(each)
    ours = float(
        next(each for each in made if each["reader"] == "wikilda: text and links" and each["from"] == "bz2")["CPU s"]
        or 1
    )
    for each in made:
        each["time / our text and links"] = float(each["CPU s"] or 0) / ours if each.get("CPU s") else None
    record.write("reading", {"readers": made})


if __name__ == "__main__":
    main()
