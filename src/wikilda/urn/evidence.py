"""The evidence that a posterior of the urn came from, as terms that add up.

The log weight of a candidate is a sum: the log prior, words, title, context, and γ log c, with c what the urn holds for
it: α and the contributions of other mentions. So the log odds of two candidates are exactly the sum of the differences.
The last of them is divided among the other mentions in proportion to what each has put into the urn.

The log odds of NIL are a sum, too: of the string, the titles of its candidates, the other mentions and longer names,
and the fit of the candidates.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.documents.encoding import EncodedDocument
from wikilda.urn._mean_field import FAR
from wikilda.urn.urn import Drawn, Part, Urn

Vector = NDArray[np.float64]

_EQUAL = 1e-12  # a difference of logarithms that is none
_BLOCK = 256  # topics whose words are read together


class Terms(NamedTuple):
    """The log odds of a candidate against a rival, by kind of evidence. They sum to the log odds of the posterior."""

    prior: float
    words: float
    title: float
    context: float
    graph: float


class NilTerms(NamedTuple):
    """The log odds of NIL, by kind of evidence. They sum to the log odds of its probability."""

    string: float
    title: float
    document: float
    names: float
    candidate: float
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
        self.rules = urn.rules
        self._words: dict[int, NDArray[np.float32]] = {}
        self._near: dict[int, Vector] = {}
        self._expected: dict[int, tuple[Vector, Vector]] = {}
        self._between: dict[tuple[int, int], tuple[bool, int]] = {}

    def has(self, token: int, topic: int) -> bool:
        """Return whether a topic is a candidate of a mention."""
        return self._place(token, topic) >= 0

    def terms(self, token: int, topic: int, rival: int) -> Terms:
        """Return the log odds of a candidate of a mention against another."""
        one, other = self._place(token, topic), self._place(token, rival)
        here, there = self._source(token, one), self._source(token, other)
        prior, words, title = (float(log[here] - log[there]) for log in self.part.drawing.logs)
        title += float(self.part.drawing.capitals[one] - self.part.drawing.capitals[other])
        contexts, content = self.part.contexts, self.part.drawing.found.content
        context = float(contexts[one] - contexts[other]) if len(contexts) else 0.0
        graph = float(self.rules.graph * (np.log(content[one]) - np.log(content[other])))
        return Terms(prior, words, title, context, graph)

    def pulls(self, token: int, topic: int, rival: int | None) -> list[Pull]:
        """Return what the mentions of each string add to the log odds of a candidate, most first.

        Without a rival, that is how much more probable than without any other mention they make it.
        """
        content = self.part.drawing.found.content
        one = float(content[self._place(token, topic)])
        other = self.rules.alone if rival is None else float(content[self._place(token, rival)])
        weights = self._divided(token, topic, one - self.rules.alone)
        if rival is not None:
            weights = weights - self._divided(token, rival, other - self.rules.alone)
        difference = float(np.log(one) - np.log(other))
        mean = (one - other) / difference if abs(difference) > _EQUAL else one
        weights *= self.rules.graph / mean
        totals = np.bincount(self.part.rows, weights, minlength=1)
        order = np.lexsort((np.arange(len(totals)), -totals))
        return [self._pull(row, weights, topic) for row in order.tolist() if totals[row] > 0]

    def words(self, topics: list[int]) -> dict[int, NDArray[np.float32]]:
        """Return what each word of the document adds to the log weight of topics; words as in `found.words`."""
        numbers = {self._number(topic): topic for topic in topics}
        nothing = np.zeros(len(self.part.found.words), np.float32)  # a caller's own entities have no table of words
        own = {number: nothing for number, topic in numbers.items() if topic >= self.urn.model.topics}
        wanted = np.array(sorted(numbers.keys() - self._words.keys() - own.keys() - {-1}), np.int64)
        for start in range(0, len(wanted), _BLOCK):
            block = wanted[start : start + _BLOCK]
            found = self.urn.word_parts(self.part, block)
            self._words |= zip(block.tolist(), found.astype(np.float32), strict=True)
        self._words |= own
        return {topic: self._words[number] for number, topic in numbers.items() if number >= 0}

    def nil(self, token: int, best: int) -> NilTerms | None:
        """Return the terms of the log odds of NIL; nothing if the topic is no candidate."""
        part, found = self.part, self.part.drawing.found
        if self._place(token, best) < 0:
            return None
        span = slice(part.mentions.offsets[token], part.mentions.offsets[token + 1])
        string = float(part.mentions.nil[token])
        title = float(found.shares[span] @ part.mentions.against[span])
        passed, same, level, fit, mentions = found.features[token].tolist()
        names = self.rules.nil_parents * passed + self.rules.nil_same * same
        terms = (
            string,
            title,
            self.rules.nil_level * level + self.rules.nil_mentions * mentions,
            names,
            self.rules.nil_fit * fit,
        )
        parents = [(int(part.chosen[other]), float(found.nil[other])) for other in self._parents(token)]
        return NilTerms(*terms, float(part.named.new_meanings[part.rows[token]]), parents)

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

    def _divided(self, token: int, topic: int, others: float) -> Vector:
        """Return each other mention's share of the urn's content for a topic."""
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
        return Pull(
            mention=int(self.part.chosen[other]),
            times=many,
            topic=found,
            probability=probability,
            weight=float(mine.sum()),
            linked=linked,
            shared=shared,
        )

    def _amounts(self, token: int, number: int) -> Vector:
        """Return the expected contribution of each other mention to the urn's content for a topic."""
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
        """Return by mention the expected relatedness to a topic, and the probability of the topic itself."""
        if number not in self._expected:
            mentions = self.part.mentions
            shares = self.part.posterior * (1.0 - self.part.drawing.found.nil)[self._owners]
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

    def _puller(self, other: int, number: int) -> tuple[int, float]:
        """Return the meaning of a mention that supports a topic most, and its probability."""
        mentions = self.part.mentions
        span = slice(mentions.offsets[other], mentions.offsets[other + 1])
        numbers, shares = mentions.numbers[span], self.part.posterior[span]
        found = shares * (self.part.related[numbers, number] + (numbers == number))
        best = int(np.argmax(found))
        return int(numbers[best]), float(self.part.posterior[span][best])

    def _relation(self, one: int, other: int) -> tuple[bool, int]:
        """Return whether two topics have a link, and the number of shared neighbours."""
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
