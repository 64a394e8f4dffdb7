"""What the coherence of Eq. 6 costs: the sampler with and without it on the same packets, in one run.

python -m benchmarks.sampler.coherence MODEL [--documents 60]

Documents are random: 200 words and 25 ambiguous mentions of the model.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks import record
from wikilda.documents.encoding import EncodedDocument
from wikilda.lda import LdaSettings, Sampler, tagme
from wikilda.model import Model

ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--documents", type=int, default=60)
    given = parser.parse_args()
    model, rng = Model.open(given.model), np.random.default_rng(1)
    ambiguous = np.flatnonzero(np.diff(model.mentions.offsets) > 1)
    documents = [
        EncodedDocument(rng.integers(0, model.words.symbols, 200), rng.choice(ambiguous, 25), number)
        for number in range(given.documents)
    ]
    samplers = {coherence: Sampler(model, LdaSettings(coherence=coherence)) for coherence in (False, True)}
    packets = [samplers[True].packet(document) for document in documents]
    guesses = [tagme(packet) for packet in packets]
    times: dict[bool, list[float]] = {False: [], True: []}
    for round_ in range(ROUNDS + 1):
        for coherence, sampler in samplers.items():
            started = time.thread_time()
            for packet, guess in zip(packets, guesses, strict=True):
                sampler.sample_packet(packet, guess, 1)
            if round_:
                times[coherence].append((time.thread_time() - started) / len(packets) * 1e6)
    without, with_it = min(times[False]), min(times[True])
    row: dict[str, record.Cell] = {
        "µs a document, without": round(without), "with coherence": round(with_it), "×": round(with_it / without, 2)
    }  # fmt: skip
    record.write("sampler-coherence", {"coherence": [row]})
    print(record.table([row]))


if __name__ == "__main__":
    main()
