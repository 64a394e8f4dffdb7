"""Builds of real dumps, watched: time, memory and disk of both halves, and what larger wikis would need by these rates.

    python -m benchmarks.build.real [--workers N]

enwik8 is built from plain XML, mini-enwiki from multistream bz2. The estimates multiply what a byte of XML took in the
build of enwik8, whose wikitext is like that of a whole wiki; knowledge grows more slowly than that.
"""

import bz2
import lzma
import shutil
import tempfile
from pathlib import Path

import click

from benchmarks import record
from benchmarks.build.reading import DATA, MINI_ENWIKI
from benchmarks.build.scaling import Made, built, row

# Bytes of XML that are assumed, in round numbers: they were not fetched.
LARGER = {"simplewiki": 1.4e9, "enwiki": 95e9}


def enwik8(directory: Path) -> Made:
    """The first 100 MB of English Wikipedia, as plain XML."""
    path = directory / "enwik8.xml"
    with lzma.open(next((DATA / "enwik8").glob("*.xml.xz"))) as packed, path.open("wb") as out:
        shutil.copyfileobj(packed, out)
    return _made(path, path.read_bytes())


def mini_enwiki(_: Path) -> Made:
    """A dump in multistream bz2."""
    return _made(MINI_ENWIKI, bz2.decompress(MINI_ENWIKI.read_bytes()))


def _made(path: Path, xml: bytes) -> Made:
    return Made(path, xml.count(b"<page>"), 0, len(xml) / 1e6, path.stat().st_size / 1e6)


def measured(name: str, dump: Made, directory: Path, workers: int) -> dict[str, record.Cell]:
    """One build as a row."""
    found = row(dump, *built(dump, directory, workers, "1GB"))
    work = found["disk MB"] - found["KB MB"]
    return {
        "dump": name, "MB of XML": round(dump.xml), "reading, s": found["reading s"],
        "assembling, s": found["assembling s"],
        "CPU s": found["CPU s"], "reading, MB of XML a CPU s": dump.xml / max(found["reading CPU s"], 0.1),
        "memory at the peak, MB": found["sum_anonymous"], "work files, MB": work, "work files / XML": work / dump.xml,
        "knowledge, MB": found["KB MB"],
    }  # fmt: skip


def estimates(like: dict[str, record.Cell], workers: int) -> list[dict[str, record.Cell]]:
    """What larger wikis need by the rates of one build."""
    rates = {
        name: float(like[name] or 0) / float(like["MB of XML"] or 1)
        for name in ("CPU s", "work files, MB", "knowledge, MB")
    }
    return [
        {
            "wiki": name, "GB of XML": size / 1e9,
            f"hours on {workers} cores": rates["CPU s"] * size / 1e6 / 3600 / workers,
            "work files, GB": rates["work files, MB"] * size / 1e9,
            "knowledge, GB": rates["knowledge, MB"] * size / 1e9,
        }
        for name, size in LARGER.items()
    ]  # fmt: skip


@click.command(help=__doc__)
@click.option("--workers", default=2, show_default=True)
def main(workers: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        rows = [measured(name, make(place), place, workers)
                for name, make in (("enwik8", enwik8), ("mini-enwiki, bz2", mini_enwiki))]  # fmt: skip
    record.write("build", {"builds": rows, "estimates": estimates(rows[0], workers)})
    print(*rows, *estimates(rows[0], workers), sep="\n")


if __name__ == "__main__":
    main()
