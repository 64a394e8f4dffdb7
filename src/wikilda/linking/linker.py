"""Text in, entities out: what each mention of a document means, how sure that is, and what else it may mean."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.packet import Document
from wikilda.inference.sampler import Sampled, Sampler
from wikilda.inference.settings import SamplerSettings
from wikilda.knowledge import Knowledge
from wikilda.linking.detection import Detector, DictionaryDetector
from wikilda.linking.documents import Text
from wikilda.linking.encode import encode_mentions, encode_words
from wikilda.model import Model

DEFAULT = SamplerSettings()


@dataclass(frozen=True)
class Entity:
    """A topic, as the wiki knows it."""

    title: str
    page_id: int
    wikidata: str | None
    url: str


@dataclass(frozen=True)
class Candidate:
    """What a mention may mean: how probable that is after sampling, and how probable it was before, P(k|v)."""

    entity: Entity
    probability: float
    prior: float


@dataclass(frozen=True)
class LinkedMention:
    """A mention and its candidates, best first; none where the knowledge does not have the string."""

    start: int
    end: int
    text: str
    candidates: list[Candidate]

    @property
    def entity(self) -> Entity | None:
        """What the mention means, or nothing that is known."""
        return self.candidates[0].entity if self.candidates else None


@dataclass(frozen=True)
class TopicShare:
    """A topic of a document, and how much of the document is about it."""

    entity: Entity
    share: float


@dataclass(frozen=True)
class Linked:
    """A document with its mentions linked, and its topics."""

    id: str
    mentions: list[LinkedMention]
    topics: list[TopicShare]

    def to_json(self) -> dict[str, Any]:
        """The document as plain values, for JSON."""
        return {
            "id": self.id,
            "mentions": [_mention_json(mention) for mention in self.mentions],
            "topics": [{"title": each.entity.title, "share": round(each.share, 6)} for each in self.topics],
        }


class Linker:
    """Links documents with a model. One linker serves many threads; the same document always gets the same answer."""

    def __init__(
        self, model: Model, knowledge: Knowledge | None = None, settings: SamplerSettings = DEFAULT,
        detector: Detector | None = None,
    ) -> None:  # fmt: skip
        self.model = model
        self.knowledge = knowledge or model.knowledge()
        self.sampler = Sampler(model, settings, self.knowledge.graph)
        self.detector: Detector = detector or DictionaryDetector(self.knowledge)

    @classmethod
    def open(
        cls, model: str | Path, *, knowledge: str | Path | None = None, settings: SamplerSettings = DEFAULT,
        detector: Detector | None = None,
    ) -> "Linker":  # fmt: skip
        """Open a model and the knowledge it belongs to (where it was made, or at `knowledge`)."""
        opened = Model.open(model)
        return cls(opened, opened.knowledge(knowledge), settings, detector)

    def link(self, document: Text | str, *, candidates: int = 5, topics: int = 10) -> Linked:
        """Link a document: for each mention its best candidates, and the document's largest topics.

        Mentions that are not given are found by the linker's detector.
        """
        if isinstance(document, str):
            document = Text(document)
        text = document.text
        spans = self.detector.detect(text) if document.mentions is None else document.mentions
        mentions = encode_mentions(text, spans, self.knowledge)
        sampled = self.sampler.sample(Document(encode_words(text, spans, self.knowledge), mentions, document.id))
        linked = [
            LinkedMention(start, end, text[start:end], self._candidates(sampled, number, mentions, candidates))
            for number, (start, end) in enumerate(spans)
        ]
        mixture, shares = sampled.mixture
        largest = zip(mixture[:topics], shares[:topics], strict=True)
        return Linked(document.id, linked, [TopicShare(self.entity(topic), float(share)) for topic, share in largest])

    def entity(self, topic: int | np.integer[Any]) -> Entity:
        """A topic, with its title and addresses."""
        known = self.knowledge
        item = int(known.wikidata[topic])
        title = known.titles[int(topic)]
        return Entity(title, int(known.page_ids[topic]), f"Q{item}" if item else None, known.site.url(title))

    def _candidates(self, sampled: Sampled, number: int, mentions: NDArray[np.int64], most: int) -> list[Candidate]:
        """The topics that were sampled, best first, then those that the string may mean and that never were."""
        if mentions[number] < 0:
            return []
        row, counts = self.knowledge.mentions.row(mentions[number])
        priors = dict(zip(row.tolist(), (counts / counts.sum()).tolist(), strict=True))
        found = {int(topic): float(share) for topic, share in zip(*sampled.mention(number), strict=True)}
        order = sorted(priors.keys() | found.keys(), key=lambda k: (-found.get(k, 0.0), -priors.get(k, 0.0), k))
        return [Candidate(self.entity(k), found.get(k, 0.0), priors.get(k, 0.0)) for k in order[:most]]


def _mention_json(mention: LinkedMention) -> dict[str, Any]:
    best = mention.entity
    return {
        "start": mention.start, "end": mention.end, "text": mention.text,
        "title": best.title if best else None,
        "page_id": best.page_id if best else None,
        "wikidata": best.wikidata if best else None,
        "url": best.url if best else None,
        "probability": round(mention.candidates[0].probability, 6) if best else None,
        "candidates": [
            {"title": each.entity.title, "probability": round(each.probability, 6), "prior": round(each.prior, 6)}
            for each in mention.candidates
        ],
    }  # fmt: skip
