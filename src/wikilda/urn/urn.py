"""Inference of the mentions of a document."""

import copy
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda.documents.detection.framing import capitalised, titled, words_before
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import UNIT
from wikilda.knowledge.knowledge import WHOLE
from wikilda.knowledge.name_index import NO_NAMES
from wikilda.lda.packet import numbers
from wikilda.model import Model
from wikilda.model.weights import NIL_STRING, Weights
from wikilda.text.characters import characters
from wikilda.text.contexts import Contexts
from wikilda.text.folding import folds
from wikilda.urn._backoff import back_off
from wikilda.urn._candidates import Rows, chosen_rows, leave_out
from wikilda.urn._draw import WORDS_SCALE, Drawing, Ranking, TitleTables, best_topics, draw
from wikilda.urn._find import Found, Limits, Named, NameTables, find, read_names
from wikilda.urn._mean_field import Mentions, Rules
from wikilda.urn._names import resolve
from wikilda.urn._relatedness import Matrix, rows_of
from wikilda.urn._word_evidence import OVERLAP, Scratch, word_parts
from wikilda.urn.context_evidence import (
    NOT_DENSE,
    NOTHING_TAUGHT,
    context_evidence,
    dense_rows,
    of_other_mentions,
)  # fmt: skip
from wikilda.urn.own_entities import OwnEntities
from wikilda.urn.settings import UrnSettings
from wikilda.urn.statistics import Taught, nil_counts, nil_evidence
from wikilda.urn.view import View

Numbers = NDArray[np.int64]
Vector = NDArray[np.float64]

# What any value within a factor of three leaves as it is: accuracy on the links of four wikis changes by less than
# 0.3 points (docs/experiments/weights.md).
ALONE, REPEATS, NEAR, REACH, COREFERENCE = 0.1, 0.1, 3.0, 10.0, 1.0
_DEFAULT = UrnSettings()
_FEW_WORDS = 20.0  # of a description, with which its cosine with a document counts half
_MOST_TOPICS = 4096  # candidates of a document that are related to each other at once; longer documents are split
_NO_TOPICS = np.empty(0, np.uint32), np.empty(0, np.float64)
_NO_CONTEXTS, _NO_KINDS = np.empty(0, np.float64), np.empty(0, np.uint8)


@dataclass(frozen=True)
class Part:
    """Mentions of a document that were inferred together, in the order of the text, with their evidence."""

    chosen: Numbers  # which mentions of the document
    named: Named
    found: Found
    drawing: Drawing
    contexts: NDArray[np.float64]  # the evidence of the context of a mention for its candidates; or nothing
    nil_strings: NDArray[np.float64]  # by distinct string: what NIL_STRING are, one column each

    @property
    def topics(self) -> NDArray[np.uint32]:
        """The candidates of all mentions."""
        return self.found.candidates.topics

    @property
    def mentions(self) -> Mentions:
        """The mentions with their candidates, which are numbers of topics."""
        return self.drawing.mentions

    @property
    def posterior(self) -> NDArray[np.float64]:
        """The posterior of each candidate of each mention, given that it is not NIL."""
        return self.drawing.found.shares

    @property
    def rows(self) -> Numbers:
        """Which of the distinct strings each mention has."""
        return self.named.rows

    @property
    def sources(self) -> Numbers:
        """By candidate of a mention: its place among the candidates of the mention's string."""
        offsets, lengths = self.mentions.offsets, np.diff(self.mentions.offsets)
        starts = self.found.candidates.offsets[self.rows]
        found: Numbers = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - starts, lengths)
        return found

    def priors(self) -> Vector:
        """The prior of the candidates of mentions, as it was used: it sums to 1 over those of a mention."""
        found: Vector = np.exp(self.drawing.logs.prior[self.sources])
        return found

    def links_prior(self) -> Vector:
        """P(k|v) of the candidates of mentions, as the model has counted it."""
        found: Vector = self.found.candidates.priors[self.sources]
        return found

    @cached_property
    def related(self) -> Matrix:
        """R of all pairs of topics."""
        return rows_of(self.drawing.relations, np.arange(len(self.topics)))


