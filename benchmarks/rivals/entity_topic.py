"""The entity-topic model of Han & Sun 2012, with Gibbs sampling.

A document has topics, θ ~ Dir(α). Each mention draws a topic, the topic an entity (φ ~ Dir(β)), the entity the
mention's name (ψ ~ Dir(γ)). Each word picks one of the document's mentions, and its entity the word (ξ ~ Dir(δ)).

Training draws topics and targets of words on all articles; there entities are known, as links are labels: a document
is an article with the entities that it links to and itself. Names of entities are counted, not sampled. A new document
is then sampled with those counts fixed.

Deviations: a word's target is a mention, not an entity that mentions may share; summed over them this is the paper's
model, and a mention whose entity has words need not keep it. All occurrences of a word in an article have one target,
as the knowledge keeps their number only. The paper's hyper-parameters are not known: they are LDA's usual ones here.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from benchmarks.rivals._entity_topic import Trained, draw, train, word_probabilities
from benchmarks.rivals.articles import articles_of
from wikilda._core.random import stream_of
from wikilda._core.settings import Settings, setting
from wikilda.documents.encoding import encode
from wikilda.evaluation.methods.base import Answer, Given, Method
from wikilda.knowledge import Knowledge
from wikilda.linking import Document


@dataclass(frozen=True)
class EntityTopicSettings(Settings):
    """Hyper-parameters as usual for LDA: α = 50/T, the others 0.1."""

    topics: int = setting(300, "T: how many topics", minimum=1)
    alpha: float = setting(1 / 6, "α: pseudo-count of every topic in every document", above=0)
    beta: float = setting(0.1, "β: pseudo-count of every entity in every topic", above=0)
    gamma: float = setting(0.1, "γ: pseudo-count of every name of every entity", above=0)
    delta: float = setting(0.1, "δ: pseudo-count of every word of every entity", above=0)
    training_sweeps: int = setting(20, "Gibbs sweeps over all articles", minimum=1)
    sweeps: int = setting(100, "Gibbs sweeps over a document", minimum=1)
    burn_in: int = setting(20, "sweeps at the beginning that do not count", minimum=0, below="sweeps")
    seed: int = setting(1, "where random numbers begin")


class EntityTopic(Method):
    """Links by the entity-topic model; a score is a posterior probability."""

    name = "entity-topic"
    probabilistic = True
    settings_type = EntityTopicSettings
    settings: EntityTopicSettings

    def __init__(self, given: Given, settings: EntityTopicSettings | None = None) -> None:
        super().__init__(given, settings)
        s, known = self.settings, self.knowledge
        where = (str(known.path), known.identity)
        self.trained = _trained(*where, s.topics, s.alpha, s.beta, s.delta, s.training_sweeps, s.seed)
        self.named = np.bincount(known.mentions.topics, known.mentions.counts, minlength=len(known.page_ids))

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        found, s = self.candidates(document), self.settings
        mentions = found.strings[found.strings >= 0]
        distinct, places = np.unique(found.topics, return_inverse=True)
        words = np.asarray(encode(document, self.knowledge).words)
        vocabulary, occurrences = np.unique(words[words >= 0], return_inverse=True)
        size = len(self.knowledge.word_totals)
        emitted = word_probabilities(self.trained, distinct, vocabulary, size, s.delta)
        drawn = (self.trained.entities[distinct] + s.beta) / (self.trained.sizes + s.beta * len(self.trained.entities))
        counts = [self.knowledge.mentions.row(symbol)[1] for symbol in found.symbols.tolist()]
        named = np.concatenate(counts) if counts else np.empty(0)
        names = (named + s.gamma) / (self.named[found.topics] + s.gamma * len(self.knowledge.mention_strings))
        stream = np.array([stream_of(s.seed, 0, document.id)], np.uint64)
        shares = draw(
            mentions, found.offsets, places, np.log(names), drawn, emitted, occurrences, s.alpha, s.sweeps, s.burn_in,
            stream,
        )  # fmt: skip
        return found.answers(shares)


@lru_cache(1)  # of a search's trials, many need the same
def _trained(
    path: str, _identity: str, topics: int, alpha: float, beta: float, delta: float, sweeps: int, seed: int
) -> Trained:
    knowledge = Knowledge.open(path)
    articles, graph = articles_of(knowledge), knowledge.graph
    stream = np.array([stream_of(seed, 0, "articles")], np.uint64)
    words = len(knowledge.word_totals)
    return train(articles, graph.out_offsets, graph.out_topics, words, topics, alpha, beta, delta, sweeps, stream)
