"""Wikify! (after Mihalcea & Csomai 2007), its knowledge-based way: Lesk's overlap of context and article.

Not here: their data-driven classifier, which needs the words around every link of the wiki, and with it their vote
of the two. The context is a window of characters, as our texts need not have paragraphs. Of very common words the
knowledge has the 500 best topics only, so they do not count for the others.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.rivals.articles import articles_of, context_of, overlaps
from wikilda._core.settings import Settings, setting
from wikilda.evaluation.methods.base import UNKNOWN, Answer, Given, Method, spans_of
from wikilda.linking import Document


@dataclass(frozen=True)
class WikifySettings(Settings):
    """The paper's: a paragraph, words that count alike, no prior."""

    window: int = setting(500, "characters of context on either side of a mention; 0 is the whole document", minimum=0)
    rarity: bool = setting(False, "let rare words count more (by log inverse article frequency)")
    prior: float = setting(0.0, "share of the prior P(k|v) in a score", minimum=0, maximum=1)


class Wikify(Method):
    """Links to the article that has most words in common with what is near the mention."""

    name = "wikify"
    settings_type = WikifySettings
    settings: WikifySettings

    def __init__(self, given: Given, settings: WikifySettings | None = None) -> None:
        super().__init__(given, settings)
        self.articles = articles_of(self.knowledge)

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        return [self._answer(document, span) for span in spans_of(document)]

    def _answer(self, document: Document, span: tuple[int, int]) -> Answer:
        found = self.candidates(Document(document.text, [span]))
        if not len(found.topics):
            return UNKNOWN
        context = context_of(document, span, self.knowledge, self.settings.window)
        shared, rare, _ = overlaps(self.articles, found.topics, context)
        words = found.normalised(rare if self.settings.rarity else shared)
        share = self.settings.prior
        return found.answers(np.asarray(share * found.priors + (1.0 - share) * words))[0]
