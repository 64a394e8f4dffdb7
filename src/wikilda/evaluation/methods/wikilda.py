"""Wiki-LDA itself: what `wikilda link` answers."""

from wikilda.evaluation.methods.base import Answer
from wikilda.knowledge import Knowledge
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Document, LinkedMention, Linker
from wikilda.model import Model
from wikilda.urn import UrnSettings

MOST = 200  # candidates that are asked for, a mention


class WikiLDA:
    """Links by Gibbs sampling; a score is a posterior probability."""

    probabilistic = True

    def __init__(self, name: str, model: Model, knowledge: Knowledge, settings: UrnSettings | LdaSettings) -> None:
        self.name = name
        self.linker = Linker(model, knowledge, settings)

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        return [self._answer(mention) for mention in self.linker.link(document, candidates=MOST, topics=0).mentions]

    def _answer(self, mention: LinkedMention) -> Answer:
        topics = [each.entity.topic for each in mention.candidates]
        return Answer(topics, [each.probability for each in mention.candidates], mention.nil)
