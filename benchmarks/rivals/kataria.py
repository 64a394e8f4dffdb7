"""A topic model on the category hierarchy, after Kataria et al. 2011.

Entities are leaves, categories the nodes above them. Each token of a document draws a category, θ ~ Dir(α), that
one of its entities, θ_c ~ Dir(η), and the entity a word or a name: φ is smoothed counts of the article's words and the
entity's names. Gibbs sampling draws category and entity of each token together; what is common in a document's
categories lifts their other entities.

Deviations: an entity hangs below its categories and their ancestors up to `depth`, each of which is a way to it; the
paper draws whole paths from the root. Words may come from candidates of the document's mentions whose article has them,
or from a background of all words, as all other leaves would cost too much; φ is not trained further. The paper keeps
60,000 entities for the same reason. Entities without categories (tables may have none) have one of their own. The
paper's hyper-parameters are not known.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.articles import articles_of
from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.random import Stream, stream_of, uniform
from wikilda._core.settings import Settings, setting
from wikilda.documents.encoding import encode
from wikilda.evaluation.methods.base import Answer, Candidates, Given, Method
from wikilda.linking import Document

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]
_BACKGROUND = -1  # instead of an entity


@dataclass(frozen=True)
class KatariaSettings(Settings):
    """Dirichlet parameters, and how far the hierarchy is climbed."""

    depth: int = setting(2, "steps from an entity to its highest categories", minimum=1, maximum=10)
    alpha: float = setting(0.1, "α: pseudo-count of every category in a document", above=0)
    eta: float = setting(0.1, "η: pseudo-count of every entity of a category", above=0)
    gamma: float = setting(0.1, "γ: pseudo-count of every name of an entity", above=0)
    delta: float = setting(0.1, "δ: pseudo-count of every word of an entity", above=0)
    sweeps: int = setting(100, "Gibbs sweeps over a document", minimum=1)
    burn_in: int = setting(20, "sweeps at the beginning that do not count", minimum=0, below="sweeps")
    seed: int = setting(1, "where random numbers begin")


class Ways(NamedTuple):
    """The categories of entity e are ways from offsets[e] on: numbers of categories; and the categories' sizes."""

    offsets: Numbers
    categories: Numbers
    sizes: Numbers


class Tokens(NamedTuple):
    """What each token may come from: entities with probabilities from offsets[token] on, and the background's."""

    offsets: Numbers
    entities: Numbers
    emitted: Reals
    background: Reals  # 0 for mentions


