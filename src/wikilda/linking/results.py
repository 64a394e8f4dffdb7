"""Results of linking: a document's mentions with their candidates, its topics, and the knowledge they refer to."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring as _quoted
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.documents.document import Document
from wikilda.documents.writing import html_card, html_fragment
from wikilda.knowledge import Knowledge
from wikilda.linking.restriction import ALL, Restriction
from wikilda.text.offsets import CODE_POINTS, Spans, from_code_points
from wikilda.urn.own_entities import OwnEntity

_DIGITS = 6  # digits of numbers in output
_NO_ENTITY = {"id": None, "title": None, "page_id": None, "wikidata": None, "url": None, "type": None}
_NO_ANSWER = ",".join(f'"{name}":null' for name in (*_NO_ENTITY, "probability", "confidence"))


def is_nil(nil: float, best: float) -> bool:
    """Return whether NIL is the most probable answer.

    Parameters
    ----------
    nil
        The probability of NIL.
    best
        The posterior of the best candidate, given that the mention refers to something in the knowledge.

    Examples
    --------
    >>> is_nil(0.5, best=1.0), is_nil(0.4, best=0.9), is_nil(0.4, best=0.5)
    (False, False, True)
    """
    return nil > best * (1 - nil)


def are_nil(nil: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return `is_nil` for many mentions."""
    return np.asarray(nil > best * (1 - nil))


@dataclass(frozen=True)
class Request:
    """A document, and the options that its answer depends on."""

    document: Document
    nested: bool = False
    entities: tuple[OwnEntity, ...] = ()
    decided: Mapping[tuple[int, int], str | None] | None = None
    restriction: Restriction = ALL


