"""What a data frame costs beside plain linking: figures for docs/experiments/speed.md.

python -m benchmarks.linking.frames MODEL GOLD [--rows N]
"""

import argparse
import resource
import time
from pathlib import Path

import pandas as pd

from benchmarks import record
from benchmarks.linking.speed import seconds
from wikilda.evaluation.datasets import read_dataset
from wikilda.linking import Linker

_ROUNDS = 5


def plain(linker: Linker, texts: list[str]) -> None:
    """Link, and look at every answer."""
    for linked in linker.link_many(texts, candidates=1, topics=0):
        for mention in linked.mentions:
            _ = mention.entity


def large(linker: Linker, rows: int) -> dict[str, record.Cell]:
    """Many short rows, a tenth of them null."""
    sentences = ["Croft took five wickets for England.", "Rome beat Milan in Turin.", "Nothing to see here."]
    frame = pd.DataFrame({"text": [None if row % 10 == 9 else sentences[row % 3] for row in range(rows)]})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    found = linker.link_frame(frame, rows="documents", workers=2)
    took = time.perf_counter() - start
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"rows": rows, "rows out": len(found), "seconds": round(took, 1), "memory more, MB": grown // 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    linker = Linker.open(options.model)
    texts = [each.text for each in read_dataset(options.gold)[0].documents]
    frame = pd.DataFrame({"text": texts})
    plain(linker, texts[:5])
    first = seconds(lambda: plain(linker, texts), _ROUNDS)
    rows: list[dict[str, record.Cell]] = [{"what": "plain linking", "CPU s": round(first, 2), "ratio": 1.0}]
    for kind in ("mentions", "documents"):
        took = seconds(lambda kind=kind: linker.link_frame(frame, rows=kind), _ROUNDS)  # type: ignore[misc]
        rows.append({"what": f"link_frame, rows={kind!r}", "CPU s": round(took, 2), "ratio": round(took / first, 3)})
    tables = {"cost": rows, "large": [large(linker, options.rows)]}
    record.write("frames", tables)
    for each in tables.values():
        print(record.table(each))


if __name__ == "__main__":
    main()
