"""TagMe*, as the paper uses it to start the sampler: votes among mentions, then the best prior of those in favour."""

import numpy as np

from wikilda.documents.encoding import EncodedDocument
from wikilda.evaluation.methods.base import UNKNOWN, Answer, symbols_of
from wikilda.knowledge import Knowledge
from wikilda.lda.packet import Packet
from wikilda.lda.sampler import Sampler
from wikilda.lda.settings import LdaSettings
from wikilda.lda.tagme import Guess, tagme
from wikilda.linking import Document
from wikilda.model import Model


class TagMe:
    """Links by TagMe*; a score is rel(k|m)."""

    name = "tagme"
    probabilistic = False

    def __init__(self, model: Model, knowledge: Knowledge, settings: LdaSettings) -> None:
        self.knowledge, self.settings = knowledge, settings
        self.sampler = Sampler(model, settings, knowledge.graph)

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
    """The chosen topic, then the others by their scores."""
    start, end = packet.choices.offsets[symbol], packet.choices.offsets[symbol + 1]
    topics = packet.likeness.topics[packet.choices.candidates[start:end]].tolist()
    scores = guess.scores[start:end].tolist()
    chosen = int(guess.chosen[symbol])
    order = sorted(range(len(topics)), key=lambda at: (at != chosen, -scores[at], topics[at]))
    return Answer([topics[at] for at in order], [scores[at] for at in order], 0.0)
