"""A long run of `wikilda link -o`: documents and tokens a second, and memory while it runs.

python -m benchmarks.linking.batch MODEL [--documents 50000] [--workers 2] [--data ../shared/data/news/…]
The documents are short pieces of news stories, again and again, each with its number in front.
"""

import argparse
import itertools
import json
import lzma
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import record
from benchmarks.linking.speed import memory

DATA = Path("../shared/data/news/reuters-21578.jsonl.xz")


def pieces(path: Path, words: int) -> Iterator[str]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            story = json.loads(line)["text"].split()
            yield from (" ".join(story[at : at + words]) for at in range(0, len(story), words))


def watch(process: "subprocess.Popen[bytes]", note: Path, documents: int) -> list[dict[str, record.Cell]]:
    """Memory at every tenth of the run."""
    shown, rows = 0, list[dict[str, record.Cell]]()
    while process.poll() is None:
        time.sleep(0.2)
        try:
            read = int(json.loads(note.read_text())["read"])
            sizes = memory(process.pid)
        except (OSError, ValueError, KeyError):
            continue
        if read * 10 // documents > shown:
            shown = read * 10 // documents
            rows.append({"documents": read, **{f"{name} MB": round(size) for name, size in sizes.items()}})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--words", type=int, default=40)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source, output = Path(scratch, "in.jsonl"), Path(scratch, "out.jsonl")
        stories = list(pieces(options.data, options.words))
        with source.open("w", encoding="utf-8") as file:
            for number, story in zip(range(options.documents), itertools.cycle(stories), strict=False):
                file.write(json.dumps({"text": f"{number} {story}"}) + "\n")
        command = [sys.executable, "-m", "wikilda", "link", options.model, source, "-o", output, "-j", options.workers]
        began = time.perf_counter()
        with subprocess.Popen([str(each) for each in command]) as process:
            rows = watch(process, Path(f"{output}.partial.note"), options.documents)
        took, lines = time.perf_counter() - began, sum(1 for _ in output.open("rb"))
    rate: record.Cell = round(lines / took)
    total: list[dict[str, record.Cell]] = [
        {"documents": lines, "workers": options.workers, "s": round(took, 1), "documents/s": rate}
    ]
    record.write("linking-batch", {"run": total, "memory": rows})
    print(record.table(total), record.table(rows), sep="\n\n")


if __name__ == "__main__":
    main()
