"""The inference of a document. Answers, explanations and topics are views of it."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wikilda.documents.encoding import EncodedDocument
from wikilda.linking._ranking import Best, Rows, best_candidates
from wikilda.linking.methods import Posterior, Ranking
from wikilda.linking.results import Answers, Entity, Linked, Request, are_nil
from wikilda.urn import segment
from wikilda.urn.own_entities import OwnEntities

if TYPE_CHECKING:
    from wikilda.linking.linker import Linker
    from wikilda.linking.reasons import Explained, Explanation

_NO_TOPICS: Ranking = (np.empty(0, np.uint32), np.empty(0, np.float64))


class Inference:
    """A document: encoded, its mentions detected, decided and segmented.

    Attributes
    ----------
    request
        The document and the options that it was inferred with.
    encoded
        The document as symbols, with the spans of all proposed mentions.
    inferred
        What the method returned: a `Posterior`, and what its evidence is computed from.
    rows
        The candidates of each proposed mention with their posterior and the prior that the method used.
    nil
        The probability of NIL of each proposed mention.
    kept
        Which of the proposed mentions are mentions. All of those that were given are.

    Examples
    --------
    >>> inference = linker.infer("Croft took five wickets for England.")
    >>> [each.text for each in inference.linked().mentions]
    ['Croft', 'England']
    >>> [each.text for each in inference.explain().mentions]
    ['Croft', 'England']
    """

    def __init__(
        self, linker: "Linker", request: Request, encoded: EncodedDocument, inferred: Posterior,
        own: OwnEntities | None = None,
    ) -> None:  # fmt: skip
        self.linker, self.request, self.encoded, self.inferred, self._own = linker, request, encoded, inferred, own
        self._every = Rows(
            offsets=inferred.offsets, topics=inferred.topics, posterior=inferred.posterior, priors=inferred.priors()
        )
        self.nil = inferred.nil
        self._ranked: dict[bool, Best] = {}  # cached by whether candidates are restricted

    @cached_property
    def rows(self) -> Rows:
        """The candidates of each proposed mention that the restriction allows."""
        restriction = self.request.restriction
        if not restriction:
            return self._every
        types = [each.type for each in self._own.entities] if self._own else []
        return restriction.apply(self.linker.allowed(restriction), self._every, self.encoded.strings, types)

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Which of the proposed mentions are mentions."""
        kept = np.ones(len(self.nil), np.bool_)
        if self.request.document.mentions is None:
            best = self._best(1, restricted=False).topics[:, 0]
            kept = segment(
                self.encoded, best, self.unknown, lambda topic: self.entity(topic).title, nested=self.request.nested
            )
            if self.request.decided:
                kept |= [span in self.request.decided for span in self.encoded.spans]
        return kept

    @cached_property
    def unknown(self) -> NDArray[np.bool_]:
        """Which proposed mentions are NIL: NIL is more probable than the best candidate."""
        return are_nil(self.nil, self._best(1, restricted=False).probabilities[:, 0])

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which mentions have candidates that the restriction allows."""
        return self.kept & (np.diff(self.rows.offsets) > 0) if self.request.restriction else self.kept

    def ranked(self, most: int) -> Best:
        """Return the best candidates of each proposed mention."""
        return self._best(most, restricted=bool(self.request.restriction))

    def _best(self, most: int, *, restricted: bool) -> Best:
        known = self._ranked.get(restricted)
        if known is None or known.topics.shape[1] < most:
            known = self._ranked[restricted] = best_candidates(self.rows if restricted else self._every, most)
        return Best(known.topics[:, :most], known.probabilities[:, :most], known.priors[:, :most])

    def linked(self, candidates: int = 5, topics: int = 10, *, all_mentions: bool = False) -> Linked:
        """Return the answer.

        Parameters
        ----------
        candidates
            The number of candidates per mention, best first.
        topics
            The number of topics of the document, largest first. 0 saves the time to infer them.
        all_mentions
            Whether to keep mentions that the restriction leaves no candidate.
        """
        best = self.ranked(candidates)
        topic, shares = self.topics() if topics else _NO_TOPICS
        answers = Answers(
            self.encoded.spans, *best, self.nil, topic[:topics], shares[:topics], self.entity, self.request
        )  # fmt: skip
        if self.request.decided:
            answers = self._decided(answers)
        kept = self.kept if all_mentions else self.possible
        return Linked(answers if kept.all() else answers.some(kept), self.linker.source)

    def topics(self, by_words: int = 0) -> Ranking:
        """Return the topics of the document as numbers of the knowledge, and their shares, largest first."""
        return self.linker.method.topics(self.encoded, self.inferred, self.unknown | ~self.kept, by_words)

    def explain(self, candidates: int = 5, *, topics: int = 10) -> "Explained":
        """Return the evidence for the candidates of all mentions."""
        from wikilda.linking.explanation import explain_all

        return explain_all(self, candidates, topics)

    def explain_some(self, spans: Sequence[tuple[int, int]], candidates: int = 5) -> "list[Explanation]":
        """Return the evidence for the candidates of some mentions, by their spans."""
        from wikilda.linking.explanation import explain_some

        numbers = {span: number for number, span in enumerate(self.encoded.spans)}
        return explain_some(self, [numbers[span] for span in spans], candidates)

    def entity(self, topic: int) -> Entity:
        """Return the entity of a topic: of the knowledge, or the caller's own."""
        if self._own is None or topic < self._own.first:
            return self.linker.entity(topic)
        given = self._own.entities[topic - self._own.first]
        return Entity(given.title, 0, None, "", given.type)

    def _decided(self, answers: Answers) -> Answers:
        """Set the answers of mentions that were decided beforehand."""
        topics, chances, nil = answers.topics.copy(), answers.probabilities.copy(), answers.nil.copy()
        priors = answers.priors.copy()
        decisions = self.request.decided or {}
        for number, span in enumerate(self.encoded.spans):
            if span not in decisions:
                continue
            title = decisions[span]
            if title is None:
                nil[number] = 1.0
                continue
            topic, row = self.linker.entity(title).topic, slice(*self._every.offsets[number : number + 2])
            prior = self._every.priors[row][self._every.topics[row] == topic]
            for each in (topics, chances, priors):
                each[number] = -1 if each is topics else 0
            topics[number, :1], chances[number, :1], priors[number, :1] = topic, 1.0, prior[0] if len(prior) else 0.0
            nil[number] = 0.0
        return answers._replace(topics=topics, probabilities=chances, priors=priors, nil=nil)
