"""NIL, and whether probabilities mean what they say."""

from dataclasses import dataclass

import numpy as np

from wikilda.evaluation.bootstrap import Reals
from wikilda.evaluation.gold import NIL
from wikilda.evaluation.run import Flags, Run

BINS = 10


@dataclass(frozen=True)
class NilScores:
    """How well mentions without a topic are told from the others, in per cent; and accuracy with NIL as an answer."""

    precision: float
    recall: float
    f1: float
    accuracy: float
    mentions: int  # whose right answer is NIL


@dataclass(frozen=True)
class Bin:
    """Answers of about the same confidence: their mean confidence, and how often they were right."""

    count: int
    confidence: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """Reliability by bins of equal width, and the expected calibration error: Σ share · |confidence − right|."""

    bins: list[Bin]
    error: float


def nil_scores(run: Run) -> NilScores:
    """NIL is right where gold says so, and where gold's entity is not in the knowledge."""
    wanted, given = ~run.gold.known, run.answers == NIL
    hits = int(np.sum(wanted & given))
    precision, recall = hits / max(int(np.sum(given)), 1), hits / max(int(np.sum(wanted)), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-300)
    right = np.where(wanted, given, run.answers == run.gold.topics)
    accuracy = 100 * float(right.mean()) if len(right) else 0.0
    return NilScores(100 * precision, 100 * recall, 100 * f1, accuracy, int(np.sum(wanted)))


def answer_calibration(run: Run) -> Calibration:
    """Of mentions with a topic and candidates: how probable the best one was said to be, and whether it was right."""
    chosen = run.gold.known & np.array([bool(verdict.topics) for verdict in run.verdicts], np.bool_)
    confidence = np.array([verdict.scores[0] if verdict.scores else 0.0 for verdict in run.verdicts])
    return calibration(confidence[chosen], run.right[chosen])


def nil_calibration(run: Run) -> Calibration:
    """Of all mentions: how probable NIL was said to be, and whether it was right."""
    return calibration(np.array([verdict.nil for verdict in run.verdicts], np.float64), ~run.gold.known)


def calibration(confidence: Reals, right: Flags) -> Calibration:
    """Bins of equal width from 0 to 1, and the error over them."""
    places = np.clip((confidence * BINS).astype(np.int64), 0, BINS - 1)
    bins = []
    for number in range(BINS):
        inside = places == number
        count = int(inside.sum())
        mean = float(confidence[inside].mean()) if count else (number + 0.5) / BINS
        bins.append(Bin(count, mean, float(right[inside].mean()) if count else 0.0))
    error = sum(each.count * abs(each.confidence - each.right) for each in bins) / max(len(confidence), 1)
    return Calibration(bins, error)
