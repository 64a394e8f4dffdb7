"""What an explanation says."""

from dataclasses import dataclass

from wikilda.linking.results import Entity, TopicShare


@dataclass(frozen=True)
class Word:
    """A word of the document: what it adds to a candidate's log weight, and how much more than to the rival's."""

    word: str
    occurrences: int
    weight: float
    against: float


@dataclass(frozen=True)
class Companion:
    """Another string of the document, and what it adds to a candidate in the urn.

    `entity` is the meaning by which it pulls most, how probable that is, whether that has a link with the candidate,
    and how many neighbours they share.
    """

    mention: str
    times: int
    entity: Entity
    probability: float
    pull: float
    linked: bool
    shared: int


@dataclass(frozen=True)
class Odds:
    """How much more speaks for a candidate than for its rival, as logarithms that add up."""

    prior: float
    words: float
    names: float
    surroundings: float
    company: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.prior + self.words + self.names + self.surroundings + self.company


@dataclass(frozen=True)
class Content:
    """What a candidate has in the urn: from the beginning, by mentions that mean it too, by those related to it."""

    base: float
    repeats: float
    related: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.base + self.repeats + self.related


@dataclass(frozen=True)
class Reasons:
    """A candidate, and what speaks for it against its rival: the best candidate, or the second best for that itself."""

    entity: Entity
    sentence: str
    probability: float
    prior: float
    rival: str | None
    odds: Odds
    urn: Content
    top_words: list[Word]
    company: list[Companion]


@dataclass(frozen=True)
class Explanation:
    """A mention and the reasons for its candidates, best first; none where the knowledge does not have the string.

    `nil` is how probable it is that it means nothing that the knowledge has.
    """

    start: int
    end: int
    text: str
    candidates: list[Reasons]
    nil: float


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
