"""Explanations as values: the evidence for each candidate of a mention."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from wikilda.linking.results import Entity, TopicShare


@dataclass(frozen=True)
class Word:
    """A word of the document: what it adds to a candidate's log weight, and how much more than to the rival's."""

    word: str
    occurrences: int
    weight: float
    against: float


@dataclass(frozen=True)
class Support:
    """Another string of the document, and what it adds to a candidate in the urn.

    `entity` is the candidate of that string which adds most, with its probability, whether it has a link with the
    supported candidate, and how many neighbours they share.
    """

    mention: str
    times: int
    entity: Entity
    probability: float
    weight: float
    linked: bool
    shared: int


@dataclass(frozen=True)
class Odds:
    """The log odds of a candidate against its rival, by kind of evidence; they add up.

    Attributes
    ----------
    prior
        P(k|v).
    words
        The words of the document.
    title
        Whether the title matches the mention string.
    context
        The context words of the mention, if the model was trained on texts.
    graph
        Links and shared neighbours with the entities of other mentions.
    """

    prior: float
    words: float
    title: float
    context: float
    graph: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.prior + self.words + self.title + self.context + self.graph


@dataclass(frozen=True)
class Content:
    """A candidate's weight in the urn: its base; by mentions of the same entity, of related ones; by longer names."""

    base: float
    repeats: float
    related: float
    coreference: float = 0.0

    @property
    def total(self) -> float:
        """Their sum."""
        return self.base + self.repeats + self.related + self.coreference


@dataclass(frozen=True)
class Reasons:
    """A candidate and the evidence for it against its rival: the best candidate, or the second best for that itself."""

    entity: Entity
    sentence: str
    probability: float
    prior: float
    rival: str | None
    odds: Odds
    urn: Content
    top_words: list[Word]
    support: list[Support]


@dataclass(frozen=True)
class NilReasons:
    """The evidence for NIL, as logarithms that add up: its odds against the best candidate.

    Attributes
    ----------
    new_meaning
        The chance that the string has a meaning which it never had in the wiki: 1 if the wiki never linked it.
    string
        What that is worth, how often articles have the string without a link, and the setting `nil_weight`.
    title
        The best candidate's title and type: an exact title is evidence against NIL, a part of a title for it.
    document
        How well the other mentions of the document fit: what fits less well is rather NIL.
    names
        Other mentions of the name, and longer names that it is short for, that are NIL.
    candidate
        The weight of the best candidate, with a minus: little evidence for it is evidence for NIL.
    parents
        Longer names of the document that the mention is short for, and how probably each is NIL.
    """

    new_meaning: float
    string: float
    title: float
    document: float
    names: float
    candidate: float
    parents: list[tuple[str, float]]

    @property
    def total(self) -> float:
        """All of it."""
        return self.string + self.title + self.document + self.names + self.candidate


@dataclass(frozen=True)
class Explanation:
    """A mention and the evidence for its candidates, best first; none where the knowledge does not have the string.

    `nil` is the probability that it refers to nothing in the knowledge, `unknown` the evidence for that; there is none
    for a string without candidates.
    """

    start: int
    end: int
    text: str
    candidates: list[Reasons]
    nil: float
    unknown: NilReasons | None = None

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values."""
        return asdict(self)

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


@dataclass(frozen=True)
class Relation:
    """How two candidates of a document are related, R(k, k')."""

    first: str
    second: str
    relatedness: float


@dataclass(frozen=True)
class Explained:
    """A document with all of its mentions explained, how their candidates are related, and its topics."""

    mentions: list[Explanation]
    related: list[Relation]
    topics: list[TopicShare]
