"""The baseline: a mention means what it means most often, argmax P(k|m)."""

from wikilda.evaluation.methods.base import UNKNOWN, Answer, priors, symbols_of
from wikilda.knowledge import Knowledge
from wikilda.linking import Document


class Prior:
    """Links by P(k|m) alone."""

    name = "prior"
    probabilistic = True

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        return [self._answer(mention) for mention in symbols_of(document, self.knowledge)]

    def _answer(self, mention: int) -> Answer:
        if mention < 0:
            return UNKNOWN
        ranking = priors(self.knowledge, mention)
        return Answer([topic for topic, _ in ranking], [share for _, share in ranking], 0.0)
