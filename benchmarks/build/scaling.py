"""How a build grows with its dump: `python -m benchmarks.build.scaling 10000 100000 1000000`.

Generates dumps, builds each in a process of its own with the package's `build_from_dump`, and watches that
process and its workers.
"""

import json
import math
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

import click

from benchmarks import record
from benchmarks.build.watch import Memory, Watched, disk_size, watch
from benchmarks.generate.articles import Style
from benchmarks.generate.dump import Order, write_dump
from wikilda._core.platform import available_cores

READING = "reading pages"
_WARMING = 1000
_CHILD = """
import sys, time
from pathlib import Path
from wikilda._core.progress import Bar
from wikilda.knowledge import BuildSettings, Resources, build_from_dump
if __name__ == "__main__":
    dump, target, workers, memory, step = sys.argv[1:]
    Bar.label = lambda self, text: Path(step).write_text(text)
    resources = Resources(workers=int(workers), memory=memory)
    build_from_dump([Path(dump)], Path(target), BuildSettings(), resources=resources)
"""


@dataclass(frozen=True)
class Made:
    """A generated dump."""

    path: Path
    pages: int
    articles: int
    xml: float  # MB
    compressed: float


def made(pages: int, seed: int, article_bytes: int, directory: Path) -> Made:
    """Generate a dump, or take the one that is there."""
    path = directory / f"generated-{pages}-{seed}-{article_bytes}.xml.bz2"
    note = path.with_suffix(".json")
    if not note.is_file():
        plan, size = write_dump(Order(pages, seed, Style(article_bytes=article_bytes)), path, _cores())
        note.write_text(json.dumps({"pages": plan.pages, "articles": plan.topics, "xml": size / 1e6}))
    return Made(path=path, compressed=path.stat().st_size / 1e6, **json.loads(note.read_text()))


def built(dump: Made, directory: Path, workers: int, memory: str) -> tuple[Watched, float]:
    """Build one dump; returns what was seen, and the size of the knowledge."""
    place = directory / "build"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    script = directory / "build_one.py"  # a file, because the workers are spawned from it
    script.write_text(_CHILD)
    target = place / "kb"
    step = directory / "step"
    step.write_text(READING)
    seen = watch(
        [sys.executable, str(script), str(dump.path), str(target), str(workers), memory, str(step)],
        place, lambda: step.read_text() or READING,
    )  # fmt: skip
    size = disk_size(target)
    shutil.rmtree(place)
    return seen, size


def row(dump: Made, seen: Watched, size: float) -> dict[str, float]:
    """One line of the results."""
    total = sum(seen.seconds.values())
    reading, assembling = seen.seconds.get(READING, 0.0), total - seen.seconds.get(READING, 0.0)
    after = next((cpu for step, cpu in seen.cpu.items() if step not in ("", READING)), 0.0)
    found = {
        "pages": dump.pages, "articles": dump.articles, "MB XML": dump.xml, "MB bz2": dump.compressed, "seconds": total,
        "reading s": reading, "assembling s": assembling, "MB XML/s": dump.xml / total,
        "reading MB/s": dump.xml / max(reading, 0.1), "CPU s": seen.cpu[""],
        "reading CPU s": after, "MB XML/CPU s": dump.xml / seen.cpu[""],
        "pages/s": dump.pages / total, "disk MB": max(seen.disk.values()), "KB MB": size,
    }  # fmt: skip
    both = {name: max(getattr(each, name) for each in seen.memory.values()) for name in asdict(Memory())}
    reading_most = seen.memory[READING] if READING in seen.memory else Memory()
    return found | both | {"reading sum_anonymous": reading_most.sum_anonymous}


def exponent(rows: list[dict[str, float]], name: str) -> str:
    """How `name` grows from size to size, as a power of the dump's size: 1 is in proportion, 0 is not at all."""
    pairs = [*pairwise(rows), *([(rows[0], rows[-1])] if len(rows) > 2 else [])]
    powers = [
        math.log(b[name] / a[name]) / math.log(b["MB XML"] / a["MB XML"])
        for a, b in pairs
        if a.get(name) and b.get(name)
    ]
    return ", ".join(f"{power:.2f}" for power in powers)


def table(rows: list[dict[str, float]]) -> list[dict[str, record.Cell]]:
    """A row a figure, a column a size; the last column says how it grows."""
    return [
        {"": name.replace("_", " "), **{f"{each['pages']:,.0f} pages": each.get(name, 0.0) for each in rows},
         "exponent (step by step, whole)": exponent(rows, name)}
        for name in rows[-1]
    ]  # fmt: skip


def _cores() -> int:
    return available_cores()


@click.command()
@click.argument("sizes", nargs=-1, type=int)
@click.option("--seed", default=1, show_default=True)
@click.option("--article-bytes", default=2500, show_default=True)
@click.option("--workers", default=_cores(), show_default=True)
@click.option("--memory", default="1GB", show_default=True, help="what the build may use for sorting")
@click.option("--directory", type=click.Path(path_type=Path), help="keep dumps here; else they go when done")
def main(
    sizes: tuple[int, ...],
    seed: int,
    article_bytes: int,
    workers: int,
    memory: str,
    directory: Path | None,
) -> None:
    """Build generated dumps of several SIZES (pages) and show what grows."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        place = directory or Path(scratch)
        place.mkdir(parents=True, exist_ok=True)
        built(made(_WARMING, seed, article_bytes, place), place, 1, memory)  # compiles the kernels
        for pages in sizes or (10_000, 100_000, 1_000_000):
            dump = made(pages, seed, article_bytes, place)
            seen, size = built(dump, place, workers, memory)
            rows.append(row(dump, seen, size))
            click.echo(f"{pages:,} pages: {rows[-1]['seconds']:,.1f} s, {rows[-1]['sum_resident']:,.0f} MB", err=True)
    record.write("growth", {"growth": table(rows)})
    print(record.table(table(rows)))


if __name__ == "__main__":
    main()
