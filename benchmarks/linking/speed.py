"""How fast documents are linked on one core and on two threads, beside spaCy's recogniser, in one run.

python -m benchmarks.linking.speed MODEL [--data aida-testa.tsv] [--rounds 3] [--documents N]

Rates are of CPU time, the best of several rounds: what a core does, however busy the machine is. Latency is by the
clock, of documents of 400 words.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import record
from benchmarks.linking.aida import documents
from wikilda.linking import Document, Linker, SpacyDetector

WORDS = 400


def memory(process: int | str = "self") -> dict[str, float]:
    """Resident and anonymous memory of a process in MB."""
    rows = (line.split() for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:])
    sizes = {row[0].rstrip(":"): int(row[1]) / 1024 for row in rows if len(row) == 3}
    return {"resident": sizes["Rss"], "anonymous": sizes["Anonymous"]}


def seconds(work: Callable[[], object], rounds: int, clock: Callable[[], float] = time.process_time) -> float:
    """The least time of several rounds."""
    times = []
    for _ in range(rounds):
        began = clock()
        work()
        times.append(clock() - began)
    return min(times)


def equal_parts(texts: list[str]) -> list[str]:
    """The texts joined and cut into documents of 400 words."""
    words = " \n ".join(texts).split(" ")
    return [" ".join(words[at : at + WORDS]) for at in range(0, max(len(words) - WORDS, 1), WORDS)]


def latency(linker: Linker, texts: list[str]) -> dict[str, record.Cell]:
    times = []
    for text in equal_parts(texts) * 3:
        began = time.perf_counter()
        linker.link(text, topics=0)
        times.append((time.perf_counter() - began) * 1000)
    p50, p99 = np.percentile(times, [50, 99])
    return {"documents": f"{WORDS} words, raw text", "p50 ms": round(p50, 1), "p99 ms": round(p99, 1)}


def first_answer(model: Path, document: Document) -> tuple[Linker, float]:
    began = time.perf_counter()
    linker = Linker.open(model)
    linker.link(document)
    return linker, time.perf_counter() - began


def rates(linker: Linker, given: list[Document], rounds: int) -> list[dict[str, record.Cell]]:
    """Documents and tokens a second of CPU time."""
    texts = [document.text for document in given]
    nlp, tokens = SpacyDetector()._nlp, sum(len(text.split()) for text in texts)
    jobs: dict[str, Callable[[], object]] = {
        "given mentions": lambda: [linker.link(document, topics=0) for document in given],
        "given mentions, with topics": lambda: [linker.link(document) for document in given],
        "raw text": lambda: [linker.link(text, topics=0) for text in texts],
        "raw text, with topics": lambda: [linker.link(text) for text in texts],
        "detection only": lambda: [linker.detector.detect(text) for text in texts],
        "spaCy's recogniser only": lambda: list(nlp.pipe(texts)),
    }
    for work in jobs.values():
        work()
    took = {name: seconds(work, rounds) for name, work in jobs.items()}
    return [
        {
            "input": name,
            "documents/s a core": round(len(given) / time_, 1),
            "tokens/s a core": round(tokens / time_),
            "× spaCy": round(took["spaCy's recogniser only"] / time_, 2),
        }
        for name, time_ in took.items()
    ]


def threads(linker: Linker, given: list[Document], rounds: int) -> list[dict[str, record.Cell]]:
    """Documents a second by the clock with one thread and with two."""

    def run(count: int) -> None:
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(lambda document: linker.link(document, topics=0), given))

    found = {count: len(given) / seconds(partial(run, count), rounds, time.perf_counter) for count in (1, 2)}
    return [
        {"threads": count, "documents/s": round(rate, 1), "× one": round(rate / found[1], 2)}
        for count, rate in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, help="gold of AIDA; without it, the sample's texts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=1000)
    options = parser.parse_args()
    given = documents(options.data)[: options.documents]
    linker, first = first_answer(options.model, given[0])
    tables = {
        "rates": rates(linker, given, options.rounds),
        "threads": threads(linker, given, options.rounds),
        "latency": [latency(linker, [document.text for document in given])],
    }
    used = {f"{name} MB": round(size) for name, size in memory().items()}
    tables["memory"] = [{"open and first answer, s": round(first, 2), **used}]
    record.write("linking-speed", tables)
    for rows in tables.values():
        print(record.table(rows), end="\n\n")


if __name__ == "__main__":
    main()
