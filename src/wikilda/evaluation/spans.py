"""End to end: mentions are found as well as linked. InKB: only what has a topic counts, in gold and in answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Linked = tuple[int, int, int]  # start, end, topic


@dataclass(frozen=True)
class Scores:
    """Precision, recall and F1, in per cent."""

    precision: float
    recall: float
    f1: float


def micro_and_macro(gold: Sequence[Iterable[Linked]], found: Sequence[Iterable[Linked]]) -> tuple[Scores, Scores]:
    """Strong annotation match as GERBIL has it: span and topic must be gold's. Micro, and the mean over documents."""
    counts = [_counts(set(wanted), set(given)) for wanted, given in zip(gold, found, strict=True)]
    micro = _scores(*(sum(column) for column in zip(*counts, strict=True))) if counts else Scores(0.0, 0.0, 0.0)
    each = [_scores(*row) for row in counts]
    size = max(len(each), 1)
    means = (sum(getattr(row, name) for row in each) / size for name in ("precision", "recall", "f1"))
    return micro, Scores(*means)


def _counts(wanted: set[Linked], given: set[Linked]) -> tuple[int, int, int]:
    wanted, given = ({each for each in some if each[2] >= 0} for some in (wanted, given))
    return len(wanted & given), len(given), len(wanted)


def _scores(hits: int, given: int, wanted: int) -> Scores:
    """Where nothing is wanted and nothing given, all is right."""
    precision = hits / given if given else float(wanted == 0)
    recall = hits / wanted if wanted else float(given == 0)
    total = precision + recall
    return Scores(100 * precision, 100 * recall, 100 * (2 * precision * recall / total if total else 0.0))
