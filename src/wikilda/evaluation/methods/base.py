"""The base class of methods, and the candidates of a document's mentions."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikilda._core.settings import Settings
from wikilda.documents.detection import DictionaryDetector
from wikilda.knowledge import Knowledge
from wikilda.linking import Document
from wikilda.model import Model


class Answer(NamedTuple):
    """The candidates of a mention with scores, best first, and the probability of NIL."""

    topics: list[int]
    scores: list[float]
    nil: float


UNKNOWN = Answer([], [], 1.0)  # of a string that the knowledge does not have


Spans = list[tuple[int, int]]


class Candidates(NamedTuple):
    """The distinct known strings of a document; the candidates of string i are from offsets[i] on."""

    symbols: NDArray[np.int64]  # the strings by their numbers in the knowledge
    strings: NDArray[np.int64]  # the string of each mention, −1 for unknown ones
    occurrences: NDArray[np.int64]  # the number of mentions of each string
    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    priors: NDArray[np.float64]  # P(k|v)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The string of each candidate."""
        return np.repeat(np.arange(len(self.symbols)), np.diff(self.offsets))

    def answers(self, scores: ArrayLike, chosen: NDArray[np.int64] | None = None) -> list[Answer]:
        """Return an answer for each mention: candidates by scores, then priors; `chosen` ones first."""
        values = np.asarray(scores, np.float64)
        first = np.ones(len(values), np.bool_)
        if chosen is not None:
            first[chosen[chosen >= 0]] = False
        order = np.lexsort((self.topics, -self.priors, -values, first, self.owners))
        topics, ranked = self.topics[order].tolist(), values[order].tolist()
        bounds = self.offsets.tolist()
        rows = [Answer(topics[a:b], ranked[a:b], 0.0) for a, b in pairwise(bounds)]
        return [rows[string] if string >= 0 else UNKNOWN for string in self.strings.tolist()]

    def normalised(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores that add up to 1 over the candidates of a string; equal where all are 0."""
        owners, sizes = self.owners, np.diff(self.offsets)
        totals = np.bincount(owners, scores, minlength=len(sizes))[owners]
        return np.where(totals > 0, scores / np.where(totals > 0, totals, 1.0), 1.0 / np.maximum(sizes[owners], 1))


@dataclass(frozen=True)
class Given:
    """The inputs of methods: a model, its knowledge, and texts without labels."""

    model: Model
    knowledge: Knowledge
    texts: Sequence[Document] = ()


class Method(ABC):
    """A way to link. Subclass it, give it a `name`, and answer in `link`; one instance serves many threads.

    Settings are a frozen dataclass derived from `Settings`. Slow preparation belongs in `__init__`.
    """

    name: str = ""
    probabilistic: ClassVar[bool] = False  # whether scores are probabilities, so that their calibration is measured
    uses_model: ClassVar[bool] = False  # whether answers depend on the model, not only on its knowledge
    settings_type: ClassVar[type[Settings]] = Settings
    preparation = 0.0  # seconds to make it

    def __init__(self, given: Given, settings: Any = None) -> None:
        self.knowledge = given.knowledge
        self.settings = settings if settings is not None else self.settings_type()

    @abstractmethod
    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""

    def link_text(self, text: Document) -> list[tuple[tuple[int, int], Answer]]:
        """Detect the mentions of a bare text, and answer each: by default those of the knowledge's dictionary."""
        document = replace(text, mentions=self._detector.detect(text.text))
        return list(zip(spans_of(document), self.link(document), strict=True))

    @cached_property
    def _detector(self) -> DictionaryDetector:
        return DictionaryDetector(self.knowledge)

    def candidates(self, document: Document) -> Candidates:
        """The candidates of a document's mentions."""
        symbols = np.array(symbols_of(document, self.knowledge), np.int64)
        distinct, inverse, counts = np.unique(symbols, return_inverse=True, return_counts=True)
        known = int(np.searchsorted(distinct, 0))  # unknown strings, −1, come first
        distinct, strings = distinct[known:], inverse.ravel() - known
        rows = [self.knowledge.mentions.row(symbol) for symbol in distinct.tolist()]
        priors = [counts / max(int(counts.sum()), 1) for _, counts in rows]
        offsets = np.cumsum([0, *(len(topics) for topics, _ in rows)])
        topics = np.concatenate([topics for topics, _ in rows]) if rows else np.empty(0, np.uint32)
        return Candidates(
            symbols=distinct,
            strings=strings,
            occurrences=counts[known:],
            offsets=offsets,
            topics=topics,
            priors=np.concatenate(priors) if priors else np.empty(0),
        )


def spans_of(document: Document) -> Spans:
    """The spans of a document's mentions, which gold always has."""
    return document.mentions or []


def symbols_of(document: Document, knowledge: Knowledge) -> list[int]:
    """Return the mentions by their numbers in the knowledge; −1 for unknown strings."""
    return [knowledge.find_mention(document.text[start:end]) for start, end in spans_of(document)]


def priors(knowledge: Knowledge, mention: int) -> list[tuple[int, float]]:
    """P(k|v) of a mention's topics, best first."""
    topics, counts = knowledge.mentions.row(mention)
    total = max(int(counts.sum()), 1)
    rows = [(topic, count / total) for topic, count in zip(topics.tolist(), counts.tolist(), strict=True)]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
