"""TagMe*, with which the paper's sampler starts: votes among mentions, then the best prior of the rest."""

import numpy as np

from wikilda.documents.encoding import EncodedDocument
from wikilda.evaluation.methods.base import UNKNOWN, Answer, Given, Method, symbols_of
from wikilda.lda.packet import Packet
from wikilda.lda.sampler import Sampler
from wikilda.lda.settings import LdaSettings, TagMeSettings
from wikilda.lda.tagme import Guess, tagme
from wikilda.linking import Document


class TagMe(Method):
    """Links by TagMe*; a score is rel(k|m)."""

    name = "tagme"
    uses_model = True
    settings_type = TagMeSettings
    settings: TagMeSettings

    def __init__(self, given: Given, settings: TagMeSettings | None = None) -> None:
        super().__init__(given, settings)
        self.sampler = Sampler(given.model, LdaSettings(), given.knowledge.graph)

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        mentions = np.array(symbols_of(document, self.knowledge), np.int64)
        packet = self.sampler.packet(EncodedDocument(np.empty(0, np.int64), mentions, document.id))
        guess = tagme(packet, self.settings.epsilon, self.settings.tau)
        symbols = np.searchsorted(packet.bag.symbols[packet.bag.first_mention :], mentions).tolist()
        return [
            _answer(packet, guess, symbol) if mention >= 0 else UNKNOWN
            for symbol, mention in zip(symbols, mentions.tolist(), strict=True)
        ]


def _answer(packet: Packet, guess: Guess, symbol: int) -> Answer:
    """Return the chosen topic, then the others by their scores."""
    start, end = packet.choices.offsets[symbol], packet.choices.offsets[symbol + 1]
    topics = packet.likeness.topics[packet.choices.candidates[start:end]].tolist()
    scores = guess.scores[start:end].tolist()
    chosen = int(guess.chosen[symbol])
    order = sorted(range(len(topics)), key=lambda at: (at != chosen, -scores[at], topics[at]))
    return Answer([topics[at] for at in order], [scores[at] for at in order], 0.0)


class Prior(Method):
    """Links by P(k|m) only."""

    name = "prior"
    probabilistic = True

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        found = self.candidates(document)
        return found.answers(found.priors)
