"""Why the paper's sampler stays near its prior here: figures for docs/experiments/paper-table.md.

python -m benchmarks.evaluation.why aida.model aida-train.tsv --every 4
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from math import exp
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import write
from benchmarks.rivals import make
from wikilda._core.random import stream_of
from wikilda.documents.encoding import encode
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import Given
from wikilda.evaluation.run import Gold, run
from wikilda.knowledge.graph import similarity
from wikilda.lda import Guess, LdaSettings, Packet, Sampler, tagme
from wikilda.lda.counts import Counts
from wikilda.model import PRESETS, Model, create_model


class Mention(NamedTuple):
    """A mention with a topic: its document, string, gold, and the candidate with the highest prior."""

    document: int
    symbol: int
    gold: int
    top: int
    odds: float  # of that candidate to gold, by the prior


def mentions(gold: Gold) -> list[Mention]:
    known = gold.knowledge
    found = []
    symbols = [known.find_mention(d.text[a:b]) for d in gold.documents for a, b in d.mentions or []]
    for at in np.flatnonzero(gold.known & (gold.prior_rank >= 0)).tolist():
        topics, counts = known.mentions.row(symbols[at])
        own = int(counts[topics == gold.topics[at]][0])
        top = int(topics[np.argmax(counts)]) if gold.prior_rank[at] > 0 else int(gold.topics[at])
        found.append(
            Mention(int(gold.document_of[at]), symbols[at], int(gold.topics[at]), top, int(counts.max()) / own)
        )
    return found


def wrong_priors(gold: Gold) -> list[dict[str, Any]]:
    """Of mentions whose prior is wrong: is gold introduced by another string; do priors or similarities differ more?"""
    every, graph = mentions(gold), gold.knowledge.graph
    wrong = [each for each in every if each.top != each.gold]
    meant: dict[int, set[tuple[int, int]]] = {}
    for each in every:
        meant.setdefault(each.document, set()).add((each.symbol, each.gold))
    elsewhere, gains = 0, []
    for each in wrong:
        others = {topic for symbol, topic in meant[each.document] if symbol != each.symbol}
        elsewhere += each.gold in others
        sums = [sum(similarity(graph, k, other) for other in others) for k in (each.gold, each.top)]
        if sums[1] > 0:
            gains.append(sums[0] / sums[1])
    share, odds, gain = 100 * elsewhere / len(wrong), median(each.odds for each in wrong), median(gains)
    return [
        {"question": "mentions whose most common meaning is not gold", "measured": f"{len(wrong):,} of {len(every):,}"},
        {"question": "… whose gold another string of the document means", "measured": f"{share:.1f} %"},
        {"question": "… prior of the most common meaning over gold's, median", "measured": f"{odds:.1f}"},
        {"question": "… coherence with all else at gold, gold's over the other's, median", "measured": f"{gain:.2f}"},
    ]


def digamma(x: float) -> float:
    shift = 0.0
    while x < 6:
        shift, x = shift - 1 / x, x + 1
    return float(shift + np.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6))


def packets(gold: Gold, sampler: Sampler) -> Iterator[tuple[Packet, NDArray[np.int64], Guess, Guess]]:
    """By document its packet, gold by mention symbol (−1: none), TagMe*'s guess, and gold as a guess."""
    at = 0
    for document in gold.documents:
        encoded = encode(document, gold.knowledge)
        packet = sampler.packet(encoded)
        strings = np.asarray(encoded.mentions)
        topics = gold.topics[at : at + len(strings)]
        at += len(strings)
        guess = tagme(packet)
        own, chosen = np.full(len(guess.chosen), -1, np.int64), guess.chosen.copy()
        symbols = packet.bag.symbols[packet.bag.first_mention :]
        for string, topic in zip(strings.tolist(), topics.tolist(), strict=True):
            row = int(np.searchsorted(symbols, string))
            start, end = packet.choices.offsets[row : row + 2]
            place = np.flatnonzero(packet.likeness.topics[packet.choices.candidates[start:end]] == topic)
            if string >= 0 and topic >= 0 and len(place) and own[row] < 0:
                own[row], chosen[row] = topic, place[0]
        yield packet, own, guess, Guess(chosen, guess.scores)


