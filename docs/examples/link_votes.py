"""A method of one's own: the prior, and how many candidates of the document link to a candidate."""

import numpy as np

from wikilda.evaluation.methods import Answer, Method
from wikilda.linking import Document


class LinkVotes(Method):
    """Links to candidates that the others link to."""

    name = "link-votes"

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        found, graph = self.candidates(document), self.knowledge.graph
        linkers = [graph.in_topics[graph.in_offsets[topic] : graph.in_offsets[topic + 1]] for topic in found.topics]
        votes = [np.isin(each, found.topics).sum() for each in linkers]
        return found.answers(found.priors + np.log1p(votes))
