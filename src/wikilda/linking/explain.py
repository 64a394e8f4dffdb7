"""Why a mention means what it does: what its name, its words and its company say for each candidate.

All numbers come from the kept sweeps of one sampling, the same that the answer comes from. A candidate k of a
mention draws weight from four sides (Eqs. 4 and 6):

- its *name*: how much of the string's weight in the model is k's;
- *words*: how many of the document's words had topic k, on average over sweeps, and which;
- *mentions*: how many other mentions had topic k itself;
- *company*: the topics that other mentions had, and how alike k is to them. Their mean is the coherence of k.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.packet import Document
from wikilda.inference.sampler import Sampled
from wikilda.linking.answers import Entity, TopicShare
from wikilda.linking.documents import Text
from wikilda.linking.encode import encode_mentions, encode_words
from wikilda.linking.linker import Linker

_LEAST = 0.005  # of a token or a similarity: less is not worth showing


@dataclass(frozen=True)
class Word:
    """A word that speaks for a candidate: how many of its tokens had the topic, of how many in the document."""

    word: str
    tokens: float
    occurrences: int


@dataclass(frozen=True)
class Companion:
    """What another mention means, how probable that is, and how alike it is to a candidate."""

    mention: str
    entity: Entity
    probability: float
    similarity: float


@dataclass(frozen=True)
class Reasons:
    """A candidate, and all that speaks for it."""

    entity: Entity
    sentence: str
    probability: float
    prior: float
    name: float
    words: float
    mentions: float
    coherence: float
    top_words: list[Word]
    company: list[Companion]


@dataclass(frozen=True)
class Explanation:
    """A mention and the reasons for its candidates, best first; none where the knowledge does not have the string."""

    start: int
    end: int
    text: str
    candidates: list[Reasons]


@dataclass(frozen=True)
class Likeness:
    """How alike two candidates of a document are."""

    first: str
    second: str
    similarity: float


@dataclass(frozen=True)
class Explained:
    """A document with all of its mentions explained, the similarities of their candidates, and its topics."""

    mentions: list[Explanation]
    similarities: list[Likeness]
    topics: list[TopicShare]


def explain(linker: Linker, document: Text, number: int, *, candidates: int = 5) -> Explanation:
    """Why one mention of a document means what it does."""
    return _Explainer(linker, document).mention(number, candidates)


def explain_document(linker: Linker, document: Text, *, candidates: int = 5, topics: int = 10) -> Explained:
    """Why all mentions of a document mean what they do."""
    explainer = _Explainer(linker, document)
    mentions = [explainer.mention(number, candidates) for number in range(len(explainer.spans))]
    mixture, shares = explainer.sampled.mixture
    largest = zip(mixture[:topics], shares[:topics], strict=True)
    return Explained(
        mentions,
        explainer.similarities({each.entity.title for mention in mentions for each in mention.candidates}),
        [TopicShare(linker.entity(topic), float(share)) for topic, share in largest],
    )


class _Explainer:
    """A document, sampled once, and what its sweeps say of topics."""

    def __init__(self, linker: Linker, document: Text) -> None:
        self.linker, self.text = linker, document.text
        given = document.mentions
        self.spans = linker.detector.detect(self.text) if given is None else given
        self.symbols = encode_mentions(self.text, self.spans, linker.knowledge)
        words = encode_words(self.text, self.spans, linker.knowledge)
        self.sampled: Sampled = linker.sampler.sample(Document(words, self.symbols, document.id))
        counts = self.sampled.counts
        self.rows = np.repeat(np.arange(len(counts.offsets) - 1), np.diff(counts.offsets))
        self.tokens = counts.sweeps / self.sampled.sweeps  # by (symbol, topic): tokens with that topic, on average
        self._explained: dict[tuple[int, int], list[Reasons]] = {}

    def mention(self, number: int, most: int) -> Explanation:
        """The reasons for the candidates of a mention; those of one string are the same everywhere."""
        start, end = self.spans[number]
        row = int(self.sampled.rows[number])
        if self.symbols[number] >= 0 and (row, most) not in self._explained:
            self._explained[row, most] = self._reasons(number, row, most)
        return Explanation(start, end, self.text[start:end], self._explained.get((row, most), []))

    def similarities(self, titles: set[str]) -> list[Likeness]:
        """How alike the candidates are that have one of some titles."""
        alike = self.sampled.packet.likeness
        named = {number: self.linker.knowledge.titles[int(topic)] for number, topic in enumerate(alike.topics)}
        shown = {number: title for number, title in named.items() if title in titles}
        found = []
        for one, title in shown.items():
            for at in range(alike.offsets[one], alike.offsets[one + 1]):
                other = int(alike.neighbours[at])
                if one < other and other in shown and alike.values[at] >= _LEAST:
                    found.append(Likeness(title, shown[other], float(alike.values[at])))
        return sorted(found, key=lambda each: -each.similarity)

    def _reasons(self, number: int, row: int, most: int) -> list[Reasons]:
        topics, counts = self.linker.knowledge.mentions.row(int(self.symbols[number]))
        priors = dict(zip(topics.tolist(), (counts / counts.sum()).tolist(), strict=True))
        found = {int(topic): float(share) for topic, share in zip(*self.sampled.mention(number), strict=True)}
        order = sorted(priors.keys() | found.keys(), key=lambda k: (-found.get(k, 0.0), -priors.get(k, 0.0), k))
        names = self._names(row)
        return [self._candidate(k, row, found.get(k, 0.0), priors.get(k, 0.0), names.get(k, 0.0)) for k in order[:most]]

    def _names(self, row: int) -> dict[int, float]:
        """The shares of a mention's weight that its topics have."""
        bag = self.sampled.packet.bag
        span = slice(bag.starts[row], bag.starts[row] + bag.lengths[row])
        weights = np.asarray(bag.mention_weights[span], np.float64)
        shares = weights / max(float(weights.sum()), 1e-300)
        return dict(zip(bag.mention_topics[span].tolist(), shares.tolist(), strict=True))

    def _candidate(self, topic: int, row: int, probability: float, prior: float, name: float) -> Reasons:
        first = self.sampled.packet.bag.first_mention
        here = self.sampled.counts.topics == topic
        words = here & (self.rows < first)
        others = here & (self.rows >= first) & (self.rows != row)
        company = self._company(topic, row)
        weight = sum(each.probability for each in company)
        return Reasons(
            entity=self.linker.entity(topic),
            sentence=self.linker.knowledge.sentences[topic],
            probability=probability,
            prior=prior,
            name=name,
            words=float(self.tokens[words].sum()),
            mentions=float(self.tokens[others].sum()),
            coherence=sum(each.probability * each.similarity for each in company) / weight if weight else 1.0,
            top_words=self._words(np.flatnonzero(words)),
            company=sorted((each for each in company if each.similarity >= _LEAST), key=_pull)[:8],
        )

    def _words(self, places: NDArray[np.intp]) -> list[Word]:
        bag, strings = self.sampled.packet.bag, self.linker.knowledge.word_strings
        best = places[np.argsort(-self.tokens[places], kind="stable")][:8]
        rows = self.rows[best]
        return [
            Word(strings[int(bag.symbols[row])], float(tokens), int(bag.occurrences[row]))
            for row, tokens in zip(rows, self.tokens[best], strict=True)
            if tokens >= _LEAST
        ]

    def _company(self, topic: int, row: int) -> list[Companion]:
        """What the other mentions mean, each string once, other than the topic itself."""
        near, strings = self._near(topic), self.linker.knowledge.mention_strings
        return [
            Companion(strings[symbol], self.linker.entity(means), chance, near.get(means, 0.0))
            for other, symbol, means, chance in self._meanings
            if other != row and means != topic
        ]

    @cached_property
    def _meanings(self) -> list[tuple[int, int, int, float]]:
        """For every known mention string its best topic and how probable that is."""
        bag, counts, found = self.sampled.packet.bag, self.sampled.counts, []
        for row in range(bag.first_mention, len(bag.symbols)):
            span = slice(counts.offsets[row], counts.offsets[row + 1])
            sweeps = counts.sweeps[span]
            if bag.symbols[row] >= 0 and len(sweeps):
                best = int(np.argmax(sweeps))
                chance = float(sweeps[best] / sweeps.sum())
                found.append((row, int(bag.symbols[row]), int(counts.topics[span][best]), chance))
        return found

    def _near(self, topic: int) -> dict[int, float]:
        alike = self.sampled.packet.likeness
        place = int(np.searchsorted(alike.topics, topic))
        if place == len(alike.topics) or alike.topics[place] != topic:
            return {}
        span = slice(alike.offsets[place], alike.offsets[place + 1])
        return dict(zip(alike.topics[alike.neighbours[span]].tolist(), alike.values[span].tolist(), strict=True))


def _pull(companion: Companion) -> float:
    return -companion.probability * companion.similarity
