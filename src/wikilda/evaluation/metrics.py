"""Measures of a run: accuracy, micro and macro, with bootstrap deviations, also by slices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikilda.evaluation import bootstrap
from wikilda.evaluation.bootstrap import Difference, Reals, Shares
from wikilda.evaluation.gold import NIL
from wikilda.evaluation.run import Flags, Gold, Numbers, Run

NO_CANDIDATE = "no candidate"
_AMBIGUITY = ((0, 0), (1, 1), (2, 5), (6, 20), (21, None))
_RANKS = ((0, 0), (1, 1), (2, 4), (5, 19), (20, None))


@dataclass(frozen=True)
class Accuracy:
    """The paper's measures: accuracy on mentions whose gold is in the knowledge, in per cent, with deviations."""

    micro: float
    micro_deviation: float
    macro: float
    macro_deviation: float
    micro_all: float  # of all mentions that have an entity, in the knowledge or not
    recall: float  # share of mentions with gold among the candidates
    mentions: int


@dataclass(frozen=True)
class Slice:
    """Accuracy on some of the mentions."""

    name: str
    mentions: int
    accuracy: float


def accuracy(run: Run, samples: int = bootstrap.SAMPLES) -> Accuracy:
    """Return the accuracy of a method."""
    found = shares(run, samples)
    ranks = np.array([verdict.rank for verdict in run.verdicts], np.int64)
    return Accuracy(
        100 * found.micro,
        100 * bootstrap.deviation(found.micros),
        100 * found.macro,
        100 * bootstrap.deviation(found.macros),
        percent(run.right, run.gold.named),
        percent(ranks >= 0, run.gold.known),
        int(run.gold.known.sum()),
    )


def shares(run: Run, samples: int = bootstrap.SAMPLES) -> Shares:
    """Micro and macro accuracy, measured and resampled."""
    return bootstrap.shares(by_document(run.right, run.gold), by_document(run.gold.known, run.gold), samples)


def compare(first: Run, second: Run) -> dict[str, Difference]:
    """Return the difference of two methods on the same documents: micro and macro, in points."""
    return bootstrap.differences(shares(first), shares(second))


def compare_all(runs: Sequence[Run]) -> Iterator[tuple[Run, Run, dict[str, Difference]]]:
    """Return the differences of each method to each one before it."""
    sampled = [shares(run) for run in runs]
    for at, run in enumerate(runs):
        for before in range(at):
            yield run, runs[before], bootstrap.differences(sampled[at], sampled[before])


def by_ambiguity(run: Run) -> list[Slice]:
    """Return accuracy by the number of candidates of a mention's string."""
    return _slices(run, run.gold.ambiguity, _AMBIGUITY, 0)


def by_prior_rank(run: Run) -> list[Slice]:
    """Return accuracy by the rank of gold under P(k|v); 1 is best."""
    missing = _slice(run, NO_CANDIDATE, run.gold.prior_rank < 0)
    return [*_slices(run, run.gold.prior_rank, _RANKS, 1), missing]


def by_document(flags: NDArray[np.bool_], gold: Gold) -> Reals:
    """Return the number of flagged mentions of each document."""
    return np.bincount(gold.document_of, flags, minlength=len(gold.documents)).astype(np.float64)


def percent(flags: Flags, among: Flags) -> float:
    """Return the share of flagged mentions in per cent; 0 of none."""
    return 100 * float(np.sum(flags & among)) / max(int(np.sum(among)), 1)


def _slices(run: Run, values: Numbers, bounds: tuple[tuple[int, int | None], ...], shift: int) -> list[Slice]:
    slices = []
    for low, high in bounds:
        chosen = (values >= low) & (values <= high if high is not None else True)
        name = (
            f"{low + shift}" if low == high else f"{low + shift}+" if high is None else f"{low + shift}–{high + shift}"
        )
        slices.append(_slice(run, name, chosen))
    return slices


def _slice(run: Run, name: str, chosen: Flags) -> Slice:
    among = chosen & run.gold.known
    return Slice(name, int(np.sum(among)), percent(run.right, among))


BINS = 10


@dataclass(frozen=True)
class NilScores:
    """Precision and recall of NIL, in per cent, and accuracy with NIL as an answer."""

    precision: float
    recall: float
    f1: float
    accuracy: float
    mentions: int  # whose right answer is NIL


@dataclass(frozen=True)
class Bin:
    """Answers of similar confidence: their mean confidence and accuracy."""

    count: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """Reliability by bins of equal width, and the expected calibration error: Σ share · |confidence − right|."""

    bins: list[Bin]
    error: float


def nil_scores(run: Run) -> NilScores:
    """Return the scores of NIL, which is right where gold is NIL or not in the knowledge."""
    wanted, given = ~run.gold.known, run.answers == NIL
    hits = int(np.sum(wanted & given))
    precision, recall = hits / max(int(np.sum(given)), 1), hits / max(int(np.sum(wanted)), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-300)
    right = np.where(wanted, given, run.answers == run.gold.topics)
    accuracy = 100 * float(right.mean()) if len(right) else 0.0
    return NilScores(100 * precision, 100 * recall, 100 * f1, accuracy, int(np.sum(wanted)))


def answer_calibration(run: Run) -> Calibration:
    """Return the calibration of the best candidate, over mentions with a topic and candidates."""
    chosen = run.gold.known & np.array([bool(verdict.topics) for verdict in run.verdicts], np.bool_)
    confidence = np.array([verdict.scores[0] if verdict.scores else 0.0 for verdict in run.verdicts])
    return calibration(confidence[chosen], run.right[chosen])


def nil_calibration(run: Run) -> Calibration:
    """Return the calibration of NIL, over all mentions."""
    return calibration(np.array([verdict.nil for verdict in run.verdicts], np.float64), ~run.gold.known)


def calibration(confidence: Reals, right: Flags) -> Calibration:
    """Return bins of equal width from 0 to 1, and the error over them."""
    places = np.clip((confidence * BINS).astype(np.int64), 0, BINS - 1)
    bins = []
    for number in range(BINS):
        inside = places == number
        count = int(inside.sum())
        mean = float(confidence[inside].mean()) if count else (number + 0.5) / BINS
        bins.append(Bin(count, mean, float(right[inside].mean()) if count else 0.0))
    error = sum(each.count * abs(each.confidence - each.right) for each in bins) / max(len(confidence), 1)
    return Calibration(bins, error)
