"""Raw text in, entities out, beside spaCy's recogniser in the same run; latency of one document; memory.

python -m benchmarks.linking.raw MODEL [--data ../shared/data/aida/aida-testa.tsv] [--rounds 3]

Tokens a second are of CPU time, the best of several rounds: what a core does, however busy the machine is.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.linking.aida import read_aida
from benchmarks.linking.speed import memory
from wikilda.linking import Linker, SpacyDetector

DATA = Path("../shared/data/aida/aida-testa.tsv")
WORDS = 400


def documents(path: Path) -> list[str]:
    """The texts, joined and cut into documents of 400 words."""
    words = " \n ".join(gold.document.text for gold in read_aida(path)).split(" ")
    return [" ".join(words[at : at + WORDS]) for at in range(0, len(words) - WORDS, WORDS)]


def best(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """The least CPU time and the least time by the clock."""
    cpu, wall = [], []
    for _ in range(rounds):
        began, ticked = time.process_time(), time.perf_counter()
        work()
        cpu.append(time.process_time() - began)
        wall.append(time.perf_counter() - ticked)
    return min(cpu), min(wall)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    texts = documents(options.data)
    tokens = sum(len(text.split()) for text in texts)
    linker = Linker.open(options.model)
    for text in texts:
        linker.link(text)
    print("memory", {name: f"{size:.0f} MB" for name, size in memory().items()})
    nlp = SpacyDetector()._nlp
    jobs: dict[str, Callable[[], object]] = {
        "finding": lambda: [linker.detector.detect(text) for text in texts],
        "finding and linking": lambda: [linker.link(text) for text in texts],
        "spaCy": lambda: list(nlp.pipe(texts)),
    }
    speeds = {}
    for name, work in jobs.items():
        cpu, wall = best(work, options.rounds)
        speeds[name] = tokens / cpu
        print(f"{name}: {tokens / cpu:,.0f} tokens/s of CPU time ({tokens / wall:,.0f} by the clock)")
    print(f"linking is {speeds['finding and linking'] / speeds['spaCy']:.1f} × as fast as spaCy's recogniser")
    times, cpus = [], []
    for text in texts * 3:
        began, ticked = time.process_time(), time.perf_counter()
        linker.link(text)
        times.append((time.perf_counter() - ticked) * 1000)
        cpus.append((time.process_time() - began) * 1000)
    for name, values in (("by the clock", times), ("of CPU time", cpus)):
        p50, p99 = np.percentile(values, [50, 99])
        print(f"a document of {WORDS} words: p50 {p50:.1f} ms, p99 {p99:.1f} ms {name}")


if __name__ == "__main__":
    main()
