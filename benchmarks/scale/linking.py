"""Link generated documents in a process of its own, and say what that took, as one line of JSON.

python -m benchmarks.scale.linking MODEL DOCUMENTS.jsonl [accuracy]
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from wikilda._core.platform import available_cores
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.lda import LdaSettings, Sampler
from wikilda.linking import Document, Linker

_ROUNDS = 3


def memory() -> dict[str, float]:
    """Megabytes of this process: anonymous, and resident with mapped files."""
    rows = (line.split() for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    sizes = {row[0].rstrip(":"): int(row[1]) * 1024 / 1e6 for row in rows if len(row) == 3}
    return {"anonymous": sizes["Anonymous"], "resident": sizes["Rss"]}


def read(path: Path) -> list[tuple[Document, list[str]]]:
    """Documents, and the titles that their mentions truly mean."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        (
            Document(row["text"], [(each["start"], each["end"]) for each in row["mentions"]], row["id"]),
            [each["title"] for each in row["mentions"]],
        )
        for row in rows
    ]


def opened(model: Path, document: Document) -> tuple[Linker, dict[str, float]]:
    """Open a model and link one document: seconds, and the memory of the process."""
    before, used, start = memory(), time.process_time(), time.perf_counter()
    linker = Linker.open(model)
    between = time.perf_counter()
    linker.link(document)
    end, spent, after = time.perf_counter(), time.process_time() - used, memory()
    return linker, {
        "open s": between - start, "first document s": end - between, "open and link one s": end - start,
        "open and link one CPU s": spent,
        "one: anonymous MB": after["anonymous"], "one: resident MB": after["resident"],
        "imports alone: anonymous MB": before["anonymous"],
    }  # fmt: skip


def speed(linker: Linker, texts: list[Document]) -> dict[str, float]:
    """Latency of single documents, the best of some rounds each; throughput of one thread and of one a core.

    CPU times are of the thread, and do not count when other work has the core.
    """
    times, cpus = np.full(len(texts), np.inf), np.full(len(texts), np.inf)
    for _ in range(_ROUNDS):
        for at, text in enumerate(texts):
            start, used = time.perf_counter(), time.thread_time()
            linker.link(text)
            cpus[at] = min(cpus[at], time.thread_time() - used)
            times[at] = min(times[at], time.perf_counter() - start)
    p50, p99 = np.percentile(times, [50, 99]) * 1000
    cpu50, cpu99 = np.percentile(cpus, [50, 99]) * 1000
    cores = available_cores()
    with ThreadPoolExecutor(cores) as pool:
        start, used = time.perf_counter(), time.process_time()
        list(pool.map(linker.link, texts))
        took, cpu = time.perf_counter() - start, time.process_time() - used
    return {
        "p50 ms": float(p50), "p99 ms": float(p99), "p50 CPU ms": float(cpu50), "p99 CPU ms": float(cpu99),
        "documents a CPU s": len(texts) / float(cpus.sum()), "documents/s, 1 thread": len(texts) / float(times.sum()),
        f"documents/s, {cores} threads": len(texts) / took, "CPU ms a document": cpu / len(texts) * 1000,
    }  # fmt: skip


def work(linker: Linker, texts: list[Document]) -> dict[str, float]:
    """What there is to look at for a document: entries of words' rows, what mentions may mean, links to that."""
    known, words, mentions, rows = linker.knowledge, linker.model.words, linker.model.mentions, []
    linked = np.diff(known.graph.in_offsets)
    for text in texts:
        encoded = encode(text, known)
        own = np.unique(encoded.words)
        entries = sum(len(words.row(word)[0]) for word in own[own >= 0].tolist())
        symbols = np.unique(encoded.mentions)
        meant = [mentions.row(symbol)[0] for symbol in symbols[symbols >= 0].tolist()]
        candidates = np.unique(np.concatenate(meant)) if meant else np.empty(0, np.uint32)
        rows.append((entries, len(candidates), int(linked[candidates].sum())))
    names = ("entries of words' rows", "candidates", "links to candidates")
    means, highest = np.mean(rows, axis=0), np.percentile(rows, 99, axis=0)
    return {f"work: {name}": float(mean) for name, mean in zip(names, means, strict=True)} | {
        f"work: {name}, p99": float(high) for name, high in zip(names, highest, strict=True)
    }


def accuracy(linker: Linker, documents: list[tuple[Document, list[str]]]) -> dict[str, float]:
    """The share of mentions that each method gets right, of all mentions."""
    known, right, count, unknown = linker.knowledge, dict.fromkeys(("prior", "TagMe*", "sampler", "linker"), 0), 0, 0
    sampler = Sampler(linker.model, LdaSettings(), known.graph)
    for text, titles in documents:
        encoded = encode(text, known)
        symbols = np.asarray(encoded.mentions)
        sampled = sampler.sample(encoded)
        linked = linker.link(text, candidates=1, topics=0).mentions
        for at, (symbol, title) in enumerate(zip(symbols.tolist(), titles, strict=True)):
            count += 1
            unknown += symbol < 0
            if symbol < 0:
                continue
            truth = known.titles.find(title)
            right["prior"] += best_prior(known, symbol) == truth
            right["TagMe*"] += sampled.guessed(at) == truth
            right["sampler"] += int(sampled.mention(at)[0][0]) == truth
            entity = linked[at].entity
            right["linker"] += entity is not None and entity.title == title
    shares = {f"accuracy: {name} %": 100 * value / count for name, value in right.items()}
    return {"mentions linked": count, "of them unknown": unknown, **shares}


def best_prior(knowledge: Knowledge, symbol: int) -> int:
    """The topic that a mention means most often."""
    topics, counts = knowledge.mentions.row(symbol)
    return int(topics[int(np.argmax(counts))])


def main() -> None:
    """Run all, or measure the accuracy only."""
    model, path, *only = map(Path, sys.argv[1:])
    documents = read(path)
    if only:
        print(json.dumps(accuracy(Linker.open(model), documents)))
        return
    linker, found = opened(model, documents[0][0])
    found |= speed(linker, [text for text, _ in documents])
    last = memory()
    found |= {"many: anonymous MB": last["anonymous"], "many: resident MB": last["resident"]}
    found |= work(linker, [text for text, _ in documents])
    print(json.dumps(found | accuracy(linker, documents)))


if __name__ == "__main__":
    main()
