"""Damaged dumps: `python -m benchmarks.attacks.sources [--count 1000]`.

A small wiki as a ZIM file, as a snapshot of Wikimedia Enterprise, and as XML in each form of compression is damaged in
one to three places; a process of its own then reads all its pages. Half of the ZIM files have a checksum that fits.
Counted is how that ends: refused with a message, read as before, read otherwise, a traceback, a signal, a hang.
"""

import bz2
import collections
import gzip
import hashlib
import itertools
import json
import lzma
import os
import random
import resource
import sys
import tarfile
import tempfile
import traceback
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import click
from tests.mediawiki.dumps import zim_file
from tests.wikis import dump, page

from benchmarks.attacks import artifacts
from benchmarks.record import Cell, write
from wikilda._core.errors import InputError
from wikilda.mediawiki import dump as dumps
from wikilda.sample import texts

_SECONDS = 20
_LINKED = "About [[Topic {0}|it]]. {1}"
_DAMAGES = (artifacts.flip, artifacts.flip, artifacts.overwrite, artifacts.shorten, artifacts.lengthen)


def _text(number: int) -> str:
    return f"{number}. {texts()[number % len(texts())]['text']}"


def _xml() -> bytes:
    return dump([page(f"Topic {n}", _LINKED.format((n + 1) % 40, _text(n)), number=n + 1) for n in range(40)]).encode()


def _multistream(path: Path) -> None:
    xml = _xml()
    ends = [0, *(at for at in range(4000, len(xml), 4000)), len(xml)]
    path.write_bytes(b"".join(bz2.compress(xml[one:two]) for one, two in itertools.pairwise(ends)))


def _seven_zip(path: Path) -> None:
    import py7zr

    with py7zr.SevenZipFile(path, "w") as archive:
        archive.writestr(_xml(), "wiki.xml")


def _snapshot(path: Path) -> None:
    wiki = {"is_part_of": {"identifier": "testwiki"}, "in_language": {"identifier": "en"}}
    rows = [{"name": f"Topic {n}", "identifier": n, "article_body": {"wikitext": _text(n)}, **wiki} for n in range(40)]
    data = "".join(json.dumps(each) + "\n" for each in rows).encode()
    with tarfile.open(path, "w:gz") as archive:
        about = tarfile.TarInfo("testwiki_0.ndjson")
        about.size = len(data)
        archive.addfile(about, BytesIO(data))


def _made_zim(path: Path) -> None:
    pages = {f"Topic {n}": f'<p>About <a href="Topic_{(n + 1) % 40}">it</a>. {_text(n)}</p>' for n in range(40)}
    zim_file(path, pages, {f"Other {n}": f"Topic {n}" for n in range(40)})


SOURCES: dict[str, Callable[[Path], object]] = {
    "wiki.zim": _made_zim,
    "wiki.tar.gz": _snapshot,
    "wiki.xml": lambda path: path.write_bytes(_xml()),
    "multistream.xml.bz2": _multistream,
    "wiki.xml.bz2": lambda path: path.write_bytes(bz2.compress(_xml())),
    "wiki.xml.gz": lambda path: path.write_bytes(gzip.compress(_xml())),
    "wiki.xml.xz": lambda path: path.write_bytes(lzma.compress(_xml())),
    "wiki.xml.7z": _seven_zip,
}


def pages(path: Path) -> bytes:
    """All pages of a source, as a build reads them."""
    dumps.site_of(path)
    dumps.check(path)
    return b"".join(dumps.read_piece(each) for each in dumps.cut(path, 1 << 14))


def read(path: Path, wanted: bytes) -> str:
    """Read a source in a process of its own: how that ended."""
    process = os.fork()
    if process == 0:
        code = 99
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 1))
            code = 0 if pages(path) == wanted else 2
        except InputError:
            code = 1
        except BaseException:
            traceback.print_exc(limit=-2)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    ends = {0: "read as before", 1: "refused", 2: "read otherwise", -24: "hang"}
    return ends.get(code, f"signal {-code}" if code < 0 else "traceback")


@click.command()
@click.option("--count", default=1000, show_default=True, help="Damages of each source.")
@click.option("--seed", default=1, show_default=True)
def main(count: int, seed: int) -> None:
    """Damage, read, count; exit with 1 if anything ended other than with a message or pages."""
    rows: list[dict[str, Cell]] = []
    bad = 0
    with tempfile.TemporaryDirectory(prefix="wikilda-") as scratch:
        for name, make in SOURCES.items():
            chance, ends = random.Random(seed), collections.Counter[str]()
            path = Path(scratch) / name
            make(path)
            whole, wanted = path.read_bytes(), pages(path)
            for _ in range(count):
                path.write_bytes(whole)
                for _ in range(chance.choice((1, 1, 3))):
                    chance.choice(_DAMAGES)(path, chance)
                if name.endswith(".zim") and chance.random() < 0.5 and len(data := path.read_bytes()) > 16:
                    path.write_bytes(data[:-16] + hashlib.md5(data[:-16], usedforsecurity=False).digest())
                ends[read(path, wanted)] += 1
            good = {each: ends.pop(each, 0) for each in ("read as before", "read otherwise", "refused")}
            rows.append({"source": name, "damages": count, **good, "another end": sum(ends.values())})
            bad += sum(ends.values())
            print(rows[-1], dict(ends), flush=True)
    write("attacks-sources", {"ends": rows})
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
