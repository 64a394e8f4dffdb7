"""Accuracy with the prior shift that is estimated without labels, with the default, and with the best fixed one.

    python -m benchmarks.weights.shift MODEL… --gold GOLD… [--every N] [--record NAME]

For each model, its own held-out links, where there is no shift (weights learned from one half of the articles, the
other half is read), and the mentions of each file of gold. Labels choose the best fixed exponents of a grid, to
compare with; the estimate uses none.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from wikilda.documents.encoding import encode
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import Resolver
from wikilda.knowledge.held_out import articles
from wikilda.model import Model
from wikilda.model.weights import pooled
from wikilda.urn.learning import MISSED, UNKNOWN, decide, fit, prepare
from wikilda.urn.prior_shift import SPREAD, PriorShift, bias_of, maximise
from wikilda.urn.settings import UrnSettings
from wikilda.urn.urn import Part, Urn

NAMING, POPULARITY = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.3), (0.2, 0.4, 0.6, 0.8, 1.0, 1.3, 1.7)
_SMALL = 100  # documents of gold that are all read
_LOST = -9  # a topic that is no candidate


class Judged(NamedTuple):
    """A part of a document, log P(k) by topic, and the right topics of its mentions, UNKNOWN where there is none."""

    part: Part
    fame: NDArray[np.float64]
    topics: NDArray[np.int64]


Read = Callable[[Urn], Iterator[Judged]]


def own_links(urn: Urn) -> tuple[Urn, Read]:
    """An urn with weights learned from one half of the sample of its wiki, and the other half."""
    sample = [part for article in articles(urn.knowledge) for part in prepare(urn, article)]
    half = fit([(urn, sample[0::2])], pooled())

    def read(other: Urn) -> Iterator[Judged]:
        for each in sample[1::2]:
            part = decide(other, each)
            topics = np.where(each.gold == MISSED, _LOST, UNKNOWN)
            known = np.flatnonzero(each.gold >= 0)
            topics[known] = part.topics[part.mentions.numbers[part.mentions.offsets[known] + each.gold[known]]]
            yield Judged(part, each.fame, topics)

    return urn.with_weights(half), read


def gold_links(urn: Urn, path: Path, every: int) -> Read:
    """The mentions of a file of gold."""
    resolver = Resolver(urn.knowledge)
    texts = [document for dataset in read_dataset(path) for document in dataset.documents]
    if len(texts) > _SMALL:
        texts = texts[::every]
    encoded = [(encode(each, urn.knowledge), np.array(resolver.topics(each), np.int64)) for each in texts]

    def read(other: Urn) -> Iterator[Judged]:
        for document, topics in encoded:
            for part in other.draw(document).parts:
                yield Judged(part, other.fame(part.topics), np.maximum(topics[part.chosen], UNKNOWN))

    return read


def accuracy(urn: Urn, read: Read) -> tuple[float, float, int]:
    """Micro and macro accuracy in percent over the mentions that the knowledge knows, and their number."""
    right, known = list[int](), list[int]()
    for part, _, topics in read(urn):
        offsets = part.mentions.offsets
        wanted = np.flatnonzero(topics != UNKNOWN)
        found = [_best(part, offsets[at], offsets[at + 1]) == topics[at] for at in wanted.tolist()]
        right.append(sum(found))
        known.append(len(found))
    hits, sizes = np.array(right), np.array(known)
    shares = hits[sizes > 0] / sizes[sizes > 0]
    return 100 * float(hits.sum()) / max(int(sizes.sum()), 1), 100 * float(shares.mean()), int(sizes.sum())


def _best(part: Part, start: int, end: int) -> int:
    if start == end:
        return _LOST - 1
    return int(part.topics[part.mentions.numbers[start + int(np.argmax(part.posterior[start:end]))]])


def estimated(urn: Urn, read: Read) -> PriorShift:
    """The estimate, from what was read: without labels."""
    weights, bias = urn.weights, np.array(bias_of(urn))
    default = np.array([weights.naming, weights.popularity])
    unlabelled = [(urn, lambda other: ((each.part, each.fame) for each in read(other)))]
    found, known = maximise(unlabelled, default * bias, SPREAD)
    factors = np.array(found) / bias / default
    return PriorShift(float(factors[0]), float(factors[1]), known, sum(1 for _ in read(urn)))


def row(name: str, texts: str, urn: Urn, read: Read) -> dict[str, str | float | int]:
    """One row of the table."""
    weights = urn.weights
    usual, shift = accuracy(urn, read), estimated(urn, read)
    guessed = accuracy(urn.with_prior_shift(shift.naming, shift.popularity), read)
    fixed = {pair: accuracy(urn.with_exponents(*pair), read) for pair in itertools.product(NAMING, POPULARITY)}
    best = max(fixed, key=lambda pair: fixed[pair][0])
    most = max(fixed[best][0], usual[0])
    way = (guessed[0] - usual[0]) / (most - usual[0]) if most > usual[0] else 1.0
    return {
        "texts": texts, "knowledge": name, "mentions": usual[2],
        "default a, b": f"{weights.naming:.2f}, {weights.popularity:.2f}",
        "estimated": f"{weights.naming * shift.naming:.2f}, {weights.popularity * shift.popularity:.2f}",
        "best fixed": f"{best[0]:.2f}, {best[1]:.2f}", "default, micro / macro": f"{usual[0]:.1f} / {usual[1]:.1f}",
        "estimated, micro / macro": f"{guessed[0]:.1f} / {guessed[1]:.1f}",
        "best, micro / macro": f"{fixed[best][0]:.1f} / {fixed[best][1]:.1f}", "share of the way": round(way, 2),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--gold", nargs="*", type=Path, default=[])
    parser.add_argument("--every", type=int, default=1, help="Every n-th document of large sets.")
    parser.add_argument("--record", help="The name of a file in docs/figures.")
    args = parser.parse_args()
    rows = []
    for path in args.models:
        model = Model.open(path)
        urn = Urn(model, model.knowledge(), UrnSettings())
        sets = [("own links", *own_links(urn))] if next(articles(urn.knowledge), None) else []
        sets += [(gold.stem, urn, gold_links(urn, gold, args.every)) for gold in args.gold]
        for texts, chosen, read in sets:
            rows.append(row(path.name, texts, chosen, read))
            print(rows[-1], flush=True)
    if args.record:
        record.write(args.record, {"accuracy": rows})


if __name__ == "__main__":
    main()