@dataclass(frozen=True)
class Drawn:
    """The posterior of every mention, that of mention i from offsets[i] on, and its parts.

    It is given that the mention is not NIL; `nil` is the probability of NIL.
    """

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    posterior: NDArray[np.float64]
    from_base: NDArray[np.float64]  # the share of the conditional that came from the base measure
    nil: NDArray[np.float64]
    parts: list[Part]

    @classmethod
    def of(cls, parts: list[Part], mentions: int) -> "Drawn":
        """Join the parts of a document in the order of its mentions."""
        if len(parts) == 1 and np.array_equal(parts[0].chosen, np.arange(mentions)):
            [only] = parts
            topics, drawn = only.topics[only.mentions.numbers], only.drawing.found
            return cls(only.mentions.offsets, topics, only.posterior, drawn.from_base, drawn.nil, parts)
        lengths, starts = np.zeros(mentions, np.int64), np.zeros(mentions, np.int64)
        nil = np.ones(mentions, np.float64)
        before = 0
        for part in parts:
            lengths[part.chosen] = np.diff(part.mentions.offsets)
            starts[part.chosen] = part.mentions.offsets[:-1] + before
            nil[part.chosen] = part.drawing.found.nil
            before += len(part.posterior)
        offsets = offsets_of(lengths)
        source = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        if not parts:
            return cls(offsets, np.empty(0, np.uint32), np.empty(0, np.float64), np.empty(0, np.float64), nil, parts)
        topics = np.concatenate([part.topics[part.mentions.numbers] for part in parts])
        posterior = np.concatenate([part.posterior for part in parts])
        base = np.concatenate([part.drawing.found.from_base for part in parts])
        return cls(offsets, topics[source], posterior[source], base[source], nil, parts)

    def best(self) -> NDArray[np.int64]:
        """The topic with the largest posterior of every mention, of equals the first; −1 where it has no candidate."""
        return best_topics(self.offsets, self.topics, self.posterior)

    def priors(self) -> Vector:
        """The prior of the candidates of mentions, as it was used."""
        return self._of_parts([part.priors() for part in self.parts])

    def links_prior(self) -> Vector:
        """P(k|v) of the candidates of mentions, as the model has counted it."""
        return self._of_parts([part.links_prior() for part in self.parts])

    def _of_parts(self, values: list[Vector]) -> Vector:
        """Values of the candidates of parts, in the order of the mentions."""
        found = np.zeros(len(self.topics), np.float64)
        for part, own in zip(self.parts, values, strict=True):
            offsets = part.mentions.offsets
            places = np.repeat(self.offsets[part.chosen] - offsets[:-1], np.diff(offsets))
            found[np.arange(offsets[-1]) + places] = own
        return found

    def mention(self, number: int) -> tuple[NDArray[np.uint32], Vector]:
        """The topics that a mention may mean and their posterior probabilities, best first."""
        span = slice(self.offsets[number], self.offsets[number + 1])
        topics, posterior = self.topics[span], self.posterior[span]
        order = np.lexsort((topics, -posterior))
        return topics[order], posterior[order]