def hits(counts: Counts, packet: Packet, own: NDArray[np.int64]) -> int:
    """Strings whose most frequent topic is gold."""
    found = 0
    for row in np.flatnonzero(own >= 0).tolist():
        span = slice(*counts.offsets[packet.bag.first_mention + row : packet.bag.first_mention + row + 2])
        found += counts.topics[span][np.argmax(counts.sweeps[span])] == own[row] if span.stop > span.start else 0
    return found


def on_candidates(counts: Counts, packet: Packet) -> tuple[int, int]:
    """Word tokens on topics that a mention of the document could mean, and all (times sweeps)."""
    end = counts.offsets[packet.bag.first_mention]
    topics, sweeps = counts.topics[:end], counts.sweeps[:end]
    return int(sweeps[np.isin(topics, packet.likeness.topics)].sum()), int(sweeps.sum())


def sampled(gold: Gold, model: Model) -> list[dict[str, Any]]:
    """Where the sampler goes from TagMe* and from gold, and where the words are."""
    starts = {"TagMe*": [0, 0, 0], "gold": [0, 0, 0]}
    total, near, words = 0, 0, 0
    lengths = (1, 10, 50)
    samplers = [Sampler(model, LdaSettings(sweeps=n, burn_in=n // 5), gold.knowledge.graph) for n in lengths]
    for number, (packet, own, guess, right) in enumerate(packets(gold, samplers[0])):
        total += int((own >= 0).sum())
        for name, start in (("TagMe*", guess), ("gold", right)):
            for at, sampler in enumerate(samplers):
                counts = sampler.sample_packet(packet, start, stream_of(1, 0, number))
                starts[name][at] += hits(counts, packet, own)
        some, every = on_candidates(counts, packet)
        near, words = near + some, words + every
    rows = [
        {"question": f"strings at gold after {n} sweeps from {name}", "measured": f"{100 * found / total:.1f} %"}
        for name, each in starts.items()
        for n, found in zip(lengths, each, strict=True)
    ]
    about = "word tokens on topics that a mention of the document could mean"
    return [*rows, {"question": about, "measured": f"{100 * near / words:.2f} %"}]


def agreement(gold: Gold, given: Given) -> list[dict[str, Any]]:
    """How often methods answer what the prior answers."""
    runs = {name: run(make(name, given), gold) for name in ("prior", "paper", "lda", "pagerank", "urn")}
    return [
        {"question": f"answers of `{name}` that are the prior's",
         "measured": f"{100 * float((each.first == runs['prior'].first)[gold.known].mean()):.1f} %"}
        for name, each in runs.items() if name != "prior"
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("gold", type=Path)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    model = Model.open(options.model)
    dataset = read_dataset(options.gold)[0]
    gold = Gold(replace(dataset, documents=dataset.documents[:: options.every]), Resolver(model.knowledge()))
    ratio = exp(digamma(0.6) - digamma(0.16))
    rows = wrong_priors(gold)
    rows.append({"question": "exp Ψ(.6) over exp Ψ(.16): a prior of .6 to .16 at mass 1", "measured": f"{ratio:.0f}"})
    with tempfile.TemporaryDirectory() as scratch:
        paper = create_model(gold.knowledge, Path(scratch) / "paper.model", PRESETS["paper"])
        rows += sampled(gold, paper)
    rows += agreement(gold, Given(model, gold.knowledge))
    for each in rows:
        print(each["question"], each["measured"], sep=": ", flush=True)
    write("paper-sampler", {"why": rows})


if __name__ == "__main__":
    main()
