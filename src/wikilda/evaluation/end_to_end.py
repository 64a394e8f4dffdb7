"""Runs from end to end: mentions are found in the text first, by one detector for all methods."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from wikilda.documents.detection import DictionaryDetector
from wikilda.evaluation.methods.base import Method, Spans, spans_of
from wikilda.evaluation.run import Gold, Verdict, on_threads
from wikilda.knowledge import Knowledge
from wikilda.linking import Document

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


Detect = Callable[[str], Spans]


def detector(knowledge: Knowledge) -> Detect:
    """What finds mentions: the dictionary of the knowledge."""
    return DictionaryDetector(knowledge).detect


def end_to_end(method: Method, gold: Gold, detect: Detect, threads: int | None = None) -> tuple[Scores, Scores]:
    """Precision, recall and F1, micro and macro, of what is found and linked in the bare texts."""

    def link(document: Document) -> list[Linked]:
        spans = detect(document.text)
        answers = method.link(replace(document, mentions=spans))
        topics = [Verdict(*each, -1).topic for each in answers]
        return [(start, end, topic) for (start, end), topic in zip(spans, topics, strict=True)]

    wanted: list[list[Linked]] = []
    topics = iter(gold.topics.tolist())
    for document in gold.documents:
        wanted.append([(start, end, next(topics)) for start, end in spans_of(document)])
    label = f"{gold.name}: {method.name}, end to end"
    return micro_and_macro(wanted, list(on_threads(link, gold.documents, label, threads)))
