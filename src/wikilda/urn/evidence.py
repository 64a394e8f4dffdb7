"""The evidence that a posterior of the urn came from, as terms that add up.

A conditional of the sampler is a product: w_k · (base_k + u_k), with w_k the weight of prior, words, title and context,
base_k the base measure, and u_k what the other mentions put into the urn in this sweep. The posterior is the mean of
the normalised conditionals, so with T the normaliser

    share_k = w_k · E[1/T] · c_k,    c_k = base_k + ū_k,    ū_k = E[u_k / T] / E[1/T].

The sampler keeps both share_k and the part of it that came from the base, w_k · E[1/T] · base_k, so ū_k is known
exactly. E[1/T] is the same for all candidates of a mention. So the log odds of two candidates are

    log w_k/w_l + log c_k/c_l,    log c_k/c_l = (base_k − base_l) / L + Σ_j (ū_kj − ū_lj) / L,

with L = (c_k − c_l) / (log c_k − log c_l), their logarithmic mean. The terms sum to the log odds exactly, and the sign
of each is that of its difference. How ū_k is divided among the other mentions j is an estimate: each has the part that
its own posterior gives it.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.documents.encoding import EncodedDocument
from wikilda.urn._gibbs import FAR
from wikilda.urn.urn import Drawn, Part, Urn

Vector = NDArray[np.float64]

_TINY = 1e-300
_SURE = 1e-15  # a probability is taken to be at least this far from 0 and 1
_BLOCK = 256  # topics whose words are read together


class Terms(NamedTuple):
    """The log odds of a candidate against a rival, by kind of evidence. They sum to the log odds of the posterior."""

    prior: float
    words: float
    title: float
    context: float
    graph: float


class _Weights(NamedTuple):
    """The weight of a candidate: logarithms of factors, and what it has in the urn."""

    logs: Vector  # prior, words, title, context
    base: float
    others: float


class NilTerms(NamedTuple):
    """The log odds of NIL, by kind of evidence."""

    string: float
    title: float
    document: float
    names: float
    candidate: float
    interaction: float
    new_meaning: float  # not a term: the probability behind `string`
    parents: list[tuple[int, float]]  # mentions that this one is short for, and their probability of NIL


class Pull(NamedTuple):
    """What the mentions of another string add to the log odds of a candidate."""

    mention: int  # the one that adds most
    times: int
    topic: int  # its meaning that adds most
    probability: float
    weight: float
    linked: bool
    shared: int


class Evidence:
    """The evidence for the candidates of the mentions of a document."""

    def __init__(self, urn: Urn, document: EncodedDocument, drawn: Drawn) -> None:
        self._parts = [PartEvidence(urn, part, document) for part in drawn.parts]
        self._places = {
            int(number): (part, token) for part in self._parts for token, number in enumerate(part.part.chosen)
        }

    def of(self, mention: int) -> "tuple[PartEvidence, int] | None":
        """Return the part of the document that a mention was drawn in, and its number there."""
        return self._places.get(mention)

    def relations(self, topics: NDArray[np.uint32], most: int) -> list[tuple[int, int, float]]:
        """Return the pairs of topics that are related most, with R(k, k')."""
        found = [each for part in self._parts for each in part.relations(topics, most)]
        return sorted(found, key=lambda each: -each[2])[:most]


class PartEvidence:
    """The evidence in a part of a document whose mentions were drawn together."""

    def __init__(self, urn: Urn, part: Part, document: EncodedDocument) -> None:
        self.urn, self.part, self.document = urn, part, document
        self.rules, self.exponent = urn.rules, urn.exponent
        self._words: dict[int, NDArray[np.float32]] = {}
        self._near: dict[int, Vector] = {}
        self._expected: dict[int, tuple[Vector, Vector]] = {}
        self._between: dict[tuple[int, int], tuple[bool, int]] = {}

    def has(self, token: int, topic: int) -> bool:
        """Return whether a topic is a candidate of a mention."""
        return self._place(token, topic) >= 0

    def terms(self, token: int, topic: int, rival: int) -> Terms:
        """Return the log odds of a candidate of a mention against another."""
        one, other = (self._weights(token, self._place(token, each)) for each in (topic, rival))
        scale = self._scale(one, other)
        prior, words, title, context = (self.exponent * (one.logs - other.logs)).tolist()
        graph = scale * (one.others - other.others)
        return Terms(prior + scale * (one.base - other.base), words, title, context, graph)

    def pulls(self, token: int, topic: int, rival: int | None) -> list[Pull]:
        """Return what the mentions of each string add to the log odds of a candidate, most first.

        Without a rival, that is how much more probable than the base measure they make it.
        """
        one = self._weights(token, self._place(token, topic))
        weights = self._divided(token, topic, one.others)
        if rival is None:
            scale = self._scale(one, one._replace(others=0.0))
        else:
            other = self._weights(token, self._place(token, rival))
            weights, scale = weights - self._divided(token, rival, other.others), self._scale(one, other)
        totals = np.bincount(self.part.rows, scale * weights, minlength=1)
        order = np.lexsort((np.arange(len(totals)), -totals))
        return [self._pull(row, scale * weights, topic) for row in order.tolist() if totals[row] > 0]

    def words(self, topics: list[int]) -> dict[int, NDArray[np.float32]]:
        """Return what each word of the document adds to the log weight of topics; words as in `found.words`."""
        numbers = {self._number(topic): topic for topic in topics}
        nothing = np.zeros(len(self.part.found.words), np.float32)  # a caller's own entities have no table of words
        own = {number: nothing for number, topic in numbers.items() if topic >= self.urn.model.topics}
        wanted = np.array(sorted(numbers.keys() - self._words.keys() - own.keys() - {-1}), np.int64)
        for start in range(0, len(wanted), _BLOCK):
            block = wanted[start : start + _BLOCK]
            found = self.exponent * self.urn.word_parts(self.part, block)
            self._words |= zip(block.tolist(), found.astype(np.float32), strict=True)
        self._words |= own
        return {topic: self._words[number] for number, topic in numbers.items() if number >= 0}

    def nil(self, token: int, best: int) -> NilTerms | None:
        """Return the terms of the log odds of NIL, for which the best candidate is the rival."""
        part, rules, drawn = self.part, self.rules, self.part.drawing.drawn
        at = self._place(token, best)
        if at < 0 or part.mentions.nil[at] <= 0:
            return None
        number = int(part.mentions.numbers[at])
        content = part.mentions.base[at] + self._amounts(token, number).sum()
        candidate = -float(np.log(max(part.mentions.weights[at], _TINY)) + np.log(max(content, _TINY)))
        string = float(part.nil_strings[part.rows[token]])
        terms = (
            float(np.log(string * rules.base)),
            float(np.log(part.mentions.nil[at] / string)),
            float(rules.level * drawn.level[token]),
            float(np.log(self._unknown(token) / rules.base)),
            candidate,
        )
        chance = min(max(float(drawn.nil[token]), _SURE), 1.0 - _SURE)
        interaction = float(np.log(chance / (1.0 - chance))) - sum(terms)
        parents = [(int(part.chosen[other]), float(drawn.nil[other])) for other in self._parents(token)]
        return NilTerms(*terms, interaction, float(part.named.new_meanings[part.rows[token]]), parents)

    def relations(self, topics: NDArray[np.uint32], most: int) -> list[tuple[int, int, float]]:
        """Return the pairs of some topics that are related most."""
        shown = np.flatnonzero(np.isin(self.part.topics, topics))
        values = np.triu(self.part.related[np.ix_(shown, shown)])
        flat = values.ravel()
        first, second = np.unravel_index(largest(flat, most), values.shape)
        return [
            (int(self.part.topics[shown[one]]), int(self.part.topics[shown[other]]), float(values[one, other]))
            for one, other in zip(first, second, strict=True)
            if values[one, other] > 0
        ]

    def _number(self, topic: int) -> int:
        """The number of a topic in the part, or −1."""
        at = int(np.searchsorted(self.part.topics, topic))
        return at if at < len(self.part.topics) and int(self.part.topics[at]) == topic else -1

    def _place(self, token: int, topic: int) -> int:
        """Where a topic is among the candidates of all mentions, or −1."""
        mentions, number = self.part.mentions, self._number(topic)
        span = slice(mentions.offsets[token], mentions.offsets[token + 1])
        found = np.flatnonzero(mentions.numbers[span] == number)
        return int(span.start + found[0]) if number >= 0 and len(found) else -1

    def _source(self, token: int, at: int) -> int:
        """Where a candidate of a mention is among the candidates of distinct strings."""
        start = self.part.found.candidates.offsets[self.part.rows[token]]
        return int(start + at - self.part.mentions.offsets[token])

    def _weights(self, token: int, at: int) -> _Weights:
        drawn, mentions = self.part.drawing.drawn, self.part.mentions
        logs = [float(log[self._source(token, at)]) for log in self.part.drawing.logs]
        context = float(self.part.contexts[at]) if len(self.part.contexts) else 0.0
        base = max(float(mentions.base[at]), _TINY)
        if drawn.from_base[at] > _TINY:
            others = base * max(float(drawn.shares[at] / drawn.from_base[at]) - 1.0, 0.0)
        else:  # too improbable to be counted: at the expected state of the others
            others = float(self._amounts(token, int(mentions.numbers[at])).sum())
        return _Weights(np.array([*logs, context]), base, others)

    def _scale(self, one: _Weights, other: _Weights) -> float:
        """The exponent of the posterior over the logarithmic mean of what two candidates have in the urn."""
        first, second = one.base + one.others, other.base + other.others
        difference = float(np.log(first) - np.log(second))
        mean = (first - second) / difference if abs(difference) > _SURE else first
        return self.exponent / mean

    def _divided(self, token: int, topic: int, others: float) -> Vector:
        """What each other mention has of what the others put into the urn for a topic."""
        amounts = self._amounts(token, self._number(topic))
        total = float(amounts.sum())
        return amounts * (others / total) if total > 0 else amounts

    def _pull(self, row: int, weights: Vector, topic: int) -> Pull:
        """Describe how the mentions of a string support a topic, by the one that adds most."""
        number, mine = self._number(topic), np.where(self.part.rows == row, weights, 0.0)
        other = int(np.argmax(mine))
        means, probability = self._puller(other, number)
        linked, shared = self._relation(means, number)
        found, many = int(self.part.topics[means]), int(np.count_nonzero(mine))
        return Pull(int(self.part.chosen[other]), many, found, probability, float(mine.sum()), linked, shared)

    def _amounts(self, token: int, number: int) -> Vector:
        """What each other mention puts into the urn for a topic, expected over its posterior."""
        related, same = self._expect(number)
        amounts = self._nearness(token) * related + self.rules.repeats * same
        amounts[token] = 0.0
        parents = self.part.mentions.parents
        for at in range(parents.offsets[token], parents.offsets[token + 1]):
            other = parents.tokens[at]
            amounts[other] += self.rules.coreference * parents.weights[at] * same[other]
        return amounts

    def _nearness(self, token: int) -> Vector:
        if token not in self._near:
            places = self.part.mentions.places
            distance = np.abs(places - places[token]).astype(np.float64)
            close = self.rules.near * np.exp(-distance / self.rules.reach)
            self._near[token] = 1.0 + np.where(distance <= FAR * self.rules.reach, close, 0.0)
        return self._near[token]

    def _expect(self, number: int) -> tuple[Vector, Vector]:
        """By mention: how its meanings are related to a topic, and how probably it means the topic itself."""
        if number not in self._expected:
            mentions, shares = self.part.mentions, self.part.drawing.drawn.shares
            related = shares * self.part.related[mentions.numbers, number]
            same = np.where(mentions.numbers == number, shares, 0.0)
            size = len(mentions.places)
            self._expected[number] = (
                np.bincount(self._owners, related, size).astype(np.float64),
                np.bincount(self._owners, same, size).astype(np.float64),
            )
        return self._expected[number]

    @cached_property
    def _owners(self) -> NDArray[np.int64]:
        mentions = self.part.mentions
        return np.repeat(np.arange(len(mentions.places)), np.diff(mentions.offsets))

    def _parents(self, token: int) -> list[int]:
        """The longer names that a mention is short for."""
        parents = self.part.mentions.parents
        found: list[int] = parents.tokens[parents.offsets[token] : parents.offsets[token + 1]].tolist()
        return found

    def _unknown(self, token: int) -> float:
        """What NIL has in the urn: from the base, from other mentions of the name, and from longer names."""
        mentions, nil = self.part.mentions, self.part.drawing.drawn.nil
        span = slice(mentions.parents.offsets[token], mentions.parents.offsets[token + 1])
        same = nil[mentions.names == mentions.names[token]].sum() - nil[token]
        passed = mentions.parents.weights[span] * mentions.parents.surnames[span] * nil[self._parents(token)]
        return float(self.rules.base + self.rules.repeats * same + self.rules.coreference * passed.sum())

    def _puller(self, other: int, number: int) -> tuple[int, float]:
        """The meaning of a mention by which it supports a topic most, and how probable that is."""
        mentions = self.part.mentions
        span = slice(mentions.offsets[other], mentions.offsets[other + 1])
        numbers, shares = mentions.numbers[span], self.part.drawing.drawn.shares[span]
        found = shares * (self.part.related[numbers, number] + (numbers == number))
        best = int(np.argmax(found))
        return int(numbers[best]), float(self.part.posterior[span][best])

    def _relation(self, one: int, other: int) -> tuple[bool, int]:
        """Whether two topics have a link, and how many neighbours they share."""
        if (one, other) not in self._between:
            few, many = self._neighbours(one), self._neighbours(other)
            linked = _has(few, self.part.topics[other]) or _has(many, self.part.topics[one])
            shared = len(np.intersect1d(few, many, assume_unique=True))
            self._between[one, other] = linked, shared
        return self._between[one, other]

    def _neighbours(self, topic: int) -> NDArray[np.uint32]:
        near = self.part.found.neighbours
        return near.topics[near.offsets[topic] : near.offsets[topic + 1]]


def largest(values: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Return where the largest values are, largest first."""
    places = np.argpartition(-values, most)[:most] if len(values) > most else np.arange(len(values))
    return places[np.lexsort((places, -values[places]))]


def _has(row: NDArray[np.uint32], topic: np.uint32) -> bool:
    at = row.searchsorted(topic)
    return bool(at < len(row) and row[at] == topic)
