"""What a method is, and what most of them begin with: the candidates of a document's mentions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikilda._core.jit import njit
from wikilda._core.settings import Settings
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.linking import Document
from wikilda.model import Model


class Answer(NamedTuple):
    """The topics that a mention may mean and their scores, best first; and the probability of NIL."""

    topics: list[int]
    scores: list[float]
    nil: float


UNKNOWN = Answer([], [], 1.0)  # of a string that the knowledge does not have


Spans = list[tuple[int, int]]
Search = Mapping[str, Sequence[Any]]  # of each setting the values to try


class Candidates(NamedTuple):
    """The distinct strings of a document that the knowledge has; the candidates of string i are from offsets[i] on."""

    symbols: NDArray[np.int64]  # the strings, as the knowledge numbers them
    strings: NDArray[np.int64]  # for each mention its string, −1 where the knowledge does not have it
    occurrences: NDArray[np.int64]  # how many mentions have each string
    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    priors: NDArray[np.float64]  # P(k|v)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The string of each candidate."""
        return np.repeat(np.arange(len(self.symbols)), np.diff(self.offsets))

    def answers(self, scores: ArrayLike, chosen: NDArray[np.int64] | None = None) -> list[Answer]:
        """An answer for each mention: candidates by their scores, ties by their priors; `chosen` ones go first."""
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
        """Scores that add up to 1 over the candidates of a string; all the same where all are 0."""
        owners, sizes = self.owners, np.diff(self.offsets)
        totals = np.bincount(owners, scores, minlength=len(sizes))[owners]
        return np.where(totals > 0, scores / np.where(totals > 0, totals, 1.0), 1.0 / np.maximum(sizes[owners], 1))


@dataclass(frozen=True)
class Given:
    """What methods are made from: a model, its knowledge, and texts without labels to learn from."""

    model: Model
    knowledge: Knowledge
    texts: Sequence[Document] = ()


class Method(ABC):
    """A way to link. Subclass it, give it a `name`, and answer in `link`; one instance serves many threads.

    Settings are a frozen dataclass derived from `Settings`; their defaults are the paper's values, and `search` has
    the values that `wikilda tune` tries. What takes long to prepare belongs into `__init__`.
    """

    name: str = ""
    probabilistic: ClassVar[bool] = False  # whether scores are probabilities, so that their calibration is measured
    uses_model: ClassVar[bool] = False  # whether answers depend on the model, not on its knowledge alone
    settings_type: ClassVar[type[Settings]] = Settings
    search: ClassVar[Search] = {}
    preparation = 0.0  # seconds to make it

    def __init__(self, given: Given, settings: Any = None) -> None:
        self.knowledge = given.knowledge
        self.settings = settings if settings is not None else self.settings_type()

    @abstractmethod
    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""

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
            distinct, strings, counts[known:], offsets, topics, np.concatenate(priors) if priors else np.empty(0)
        )


def spans_of(document: Document) -> Spans:
    """The spans of a document's mentions, which gold always has."""
    return document.mentions or []


def symbols_of(document: Document, knowledge: Knowledge) -> list[int]:
    """The mentions in their order, as the knowledge numbers them; −1 for strings that it does not have."""
    return [knowledge.find_mention(document.text[start:end]) for start, end in spans_of(document)]


def priors(knowledge: Knowledge, mention: int) -> list[tuple[int, float]]:
    """P(k|v) of a mention's topics, best first."""
    topics, counts = knowledge.mentions.row(mention)
    total = max(int(counts.sum()), 1)
    rows = [(topic, count / total) for topic, count in zip(topics.tolist(), counts.tolist(), strict=True)]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


class Articles(NamedTuple):
    """The words of topic k, sorted, and their counts, from offsets[k] on; how rare each word is; lengths of vectors."""

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: NDArray[np.float32]
    rarity: NDArray[np.float64]  # log(topics / topics with the word)
    norms: NDArray[np.float64]  # of vectors (1 + log count) · rarity


class Context(NamedTuple):
    """The distinct words of a text, sorted, and their counts."""

    words: NDArray[np.int64]
    counts: NDArray[np.int64]


def articles_of(knowledge: Knowledge) -> Articles:
    """The articles of some knowledge."""
    topics = len(knowledge.page_ids)
    table = knowledge.words
    offsets, words, counts = _transposed(table.offsets, table.topics, table.counts, topics)
    rarity = np.log(max(topics, 2) / np.maximum(knowledge.word_frequencies, 1))
    return Articles(offsets, words, counts, rarity, _norms(offsets, words, counts, rarity))


def context_of(document: Document, span: tuple[int, int], knowledge: Knowledge, window: int = 0) -> Context:
    """The words of a document but those of one mention; at most `window` characters away, if that is not 0."""
    start, end = span
    first, last = (max(0, start - window), end + window) if window else (0, len(document.text))
    part = Document(document.text[first:last], [(start - first, end - first)])
    words = np.asarray(encode(part, knowledge).words)
    return Context(*np.unique(words[words >= 0], return_counts=True))


def document_words(document: Document, knowledge: Knowledge) -> Context:
    """All words of a document, those of its mentions as well."""
    words = np.asarray(encode(Document(document.text, []), knowledge).words)
    return Context(*np.unique(words[words >= 0], return_counts=True))


@njit
def _transposed(
    offsets: NDArray[np.int64], topics: NDArray[np.uint32], counts: NDArray[np.uint32], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    starts = np.zeros(number + 1, np.int64)
    for topic in topics:
        starts[topic + 1] += 1
    for topic in range(number):
        starts[topic + 1] += starts[topic]
    to = starts[:-1].copy()
    words, values = np.empty(len(topics), np.int32), np.empty(len(topics), np.float32)
    for word in range(len(offsets) - 1):
        for at in range(offsets[word], offsets[word + 1]):
            place = to[topics[at]]
            words[place], values[place] = word, counts[at]
            to[topics[at]] += 1
    return starts, words, values


@njit
def _norms(
    offsets: NDArray[np.int64], words: NDArray[np.int32], counts: NDArray[np.float32], rarity: NDArray[np.float64]
) -> NDArray[np.float64]:
    norms = np.zeros(len(offsets) - 1, np.float64)
    for topic in range(len(norms)):
        for at in range(offsets[topic], offsets[topic + 1]):
            norms[topic] += ((1.0 + np.log(counts[at])) * rarity[words[at]]) ** 2
    return np.sqrt(norms)


@njit
def overlaps(
    articles: Articles, topics: NDArray[np.uint32], context: Context
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """For each topic: the words that its article shares with a context, their rarity in all, and the cosine."""
    shared = np.zeros(len(topics), np.float64)
    rare, cosine = np.zeros(len(topics), np.float64), np.zeros(len(topics), np.float64)
    length = 0.0
    for at in range(len(context.words)):
        length += ((1.0 + np.log(context.counts[at])) * articles.rarity[context.words[at]]) ** 2
    for i in range(len(topics)):
        topic, here = topics[i], 0
        for at in range(articles.offsets[topic], articles.offsets[topic + 1]):
            word = articles.words[at]
            here += np.searchsorted(context.words[here:], word)
            if here == len(context.words):
                break
            if context.words[here] == word:
                rarity = articles.rarity[word]
                shared[i] += 1.0
                rare[i] += rarity
                cosine[i] += (1.0 + np.log(articles.counts[at])) * (1.0 + np.log(context.counts[here])) * rarity**2
        cosine[i] /= max(np.sqrt(length) * articles.norms[topic], 1e-300)
    return shared, rare, cosine
