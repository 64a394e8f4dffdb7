"""Run methods over gold, and compare their answers with it."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from wikilda._core.platform import available_cores
from wikilda._core.progress import bar
from wikilda.evaluation.datasets import Dataset
from wikilda.evaluation.gold import ABSENT, NIL, NO_ANSWER, Resolver
from wikilda.evaluation.methods.base import Answer, Method, priors, spans_of, symbols_of
from wikilda.knowledge import Knowledge
from wikilda.linking import Document
from wikilda.linking.batch import map_ordered
from wikilda.linking.results import is_nil

KEPT = 10  # candidates per mention that are kept

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Result = TypeVar("Result")
_NOTHING = Answer([], [], 0.0)


class Verdict(NamedTuple):
    """An answer compared with gold: the best candidates, and the rank of gold (from 0; −1: none)."""

    topics: list[int]
    scores: list[float]
    nil: float
    rank: int

    @property
    def topic(self) -> int:
        """The method's answer: a topic, NIL, or NO_ANSWER where it gave none."""
        if self.nil and is_nil(self.nil, self.scores[0] if self.scores else 0.0):
            return NIL
        return self.topics[0] if self.topics else NO_ANSWER


@dataclass(frozen=True)
class Failure:
    """A document in which a method raised an exception; its mentions have no answer."""

    document: str
    error: str


class Gold:
    """A data set resolved in the knowledge. Lists run over all mentions of all documents."""

    def __init__(self, dataset: Dataset, resolver: Resolver) -> None:
        self.name, self.complaints = dataset.name, dataset.complaints
        self.documents: list[Document] = list(dataset.documents)
        self.splits = {document.split for document in dataset.documents}
        self.knowledge: Knowledge = resolver.knowledge
        topics = [resolver.topics(document) for document in dataset.documents]
        self.topics: Numbers = np.array([topic for each in topics for topic in each], np.int64)
        self.names = [names for document in dataset.documents for names in document.gold]
        self.document_of: Numbers = np.repeat(np.arange(len(topics)), [len(each) for each in topics])

    @property
    def known(self) -> Flags:
        """Mentions that have a topic."""
        return self.topics >= 0

    @property
    def named(self) -> Flags:
        """Mentions that have an entity, in the knowledge or not."""
        return np.asarray(self.topics != NIL)

    @property
    def absent(self) -> Flags:
        """Mentions whose entity is not in the knowledge."""
        return np.asarray(self.topics == ABSENT)

    @cached_property
    def entities(self) -> tuple[int, int]:
        """The number of distinct entities of gold, and of those in the knowledge."""
        found = {names: topic >= 0 for names, topic in zip(self.names, self.topics.tolist(), strict=True) if names}
        return len(found), sum(found.values())

    @cached_property
    def ambiguity(self) -> Numbers:
        """The number of candidates of each mention's string."""
        return np.array([len(each) for each in self._candidates], np.int64)

    @cached_property
    def prior_rank(self) -> Numbers:
        """The rank of gold under P(k|v), from 0; −1 where it is not a candidate."""
        both = zip(self._candidates, self.topics.tolist(), strict=True)
        return np.array([row.index(topic) if topic in row else -1 for row, topic in both], np.int64)

    @cached_property
    def _candidates(self) -> list[list[int]]:
        rows: dict[int, list[int]] = {-1: []}
        symbols = [number for text in self.documents for number in symbols_of(text, self.knowledge)]
        for symbol in symbols:
            if symbol not in rows:
                rows[symbol] = [topic for topic, _ in priors(self.knowledge, symbol)]
        return [rows[symbol] for symbol in symbols]


