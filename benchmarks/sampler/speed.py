"""Nanoseconds a sample (token × sweep) as the number of topics grows, beside the plain list walk in the same run.

python -m benchmarks.sampler.speed DIRECTORY [--topics 1e4 1e5 1e6 4e6] [--documents 200]

Models are generated into DIRECTORY when they are not there. Times are CPU times of the thread; on a machine that is
busy with other things trust the ratios alone.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks import record
from benchmarks.sampler.generate import generate_model, make_document, size_of
from benchmarks.sampler.walk import walk
from wikilda.documents.encoding import EncodedDocument
from wikilda.lda import LdaSettings, Packet, Sampler, tagme

SWEEPS, LENGTH = 50, 400


def measure(run: Callable[[], None], samples: int, rounds: int = 3) -> float:
    """The median of some rounds, in nanoseconds a sample."""
    times = []
    for _ in range(rounds):
        started = time.thread_time()
        run()
        times.append((time.thread_time() - started) / samples * 1e9)
    return float(np.median(times))


def walk_all(sampler: Sampler, packets: list[Packet]) -> None:
    counts = np.zeros(sampler.model.topics, np.int32)
    for packet in packets:
        bag = packet.bag
        kinds = np.repeat(np.arange(len(bag.symbols)) >= bag.first_mention, bag.occurrences)
        rows = (np.repeat(bag.starts, bag.occurrences), np.repeat(bag.lengths, bag.occurrences), kinds)
        arrays = (bag.word_topics, bag.word_weights, bag.mention_topics, bag.mention_weights)
        walk(*rows, *arrays, sampler.rules.alpha, SWEEPS, np.ones(1, np.uint64), counts)


def compare(directory: Path, topics: int, documents: int) -> dict[str, float]:
    size = size_of(topics)
    model = generate_model(directory / f"generated-{topics}", size)
    sampler = Sampler(model, LdaSettings(sweeps=SWEEPS, burn_in=10, coherence=False))
    made = [EncodedDocument(*make_document(size, number, LENGTH), number) for number in range(documents)]
    packets = [sampler.packet(document) for document in made]
    guesses = [tagme(packet) for packet in packets]
    samples = documents * LENGTH * SWEEPS

    def kernel() -> None:
        for packet, guess in zip(packets, guesses, strict=True):
            sampler.sample_packet(packet, guess, 1)

    def whole() -> None:
        for document in made:
            sampler.sample(document)

    kernel()
    walk_all(sampler, packets[:1])
    few = packets[: max(documents // 8, 1)]
    found = {"sampler": measure(kernel, samples), "with packets": measure(whole, samples)}
    found["list walk"] = measure(lambda: walk_all(sampler, few), len(few) * LENGTH * SWEEPS, 1)
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(sampler.sample, made))
    found["2 threads, M samples/s"] = samples / (time.perf_counter() - started) / 1e6
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--topics", type=float, nargs="+", default=[1e4, 1e5, 1e6, 4e6])
    parser.add_argument("--documents", type=int, default=200)
    given = parser.parse_args()
    first, rows = 0.0, list[dict[str, record.Cell]]()
    for topics in given.topics:
        found = compare(given.directory, int(topics), given.documents)
        first = first or found["sampler"]
        rows.append({
            "topics": int(topics),
            "ns a sample": round(found["sampler"], 1),
            "with packets": round(found["with packets"], 1),
            "list walk": round(found["list walk"], 1),
            "list walk ×": round(found["list walk"] / found["sampler"], 1),
            "M samples/s, 2 threads": round(found["2 threads, M samples/s"], 1),
            "× first size": round(found["sampler"] / first, 2),
        })  # fmt: skip
    record.write("sampler-speed", {"speed": rows})
    print(record.table(rows))


if __name__ == "__main__":
    main()
