"""Answers: a document's mentions with what they may mean, its topics, and which wiki that is said of."""

from dataclasses import dataclass
from typing import Any

from wikilda.knowledge import Knowledge
from wikilda.text.offsets import CODE_POINTS, from_code_points


@dataclass(frozen=True)
class Source:
    """The knowledge that an answer speaks of: the wiki, the files it was built from, and its identity."""

    wiki: str
    language: str
    files: tuple[str, ...]
    identity: str

    @classmethod
    def of(cls, knowledge: Knowledge) -> "Source":
        """The source that knowledge came from."""
        site, source = knowledge.site, knowledge.source
        files = tuple(str(name) for names in source.values() if isinstance(names, list) for name in names)
        return cls(site.database or site.name, site.language, files, knowledge.identity)

    def to_json(self) -> dict[str, Any]:
        """The source as plain values."""
        return {"wiki": self.wiki, "language": self.language, "files": list(self.files), "identity": self.identity}


@dataclass(frozen=True)
class Entity:
    """A topic, as the wiki knows it."""

    title: str
    page_id: int
    wikidata: str | None
    url: str

    def to_json(self) -> dict[str, Any]:
        """The entity as plain values."""
        return {"title": self.title, "page_id": self.page_id, "wikidata": self.wikidata, "url": self.url or None}


NIL_ABOVE = 0.5  # a mention that more probably means nothing known is answered so
_NOBODY = {"title": None, "page_id": None, "wikidata": None, "url": None}


@dataclass(frozen=True)
class Candidate:
    """What a mention may mean: how probable that is after sampling, and how probable it was before, P(k|v)."""

    entity: Entity
    probability: float
    prior: float

    def to_json(self) -> dict[str, Any]:
        """The candidate as plain values."""
        return self.entity.to_json() | {"probability": round(self.probability, 6), "prior": round(self.prior, 6)}


@dataclass(frozen=True)
class LinkedMention:
    """A mention and its candidates, best first; none where the knowledge does not have the string.

    `nil` is how probable it is that the mention means nothing that the knowledge has; the candidates' probabilities
    are those of a mention that means something.
    """

    start: int
    end: int
    text: str
    candidates: list[Candidate]
    nil: float = 0.0

    @property
    def entity(self) -> Entity | None:
        """What the mention means, or nothing that is known."""
        return self.candidates[0].entity if self.candidates and self.nil <= NIL_ABOVE else None

    @property
    def confidence(self) -> float:
        """How probable it is that the mention means its best candidate, not another one or nothing that is known."""
        return self.candidates[0].probability * (1 - self.nil) if self.candidates else 0.0

    def to_json(self, start: int, end: int) -> dict[str, Any]:
        """The mention as plain values, with offsets in whatever unit is wanted."""
        entity = self.entity
        return {
            "start": start,
            "end": end,
            "text": self.text,
            **(entity.to_json() if entity else _NOBODY),
            "probability": round(self.candidates[0].probability, 6) if entity else None,
            "nil": round(self.nil, 6),
            "candidates": [each.to_json() for each in self.candidates],
        }


@dataclass(frozen=True)
class TopicShare:
    """A topic of a document, and how much of the document is about it."""

    entity: Entity
    share: float

    def to_json(self) -> dict[str, Any]:
        """The topic as plain values."""
        return self.entity.to_json() | {"share": round(self.share, 6)}


@dataclass(frozen=True)
class Linked:
    """A document with its mentions linked, its topics, and the knowledge that was asked."""

    id: str
    text: str
    mentions: list[LinkedMention]
    topics: list[TopicShare]
    source: Source

    def to_json(
        self, unit: str = CODE_POINTS, *, with_text: bool = False, with_mentions: bool = True
    ) -> dict[str, Any]:
        """The document as plain values, for JSON; offsets in a unit of `wikilda.text.offsets`."""
        spans = from_code_points(self.text, [(each.start, each.end) for each in self.mentions], unit)
        pairs = zip(self.mentions, spans, strict=True)
        return {
            "id": self.id,
            **({"text": self.text} if with_text else {}),
            **({"mentions": [each.to_json(*span) for each, span in pairs]} if with_mentions else {}),
            "topics": [each.to_json() for each in self.topics],
            "knowledge": self.source.to_json(),
        }