class Urn:
    """Infers the mentions of documents. One urn serves many threads."""

    model: Model
    knowledge: Knowledge

    def __init__(self, model: Model, knowledge: Knowledge, settings: UrnSettings = _DEFAULT) -> None:
        self.model, self.knowledge = model, knowledge
        self._begin(View.of(model, knowledge, indexed=settings.backoff_candidates > 0), settings)

    @classmethod
    def of_view(cls, view: View, settings: UrnSettings) -> "Urn":
        """Return an urn over a packet, for documents without their own counts. It has no model or knowledge."""
        made = cls.__new__(cls)
        made._begin(view, settings)
        return made

    def _begin(self, view: View, settings: UrnSettings) -> None:
        self.view, self.settings, s = view, settings, settings
        self.words = view.words
        self._set_weights(settings.apply(view.weights))
        w = self.weights
        self.contexts = view.contexts if w.context > 0 else None
        self._dense = NOT_DENSE if view.contexts is None else dense_rows(view.contexts)
        self.nil = view.nil if w.nil_texts > 0 else None
        has_names = view.names is not None or view.by_words is not None
        self.limits = Limits(s.max_candidates, s.backoff_candidates if has_names else 0, s.max_neighbours)
        self.name_tables = NameTables(
            base=view.base, links=view.links, index_of_names=view.names or NO_NAMES, titles=view.titles,
            characters=characters(), folds=folds(), persons=view.persons, organisations=view.organisations,
        )  # fmt: skip
        self._titles = TitleTables(
            titles=view.titles, graph=view.degrees, characters=characters(), cases=view.cases, capitals=view.capitals
        )
        self._local: Any = threading.local()

    def _set_weights(self, w: Weights) -> None:
        self.weights = w
        self.rules = Rules(
            alone=ALONE, repeats=REPEATS, near=NEAR, reach=REACH, coreference=COREFERENCE, graph=w.graph,
            nil_parents=w.nil_parents, nil_same=w.nil_same_string, nil_level=w.nil_level, nil_fit=w.nil_fit,
            nil_mentions=w.nil_mentions, usual_fit=w.usual_fit,
        )  # fmt: skip
        self._ranking = Ranking(
            naming=w.naming * w.naming_shift, popularity=w.popularity * w.popularity_shift, words=w.words,
            title=w.title, mismatch=w.mismatch, nil_title=w.nil_title, nil_full_title=w.nil_full_title,
            nil_part=w.nil_part, nil_mismatch=w.nil_mismatch,
        )  # fmt: skip
        self._nil_weights = np.array([getattr(w, name) for name in NIL_STRING])

    def with_weights(self, weights: Weights) -> "Urn":
        """The same urn with other weights of the evidence that links give."""
        other = copy.copy(self)
        other._set_weights(weights)
        return other

    def with_exponents(self, naming: float, popularity: float) -> "Urn":
        """The same urn with other exponents of the prior."""
        shifts = ("naming_shift", 1.0), ("popularity_shift", 1.0)
        return self.with_weights(self.weights.replaced([("naming", naming), ("popularity", popularity), *shifts]))

    def with_prior_shift(self, naming: float, popularity: float) -> "Urn":
        """The same urn with other factors of the exponents of the prior."""
        return self.with_weights(self.weights.replaced([("naming_shift", naming), ("popularity_shift", popularity)]))

    def draw(self, document: EncodedDocument, entities: OwnEntities | None = None) -> Drawn:
        """Infer what the mentions of a document mean. They may also mean `entities`."""
        return self.draw_without(document, None, entities)

    def draw_without(self, document: EncodedDocument, own: Taught | None, entities: OwnEntities | None = None) -> Drawn:
        """Infer a document without its own counts (leave-one-out)."""
        mentions = self.resolve(document)
        words = numbers(document.words)
        parts: list[Part] = []
        for chosen, named in self.read(document, mentions):
            if own is not None:
                counts = own.base / UNIT
                leave_out(named.meanings, named.totals, named.symbols, mentions, own.offsets, own.topics, counts)
            found = self.find(named, words)
            parts.append(self._draw(named, found, chosen, mentions, document.contexts, own, entities))
        return Drawn.of(parts, len(mentions))

    def read(self, document: EncodedDocument, mentions: Numbers) -> Iterator[tuple[Numbers, Named]]:
        """Yield the resolved mentions of a document in parts, with the candidates of their strings."""
        places, tables = np.asarray(document.positions, np.int64), self.name_tables
        before, language = words_before(document.text, document.spans), self.view.language
        named_by, capitals = titled(before, language), capitalised(document.strings, before, language)
        for chosen in self._split(mentions, places):
            most, names = self.limits.candidates, document.names
            yield chosen, read_names(tables, most, mentions, names, places, named_by, capitals, chosen)

    def resolve(self, document: EncodedDocument) -> Numbers:
        """The numbers of the mention strings of a document, unknown ones below −1."""
        tables = self.name_tables
        return resolve(
            numbers(document.mentions), document.names, tables.index_of_names.variants, tables.characters, tables.folds,
            self.limits.backoff > 0,
        )  # fmt: skip

    def back_off(self, named: Named) -> Rows:
        """Candidates of strings by the words of titles."""
        tables = self.name_tables
        if not self.limits.backoff:
            return Rows(np.zeros(len(named.symbols) + 1, np.int64), *_NO_TOPICS)
        if self.view.by_words is not None:
            return chosen_rows(self.view.by_words, named.symbols)
        return back_off(
            named.names, named.strings, named.symbols, self.limits.backoff, tables.index_of_names, tables.titles,
            tables.base, tables.characters, tables.folds,
        )  # fmt: skip

    def find(self, named: Named, words: Numbers, by_words: Rows | None = None, without: int = -1) -> Found:
        """Find the candidates of mentions and the evidence of the document's words.

        `without` is a topic that is left out of the link graph.
        """
        rows = self.back_off(named) if by_words is None else by_words
        graph = self.view.graph
        found = find(named, rows, self.limits, graph, self.words, words, self.scratch(), without)
        if self.view.described is not None:
            found = found._replace(evidence=_shrunk(found, self.view.described))
        return found

    def _split(self, mentions: Numbers, places: Numbers) -> Iterator[Numbers]:
        """Yield mentions in the order of the text, in groups whose candidates fit a matrix."""
        offsets, limits = self.view.base.offsets, self.limits
        order = np.argsort(places, kind="stable")
        if 0 < len(mentions) * (limits.candidates + limits.backoff) <= _MOST_TOPICS:
            yield order
            return
        known = np.flatnonzero(mentions >= 0)  # unknown names have negative numbers and no candidates of their own
        sizes = np.zeros(len(mentions), np.int64)
        sizes[known] = np.diff(offsets)[mentions[known]]
        sizes = np.minimum(sizes, limits.candidates) + limits.backoff
        part: list[int] = []
        seen: set[int] = set()
        total = 0
        for at in order.tolist():
            new = 0 if int(mentions[at]) in seen else int(sizes[at])
            if part and total + new > _MOST_TOPICS:
                yield np.array(part)
                part, total = [], 0
                seen.clear()
                new = int(sizes[at])
            part.append(at)
            seen.add(int(mentions[at]))
            total += new
        if part:
            yield np.array(part)

    def _draw(
        self, named: Named, found: Found, chosen: Numbers, mentions: Numbers,
        around: Contexts | None, own: Taught | None, entities: OwnEntities | None,
    ) -> Part:  # fmt: skip
        exact, nil = _NO_KINDS, self._nil_learned(named.symbols, mentions, own)
        if entities:
            named, found, exact, known_names = entities.join(named, found)
            nil[known_names] = 0.0  # texts may have meant these entities
        taught = None if self.view.of_links else own
        evidence = self.context_evidence(around, chosen, named.rows, found, taught)
        contexts = self.weights.context * evidence
        if len(evidence):
            contexts += self.weights.repeats * of_other_mentions(evidence, named.rows, found.candidates.offsets)
        return self.decide(named, found, chosen, contexts, nil, exact)

    def decide(
        self, named: Named, found: Found, chosen: Numbers, contexts: Vector = _NO_CONTEXTS, nil: Vector | float = 0.0,
        exact: NDArray[np.uint8] = _NO_KINDS, fame: Vector | None = None,
    ) -> Part:  # fmt: skip
        """Infer the posterior of mentions, given what they may mean.

        There may also be: the evidence of contexts by candidate, log odds of NIL by string that texts have taught,
        which strings are exactly names of own entities, and log P(k) by topic.
        """
        features = nil_of_strings(named, found)
        drawing = draw(
            self._titles, self._ranking, self.rules, named.strings, named.rows, named.places, named.capitals,
            named.parents, found.candidates, self.fame(found.candidates.topics) if fame is None else fame,
            found.evidence, found.neighbours, features @ self._nil_weights + nil, exact,
            contexts, self.settings.tolerance,
        )  # fmt: skip
        taught_by_others = np.repeat(named.resolved, np.diff(drawing.mentions.offsets))
        drawing.found.from_base[taught_by_others] = 0.0  # the meaning of a short form is not read from its string
        return Part(chosen, named, found, drawing, contexts, features)

    def fame(self, topics: NDArray[np.uint32]) -> Vector:
        """Log P(k), but for a constant; a caller's own entities are as popular as the mean topic."""
        known = topics < self.view.topics
        found = np.zeros(len(topics), np.float64)
        found[known] = np.log(self.view.popularity[topics[known]])
        return found

    def context_evidence(
        self, around: Contexts | None, chosen: Numbers, rows: Numbers, found: Found, own: Taught | None = None
    ) -> Vector:
        """Return the evidence of the contexts of mentions, by candidate; nothing if the model has none.

        `rows` are the strings of the chosen mentions, `own` the counts of the document itself, which are left out.
        """
        known = self.view.contexts
        if around is None or known is None:
            return _NO_CONTEXTS
        return context_evidence(
            around, chosen, rows, found.candidates, known, self.view.counted, own or NOTHING_TAUGHT, self._dense
        )

    def word_parts(self, part: Part, topics: Numbers) -> NDArray[np.float64]:
        """Return the contribution of each word of a document to the log weight of topics."""
        found = part.found
        parts = word_parts(found.words, found.counts, self.words, part.topics, found.neighbours, topics, OVERLAP)
        return self.weights.words * WORDS_SCALE * parts

    def _nil_learned(self, symbols: Numbers, mentions: Numbers, own: Taught | None) -> Vector:
        """Return the changes of the log odds of NIL by other texts."""
        if self.nil is None:
            return np.zeros(len(symbols), np.float64)
        mine = nil_counts(mentions, own.nil) if own is not None else None
        gained = self.weights.nil_texts * nil_evidence(symbols, self.nil, self.view.nil_share, mine)
        return np.where(symbols >= 0, gained, 0.0)

    def scratch(self) -> Scratch:
        """The scratch of this thread."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = Scratch.of(self.view.topics)
        found: Scratch = self._local.scratch
        return found


def nil_of_strings(named: Named, found: Found) -> NDArray[np.float64]:
    """Return the NIL_STRING features, one row per distinct string."""
    never = named.new_meanings >= 1.0
    candidates = found.candidates
    strength = np.add.reduceat(np.append(candidates.priors, 0.0), candidates.offsets[:-1])
    strength[np.diff(candidates.offsets) == 0] = 0.0
    features = np.zeros((len(never), len(NIL_STRING)), np.float64)
    features[:, 0] = 1.0
    features[:, 1] = np.log(named.new_meanings)
    features[:, 2] = never
    features[:, 3] = np.where(never, np.log(np.clip(strength, 1e-3, 1.0)), 0.0)
    return features


def _shrunk(found: Found, described: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Return the evidence of words, shrunk towards its mean over candidates for topics with few words.

    The cosine of a short description with a document is large or 0 by chance.
    """
    candidates = found.candidates
    words = described[candidates.topics].astype(np.float64)
    trust = np.where(words == WHOLE, 1.0, words / (words + _FEW_WORDS))
    usual = float(found.evidence[candidates.numbers] @ candidates.priors / max(candidates.priors.sum(), 1e-300))
    shrunk: NDArray[np.float64] = usual + trust * (found.evidence - usual)
    return shrunk
