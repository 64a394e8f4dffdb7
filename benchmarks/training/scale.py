"""Training on a generated model: memory of a worker, the joins' share of the time, two workers against one.

python -m benchmarks.training.scale DIRECTORY [--topics 4e6] [--documents 20000] [--workers 1 2]

Model and documents (400 tokens each) are generated into DIRECTORY when they are not there. Coherence is off: generated
models have no link graph. Times of sampling, joining (forming shards) and merging (smoothing, adding up, the outer
join, writing the model and its digests) are processor times: other work on the machine does not count.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.sampler.generate import generate_model, make_document, size_of
from wikilda.training.checkpoints import read_metrics
from wikilda.training.corpus._build import Encoded, arrays_of, key_of
from wikilda.training.corpus.corpus import Corpus

LENGTH = 400


def generate_corpus(target: Path, topics: int, documents: int) -> Corpus:
    """Write a corpus that belongs to no knowledge; one that is there already is opened."""
    if target.exists():
        return Corpus.open(target)
    size, made = size_of(topics), []
    for number in range(documents):
        words, mentions = make_document(size, number, LENGTH)
        made.append(Encoded(str(number), words.astype(np.uint32), mentions.astype(np.uint32)))
    made.sort(key=lambda each: key_of(each.id))
    with Corpus.writer(target) as writer:
        for name, values in arrays_of(made).items():
            writer.array(f"00000/{name}", values)
        summary = {"documents": documents, "tokens": documents * LENGTH}
        symbols = {"words": size.words, "mentions": size.mentions}
        return writer.finish({"knowledge": "", "firsts": [0], "summary": summary, "symbols": symbols})


def anonymous(process: int) -> float:
    """Anonymous memory of a process in MB; 0 when it has gone."""
    try:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Anonymous:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def family(process: int) -> list[int]:
    """A process and its children."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        children = []
    return [process, *map(int, children)]


def run(model: Path, corpus: Path, target: Path, workers: int, more: list[str]) -> dict[str, float]:
    shutil.rmtree(target, ignore_errors=True)
    shutil.rmtree(target.with_name(f"{target.name}.training"), ignore_errors=True)
    command = [sys.executable, "-m", "wikilda", "train", str(model), str(corpus), "-o", str(target)]
    command += ["--workers", str(workers), "--set", "coherence=false", "--set", "evaluated=0",
                "--set", "held_out=0", *more]  # fmt: skip
    started, peaks = time.perf_counter(), {}
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while running.poll() is None:
        for process in family(running.pid):
            peaks[process] = max(peaks.get(process, 0.0), anonymous(process))
        time.sleep(0.1)
    if running.returncode:
        raise SystemExit(f"training failed with {running.returncode}")
    wall, row = time.perf_counter() - started, read_metrics(target)[-1]
    helpers = [peak for process, peak in peaks.items() if process != running.pid]
    return {
        "wall": wall, "iteration": row.seconds, "sampling": row.sampling_seconds,
        "joining": row.joining_seconds, "merging": row.merging_seconds,
        "documents/s": row.documents / row.seconds, "M samples/s": row.tokens * 50 / row.seconds / 1e6,
        "main MB": peaks[running.pid], "worker MB": max(helpers, default=peaks[running.pid]),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--topics", type=float, default=4e6)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--options", default="", help="more options of `wikilda train`")
    given = parser.parse_args()
    topics = int(given.topics)
    model = generate_model(given.directory / f"generated-{topics}", size_of(topics))
    corpus = generate_corpus(given.directory / f"corpus-{topics}-{given.documents}", topics, given.documents)
    print(json.dumps(model.manifest["summary"]), flush=True)
    walls, identities = {}, set()
    for workers in given.workers:
        target = given.directory / f"trained-{topics}-{workers}"
        found = run(model.path, corpus.path, target, workers, given.options.split())
        walls[workers] = found["iteration"]
        identities.add(json.loads((target / "manifest.json").read_text())["identity"])
        shown = "  ".join(f"{name} {value:,.1f}" for name, value in found.items())
        print(f"{workers} workers: {shown}  load {os.getloadavg()[0]:.1f}", flush=True)
        other = found["joining"] + found["merging"]
        print(f"  joins: {other:.1f} s of CPU, {other / found['sampling']:.1%} of the sampling", flush=True)
    first = given.workers[0]
    print("ratios: " + ", ".join(f"{n} workers ×{walls[first] / walls[n]:.2f}" for n in given.workers))
    print("same model" if len(identities) == 1 else "DIFFERENT MODELS")


if __name__ == "__main__":
    main()
