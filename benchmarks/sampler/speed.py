"""Nanoseconds a sample (token × sweep) as the number of topics grows, beside the plain list walk in the same run.

python -m benchmarks.sampler.speed DIRECTORY [--topics 1e4 1e5 1e6 4e6] [--documents 200]

Models are generated into DIRECTORY when they are not there. Nanoseconds are CPU time of a thread; samples a second are
by the clock, with packets, and two threads need two free cores. On a busy machine trust the ratios only.
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


def measure(run: Callable[[], None], samples: int, rounds: int = 5) -> float:
    """The best of some rounds, in nanoseconds a sample: other processes only add time."""
    times = []
    for _ in range(rounds):
        started = time.thread_time()
        run()
        times.append((time.thread_time() - started) / samples * 1e9)
    return min(times)


def rate(sampler: Sampler, documents: list[EncodedDocument], threads: int, rounds: int = 5) -> float:
    """Million samples a second by the clock, where each thread samples its share of the documents; the best round."""
    shares, times = [documents[first::threads] for first in range(threads)], []

    def sample_all(share: list[EncodedDocument]) -> None:
        for document in share:
            sampler.sample(document)

    with ThreadPoolExecutor(threads) as pool:
        for _ in range(rounds + 1):  # in the first, threads get their memory
            started = time.perf_counter()
            list(pool.map(sample_all, shares))
            times.append(time.perf_counter() - started)
    return len(documents) * LENGTH * SWEEPS / min(times) / 1e6


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
    found["one"], found["two"] = rate(sampler, made, 1), rate(sampler, made, 2)
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
            "M samples/s": round(found["one"], 1),
            "2 threads": round(found["two"], 1),
            "2 threads ×": round(found["two"] / found["one"], 2),
            "× first size": round(found["sampler"] / first, 2),
        })  # fmt: skip
    record.write("sampler-speed", {"speed": rows})
    print(record.table(rows))


if __name__ == "__main__":
    main()