class Kataria(Method):
    """Links by categories that a document's mentions have in common; a score is a posterior probability."""

    name = "kataria"
    probabilistic = True
    settings_type = KatariaSettings
    settings: KatariaSettings

    def __init__(self, given: Given, settings: KatariaSettings | None = None) -> None:
        super().__init__(given, settings)
        known = self.knowledge
        self.articles, self.categories = articles_of(known), known.categories
        self.named = np.bincount(known.mentions.topics, known.mentions.counts, minlength=len(known.page_ids))
        self.lengths = np.bincount(known.words.topics, known.words.counts, minlength=len(known.page_ids))

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        found, s = self.candidates(document), self.settings
        distinct, places = np.unique(found.topics, return_inverse=True)
        tokens = self._tokens(document, found, distinct, places.ravel())
        stream = np.array([stream_of(s.seed, 0, document.id)], np.uint64)
        drawn = draw(tokens, self._ways(distinct), s.alpha, s.eta, s.sweeps, s.burn_in, stream)
        mentions = found.strings[found.strings >= 0]
        shares = np.zeros(len(found.topics), np.float64)
        for number, string in enumerate(mentions.tolist()):
            row = drawn[tokens.offsets[number] : tokens.offsets[number + 1]]
            shares[found.offsets[string] : found.offsets[string + 1]] += row / found.occurrences[string]
        return found.answers(shares)

    def _ways(self, topics: NDArray[np.uint32]) -> Ways:
        rows = [sorted(self.categories.ancestors(topic, self.settings.depth)) for topic in topics.tolist()]
        most = len(self.categories)
        rows = [row or [most + at] for at, row in enumerate(rows)]  # a category of its own
        numbers, local = np.unique(np.concatenate([*rows, np.empty(0)]).astype(np.int64), return_inverse=True)
        sizes = np.ones(len(numbers), np.int64)
        there = numbers < most
        sizes[there] = np.diff(self.categories.members.offsets)[numbers[there]]
        return Ways(np.cumsum([0, *map(len, rows)]), local.ravel(), np.maximum(sizes, 1))

    def _tokens(self, document: Document, found: Candidates, distinct: NDArray[np.uint32], places: Numbers) -> Tokens:
        """Mentions first, then words."""
        known, s = self.knowledge, self.settings
        counts = [known.mentions.row(symbol)[1] for symbol in found.symbols.tolist()]
        named = np.concatenate([*counts, np.empty(0)])
        names = (named + s.gamma) / (self.named[found.topics] + s.gamma * len(known.mention_strings))
        rows = [(places[a:b], names[a:b]) for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
        entries = [rows[string] for string in found.strings.tolist() if string >= 0]
        words = np.asarray(encode(document, known).words)
        words = words[words >= 0]
        size, total = len(known.word_totals), max(int(known.word_totals.sum()), 1)
        for word in words.tolist():
            topics, times = known.words.row(word)
            _, own, row = np.intersect1d(distinct, topics, return_indices=True)
            whole = self.lengths[distinct[own]] + s.delta * size
            entries.append((own, (times[row] + s.delta) / whole))
        background = np.zeros(len(entries), np.float64)
        background[len(entries) - len(words) :] = known.word_totals[words] / total
        return Tokens(
            np.cumsum([0, *(len(each) for each, _ in entries)]),
            np.concatenate([*(each for each, _ in entries), np.empty(0)]).astype(np.int64),
            np.concatenate([*(each for _, each in entries), np.empty(0)]),
            background,
        )


@njit
def draw(tokens: Tokens, ways: Ways, alpha: Real, eta: Real, sweeps: int, burn_in: int, stream: Stream) -> Reals:
    """By entry of the tokens its share of the sweeps."""
    number = len(tokens.offsets) - 1
    shares, entries = np.zeros(len(tokens.entities), np.float64), np.full(number, _BACKGROUND, np.int64)
    taken = np.full(number, _BACKGROUND, np.int64)  # the way of each token
    of_category, of_way = np.zeros(len(ways.sizes), np.int64), np.zeros(len(ways.categories), np.int64)
    background = np.int64(0)
    most: Whole = np.int64(1)
    for token in range(number):
        count = np.int64(1)
        for at in range(tokens.offsets[token], tokens.offsets[token + 1]):
            count += ways.offsets[tokens.entities[at] + 1] - ways.offsets[tokens.entities[at]]
        most = max(most, count)
    sums, which, through = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    for sweep in range(sweeps):
        for token in range(number):
            if taken[token] >= 0:
                of_way[taken[token]] -= 1
                of_category[ways.categories[taken[token]]] -= 1
            elif sweep > 0 and tokens.background[token] > 0:
                background -= 1
            count = _weigh(tokens, ways, token, of_category, of_way, background, alpha, eta, sums, which, through)
            if count == 0:
                continue
            chosen = np.searchsorted(sums[:count], uniform(stream) * sums[count - 1], side="right")
            chosen = min(chosen, count - 1)
            entries[token], taken[token] = which[chosen], through[chosen]
            if taken[token] >= 0:
                of_way[taken[token]] += 1
                of_category[ways.categories[taken[token]]] += 1
                if sweep >= burn_in:
                    shares[entries[token]] += 1.0 / (sweeps - burn_in)
            else:
                background += 1
    return shares


@inner
def _weigh(
    tokens: Tokens, ways: Ways, token: Whole, of_category: Numbers, of_way: Numbers, background: Whole, alpha: Real,
    eta: Real, sums: Reals, which: Numbers, through: Numbers,
) -> Whole:  # fmt: skip
    """Running sums of (N_c + α) (N_ck + η) / (N_c + M_c η) φ_k, over the entries of a token and the ways to them."""
    count, total = np.int64(0), 0.0
    for at in range(tokens.offsets[token], tokens.offsets[token + 1]):
        entity = tokens.entities[at]
        for way in range(ways.offsets[entity], ways.offsets[entity + 1]):
            category = ways.categories[way]
            below = (of_way[way] + eta) / (of_category[category] + eta * ways.sizes[category])
            total += (of_category[category] + alpha) * below * tokens.emitted[at]
            sums[count], which[count], through[count] = total, at, way
            count += 1
    if tokens.background[token] > 0:
        total += (background + alpha) * tokens.background[token]
        sums[count], which[count], through[count] = total, _BACKGROUND, _BACKGROUND
        count += 1
    return count
