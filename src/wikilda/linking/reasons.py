"""Explanations as values: the evidence for each candidate of a mention."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from wikilda.linking.results import Answered, Entity, TopicShare


@dataclass(frozen=True)
class Word:
    """A word of the document: what it adds to a candidate's log weight, and how much more than to the rival's."""

    word: str
    occurrences: int
    weight: float
    against: float


@dataclass(frozen=True)
class Support:
    """The mentions of another string, and what they add to a candidate's log odds.

    `entity` is the string's meaning that adds most, with its probability, whether it has a link with the supported
    candidate, and the number of neighbours that they share.
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
    """The log odds of a candidate against its rival, by kind of evidence. They sum to the log odds of the posterior.

    Attributes
    ----------
    prior
        The prior.
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
class Reasons:
    """A candidate and the evidence for it against its rival: the best candidate, or the second best for that itself."""

    entity: Entity
    sentence: str
    probability: float
    prior: float
    rival: str | None
    odds: Odds
    top_words: list[Word]
    support: list[Support]


@dataclass(frozen=True)
class NilReasons:
    """The evidence for NIL against all candidates. The terms sum to the log odds of its probability.

    Attributes
    ----------
    string
        The string: how probable a new meaning is, given how often the wiki links it and to how many topics.
    title
        The titles of the candidates: an exact title is evidence against NIL, a part of a title for it.
    document
        How well the other mentions of the document fit: where they fit well, one that fits badly is rather NIL.
    names
        Other mentions of the name, and longer names that it is short for, that are NIL.
    candidate
        How well the candidates fit: little evidence for them is evidence for NIL.
    new_meaning
        The probability behind `string` that the string has a meaning which it never had in the wiki.
    parents
        Longer names of the document that the mention is short for, and the probability of NIL of each.
    """

    string: float
    title: float
    document: float
    names: float
    candidate: float
    new_meaning: float
    parents: list[tuple[str, float]]

    @property
    def total(self) -> float:
        """Return the log odds of NIL."""
        return self.string + self.title + self.document + self.names + self.candidate


@dataclass(frozen=True)
class Explanation(Answered):
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
    """The relatedness R(k, k') of two candidates of a document."""

    first: str
    second: str
    relatedness: float


@dataclass(frozen=True)
class Explained:
    """An explained document: its mentions, the relatedness of their candidates, and its topics."""

    mentions: list[Explanation]
    related: list[Relation]
    topics: list[TopicShare]
