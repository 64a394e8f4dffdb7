"""Explanations: the evidence for each candidate of a mention against its best rival.

The urn draws a mention with log weights that are sums (see `wikilda.urn`), so the log odds of two
candidates are sums, too:

- *prior*: log P(k|v), as from the base;
- *words*: word_weight · E_k, and what each word of the document adds to it, by the candidate and by its neighbours;
- *title*: whether the string is made of the title's initials, or the title is unlike it where another is not;
- *context*: the context words of the mention, if the model was trained on texts;
- *graph*: log(1 + (repeat_weight · N_k + Σ near · R(k, z)) / (base_weight · P(k|v)^(1 − prior_exponent))): what
  the other mentions add, with what longer names pass on, and what each other string adds.

All are multiplied by `posterior_exponent`, the power of the posterior; the odds of NIL are not.

All but the last are exactly those of the sampler. The graph's part changes from sweep to sweep; here it is taken at the
expected content of the urn, given the posteriors of the other mentions. So the sum is the log posterior odds where the
other mentions are certain, and close to it where they are not.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import SettingsError
from wikilda.documents.document import Document
from wikilda.documents.encoding import EncodedDocument
from wikilda.linking._ranking import Rows, best_candidates
from wikilda.linking.linker import Linker
from wikilda.linking.reasons import Content, Explained, Explanation, NilReasons, Odds, Reasons, Relation, Support, Word
from wikilda.linking.results import TopicShare
from wikilda.urn import Company, Part, Urn

_LEAST_WORD = 0.005  # of a log weight: less is not worth showing
_LEAST_PULL = 1e-4  # of what is in the urn
_MOST = 8  # words and strings that are shown for a candidate
_MOST_RELATIONS = 1000  # of a document
_BLOCK = 256  # topics whose words are looked at together
_NOTHING = Odds(0.0, 0.0, 0.0, 0.0, 0.0)


def explain(linker: Linker, document: Document, number: int, *, candidates: int = 5) -> Explanation:
    """The evidence for the candidates of one mention of a document."""
    return _Explainer(linker, document, candidates).mentions([number])[0]


def explain_document(linker: Linker, document: Document, *, candidates: int = 5, topics: int = 10) -> Explained:
    """The evidence for the candidates of all mentions of a document."""
    explainer = _Explainer(linker, document, candidates)
    mentions = explainer.mentions(range(len(explainer.document.spans)))
    shares = zip(*(column[:topics].tolist() for column in linker.topics(document)), strict=True) if topics else ()
    return Explained(
        mentions,
        explainer.related({each.entity.title for mention in mentions for each in mention.candidates}),
        [TopicShare(linker.entity(topic), share) for topic, share in shares],
    )


class _Explainer:
    """A document, drawn once, with its candidates in the order of the answer."""

    def __init__(self, linker: Linker, document: Document, most: int) -> None:
        if linker.urn is None:
            raise SettingsError("the method lda cannot explain its answers. Use the method urn.")
        self.linker, self.most, self.document = linker, most, linker.encode(document)
        drawn = linker.draw(self.document)
        self.nil = drawn.nil
        symbols = np.asarray(self.document.mentions)
        rows = Rows(drawn.offsets, drawn.topics, drawn.posterior)
        self.best = best_candidates(linker.model.mentions, rows, symbols, np.arange(len(symbols)), max(most, 2))
        self.parts = [_PartOf(linker, linker.urn, part, self.document) for part in drawn.parts]
        self._places = {
            int(number): (part, token) for part in self.parts for token, number in enumerate(part.part.chosen)
        }

    def mentions(self, numbers: "range | list[int]") -> list[Explanation]:
        """The reasons for the candidates of some mentions."""
        spans = [self.document.spans[number] for number in numbers]
        text = self.document.text
        for part in self.parts:
            part.read_words([k for number in numbers for k in self._shown(number, part)])
        return [
            Explanation(
                start, end, text[start:end], self._reasons(number), float(self.nil[number]), self._nil_reasons(number)
            )
            for number, (start, end) in zip(numbers, spans, strict=True)
        ]

    def related(self, titles: set[str]) -> list[Relation]:
        """How the candidates are related that have one of some titles, the strongest first."""
        found = [each for part in self.parts for each in part.relations(titles)]
        return sorted(found, key=lambda each: -each.relatedness)[:_MOST_RELATIONS]

    def _shown(self, number: int, part: "_PartOf | None" = None) -> list[int]:
        """The candidates of a mention that were looked at, as numbers of its part, best first."""
        where, _ = self._places.get(number, (None, 0))
        if where is None or part not in (None, where):
            return []
        return [at for topic in self.best.topics[number] if (at := where.number_of(int(topic))) >= 0]

    def _reasons(self, number: int) -> list[Reasons]:
        shown = self._shown(number)
        if not shown:
            return []
        part, token = self._places[number]
        numbers = zip(self.best.probabilities[number], self.best.priors[number], strict=True)
        found = []
        for (probability, prior), topic in zip(list(numbers)[: self.most], shown, strict=False):
            rival = next((other for other in shown if other != topic), -1)
            found.append(part.reasons(token, topic, rival, float(probability), float(prior)))
        return found

    def _nil_reasons(self, number: int) -> NilReasons | None:
        shown = self._shown(number)
        if not shown or self.linker.settings.nil_weight <= 0:  # type: ignore[union-attr]
            return None
        part, token = self._places[number]
        return part.nil_reasons(token, shown[0])


class _PartOf:
    """The mentions of a document that were drawn together. Topics are numbers in `part.topics`."""

    def __init__(self, linker: Linker, urn: Urn, part: Part, document: EncodedDocument) -> None:
        self.linker, self.urn, self.part, self.document = linker, urn, part, document
        self.graph, self.sharpen = Company(part, urn.rules), urn.exponent
        self._words: dict[int, NDArray[np.float32]] = {}
        self._top: dict[tuple[int, int], list[Word]] = {}

    def number_of(self, topic: int) -> int:
        """The number of a topic; −1 if it was not looked at."""
        at = int(np.searchsorted(self.part.topics, topic)) if topic >= 0 else len(self.part.topics)
        return at if at < len(self.part.topics) and int(self.part.topics[at]) == topic else -1

    def read_words(self, topics: list[int]) -> None:
        """Find what words say for topics; all at once, for their rows are long."""
        wanted = np.array(sorted(set(topics)), np.int64)
        for start in range(0, len(wanted), _BLOCK):
            block = wanted[start : start + _BLOCK]
            found = self.sharpen * self.urn.word_parts(self.part, block)
            self._words |= zip(block.tolist(), found.astype(np.float32), strict=True)

    def relations(self, titles: set[str]) -> list[Relation]:
        named = [self.linker.knowledge.titles[int(topic)] for topic in self.part.topics]
        shown = np.array([at for at, title in enumerate(named) if title in titles], np.int64)
        values = np.triu(self.part.related[np.ix_(shown, shown)])
        best = np.unravel_index(_largest(values.ravel(), _MOST_RELATIONS), values.shape)
        return [
            Relation(named[shown[one]], named[shown[other]], float(values[one, other]))
            for one, other in zip(*best, strict=True)
            if values[one, other] > 0
        ]

    def reasons(self, token: int, topic: int, rival: int, probability: float, prior: float) -> Reasons:
        pulls = self.graph.pulls(token, topic)
        return Reasons(
            entity=self.linker.entity(self.part.topics[topic]),
            sentence=self.linker.knowledge.sentences[int(self.part.topics[topic])],
            probability=probability,
            prior=prior,
            rival=self.linker.entity(self.part.topics[rival]).title if rival >= 0 else None,
            odds=self._odds(token, topic, rival) if rival >= 0 else _NOTHING,
            urn=self._content(token, topic),
            top_words=self._top_words(topic, rival),
            support=self._support(pulls, topic),
        )

    def _odds(self, token: int, topic: int, rival: int) -> Odds:
        found, row = self.part.found.candidates, self.part.rows[token]
        span = slice(found.offsets[row], found.offsets[row + 1])
        one, other = (span.start + int(np.flatnonzero(found.numbers[span] == each)[0]) for each in (topic, rival))
        prior, words, title = (self.sharpen * float(log[one] - log[other]) for log in self.part.drawing.logs)
        held, against = self._content(token, topic), self._content(token, rival)
        graph = np.log(held.total / held.base) - np.log(against.total / against.base)
        prior += self.sharpen * float(np.log(held.base) - np.log(against.base))
        contexts = self.part.contexts[self.part.mentions.offsets[token] :]  # none of an untrained model
        around = float(contexts[one - span.start] - contexts[other - span.start]) if len(contexts) else 0.0
        return Odds(prior, words, title, self.sharpen * around, self.sharpen * float(graph))

    def _content(self, token: int, topic: int) -> Content:
        related = float(self.graph.pulls(token, topic).sum())
        mentions = self.part.mentions
        span = slice(mentions.offsets[token], mentions.offsets[token + 1])
        base = mentions.base[span][mentions.numbers[span] == topic][0]
        coreference = self.graph.coreference(token, topic)
        return Content(float(base), self.graph.repeats(token, topic), related, coreference)

    def nil_reasons(self, token: int, best: int) -> NilReasons:
        """Why a mention is NIL, or not: against its best candidate."""
        part, rules, drawn = self.part, self.urn.rules, self.part.drawing.drawn
        span = slice(part.mentions.offsets[token], part.mentions.offsets[token + 1])
        at = span.start + int(np.flatnonzero(part.mentions.numbers[span] == best)[0])
        weight = max(float(part.mentions.weights[at]) * self._content(token, best).total, 1e-300)
        new, string = (float(each[part.rows[token]]) for each in (part.named.new_meanings, part.nil_strings))
        return NilReasons(
            new_meaning=new,
            string=float(np.log(string * rules.base)),
            title=float(np.log(part.mentions.nil[at] / string)),
            document=rules.level * float(drawn.level[token]),
            names=float(np.log(self.graph.unknown(token) / rules.base)),
            candidate=-float(np.log(weight)),
            parents=[(self._string(other), float(drawn.nil[other])) for other in self.graph.parents(token)],
        )

    def _string(self, token: int) -> str:
        start, end = self.document.spans[self.part.chosen[token]]
        return self.document.text[start:end]

    def _top_words(self, topic: int, rival: int) -> list[Word]:
        """The words that say most for a candidate, or against it."""
        if (topic, rival) not in self._top:
            weights, strings = self._words[topic], self.linker.knowledge.word_strings
            against = weights - self._words[rival] if rival >= 0 else weights
            best = _largest(np.abs(against), _MOST)
            words, counts = self.part.found.words, self.part.found.counts
            self._top[topic, rival] = [
                Word(strings[int(words[at])], int(counts[at]), float(weights[at]), float(against[at]))
                for at in best
                if abs(against[at]) >= _LEAST_WORD
            ]
        return self._top[topic, rival]

    def _support(self, pulls: NDArray[np.float64], topic: int) -> list[Support]:
        """The strings that add most, each with the entity of its strongest mention."""
        totals = np.bincount(self.part.rows, weights=pulls)
        best = _largest(totals, _MOST)
        return [self._support_of(int(row), pulls, topic) for row in best if totals[row] >= _LEAST_PULL]

    def _support_of(self, row: int, pulls: NDArray[np.float64], topic: int) -> Support:
        others = self._tokens[row]
        others = others[pulls[others] > 0]
        other = int(others[np.argmax(pulls[others])])
        means, probability = self.graph.puller(other, topic)
        linked, shared = self.graph.between(means, topic)
        start, end = self.document.spans[self.part.chosen[other]]
        return Support(
            mention=self.document.text[start:end],
            times=len(others),
            entity=self.linker.entity(self.part.topics[means]),
            probability=probability,
            weight=float(pulls[others].sum()),
            linked=linked,
            shared=shared,
        )

    @cached_property
    def _tokens(self) -> list[NDArray[np.int64]]:
        """The mentions of every distinct string."""
        order = np.argsort(self.part.rows, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.part.rows))[:-1])


def _largest(values: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Where the largest values are, largest first."""
    places = np.argpartition(-values, most)[:most] if len(values) > most else np.arange(len(values))
    return places[np.lexsort((places, -values[places]))]
