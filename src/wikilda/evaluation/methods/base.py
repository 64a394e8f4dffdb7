"""What a method is: it says of every mention of a document what it may mean, best first."""

from typing import NamedTuple, Protocol

from wikilda.knowledge import Knowledge
from wikilda.linking import Document


class Answer(NamedTuple):
    """The topics that a mention may mean and their scores, best first; and how probable it is that it means none."""

    topics: list[int]
    scores: list[float]
    nil: float


UNKNOWN = Answer([], [], 1.0)  # of a string that the knowledge does not have


Spans = list[tuple[int, int]]


class Method(Protocol):
    """A way to link. One method serves many threads."""

    name: str
    probabilistic: bool  # whether scores are probabilities, so that it makes sense to ask if they are calibrated

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        ...


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
