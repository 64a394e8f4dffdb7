"""The urn as a method of linking."""

import numpy as np
from numpy.typing import NDArray

from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.urn.document_topics import Ranking, broad_topics, document_topics
from wikilda.urn.evidence import Evidence
from wikilda.urn.own_entities import OwnEntities
from wikilda.urn.settings import UrnSettings
from wikilda.urn.urn import Drawn, Urn


class UrnMethod:
    """Links by the urn (see `wikilda.linking.methods.Method`)."""

    proposes_parts = True

    def __init__(self, model: Model, knowledge: Knowledge, settings: UrnSettings) -> None:
        self.settings, self.urn = settings, Urn(model, knowledge, settings)

    @classmethod
    def over(cls, urn: Urn) -> "UrnMethod":
        """Return the method with an urn over a packet, which does not rank topics."""
        made = cls.__new__(cls)
        made.settings, made.urn = urn.settings, urn
        return made

    @property
    def needs_contexts(self) -> bool:
        """Whether documents are encoded with the contexts of their mentions."""
        return self.urn.contexts is not None

    def infer(self, document: EncodedDocument, entities: OwnEntities | None = None) -> Drawn:
        """Draw the mentions of a document."""
        return self.urn.draw(document, entities)

    def topics(
        self, document: EncodedDocument, inferred: Drawn, unknown: NDArray[np.bool_], by_words: int = 0
    ) -> Ranking:
        """Return the topics of a document and their shares, largest first."""
        found = document_topics(self.urn, document, inferred, unknown)
        return broad_topics(self.urn, document, found, by_words) if by_words else found

    def evidence(self, document: EncodedDocument, inferred: Drawn) -> Evidence:
        """Return the evidence that the posterior came from."""
        return Evidence(self.urn, document, inferred)
