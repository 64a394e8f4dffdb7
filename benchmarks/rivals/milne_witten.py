"""Milne & Witten 2008: commonness, relatedness to the unambiguous context, and how good that context is.

The weight of a context article is the mean of its string's link probability and its average relatedness to the rest
of the context; a candidate's relatedness is the weighted mean over the context; the context's quality is the sum of
its weights. The better the context, the more relatedness counts and the less commonness.

Not here: the bagged C4.5 trees that learn this balance from 500 articles' links, for the knowledge does not keep the
anchors of single articles. Instead the share of relatedness is quality / (quality + `half`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikilda._core.settings import Settings, setting
from wikilda.evaluation.methods.base import Answer, Candidates, Method
from wikilda.lda.similarity import Likeness, likeness
from wikilda.linking import Document

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class MilneWittenSettings(Settings):
    """Senses below 2 % are dropped, as in the paper; a context article is one of a string with a single sense."""

    minimum: float = setting(0.02, "drop candidates with a smaller prior P(k|v)", minimum=0, maximum=1)
    unambiguous: float = setting(1.0, "prior from which on a string is context", above=0, maximum=1)
    half: float = setting(1.0, "quality of context at which relatedness and commonness count alike", above=0)


class MilneWitten(Method):
    """Links by commonness and relatedness."""

    name = "milne-witten"
    settings_type = MilneWittenSettings
    settings: MilneWittenSettings

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        found = self.candidates(document)
        distinct, places = np.unique(found.topics, return_inverse=True)
        alike = likeness(self.knowledge.graph, distinct)
        context = np.flatnonzero(found.priors >= self.settings.unambiguous)
        weights = self._weights(found, context, places, alike)
        related = _related(alike, places[context], weights)[places]
        share = weights.sum() / (weights.sum() + self.settings.half)
        scores = (1.0 - share) * found.priors + share * related
        return found.answers(np.where(found.priors >= self.settings.minimum, scores, scores - 2.0))

    def _weights(
        self, found: Candidates, context: NDArray[np.int64], places: NDArray[np.int64], alike: Likeness
    ) -> Reals:
        """The mean of link probability and average relatedness to the other context articles."""
        strings = found.symbols[found.owners[context]].tolist()
        linked = np.array([self.knowledge.link_probability(symbol) for symbol in strings])
        own = places[context]
        sums = _related(alike, own, np.ones(len(own)), mean=False)[own] - 1.0  # each is quite like itself
        return np.asarray((linked + sums / max(len(own) - 1, 1)) / 2.0)


def _related(alike: Likeness, context: NDArray[np.int64], weights: Reals, *, mean: bool = True) -> Reals:
    """By topic the (weighted mean of) similarities to the context; a topic has similarity 1 to itself."""
    mass = np.bincount(context, weights, minlength=len(alike.topics))
    owners = np.repeat(np.arange(len(alike.topics)), np.diff(alike.offsets))
    sums = np.bincount(owners, alike.values * mass[alike.neighbours], minlength=len(alike.topics)) + mass
    return np.asarray(sums / max(weights.sum(), 1e-300) if mean else sums)