NO_REQUEST = Request(Document(""))


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
        Its title, page number, Wikidata item and address; `wikidata` is None and `url` empty where they are unknown.
    type
        Its most probable coarse type (person, place, …); None where the knowledge has no types.
    topic
        Its number in the knowledge; −1 if the entity does not come from a linker.
    id
        Its id in the list of entities that it came from; None for an article.
    """

    title: str
    page_id: int
    wikidata: str | None
    url: str
    type: str | None = None
    topic: int = field(default=-1, repr=False)
    id: str | None = None

    def __str__(self) -> str:
        return self.title

    def _repr_html_(self) -> str:
        known = (("type", self.type), ("wikidata", self.wikidata), ("page", self.page_id or None))
        return html_card(self.title, self.url, ((name, value) for name, value in known if value))

    def to_dict(self) -> dict[str, Any]:
        """The entity as plain values, without its number, which only its own knowledge understands."""
        known = {"id": self.id, "title": self.title, "page_id": self.page_id, "wikidata": self.wikidata}
        return {**known, "url": self.url or None, "type": self.type}

    @cached_property
    def json_fields(self) -> str:
        """`to_dict` as JSON without its braces; linkers keep entities, so it is written once."""
        return _compact(self.to_dict())[1:-1]


@dataclass(frozen=True)
class Candidate:
    """An entity that a mention may refer to, with its posterior probability and the prior that was used."""

    entity: Entity
    probability: float
    prior: float

    def __repr__(self) -> str:
        return f"Candidate({self.entity.title!r}, probability={self.probability:.3f}, prior={self.prior:.3f})"

    def to_dict(self) -> dict[str, Any]:
        """The candidate as plain values."""
        return self.entity.to_dict() | {"probability": _rounded(self.probability), "prior": _rounded(self.prior)}


class Answered:
    """What is answered for a mention, given its candidates, best first, and the probability of NIL."""

    candidates: Any
    nil: float

    @property
    def entity(self) -> Entity | None:
        """The best candidate; None where NIL is more probable than it is."""
        known = self.candidates and not is_nil(self.nil, self.candidates[0].probability)
        return self.candidates[0].entity if known else None

    @property
    def confidence(self) -> float:
        """The probability that the mention refers to its best candidate: posterior · (1 − nil)."""
        return self.candidates[0].probability * (1 - self.nil) if self.candidates else 0.0


@dataclass(frozen=True)
class LinkedMention(Answered):
    """A mention and its candidates, best first; none where the knowledge does not have the string.

    Attributes
    ----------
    start, end, text
        The span in characters, and its text.
    candidates
        Their probabilities are given that the mention refers to something in the knowledge.
    nil
        The probability that it does not.
    request
        The document that the mention is in, and the options that it was linked with.
    """

    start: int
    end: int
    text: str
    candidates: list[Candidate]
    nil: float = 0.0
    request: Request = field(default=NO_REQUEST, compare=False, repr=False)

    def __repr__(self) -> str:
        means = repr(self.entity.title) if self.entity else "NIL"
        confidence = f", confidence={self.confidence:.3f}" if self.entity else f", nil={self.nil:.3f}"
        return f"LinkedMention({self.text!r} [{self.start}:{self.end}] → {means}{confidence})"

    def to_dict(self, span: tuple[int, int] | None = None) -> dict[str, Any]:
        """The mention as plain values; `span` replaces its offsets, for those in other units."""
        entity, (start, end) = self.entity, span or (self.start, self.end)
        return {
            "start": start,
            "end": end,
            "text": self.text,
            **(entity.to_dict() if entity else _NO_ENTITY),
            "probability": _rounded(self.candidates[0].probability) if entity else None,
            "confidence": _rounded(self.confidence) if entity else None,
            "nil": _rounded(self.nil),
            "candidates": [each.to_dict() for each in self.candidates],
        }

    def to_json(self, span: tuple[int, int] | None = None) -> str:
        """`to_dict` as JSON."""
        candidates = [(each.entity, _rounded(each.probability), _rounded(each.prior)) for each in self.candidates]
        confidence = _rounded(self.confidence) if self.entity else -1.0
        return _mention_json(span or (self.start, self.end), self.text, candidates, _rounded(self.nil), confidence)


@dataclass(frozen=True)
class TopicShare:
    """A topic of a document, and its share of the document."""

    entity: Entity
    share: float

    def __repr__(self) -> str:
        return f"TopicShare({self.entity.title!r}, {self.share:.3f})"

    def to_dict(self) -> dict[str, Any]:
        """The topic as plain values."""
        return self.entity.to_dict() | {"share": _rounded(self.share)}


class Answers(NamedTuple):
    """The answers of a linker as arrays. Python objects are made on first use."""

    spans: Spans  # of the mentions
    topics: NDArray[np.int64]  # by mention, best first; −1: no more
    probabilities: NDArray[np.float64]
    priors: NDArray[np.float64]
    nil: NDArray[np.float64]
    document_topics: NDArray[np.uint32]
    shares: NDArray[np.float64]
    entity: Callable[[int], Entity]  # of a topic
    request: Request

    @property
    def document(self) -> Document:
        """The document of the request."""
        return self.request.document

    def some(self, kept: NDArray[np.bool_]) -> "Answers":
        """The answers to some of the mentions."""
        spans = [span for span, is_mention in zip(self.spans, kept.tolist(), strict=True) if is_mention]
        found = self.topics[kept], self.probabilities[kept], self.priors[kept], self.nil[kept]
        return Answers(spans, *found, *self[5:])

    def rows(self) -> list[list[tuple[Entity, float, float]]]:
        """The candidates of each mention: entity, posterior probability, prior."""
        entity = self.entity
        columns = (column.tolist() for column in (self.topics, self.probabilities, self.priors))
        return [
            [(entity(topic), chance, prior) for topic, chance, prior in zip(*row, strict=True) if topic >= 0]
            for row in zip(*columns, strict=True)
        ]

    def rounded(self) -> "Answers":
        """Return the answers with rounded numbers. Rounding all at once is faster."""
        chances, priors, nil = (np.round(each, _DIGITS) for each in (self.probabilities, self.priors, self.nil))
        return self._replace(probabilities=chances, priors=priors, nil=nil)

    @property
    def confidences(self) -> NDArray[np.float64]:
        """The confidence of each mention's best candidate; −1 where the answer is NIL."""
        if not self.topics.shape[1]:
            return np.full(len(self.nil), -1.0)
        best = self.probabilities[:, 0]
        unknown = (self.topics[:, 0] < 0) | are_nil(self.nil, best)
        return np.where(unknown, -1.0, np.round(best * (1 - self.nil), _DIGITS))

    def mentions(self) -> "list[LinkedMention]":
        """The mentions as objects."""
        text = self.document.text
        return [
            LinkedMention(start, end, text[start:end], [Candidate(*each) for each in row], nil, self.request)
            for (start, end), row, nil in zip(self.spans, self.rows(), self.nil.tolist(), strict=True)
        ]

    def shown_topics(self) -> list[tuple[Entity, float]]:
        """The topics of the document and their shares, largest first."""
        shares = zip(self.document_topics.tolist(), self.shares.tolist(), strict=True)
        return [(self.entity(topic), share) for topic, share in shares]


