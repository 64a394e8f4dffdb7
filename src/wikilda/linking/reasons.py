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
    """What a candidate has in the urn: by itself, by mentions that mean it too, by those related to it, and by longer
    names that the mention is short for."""

    base: float
    repeats: float
    related: float
    coreference: float = 0.0

    @property
    def total(self) -> float:
        """All of it."""
        return self.base + self.repeats + self.related + self.coreference


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
class NilReasons:
    """The evidence for NIL, as logarithms that add up: its odds against the best candidate.

    Attributes
    ----------
    new_meaning
        The chance that the string has a meaning which it never had in the wiki: 1 if the wiki never linked it.
    string
        What that is worth, and the setting `nil_weight`.
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
    document: float
    names: float
    candidate: float
    parents: list[tuple[str, float]]

    @property
    def total(self) -> float:
        """All of it."""
        return self.string + self.document + self.names + self.candidate


@dataclass(frozen=True)
class Explanation:
    """A mention and the reasons for its candidates, best first; none where the knowledge does not have the string.

    `nil` is how probable it is that it means nothing that the knowledge has, `unknown` why; there is no reason for a
    string without candidates.
    """

    start: int
    end: int
    text: str
    candidates: list[Reasons]
    nil: float
    unknown: NilReasons | None = None


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
