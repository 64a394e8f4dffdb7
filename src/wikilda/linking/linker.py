"""Text in, entities out: what each mention of a document means, how sure that is, and what else it may mean."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.packet import Document
from wikilda.inference.sampler import Ranking, Sampled, Sampler
from wikilda.inference.settings import SamplerSettings
from wikilda.knowledge import Knowledge
from wikilda.linking.answers import Candidate, Entity, Linked, LinkedMention, Source, TopicShare
from wikilda.linking.detection import Detector, DictionaryDetector, Spans
from wikilda.linking.documents import Text
from wikilda.linking.encode import encode_mentions, encode_words
from wikilda.linking.ranking import Rows, best_candidates
from wikilda.model import Model

DEFAULT = SamplerSettings()


class Linker:
    """Links documents with a model. One linker serves many threads; the same document always gets the same answer."""

    def __init__(
        self, model: Model, knowledge: Knowledge | None = None, settings: SamplerSettings = DEFAULT,
        detector: Detector | None = None,
    ) -> None:  # fmt: skip
        self.model = model
        self.knowledge = knowledge or model.knowledge()
        self.sampler = Sampler(model, settings, self.knowledge.graph)
        self.source = Source.of(self.knowledge)
        self._entity = lru_cache(1 << 14)(self._make_entity)
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
        text, spans, mentions, sampled = self._sample(document)
        known = self._candidates(sampled, mentions, candidates)
        linked = [
            LinkedMention(start, end, text[start:end], known[symbol])
            for (start, end), symbol in zip(spans, mentions.tolist(), strict=True)
        ]
        largest = zip(*(column[:topics] for column in sampled.mixture), strict=True)
        shares = [TopicShare(self.entity(topic), float(share)) for topic, share in largest]
        return Linked(document.id if isinstance(document, Text) else "", text, linked, shares, self.source)

    def topics(self, document: Text | str) -> Ranking:
        """The document's topics as numbers of the knowledge, and their shares, largest first."""
        return self._sample(document)[-1].mixture

    def _sample(self, document: Text | str) -> tuple[str, Spans, NDArray[np.int64], Sampled]:
        document = Text(document) if isinstance(document, str) else document
        text = document.text
        spans = self.detector.detect(text) if document.mentions is None else document.mentions
        mentions = encode_mentions(text, spans, self.knowledge)
        words = encode_words(text, spans, self.knowledge)
        return text, spans, mentions, self.sampler.sample(Document(words, mentions, document.id))

    def entity(self, topic: int | np.integer[Any]) -> Entity:
        """A topic, with its title and addresses."""
        return self._entity(int(topic))

    def _make_entity(self, topic: int) -> Entity:
        known = self.knowledge
        item = int(known.wikidata[topic])
        title = known.titles[topic]
        return Entity(title, int(known.page_ids[topic]), f"Q{item}" if item else None, known.site.url(title))

    def _candidates(self, sampled: Sampled, mentions: NDArray[np.int64], most: int) -> dict[int, list[Candidate]]:
        """By symbol (mentions with the same string have the same answer): the topics that were sampled, best first,
        then those that the string may mean and that never were.
        """
        symbols, places = np.unique(mentions, return_index=True)
        rows = Rows(sampled.counts.offsets, sampled.counts.topics, sampled.counts.sweeps)
        best = best_candidates(self.knowledge.mentions, rows, symbols, sampled.rows[places], most)
        columns = (column.tolist() for column in best)
        return {
            symbol: [Candidate(self._entity(each[0]), *each[1:]) for each in zip(*ranked, strict=True) if each[0] >= 0]
            for symbol, *ranked in zip(symbols.tolist(), *columns, strict=True)
        }
