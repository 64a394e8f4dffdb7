"""What the other mentions put into the urn for a topic: expected over their posteriors.

It is α + repeats · N_k + Σ_j near_ij · R(k, z_j) + coreference, with N_k and R expected over the posteriors of the
other mentions, so that each of these has its own part of the sum.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda.urn._mean_field import FAR, Rules
from wikilda.urn.urn import Part

Vector = NDArray[np.float64]


class Company:
    """The mentions of a part, as company for each other. Topics are numbers in `part.topics`."""

    def __init__(self, part: Part, rules: Rules) -> None:
        self.part, self.rules = part, rules
        self._near: dict[int, Vector] = {}
        self._expected: dict[int, tuple[Vector, Vector]] = {}
        self._between: dict[tuple[int, int], tuple[bool, int]] = {}

    def pulls(self, token: int, topic: int) -> Vector:
        """What each mention adds for a topic of one mention, by how it is related; 0 for the mention itself."""
        return self._nearness(token) * self._expect(topic)[0]

    def repeats(self, token: int, topic: int) -> float:
        """What other mentions that mean the same topic add."""
        means = self._expect(topic)[1]
        return float(self.rules.repeats * (means.sum() - means[token]))

    def parents(self, token: int) -> list[int]:
        """The longer names that a mention is short for."""
        parents = self.part.mentions.parents
        found: list[int] = parents.tokens[parents.offsets[token] : parents.offsets[token + 1]].tolist()
        return found

    def coreference(self, token: int, topic: int) -> float:
        """What longer names that mean a topic pass on to a mention."""
        parents = self.part.mentions.parents
        weights = parents.weights[parents.offsets[token] : parents.offsets[token + 1]]
        means = self._expect(topic)[1][self.parents(token)]
        return float(self.rules.coreference * np.dot(weights, means))

    def puller(self, other: int, topic: int) -> tuple[int, float]:
        """The meaning of another mention by which it pulls most, and how probable that is."""
        mentions = self.part.mentions
        span = slice(mentions.offsets[other], mentions.offsets[other + 1])
        numbers = mentions.numbers[span]
        best = int(np.argmax(self.part.posterior[span] * self.part.related[numbers, topic]))
        return int(numbers[best]), float(self.part.posterior[span][best])

    def between(self, one: int, other: int) -> tuple[bool, int]:
        """Whether two topics have a link, and how many neighbours they share."""
        if (one, other) not in self._between:
            few, many = self._neighbours(one), self._neighbours(other)
            linked = _has(few, self.part.topics[other]) or _has(many, self.part.topics[one])
            if len(few) > len(many):
                few, many = many, few
            places = many.searchsorted(few)
            places[places == len(many)] = 0
            self._between[one, other] = linked, int(np.count_nonzero(many[places] == few)) if len(few) else 0
        return self._between[one, other]

    def _neighbours(self, topic: int) -> NDArray[np.uint32]:
        near = self.part.found.neighbours
        return near.topics[near.offsets[topic] : near.offsets[topic + 1]]

    def _nearness(self, token: int) -> Vector:
        if token not in self._near:
            places = self.part.mentions.places
            distance = np.abs(places - places[token]).astype(np.float64)
            close = self.rules.near * np.exp(-distance / self.rules.reach)
            self._near[token] = 1.0 + np.where(distance <= FAR * self.rules.reach, close, 0.0)
            self._near[token][token] = 0.0
        return self._near[token]

    def _expect(self, topic: int) -> tuple[Vector, Vector]:
        """For each mention how its meanings are related to a topic, and how probably it means the topic itself."""
        if topic not in self._expected:
            mentions = self.part.mentions
            owners = np.repeat(np.arange(len(mentions.places)), np.diff(mentions.offsets))
            shares = self.part.posterior * (1.0 - self.part.drawing.found.nil)[owners]
            related = shares * self.part.related[mentions.numbers, topic]
            same = np.where(mentions.numbers == topic, shares, 0.0)
            size = len(mentions.places)
            found = (np.bincount(owners, each, size).astype(np.float64) for each in (related, same))
            self._expected[topic] = next(found), next(found)
        return self._expected[topic]


def _has(row: NDArray[np.uint32], topic: np.uint32) -> bool:
    at = row.searchsorted(topic)
    return bool(at < len(row) and row[at] == topic)
