"""Updates against builds: a wiki eight years later, and five changed pages of enwik8.

    python -m benchmarks.build.updates

Seconds of the processor are those of all processes. Each command runs twice and the second run counts, so that kernels
are loaded in both.
"""

import lzma
import re
import resource
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.build.reading import DATA
from wikilda.knowledge import Knowledge
from wikilda.training.build import build
from wikilda.training.update import update

_ADDED = b" It has changed; see [[Berlin|the capital]]."
_EQUAL = "equal tables, but for the sample"
Row = dict[str, record.Cell]


def timed(run: Callable[[], Any]) -> Row:
    """Seconds by the clock and of the processor, of the second run."""
    run()
    began, before = time.perf_counter(), _cpu()
    run()
    return {"s": time.perf_counter() - began, "CPU s": _cpu() - before}


def _cpu() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measured(name: str, old: Path, newer: Path, whole: Path, place: Path) -> list[Row]:
    """A build of the newer wiki, and the update that gives the same."""
    built = timed(lambda: build(whole, place / "built", overwrite=True))
    counts: dict[str, int] = {}
    updated = timed(lambda: counts.update(update(old, newer, place / "updated", overwrite=True).report.counts))
    known = Knowledge.open(place / "built")
    equal = _tables(known) == _tables(Knowledge.open(place / "updated"))
    pages = counts["pages that are new or have changed"]
    return [
        {"wiki": name, "command": "build", "pages extracted": known.summary["pages"], **built, _EQUAL: None},
        {"wiki": name, "command": "update", "pages extracted": pages, **updated, _EQUAL: str(equal)},
    ]


def _tables(known: Knowledge) -> dict[str, Any]:
    """The digests of all arrays but those of the sample of articles, of which an update may lack a few."""
    return {name: about for name, about in known.files.items() if not name.startswith("sample/")}


def five_changed(xml: bytes, place: Path) -> tuple[Path, Path]:
    """An export of five changed articles, and the whole dump with them."""
    pages = [page for page in re.findall(rb"<page>.*?</page>", xml, re.DOTALL) if len(page) > 5000][100:600:100]
    changed = [
        page.replace(b"</text>", _ADDED + b"</text>").replace(b"<timestamp>2006", b"<timestamp>2007")
        for page in pages
    ]  # fmt: skip
    whole = xml
    for page, now in zip(pages, changed, strict=True):
        whole = whole.replace(page, now)
    (place / "five.xml").write_bytes(xml[: xml.index(b"<page>")] + b"\n".join(changed) + b"\n</mediawiki>\n")
    (place / "whole.xml").write_bytes(whole)
    return place / "five.xml", place / "whole.xml"


def main() -> None:
    """Measure and record."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        old, new = (DATA / "wikis-full" / f"nds-nl-{year}.xml.xz" for year in (2014, 2022))
        build(old, place / "old")
        rows += measured("nds-nl, 2014 → 2022", place / "old", new, new, place)
        shutil.rmtree(place / "old")
        xml = lzma.decompress(next((DATA / "enwik8").glob("*.xml.xz")).read_bytes())
        (place / "enwik8.xml").write_bytes(xml)
        build(place / "enwik8.xml", place / "old")
        few, whole = five_changed(xml, place)
        rows += measured("enwik8, five pages", place / "old", few, whole, place)
        pieces = sum(file.stat().st_size for file in (place / "old/knowledge/pieces").rglob("*") if file.is_file())
    for row in rows:
        print(row)
    record.write("updates", {"updates": rows}, pieces_of_enwik8_in_mb=round(pieces / 1e6, 1))


if __name__ == "__main__":
    main()
