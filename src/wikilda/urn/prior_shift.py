"""Estimates from unlabelled texts how their prior differs from the wiki's: the exponents of naming and popularity.

The prior of a mention is π(k|v) ∝ P(v|k)^a · P(k)^b. With x_i all other evidence of mention i (words, titles, other
mentions), and if the mention is known, its likelihood is Σ_k π(k|v_i) P(x_i|k), so a and b can be estimated without
labels. NIL is one more outcome: a mention counts by its probability of being known. A string counts once per document.

The model's evidence is discriminative: exp(evidence) is not quite P(x|k), which biases the estimate. The bias is
measured where the answer is known: on held-out articles of the wiki itself, whose exponents can be fitted with labels
(`wikilda.urn.learning`). Estimates are divided by it (indirect inference). A Gaussian prior keeps few texts near the
default.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.documents.encoding import EncodedDocument
from wikilda.model.weights import pooled_file
from wikilda.urn.urn import Part, Urn

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Numbers = NDArray[np.int64]
Parts = Callable[[Urn], Iterator[tuple[Part, Vector]]]  # parts of documents, and log P(k) by topic

TEXTS = 400  # that are read, at most
SPREAD = 0.3  # standard deviation of an exponent between kinds of text
ROUNDS = 3  # of inference and estimation
LEAST = 0.02  # smaller exponents do not differ from it in their effect
_LEAST_PRIOR = 1e-12
_STEPS = 200
_CLOSE = 1e-4
_SAME = 0.1  # of a factor, that is not worth a word


class Exponents(NamedTuple):
    """The exponents of P(v|k) and of P(k)."""

    naming: float
    popularity: float


@dataclass(frozen=True)
class PriorShift:
    """How the prior of texts differs from the one that a model has for texts of any kind."""

    naming: float  # factor of the weight `naming`
    popularity: float
    mentions: float = 0.0  # expected number of strings of documents that are known and ambiguous
    texts: int = 0  # that it was estimated from; 0: not known

    def describe(self) -> str:
        """Return what was found, for people."""
        names = f"In these texts, the wiki's use of names counts {_compared(self.naming)}"
        popular = f"popularity {_compared(self.popularity)}"
        source = f" (estimated from {self.texts:,} texts with {self.mentions:,.0f} ambiguous names)"
        return f"{names} and {popular}{source if self.texts else ''}."

    def settings(self) -> dict[str, float]:
        """Return the weights to link such texts with, as settings."""
        return {"naming_shift": round(self.naming, 4), "popularity_shift": round(self.popularity, 4)}


NO_SHIFT = PriorShift(1.0, 1.0)


class Evidence(NamedTuple):
    """Candidates of mentions with several: those of mention i from offsets[i] on."""

    offsets: Numbers
    prior: Matrix  # log P(v|k) and log P(k)
    rest: Vector  # log weight by all other evidence
    known: Vector  # by mention: how much it counts


def estimate(urn: Urn, documents: Iterable[EncodedDocument]) -> PriorShift:
    """Estimate how much documents need `naming` and `popularity`, as factors of the weights of the urn."""
    texts = list(documents)

    def parts(other: Urn) -> Iterator[tuple[Part, Vector]]:
        for each in texts:
            for part in other.draw(each).parts:
                yield part, other.fame(part.topics)

    usual, bias = urn.with_prior_shift(1.0, 1.0), bias_of(urn)
    default = np.array([usual.weights.naming, usual.weights.popularity])
    found, known = maximise([(usual, parts)], default * np.array(bias), SPREAD)
    factors = np.array(found) / np.array(bias) / np.where(default > 0, default, 1.0)
    return PriorShift(float(factors[0]), float(factors[1]), known, len(texts))


def bias_of(urn: Urn) -> Exponents:
    """By which factor estimates from unlabelled texts are too large: of the wiki, or of those the package knows."""
    return Exponents(*(urn.model.learned_weights.get("bias") or pooled_file()["bias"]))


def maximise(samples: Sequence[tuple[Urn, Parts]], centre: Vector, spread: float) -> tuple[Exponents, float]:
    """Maximise the marginal likelihood of texts; also return the number of strings that it was estimated from.

    The other evidence depends on the exponents, since mentions support each other: inference and estimation alternate.
    """
    found, known = np.array([samples[0][0].weights.naming, samples[0][0].weights.popularity]), 0.0
    for _ in range(ROUNDS):
        evidence = joined([evidence_of(urn.with_exponents(*found.tolist()), parts) for urn, parts in samples])
        found, known = _ascend(evidence, found, centre, spread), float(evidence.known.sum())
    return Exponents(*found.tolist()), known


def evidence_of(urn: Urn, parts: Parts) -> Evidence:
    """Read the evidence of the mentions that have several candidates."""
    found = [_evidence(urn, part, fame) for part, fame in parts(urn)]
    return joined(found)


def joined(found: Sequence[Evidence]) -> Evidence:
    """Join the evidence of several documents."""
    lengths = [np.empty(0, np.int64), *(np.diff(each.offsets) for each in found)]
    return Evidence(
        np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64),
        np.concatenate([np.empty((0, 2)), *(each.prior for each in found)]),
        np.concatenate([np.empty(0), *(each.rest for each in found)]),
        np.concatenate([np.empty(0), *(each.known for each in found)]),
    )


def softmax(scores: Vector, starts: Numbers, owners: Numbers) -> Vector:
    """Scores as probabilities that sum to 1 within each row."""
    largest = np.maximum.reduceat(scores, starts)
    found = np.exp(scores - largest[owners])
    whole: Vector = found / np.add.reduceat(found, starts)[owners]
    return whole


def _evidence(urn: Urn, part: Part, fame: Vector) -> Evidence:
    mentions, sources, found = part.mentions, part.sources, part.drawing.found
    lengths = np.diff(mentions.offsets)
    chosen = lengths > 1
    inside = np.repeat(chosen, lengths)
    popular = fame[mentions.numbers]
    named = np.log(np.maximum(part.found.candidates.priors[sources], _LEAST_PRIOR)) - popular
    rest = mentions.scores - part.drawing.logs.prior[sources] + urn.rules.graph * np.log(found.content)
    times = np.bincount(part.rows, minlength=1)[part.rows]
    known = (1.0 - found.nil) / np.maximum(times, 1)
    offsets = np.concatenate([[0], np.cumsum(lengths[chosen])]).astype(np.int64)
    return Evidence(offsets, np.column_stack([named, popular])[inside], rest[inside], known[chosen])


def _ascend(evidence: Evidence, start: Vector, centre: Vector, spread: float) -> Vector:
    """Maximise the likelihood given the other evidence: EM, each M-step one step of Newton's method."""
    starts, found, precision = evidence.offsets[:-1], start, np.eye(2) / spread**2
    if not len(starts):
        return found
    owners = np.repeat(np.arange(len(starts)), np.diff(evidence.offsets))
    for _ in range(_STEPS):
        scores = evidence.prior @ found
        prior = softmax(scores, starts, owners)
        posterior = softmax(scores + evidence.rest, starts, owners)
        expected = np.add.reduceat(evidence.prior * prior[:, None], starts)
        moved = np.add.reduceat(evidence.prior * posterior[:, None], starts) - expected
        gradient = evidence.known @ moved - precision @ (found - centre)
        hessian = (evidence.prior * (prior * evidence.known[owners])[:, None]).T @ evidence.prior + precision
        hessian -= (expected * evidence.known[:, None]).T @ expected
        step = np.linalg.solve(hessian, gradient)
        found = np.maximum(found + step, LEAST)
        if np.abs(step).max() < _CLOSE:
            break
    return found


def _compared(factor: float) -> str:
    if abs(factor - 1.0) <= _SAME:
        return "as usual"
    return f"{'more' if factor > 1.0 else 'less'} than usual (× {factor:.2f})"
