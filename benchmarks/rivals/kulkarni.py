"""Kulkarni et al. 2009: node and clique potentials, maximised together by local hill climbing.

    1/n Σ_i node(y_i) + clique / (n choose 2) Σ_{i<j} relatedness(y_i, y_j)

A node's potential is a weighted sum of features: the logarithm of the prior, and cosine and Jaccard's index of document
and article. The climb starts from the best nodes and changes the one label that gains most, until none does.

Not here: features of first paragraphs and of texts around anchors, which the knowledge does not keep; NA as a label;
weights learned by max-margin training, which needs labels (all are 1 at first); their linear program, which they found
to be hardly better than the climb. Labels are those of distinct strings.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.articles import articles_of, document_words, overlaps
from wikilda._core.jit import Real, njit
from wikilda._core.settings import Settings, setting
from wikilda.evaluation.methods.base import Answer, Given, Method
from wikilda.lda.similarity import Likeness, likeness
from wikilda.linking import Document


@dataclass(frozen=True)
class KulkarniSettings(Settings):
    """Weights of the features and of the clique."""

    prior: float = setting(1.0, "weight of log P(k|v)", minimum=0)
    cosine: float = setting(1.0, "weight of the cosine of document and article", minimum=0)
    jaccard: float = setting(1.0, "weight of Jaccard's index of document and article", minimum=0)
    clique: float = setting(1.0, "weight of relatedness", minimum=0)


class Kulkarni(Method):
    """Links all strings of a document together; a score is the node's potential."""

    name = "kulkarni"
    settings_type = KulkarniSettings
    settings: KulkarniSettings

    def __init__(self, given: Given, settings: KulkarniSettings | None = None) -> None:
        super().__init__(given, settings)
        self.articles = articles_of(self.knowledge)

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        found, s = self.candidates(document), self.settings
        distinct, places = np.unique(found.topics, return_inverse=True)
        words = document_words(document, self.knowledge)
        shared, _, cosine = overlaps(self.articles, distinct, words)
        sizes = np.diff(self.articles.offsets)[distinct] + len(words.words) - shared
        texts = s.cosine * cosine + s.jaccard * shared / np.maximum(sizes, 1.0)
        nodes = s.prior * np.log(np.maximum(found.priors, 1e-12)) + texts[places]
        alike = likeness(self.knowledge.graph, distinct)
        return found.answers(nodes, climb(found.offsets, places, nodes, alike, s.clique))


@njit
def climb(
    offsets: NDArray[np.int64], places: NDArray[np.int64], nodes: NDArray[np.float64], alike: Likeness, clique: Real
) -> NDArray[np.int64]:
    """By string the candidate that hill climbing ends with, or −1 where there is none."""
    size = len(offsets) - 1
    chosen, users = np.full(size, -1, np.int64), np.zeros(len(alike.topics), np.int64)
    for string in range(size):
        for at in range(offsets[string], offsets[string + 1]):
            if chosen[string] < 0 or nodes[at] > nodes[chosen[string]]:
                chosen[string] = at
        if chosen[string] >= 0:
            users[places[chosen[string]]] += 1
    share, pairs = 1.0 / max(size, 1), 2.0 * clique / max(size * (size - 1), 1)
    gains = np.empty(len(nodes), np.float64)
    while True:
        for at in range(len(nodes)):
            topic = places[at]
            related = np.float64(users[topic])
            for near in range(alike.offsets[topic], alike.offsets[topic + 1]):
                related += users[alike.neighbours[near]] * np.float64(alike.values[near])
            gains[at] = related
        best, most, owner = -1, 1e-12, -1
        for string in range(size):
            for at in range(offsets[string], offsets[string + 1]):
                now = chosen[string]
                # What the string's own label adds to its own relatedness and to the other candidate's is not gained.
                own = gains[now] - 1.0
                other = gains[at] - _between(alike, places[at], places[now])
                gain = share * (nodes[at] - nodes[now]) + pairs * (other - own)
                if at != now and gain > most:
                    best, most, owner = at, gain, string
        if best < 0:
            return chosen
        users[places[chosen[owner]]] -= 1
        users[places[best]] += 1
        chosen[owner] = best


@njit
def _between(alike: Likeness, first: int, second: int) -> float:
    if first == second:
        return 1.0
    for near in range(alike.offsets[first], alike.offsets[first + 1]):
        if alike.neighbours[near] == second:
            return float(alike.values[near])
    return 0.0
