"""Builds of real dumps, watched: time, memory and disk of both halves, and what larger wikis would need by these rates.

    python -m benchmarks.build.real [--workers N]

enwik8 and the sample are built from plain XML, mini-enwiki from multistream bz2. The estimates multiply what a byte of
XML took in the build of enwik8, whose wikitext is like that of a whole wiki; knowledge grows more slowly than that.
"""

import bz2
import lzma
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path

import click

from benchmarks import record
from benchmarks.build.reading import DATA, MINI_ENWIKI
from benchmarks.build.scaling import Made, built, row
from benchmarks.build.watch import Watched
from wikilda.sample import WIKI

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


def sample(_: Path) -> Made:
    """The wiki that ships with the package."""
    return _made(WIKI, WIKI.read_bytes())


def measured(name: str, dump: Made, seen: Watched, size: float) -> dict[str, record.Cell]:
    """One build as a row."""
    found = row(dump, seen, size)
    work = found["disk MB"] - found["KB MB"]
    return {
        "dump": name, "MB of XML": round(dump.xml, 1), "reading, s": found["reading s"],
        "assembling, s": found["assembling s"],
        "CPU s": found["CPU s"], "reading, MB of XML a CPU s": dump.xml / max(found["reading CPU s"], 0.1),
        "memory at the peak, MB": found["sum_anonymous"], "work files, MB": work, "work files / XML": work / dump.xml,
        "knowledge, MB": found["KB MB"],
    }  # fmt: skip


def steps(name: str, seen: Watched) -> list[dict[str, record.Cell]]:
    """The steps of one build; those that are over between two looks are left out."""
    before = {**seen.cpu, "": seen.cpu[""]}
    order = [each for each in before if each] + [""]
    spent = {step: before[after] - before[step] for step, after in pairwise(order)}
    return [
        {"dump": name, "step": step, "s": seconds, "CPU s": spent.get(step), "disk, MB": seen.disk.get(step),
         "memory, MB": seen.memory[step].sum_anonymous}
        for step, seconds in seen.seconds.items()
    ]  # fmt: skip


def estimates(like: dict[str, record.Cell], workers: int) -> list[dict[str, record.Cell]]:
    """What larger wikis need by the rates of one build."""
    rates = {
        name: float(like[name] or 0) / float(like["MB of XML"] or 1)
        for name in ("CPU s", "work files, MB", "knowledge, MB")
    }
    return [
        {
            "wiki": name, "GB of XML": size / 1e9,
            f"time on {workers} cores": record.duration(rates["CPU s"] * size / 1e6 / workers),
            "work files, GB": rates["work files, MB"] * size / 1e9,
            "knowledge, GB": rates["knowledge, MB"] * size / 1e9,
            "disk at the peak, GB": (rates["work files, MB"] + rates["knowledge, MB"]) * size / 1e9,
        }
        for name, size in LARGER.items()
    ]  # fmt: skip


@click.command(help=__doc__)
@click.option("--workers", default=2, show_default=True)
def main(workers: int) -> None:
    rows, parts = [], []
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        built(sample(place), place, 1, "1GB")  # compiles the kernels
        for name, make in (("enwik8", enwik8), ("mini-enwiki, bz2", mini_enwiki), ("sample", sample)):
            dump = make(place)
            seen, size = built(dump, place, workers, "1GB")
            rows.append(measured(name, dump, seen, size))
            parts += steps(name, seen)
            print(rows[-1], *parts, sep="\n", flush=True)
    record.write("build", {"builds": rows, "steps": parts, "estimates": estimates(rows[0], workers)})


if __name__ == "__main__":
    main()
