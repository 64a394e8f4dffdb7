"""Explanations: the evidence for each candidate of a mention against its rival, with names instead of numbers.

The terms are those of `wikilda.urn.evidence`: the log odds of two candidates are exactly the sum of

- *prior*: the prior that was used, which counts for less where other mentions support a candidate;
- *words*: the similarity of the document's words with the candidate and its neighbours;
- *title*: the similarity of the title and the string;
- *context*: the words next to the mention, if the model was trained on texts;
- *graph*: support by the other mentions.

The rival of the best candidate is the second best, that of any other is the best. The log odds of NIL are a sum, too.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wikilda.linking.inference import Inference
from wikilda.linking.reasons import Explained, Explanation, NilReasons, Odds, Reasons, Relation, Support, Word
from wikilda.linking.results import TopicShare
from wikilda.urn.evidence import Evidence, PartEvidence, largest

_LEAST = 0.005  # of a log weight: less is shown as 0.00
_MOST = 8  # words and strings per candidate
_MOST_RELATIONS = 1000  # of a document
_NO_ODDS = Odds(0.0, 0.0, 0.0, 0.0, 0.0)


def explain_all(inference: Inference, candidates: int, topics: int) -> Explained:
    """Explain the mentions of an answer, how their candidates are related, and the topics of the document."""
    explainer = _Explainer(inference, candidates)
    numbers = np.flatnonzero(inference.possible).tolist()
    mentions = explainer.mentions(numbers)
    shown = np.unique(explainer.best.topics[numbers, :candidates])
    relations = explainer.evidence.relations(shown[shown >= 0].astype(np.uint32), _MOST_RELATIONS)
    found = zip(*(column[:topics].tolist() for column in inference.topics()), strict=True) if topics else ()
    return Explained(
        mentions,
        [Relation(explainer.title(one), explainer.title(other), value) for one, other, value in relations],
        [TopicShare(inference.entity(topic), share) for topic, share in found],
    )


def explain_some(inference: Inference, numbers: Sequence[int], candidates: int) -> list[Explanation]:
    """Explain some of the proposed mentions, by their numbers."""
    return _Explainer(inference, candidates).mentions(numbers)


class _Explainer:
    def __init__(self, inference: Inference, most: int) -> None:
        self.inference, self.most = inference, most
        self.knowledge = inference.linker.knowledge
        self.evidence: Evidence = inference.linker.method.evidence(inference.encoded, inference.inferred)
        self.best = inference.ranked(max(most, 2))

    def title(self, topic: int) -> str:
        return self.inference.entity(topic).title

    def mentions(self, numbers: Sequence[int]) -> list[Explanation]:
        """Explain mentions; the words of all candidates are read together, for their rows are long."""
        wanted: dict[PartEvidence, list[int]] = {}
        for number in numbers:
            if found := self.evidence.of(number):
                wanted.setdefault(found[0], []).extend(self._topics(number))
        words = {part: part.words(topics) for part, topics in wanted.items()}
        return [self._mention(number, words) for number in numbers]

    def _topics(self, number: int) -> list[int]:
        return [topic for topic in self.best.topics[number].tolist() if topic >= 0]

    def _mention(self, number: int, words: dict[PartEvidence, dict[int, NDArray[np.float32]]]) -> Explanation:
        encoded, nil = self.inference.encoded, float(self.inference.nil[number])
        start, end = encoded.spans[number]
        topics, found = self._topics(number), self.evidence.of(number)
        if found is None or not all(found[0].has(found[1], topic) for topic in topics):
            topics = []  # no candidate, or decided as an entity that is not one
        candidates = []
        for at, topic in enumerate(topics[: self.most] if found else ()):
            rival = next((each for each in topics if each != topic), None)
            assert found is not None
            part, token = found
            candidates.append(Reasons(
                entity=self.inference.entity(topic),
                sentence=self.knowledge.sentences[topic] if topic < len(self.knowledge.titles) else "",
                probability=float(self.best.probabilities[number, at]),
                prior=float(self.best.priors[number, at]),
                rival=self.title(rival) if rival is not None else None,
                odds=Odds(*part.terms(token, topic, rival)) if rival is not None else _NO_ODDS,
                top_words=self._words(part, words[part], topic, rival),
                support=self._support(part, token, topic, rival),
            ))  # fmt: skip
        unknown = self._nil(*found, topics[0]) if found and topics else None
        return Explanation(start, end, encoded.text[start:end], candidates, nil, unknown)

    def _words(
        self, part: PartEvidence, words: dict[int, NDArray[np.float32]], topic: int, rival: int | None
    ) -> list[Word]:
        """Return the words with the largest contributions."""
        weights = words[topic]
        against = weights - words[rival] if rival is not None else weights
        found = part.part.found
        return [
            Word(
                self.knowledge.word_strings[int(found.words[at])], int(found.counts[at]), float(weights[at]),
                float(against[at]),
            )
            for at in largest(np.abs(against), _MOST)
            if abs(against[at]) >= _LEAST
        ]  # fmt: skip

    def _support(self, part: PartEvidence, token: int, topic: int, rival: int | None) -> list[Support]:
        """The strings that support a candidate more than its rival, strongest first."""
        encoded, found = self.inference.encoded, []
        for pull in part.pulls(token, topic, rival)[:_MOST]:
            start, end = encoded.spans[pull.mention]
            if pull.weight >= _LEAST:
                entity = self.inference.entity(pull.topic)
                found.append(Support(encoded.text[start:end], pull.times, entity, *pull[3:]))
        return found

    def _nil(self, part: PartEvidence, token: int, best: int) -> NilReasons | None:
        terms = part.nil(token, best)
        if terms is None:
            return None
        encoded = self.inference.encoded
        spans = [encoded.spans[other] for other, _ in terms.parents]
        parents = [(encoded.text[start:end], nil) for (start, end), (_, nil) in zip(spans, terms.parents, strict=True)]
        return NilReasons(*terms[:5], terms.new_meaning, parents)