@dataclass(frozen=True)
class Run:
    """A method's answers to a data set."""

    method: str
    probabilistic: bool
    gold: Gold
    verdicts: list[Verdict]
    seconds: float
    failures: list[Failure] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    preparation: float = 0.0  # seconds to make the method

    @cached_property
    def answers(self) -> Numbers:
        """The topic of each mention, or NIL."""
        return np.array([verdict.topic for verdict in self.verdicts], np.int64)

    @cached_property
    def first(self) -> Numbers:
        """The best candidate of each mention, even where NIL is more probable; NIL without candidates."""
        return np.array([verdict.topics[0] if verdict.topics else NIL for verdict in self.verdicts], np.int64)

    @cached_property
    def right(self) -> Flags:
        """Mentions whose best candidate is gold: disambiguation as in the paper, which leaves NIL aside."""
        return np.asarray((self.first == self.gold.topics) & self.gold.known)


def run(method: Method, gold: Gold, threads: int | None = None) -> Run:
    """Link all documents on several threads, and compare the answers with gold."""
    verdicts: list[Verdict] = []
    failures: list[Failure] = []
    topics = iter(gold.topics.tolist())
    began = time.perf_counter()
    linked = on_threads(partial(_guarded, method), gold.documents, f"{gold.name}: {method.name}", threads)
    for document, answers in zip(gold.documents, linked, strict=True):
        if isinstance(answers, Failure):
            failures.append(answers)
            answers = [_NOTHING] * len(spans_of(document))
        verdicts += [_judge(answer, next(topics)) for answer in answers]
    seconds, settings = time.perf_counter() - began, method.settings.to_mapping()
    return Run(method.name, method.probabilistic, gold, verdicts, seconds, failures, settings, method.preparation)


def _guarded(method: Method, document: Document) -> list[Answer] | Failure:
    """Call a method, and turn an exception in one document into a failure."""
    try:
        answers, mentions = method.link(document), len(spans_of(document))
        if len(answers) == mentions:
            return answers
        return Failure(document.id, f"{len(answers)} answers to {mentions} mentions")
    except Exception as error:
        return Failure(document.id, f"{type(error).__name__}: {error}")


def on_threads(
    link: Callable[[Document], Result], documents: list[Document], label: str, threads: int | None
) -> Iterator[Result]:
    """Yield the results of a function for documents in order. After an error no more are started."""
    with bar(label, len(documents), unit="documents") as progress:
        for result in map_ordered(link, documents, threads or available_cores()):
            yield result
            progress.advance()


def _judge(answer: Answer, gold: int) -> Verdict:
    rank = answer.topics.index(gold) if gold in answer.topics else -1
    return Verdict(topics=answer.topics[:KEPT], scores=answer.scores[:KEPT], nil=answer.nil, rank=rank)


Linked = tuple[int, int, int]  # start, end, topic


@dataclass(frozen=True)
class Scores:
    """Precision, recall and F1, in per cent."""

    precision: float
    recall: float
    f1: float


def micro_and_macro(gold: Sequence[Iterable[Linked]], found: Sequence[Iterable[Linked]]) -> tuple[Scores, Scores]:
    """Return micro and macro scores by GERBIL's strong annotation match: span and topic must be gold's."""
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
    """Return scores; 100 where there is neither gold nor answers."""
    precision = hits / given if given else float(wanted == 0)
    recall = hits / wanted if wanted else float(given == 0)
    total = precision + recall
    return Scores(100 * precision, 100 * recall, 100 * (2 * precision * recall / total if total else 0.0))


def end_to_end(method: Method, gold: Gold, threads: int | None = None) -> tuple[Scores, Scores]:
    """Return precision, recall and F1, micro and macro, of detecting and linking mentions in raw text."""

    def link(document: Document) -> list[Linked]:
        return [(start, end, Verdict(*each, -1).topic) for (start, end), each in method.link_text(document)]

    topics = iter(gold.topics.tolist())
    wanted = [[(start, end, next(topics)) for start, end in spans_of(document)] for document in gold.documents]
    label = f"{gold.name}: {method.name}, end to end"
    return micro_and_macro(wanted, list(on_threads(link, gold.documents, label, threads)))
