"""Linking AIDA test-a: documents a second, latency, memory, and accuracy beside the prior, in one run.

python -m benchmarks.linking.speed MODEL [--data ../shared/data/aida/aida-testa.tsv]
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.linking.aida import Gold, read_aida
from wikilda.linking import Linked, Linker

DATA = Path("../shared/data/aida/aida-testa.tsv")


def memory() -> dict[str, float]:
    """Resident memory in MB, of files and not."""
    rows = (line.split() for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    sizes = {row[0].rstrip(":"): int(row[1]) / 1024 for row in rows if len(row) == 3}
    return {"resident": sizes["Rss"], "anonymous": sizes["Anonymous"]}


def accuracy(linker: Linker, gold: list[Gold], answers: list[Linked]) -> dict[str, float]:
    """Share of the mentions that have a gold topic in the knowledge: micro, macro, and of the prior."""
    right, prior, known, documents = 0, 0, 0, []
    for (_, titles), answer in zip(gold, answers, strict=True):
        hits = []
        for title, mention in zip(titles, answer.mentions, strict=True):
            if title is None:
                continue
            wanted = linker.knowledge.find_topic(title)
            named = linker.knowledge.titles[wanted] if wanted >= 0 else title
            best = mention.entity
            hits.append(best is not None and best.title == named)
            top = max(mention.candidates, key=lambda each: each.prior, default=None)
            prior += top is not None and top.entity.title == named
            known += 1
        right += sum(hits)
        if hits:
            documents.append(sum(hits) / len(hits))
    return {"micro": right / known, "macro": float(np.mean(documents)), "prior": prior / known, "mentions": known}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    gold = list(read_aida(options.data))
    began = time.perf_counter()
    linker = Linker.open(options.model)
    opened = time.perf_counter()
    linker.link(gold[0].document)
    first = time.perf_counter()
    print(f"open {opened - began:.3f} s, first document {first - opened:.3f} s")
    for document, _ in gold:
        linker.link(document)  # warms the page cache, as a service would be
    times, answers = [], []
    for document, _ in gold:
        start = time.perf_counter()
        linker.link(document)
        times.append(time.perf_counter() - start)
        answers.append(linker.link(document, candidates=1000))
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    tokens = sum(len(document.text.split()) for document, _ in gold)
    print(f"{len(gold) / sum(times):,.0f} documents/s, {tokens / sum(times):,.0f} tokens/s")
    print(f"p50 {p50:.1f} ms, p99 {p99:.1f} ms")
    print("memory", {name: f"{size:.0f} MB" for name, size in memory().items()})
    print("accuracy", {name: round(value, 4) for name, value in accuracy(linker, gold, answers).items()})


if __name__ == "__main__":
    main()
