"""Results of linking: a document's mentions with their candidates, its topics, and the knowledge they refer to."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring as _quoted
from typing import Any

from wikilda.documents.document import Document
from wikilda.documents.writing import html_card, html_fragment
from wikilda.knowledge import Knowledge
from wikilda.text.offsets import CODE_POINTS, from_code_points

_NIL_ABOVE = 0.5
_NO_ENTITY = {"title": None, "page_id": None, "wikidata": None, "url": None, "type": None}
_NO_ANSWER = '"title":null,"page_id":null,"wikidata":null,"url":null,"type":null,"probability":null,"confidence":null'


def is_nil(probability: float) -> bool:
    """Whether a mention with this probability of NIL is answered NIL.

    Examples
    --------
    >>> is_nil(0.5), is_nil(0.51)
    (False, True)
    """
    return probability > _NIL_ABOVE


@dataclass(frozen=True)
class Source:
    """The knowledge that an answer refers to: the wiki, the files it was built from, and its identity."""

    wiki: str
    language: str
    files: tuple[str, ...]
    identity: str

    @classmethod
    def of(cls, knowledge: Knowledge) -> "Source":
        """The source of some knowledge."""
        site, source = knowledge.site, knowledge.source
        files = tuple(str(name) for names in source.values() if isinstance(names, list) for name in names)
        return cls(site.database or site.name, site.language, files, knowledge.identity)

    def to_dict(self) -> dict[str, Any]:
        """The source as plain values."""
        return {"wiki": self.wiki, "language": self.language, "files": list(self.files), "identity": self.identity}

    @cached_property
    def json(self) -> str:
        """`to_dict` as JSON, written once for all answers."""
        return _compact(self.to_dict())


@dataclass(frozen=True)
class Entity:
    """An article of the wiki, which is a topic of the model.

    Attributes
    ----------
    title, page_id, wikidata, url
        How the wiki and Wikidata know it; `wikidata` is None and `url` empty where they are unknown.
    type
        Its most probable coarse type (person, place, …); None where the knowledge has no types.
    topic
        Its number in the knowledge; −1 for an entity that was not made by a linker.
    """

    title: str
    page_id: int
    wikidata: str | None
    url: str
    type: str | None = None
    topic: int = field(default=-1, repr=False)

    def __str__(self) -> str:
        return self.title

    def _repr_html_(self) -> str:
        known = (("type", self.type), ("wikidata", self.wikidata), ("page", self.page_id or None))
        return html_card(self.title, self.url, ((name, value) for name, value in known if value))

    def to_dict(self) -> dict[str, Any]:
        """The entity as plain values, without its number, which only its own knowledge understands."""
        known = {"title": self.title, "page_id": self.page_id, "wikidata": self.wikidata, "url": self.url or None}
        return {**known, "type": self.type}

    @cached_property
    def json_fields(self) -> str:
        """`to_dict` as JSON without its braces; linkers keep entities, so it is written once."""
        return _compact(self.to_dict())[1:-1]


@dataclass(frozen=True)
class Candidate:
    """An entity that a mention may refer to, with its posterior probability and its prior P(k|v)."""

    entity: Entity
    probability: float
    prior: float

    def __repr__(self) -> str:
        return f"Candidate({self.entity.title!r}, probability={self.probability:.3f}, prior={self.prior:.3f})"

    def to_dict(self) -> dict[str, Any]:
        """The candidate as plain values."""
        return self.entity.to_dict() | {"probability": round(self.probability, 6), "prior": round(self.prior, 6)}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        chances = f'"probability":{_rounded(self.probability)},"prior":{_rounded(self.prior)}'
        return f"{{{self.entity.json_fields},{chances}}}"


@dataclass(frozen=True)
class LinkedMention:
    """A mention and its candidates, best first; none where the knowledge does not have the string.

    Attributes
    ----------
    start, end, text
        The span in characters, and its text.
    candidates
        Their probabilities are given that the mention refers to something in the knowledge.
    nil
        The probability that it does not.
    document
        The document that the mention is in, with the spans of all its mentions.
    """

    start: int
    end: int
    text: str
    candidates: list[Candidate]
    nil: float = 0.0
    document: Document = field(default_factory=lambda: Document(""), compare=False)

    def __repr__(self) -> str:
        means = repr(self.entity.title) if self.entity else "NIL"
        confidence = f", confidence={self.confidence:.3f}" if self.entity else f", nil={self.nil:.3f}"
        return f"LinkedMention({self.text!r} [{self.start}:{self.end}] → {means}{confidence})"

    @property
    def entity(self) -> Entity | None:
        """The best candidate; None where NIL is more probable than not."""
        return self.candidates[0].entity if self.candidates and not is_nil(self.nil) else None

    @property
    def confidence(self) -> float:
        """The probability that the mention refers to its best candidate: posterior · (1 − nil)."""
        return self.candidates[0].probability * (1 - self.nil) if self.candidates else 0.0

    def to_dict(self, span: tuple[int, int] | None = None) -> dict[str, Any]:
        """The mention as plain values; `span` replaces its offsets, for those in other units."""
        entity, (start, end) = self.entity, span or (self.start, self.end)
        return {
            "start": start,
            "end": end,
            "text": self.text,
            **(entity.to_dict() if entity else _NO_ENTITY),
            "probability": round(self.candidates[0].probability, 6) if entity else None,
            "confidence": round(self.confidence, 6) if entity else None,
            "nil": round(self.nil, 6),
            "candidates": [each.to_dict() for each in self.candidates],
        }

    def to_json(self, span: tuple[int, int] | None = None) -> str:
        """`to_dict` as JSON."""
        entity, (start, end) = self.entity, span or (self.start, self.end)
        answer = _NO_ANSWER
        if entity:
            chances = f'"probability":{_rounded(self.candidates[0].probability)}'
            answer = f'{entity.json_fields},{chances},"confidence":{_rounded(self.confidence)}'
        candidates = ",".join([each.to_json() for each in self.candidates])
        where = f'"start":{start},"end":{end},"text":{_quoted(self.text)}'
        return f'{{{where},{answer},"nil":{_rounded(self.nil)},"candidates":[{candidates}]}}'


@dataclass(frozen=True)
class TopicShare:
    """A topic of a document, and its share of the document."""

    entity: Entity
    share: float

    def __repr__(self) -> str:
        return f"TopicShare({self.entity.title!r}, {self.share:.3f})"

    def to_dict(self) -> dict[str, Any]:
        """The topic as plain values."""
        return self.entity.to_dict() | {"share": round(self.share, 6)}

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return f'{{{self.entity.json_fields},"share":{_rounded(self.share)}}}'


@dataclass(frozen=True)
class Linked:
    """A document with its mentions linked and its topics. In a notebook it shows itself as highlighted text."""

    id: str
    text: str
    mentions: list[LinkedMention]
    topics: list[TopicShare]
    source: Source

    def __repr__(self) -> str:
        shown = ", ".join(f"{each.text} → {each.entity or 'NIL'}" for each in self.mentions[:5])
        more = ", …" if len(self.mentions) > 5 else ""
        count = "1 mention" if len(self.mentions) == 1 else f"{len(self.mentions)} mentions"
        return f"Linked({self.id!r}, {count}{': ' if shown else ''}{shown}{more})"

    def _repr_html_(self) -> str:
        return html_fragment(self.to_dict(with_text=True))

    def to_dict(
        self, offsets: str = CODE_POINTS, *, with_text: bool = False, with_mentions: bool = True
    ) -> dict[str, Any]:
        """The document as plain values: a line of `wikilda link`.

        Parameters
        ----------
        offsets
            The unit of offsets: `code-points`, `utf-16` or `bytes`.
        with_text
            Whether to repeat the text.
        with_mentions
            Whether to have the mentions besides the topics.
        """
        spans = from_code_points(self.text, [(each.start, each.end) for each in self.mentions], offsets)
        pairs = zip(self.mentions, spans, strict=True)
        return {
            "id": self.id,
            **({"text": self.text} if with_text else {}),
            **({"mentions": [each.to_dict(span) for each, span in pairs]} if with_mentions else {}),
            "topics": [each.to_dict() for each in self.topics],
            "knowledge": self.source.to_dict(),
        }

    def to_json(self, offsets: str = CODE_POINTS, *, with_text: bool = False, with_mentions: bool = True) -> str:
        """`to_dict` as compact JSON, without the plain values in between: a fifth of the time."""
        parts = [f'"id":{_quoted(self.id)}']
        if with_text:
            parts.append(f'"text":{_quoted(self.text)}')
        if with_mentions:
            spans = from_code_points(self.text, [(each.start, each.end) for each in self.mentions], offsets)
            found = ",".join([each.to_json(span) for each, span in zip(self.mentions, spans, strict=True)])
            parts.append(f'"mentions":[{found}]')
        topics = ",".join([each.to_json() for each in self.topics])
        return f'{{{",".join(parts)},"topics":[{topics}],"knowledge":{self.source.json}}}'


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _rounded(value: float) -> str:
    return repr(round(float(value), 6))  # NumPy's have another repr
