"""The baseline: a mention means what it means most often, argmax P(k|m)."""

from wikilda.evaluation.methods.base import Answer, Method
from wikilda.linking import Document


class Prior(Method):
    """Links by P(k|m) alone."""

    name = "prior"
    probabilistic = True

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        found = self.candidates(document)
        return found.answers(found.priors)
