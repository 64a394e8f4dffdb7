"""Text in, entities out: what each mention of a document means, how sure that is, and what else it may mean."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import SettingsError
from wikilda.documents.detection import Detector, DictionaryDetector
from wikilda.documents.document import Document
from wikilda.documents.encoding import EncodedDocument, encode
from wikilda.knowledge import Knowledge
from wikilda.lda.sampler import Ranking, Sampled, Sampler
from wikilda.lda.settings import LdaSettings
from wikilda.linking._document_topics import mixture
from wikilda.linking._ranking import Rows, best_candidates
from wikilda.linking.results import NIL_ABOVE, Candidate, Entity, Linked, LinkedMention, Source, TopicShare
from wikilda.model import Model
from wikilda.urn import Drawn, Urn, UrnSettings

DEFAULT = UrnSettings()


class Linker:
    """Links documents with a model. One linker serves many threads; the same document always gets the same answer.

    Mentions are decided by the urn, or by the paper's sampler if the settings are those of it. The sampler also tells
    the document's topics, given what the urn has said of the mentions.
    """

    def __init__(
        self, model: Model, knowledge: Knowledge | None = None, settings: UrnSettings | LdaSettings = DEFAULT,
        detector: Detector | None = None,
    ) -> None:  # fmt: skip
        self.model = model
        self.knowledge = knowledge or model.knowledge()
        self.urn = Urn(model, self.knowledge, settings) if isinstance(settings, UrnSettings) else None
        sampling = LdaSettings(seed=settings.seed) if isinstance(settings, UrnSettings) else settings
        self.sampler = Sampler(model, sampling, self.knowledge.graph)
        self.source = Source.of(self.knowledge)
        self._entity = lru_cache(1 << 14)(self._make_entity)
        self.detector: Detector = detector or DictionaryDetector(self.knowledge)

    @classmethod
    def open(
        cls, model: str | Path, *, knowledge: str | Path | None = None,
        settings: UrnSettings | LdaSettings = DEFAULT,
        detector: Detector | None = None,
    ) -> "Linker":  # fmt: skip
        """Open a model and the knowledge it belongs to (where it was made, or at `knowledge`)."""
        opened = Model.open(model)
        return cls(opened, opened.knowledge(knowledge), settings, detector)

    def link(self, document: Document | str, *, candidates: int = 5, topics: int = 10) -> Linked:
        """Link a document: for each mention its best candidates, and the document's largest topics.

        Mentions that are not given are found by the linker's detector.
        """
        encoded = self.encode(document)
        symbols = np.asarray(encoded.mentions)
        if self.urn:
            drawn = self.urn.draw(encoded)
            ranked, nil = self._drawn(drawn, symbols, candidates), drawn.nil
            shares = self._mixture(encoded, drawn) if topics else None
        else:
            sampled = self.sampler.sample(encoded)
            ranked, nil = self._sampled(sampled, symbols, candidates), (symbols < 0).astype(np.float64)
            shares = sampled.mixture
        linked = [
            LinkedMention(start, end, encoded.text[start:end], known, none)
            for (start, end), known, none in zip(encoded.spans, ranked, nil.tolist(), strict=True)
        ]
        return Linked(str(encoded.id), encoded.text, linked, self.shares(shares, topics), self.source)

    def shares(self, mixture: Ranking | None, most: int) -> list[TopicShare]:
        """The largest topics of a document as entities."""
        largest = zip(*(column[:most] for column in mixture), strict=True) if mixture else ()
        return [TopicShare(self.entity(topic), float(share)) for topic, share in largest]

    def topics(self, document: Document | str) -> Ranking:
        """The document's topics as numbers of the knowledge, and their shares, largest first."""
        encoded = self.encode(document)
        if self.urn:
            return self._mixture(encoded, self.urn.draw(encoded))
        return self.sampler.sample(encoded).mixture

    def encode(self, document: Document | str, *, contexts: bool | None = None) -> EncodedDocument:
        """A document as symbols; the detector finds its mentions if they are not given.

        With `contexts`, it has the context symbols of its mentions, which the urn needs if the model knows contexts.
        """
        document = Document(document) if isinstance(document, str) else document
        if contexts is None:
            contexts = self.urn is not None and self.urn.contexts is not None
        return encode(document, self.knowledge, self.detector, contexts=contexts)

    def draw(self, document: EncodedDocument | Document | str) -> Drawn:
        """Draw the mentions of a document from the urn."""
        if self.urn is None:
            raise SettingsError("this linker has no urn: it was opened with the settings of the paper's sampler")
        return self.urn.draw(document if isinstance(document, EncodedDocument) else self.encode(document))

    def _mixture(self, document: EncodedDocument, drawn: Drawn) -> Ranking:
        """The document's topics, where its mentions mean what the urn says."""
        means = [
            drawn.topics[start + int(np.argmax(drawn.posterior[start:end]))]
            for start, end, nil in zip(drawn.offsets[:-1], drawn.offsets[1:], drawn.nil, strict=True)
            if end > start and nil <= NIL_ABOVE
        ]
        return mixture(self.sampler, np.asarray(document.words), np.array(means, np.uint32), str(document.id))

    def entity(self, topic: int | np.integer[Any]) -> Entity:
        """A topic, with its title and addresses."""
        return self._entity(int(topic))

    def _make_entity(self, topic: int) -> Entity:
        known = self.knowledge
        item = int(known.wikidata[topic])
        title = known.titles[topic]
        return Entity(title, int(known.page_ids[topic]), f"Q{item}" if item else None, known.site.url(title))

    def _drawn(self, drawn: Drawn, symbols: NDArray[np.int64], most: int) -> list[list[Candidate]]:
        """The candidates of each mention by their posterior in the urn; one string may mean two things."""
        rows = Rows(drawn.offsets, drawn.topics, drawn.posterior)
        return self._rank(rows, symbols, np.arange(len(symbols)), most)

    def _sampled(self, sampled: Sampled, symbols: NDArray[np.int64], most: int) -> list[list[Candidate]]:
        """The candidates of each mention by the share of sweeps; mentions with the same string have the same answer."""
        distinct, first, back = np.unique(symbols, return_index=True, return_inverse=True)
        rows = Rows(sampled.counts.offsets, sampled.counts.topics, sampled.counts.sweeps.astype(np.float64))
        ranked = self._rank(rows, distinct, sampled.rows[first], most)
        return [ranked[at] for at in back.ravel()]

    def _rank(
        self, rows: Rows, symbols: NDArray[np.int64], places: NDArray[np.int64], most: int
    ) -> list[list[Candidate]]:
        """What was found, best first, then what the string may mean besides."""
        best = best_candidates(self.knowledge.mentions, rows, symbols, places, most)
        columns = (column.tolist() for column in best)
        return [
            [Candidate(self._entity(each[0]), *each[1:]) for each in zip(*ranked, strict=True) if each[0] >= 0]
            for ranked in zip(*columns, strict=True)
        ]
