"""AIDA (after Hoffart et al. 2011) in its best setting, r-prior sim-k r-coh, on our knowledge.

A mention's edge to an entity is the similarity of its context to the entity's keyphrases, joined by the prior
where that is clear (ρ). A mention for which prior and similarity agree (λ) is settled at once; the others are
settled together, by the densest subgraph of mentions and entities, with coherence by Milne & Witten.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.aida._keyphrases import Places, phrases_of, similarities
from benchmarks.rivals.aida._subgraph import Edges, densest
from wikilda._core.settings import Settings, setting
from wikilda.evaluation.methods.base import UNKNOWN, Answer, Given, Method, spans_of, symbols_of
from wikilda.lda.similarity import Likeness, likeness
from wikilda.linking import Document
from wikilda.text.characters import characters
from wikilda.text.tokens import FLAGS, as_bytes, tokenize


@dataclass(frozen=True)
class AidaSettings(Settings):
    """ρ, λ and the weight of coherence are those of the authors' release."""

    rho: float = setting(0.9, "ρ: a prior this clear joins the similarity", minimum=0, maximum=1)
    prior: float = setting(0.566, "share of the prior where it joins in", minimum=0, maximum=1)
    coherence: float = setting(0.4, "share of coherence in the weight of the graph", minimum=0, maximum=1)
    agreement: float = setting(0.9, "λ: prior and similarity that differ less settle a mention alone", minimum=0)


class _Local(NamedTuple):
    """What is known of a mention without the others: its candidates, their weights, and whether that is enough."""

    topics: NDArray[np.uint32]
    weights: NDArray[np.float64]
    settled: bool


class Aida(Method):
    """Links like AIDA; a score is the weight of a mention's edge."""

    name = "aida"
    settings_type = AidaSettings
    settings: AidaSettings

    def __init__(self, given: Given, settings: AidaSettings | None = None) -> None:
        super().__init__(given, settings)
        self.phrases = phrases_of(self.knowledge)

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        mentions = symbols_of(document, self.knowledge)
        symbols = sorted({mention for mention in mentions if mention >= 0})
        places = self._places(document, mentions)
        local = {symbol: self._local(symbol, places) for symbol in symbols}
        chosen = self._together(list(local.values())) if symbols else []
        answers = {symbol: _answer(local[symbol], first) for symbol, first in zip(symbols, chosen, strict=True)}
        return [answers.get(mention, UNKNOWN) for mention in mentions]

    def _local(self, symbol: int, places: Places) -> _Local:
        topics, counts = self.knowledge.mentions.row(symbol)
        topics, prior = np.asarray(topics), counts / max(int(counts.sum()), 1)
        similar = similarities(self.phrases, self.knowledge.graph, places, symbol, topics)
        total = similar.sum()
        similar = similar / total if total > 0.0 else np.full(len(topics), 1.0 / max(len(topics), 1))
        clear = prior.max(initial=0.0) >= self.settings.rho
        share = self.settings.prior if clear else 0.0
        weights = share * prior + (1.0 - share) * similar
        return _Local(topics, weights, bool(np.abs(prior - similar).sum() <= self.settings.agreement))

    def _together(self, local: list[_Local]) -> list[int]:
        """For each mention the place of its candidate in the densest subgraph."""
        distinct = np.unique(np.concatenate([each.topics for each in local]))
        alike = _balanced(likeness(self.knowledge.graph, distinct), local)
        kept = [_strongest(each) if each.settled else np.arange(len(each.topics)) for each in local]
        offsets = np.cumsum([0, *(len(each) for each in kept)])
        entities = [np.searchsorted(distinct, each.topics[keep]) for each, keep in zip(local, kept, strict=True)]
        weights = [each.weights[keep] for each, keep in zip(local, kept, strict=True)]
        edges = Edges(offsets, np.concatenate(entities), np.concatenate(weights))
        places = densest(edges, alike, self.settings.coherence) - offsets[:-1]
        return [int(keep[place]) if len(keep) else -1 for keep, place in zip(kept, places, strict=True)]

    def _places(self, document: Document, mentions: list[int]) -> Places:
        """Where the words of titles are in a text."""
        data = as_bytes(document.text)
        hashes, bounds = np.empty(len(data) + 1, np.uint64), np.empty((2, len(data) + 1), np.int64)
        count = tokenize(data, 0, len(data), characters(), hashes, bounds[0], bounds[1])
        inside = np.full(count, -1, np.int64)
        bytes_of = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data))
        for (start, end), mention in zip(spans_of(document), mentions, strict=True):
            first, last = np.searchsorted(bounds[0][:count], bytes_of[[start, end]])
            inside[first:last] = mention
        tokens = hashes[:count] & ~FLAGS
        words = np.searchsorted(self.phrases.hashes, tokens)
        known = words < len(self.phrases.hashes)
        known[known] = self.phrases.hashes[words[known]] == tokens[known]
        positions = np.flatnonzero(known)
        order = np.lexsort((positions, words[positions]))
        return Places(words[positions][order].astype(np.int64), positions[order], inside)


class AidaLocal(Aida):
    """AIDA without the graph: their r-prior sim-k."""

    name = "aida-local"

    def _together(self, local: list[_Local]) -> list[int]:
        return [-1] * len(local)


def _strongest(local: _Local) -> NDArray[np.int64]:
    return np.array([np.argmax(local.weights)]) if len(local.topics) else np.empty(0, np.int64)


def _balanced(alike: Likeness, local: list[_Local]) -> Likeness:
    """Edges between entities so scaled that one to each mention's weighs together as much as an edge to a mention."""
    own = float(np.concatenate([each.weights for each in local]).mean())
    if not len(alike.values):
        return alike
    scale = own / (float(alike.values.mean()) * len(local))
    return alike._replace(values=(alike.values * scale).astype(np.float32))


def _answer(local: _Local, first: int) -> Answer:
    weights, topics = local.weights.tolist(), local.topics.tolist()
    order = sorted(range(len(topics)), key=lambda at: (at != first, -weights[at], topics[at]))
    return Answer([topics[at] for at in order], [weights[at] for at in order], 0.0)