class Linked:
    """A linked document: its mentions and topics. In a notebook it is shown as highlighted text.

    Attributes
    ----------
    id, text
        Those of the document.
    mentions
        A list of `LinkedMention`, in the order of the text, made on first use.
    topics
        A list of `TopicShare`, largest first.
    source
        The knowledge that the answers refer to.
    request
        The document as it was given, and the options that it was linked with.
    """

    def __init__(self, answers: Answers, source: Source) -> None:
        self._answers, self.source, self.request = answers, source, answers.request
        self.id, self.text = answers.document.id, answers.document.text

    def __getstate__(self) -> dict[str, Any]:
        """Pickle objects only: arrays need the linker that knows their topics."""
        return {name: getattr(self, name) for name in ("id", "text", "source", "request", "mentions", "topics")}

    @cached_property
    def mentions(self) -> list[LinkedMention]:
        """The mentions and what they refer to."""
        return self._answers.mentions()

    @cached_property
    def topics(self) -> list[TopicShare]:
        """The topics of the document, largest first."""
        return [TopicShare(*each) for each in self._answers.shown_topics()]

    @property
    def mention_count(self) -> int:
        """The number of mentions."""
        return len(self.mentions) if "mentions" in self.__dict__ else len(self._answers.spans)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linked) and self.to_json(with_text=True) == other.to_json(with_text=True)

    __hash__ = None  # type: ignore[assignment]

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
            Whether to include the mentions.
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
        """Return `to_dict` as compact JSON, in a fifth of the time."""
        parts = [f'"id":{_quoted(self.id)}']
        if with_text:
            parts.append(f'"text":{_quoted(self.text)}')
        if with_mentions:
            parts.append(f'"mentions":[{",".join(self._mentions_json(offsets))}]')
        topics = ",".join([_topic_json(*each) for each in self._shown_topics()])
        return f'{{{",".join(parts)},"topics":[{topics}],"knowledge":{self.source.json}}}'

    def _shown_topics(self) -> list[tuple[Entity, float]]:
        if "topics" in self.__dict__:
            return [(each.entity, _rounded(each.share)) for each in self.topics]
        shares = np.round(self._answers.shares, _DIGITS)
        return self._answers._replace(shares=shares).shown_topics()

    def _mentions_json(self, offsets: str) -> list[str]:
        if "mentions" in self.__dict__:
            spans = from_code_points(self.text, [(each.start, each.end) for each in self.mentions], offsets)
            return [each.to_json(span) for each, span in zip(self.mentions, spans, strict=True)]
        found, text = self._answers.rounded(), self.text
        spans, confidences = from_code_points(text, found.spans, offsets), self._answers.confidences.tolist()
        rows = zip(found.spans, spans, found.rows(), found.nil.tolist(), confidences, strict=True)
        return [_mention_json(span, text[start:end], *rest) for (start, end), span, *rest in rows]


def _mention_json(
    span: tuple[int, int], text: str, candidates: list[tuple[Entity, float, float]], nil: float, confidence: float
) -> str:
    """Return a mention as JSON from rounded numbers; `confidence` is below 0 where the answer is NIL."""
    answer = _NO_ANSWER
    if confidence >= 0:
        entity, probability, _ = candidates[0]
        answer = f'{entity.json_fields},"probability":{probability},"confidence":{confidence}'
    found = ",".join([
        f'{{{entity.json_fields},"probability":{chance},"prior":{prior}}}' for entity, chance, prior in candidates
    ])  # fmt: skip
    where = f'"start":{span[0]},"end":{span[1]},"text":{_quoted(text)}'
    return f'{{{where},{answer},"nil":{nil},"candidates":[{found}]}}'


def _topic_json(entity: Entity, share: float) -> str:
    return f'{{{entity.json_fields},"share":{share}}}'


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _rounded(value: float) -> float:
    return round(float(value), _DIGITS)  # NumPy's floats have another repr
