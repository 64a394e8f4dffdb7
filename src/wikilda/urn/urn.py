"""Draws what the mentions of a document mean."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.random import stream_of
from wikilda.documents.detection.framing import language_of, titled
from wikilda.documents.encoding import Contexts, EncodedDocument
from wikilda.knowledge import Knowledge
from wikilda.knowledge.knowledge import WHOLE
from wikilda.knowledge.name_index import NO_NAMES, name_index
from wikilda.knowledge.types import TYPES
from wikilda.lda.packet import numbers
from wikilda.model import Model
from wikilda.model.context_counts import ContextCounts
from wikilda.text.characters import characters
from wikilda.text.folding import folds
from wikilda.text.tokens import Strings
from wikilda.urn._backoff import back_off
from wikilda.urn._candidates import Rows, leave_out, with_new_senses
from wikilda.urn._draw import Drawing, TitleTables, Weights, best_topics, draw
from wikilda.urn._find import NO_MENTIONS, NOTHING_FOUND, Found, Limits, Named, NameTables, find, read_names
from wikilda.urn._gibbs import Mentions, Rules
from wikilda.urn._names import NEVER_LINKED, LinkCounts, TypicalLinks, resolve
from wikilda.urn._relatedness import Gains, Matrix, rows_of
from wikilda.urn._word_evidence import Scratch, WordTable, word_parts
from wikilda.urn.context_evidence import context_evidence, spread, without
from wikilda.urn.own_entities import OwnEntities
from wikilda.urn.pair_evidence import ABSENT, pair_gains, presence
from wikilda.urn.settings import UrnSettings
from wikilda.urn.statistics import UNIT, Taught, nil_counts, nil_evidence, taught_by

Ranking = tuple[NDArray[np.uint32], NDArray[np.float64]]
Numbers = NDArray[np.int64]

_DEFAULT = UrnSettings()
_FEW_WORDS = 20.0  # of a description, with which its cosine with a document counts half
_LEARNED = 0.7  # of the posterior's exponent where topics that texts have together make the urn surer by itself
_MOST_TOPICS = 4096  # of a document that are related to each other at once; longer ones are drawn in parts
_NO_TOPICS = np.empty(0, np.uint32), np.empty(0, np.float64)
_NO_CONTEXTS, _NO_KINDS = np.empty(0, np.float64), np.empty(0, np.uint8)
_NO_GAINS = Gains(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))


@dataclass(frozen=True)
class Part:
    """Mentions of a document that were drawn together, in the order of the text, and what they were drawn by."""

    chosen: Numbers  # which mentions of the document
    named: Named
    found: Found
    drawing: Drawing
    contexts: NDArray[np.float64]  # the evidence of the context of a mention for its candidates; or nothing
    nil_strings: NDArray[np.float64]  # by distinct string: the weight of NIL, before titles count

    @property
    def topics(self) -> NDArray[np.uint32]:
        """The topics that any of the mentions may mean."""
        return self.found.candidates.topics

    @property
    def mentions(self) -> Mentions:
        """The mentions with their candidates, which are numbers of topics."""
        return self.drawing.mentions

    @property
    def posterior(self) -> NDArray[np.float64]:
        """The posterior of each candidate of each mention, sharpened."""
        return self.drawing.posterior

    @property
    def from_base(self) -> NDArray[np.float64]:
        """The share of each conditional that came from the base measure: 0 for short forms of full names.

        What a short form means is not read from its string, so it teaches nothing about the string.
        """
        resolved = np.repeat(self.named.resolved, np.diff(self.mentions.offsets))
        return np.where(resolved, 0.0, self.drawing.drawn.from_base)

    @property
    def rows(self) -> Numbers:
        """Which of the distinct strings each mention has."""
        return self.named.rows

    def priors(self) -> NDArray[np.float64]:
        """P(k|v) of the candidates of mentions."""
        offsets, lengths = self.mentions.offsets, np.diff(self.mentions.offsets)
        source = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.found.candidates.offsets[self.rows], lengths)
        found: NDArray[np.float64] = self.found.candidates.priors[source]
        return found

    @cached_property
    def related(self) -> Matrix:
        """R of all pairs of topics."""
        return rows_of(self.drawing.relations, np.arange(len(self.topics)))


@dataclass(frozen=True)
class Drawn:
    """The posterior of every mention: that of mention i from offsets[i] on; and the parts it came from.

    It is that of a mention which means something that the knowledge has; `nil` is how probable it is that it does not.
    """

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    posterior: NDArray[np.float64]
    from_base: NDArray[np.float64]  # the share of the conditional that came from the base measure
    nil: NDArray[np.float64]
    parts: list[Part]

    @classmethod
    def of(cls, parts: list[Part], mentions: int) -> "Drawn":
        """Bring the parts of a document together, in the order of its mentions."""
        if len(parts) == 1 and np.array_equal(parts[0].chosen, np.arange(mentions)):
            [only] = parts
            topics, nil = only.topics[only.mentions.numbers], only.drawing.drawn.nil
            return cls(only.mentions.offsets, topics, only.posterior, only.from_base, nil, parts)
        lengths, starts = np.zeros(mentions, np.int64), np.zeros(mentions, np.int64)
        nil = np.ones(mentions, np.float64)
        before = 0
        for part in parts:
            lengths[part.chosen] = np.diff(part.mentions.offsets)
            starts[part.chosen] = part.mentions.offsets[:-1] + before
            nil[part.chosen] = part.drawing.drawn.nil
            before += len(part.posterior)
        offsets = offsets_of(lengths)
        source = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        if not parts:
            return cls(offsets, np.empty(0, np.uint32), np.empty(0, np.float64), np.empty(0, np.float64), nil, parts)
        topics = np.concatenate([part.topics[part.mentions.numbers] for part in parts])
        posterior = np.concatenate([part.posterior for part in parts])
        base = np.concatenate([part.from_base for part in parts])
        return cls(offsets, topics[source], posterior[source], base[source], nil, parts)

    def best(self) -> NDArray[np.int64]:
        """The topic with the largest posterior of every mention, of equals the first; −1 where it has no candidate."""
        return best_topics(self.offsets, self.topics, self.posterior)

    def priors(self) -> NDArray[np.float64]:
        """P(k|v) of the candidates of mentions."""
        found = np.zeros(len(self.topics), np.float64)
        for part in self.parts:
            offsets = part.mentions.offsets
            places = np.repeat(self.offsets[part.chosen] - offsets[:-1], np.diff(offsets))
            found[np.arange(offsets[-1]) + places] = part.priors()
        return found

    def mention(self, number: int) -> Ranking:
        """The topics that a mention may mean and their posterior probabilities, best first."""
        span = slice(self.offsets[number], self.offsets[number + 1])
        topics, posterior = self.topics[span], self.posterior[span]
        order = np.lexsort((topics, -posterior))
        return topics[order], posterior[order]


class Urn:
    """Draws the mentions of documents. One urn serves many threads."""

    def __init__(self, model: Model, knowledge: Knowledge, settings: UrnSettings = _DEFAULT) -> None:
        self.model, self.knowledge, self.settings = model, knowledge, settings
        self.words = WordTable(model.words, np.zeros(len(model.words.offsets) - 1, np.float64), model.word_norms)
        s = settings
        self.contexts = model.contexts if s.context_weight > 0 else None
        self._counted = self.contexts.total if self.contexts else 0.0
        self.pairs = model.pairs if s.pair_weight > 0 else None
        self.nil = model.nil if s.nil_learned > 0 else None
        self._nil_share = self.nil.share if self.nil else 0.5
        self.exponent = s.posterior_exponent * (_LEARNED if self.pairs is not None else 1.0)
        self.rules = Rules(
            s.sweeps, s.burn_in, s.base_weight, s.repeat_weight, s.proximity_weight, s.proximity_tokens,
            s.coreference_weight, s.nil_level, s.tolerance,
        )  # fmt: skip
        index = name_index(knowledge) if s.backoff_share > 0 else None
        self.limits = Limits(
            s.max_candidates, s.backoff_candidates if index else 0, s.backoff_share, s.max_neighbours,
            s.neighbour_overlap, s.word_weight,
        )  # fmt: skip
        self._weights = Weights(
            s.prior_exponent, s.word_weight, s.base_weight, s.acronym_bonus, s.title_mismatch_penalty, s.nil_title,
            s.link_weight, s.shared_neighbour_weight, self.exponent,
        )  # fmt: skip
        links, titles = LinkCounts.of(knowledge), Strings(knowledge.titles.data, knowledge.titles.offsets)
        types = dict(zip(TYPES, knowledge.types.shares, strict=False))
        people, bodies = (types.get(name, _NO_KINDS) for name in ("person", "organisation"))
        self._names = NameTables(
            model.base, links, index or NO_NAMES, titles, characters(), folds(), people, bodies
        )  # fmt: skip
        self._language = language_of(knowledge)
        self._titles = TitleTables(titles, knowledge.graph, people, bodies, characters())
        self._typical = TypicalLinks(links, knowledge.typical_links)
        self._local: Any = threading.local()

    def draw(self, document: EncodedDocument, entities: OwnEntities | None = None) -> Drawn:
        """Draw a document. The result depends on the settings, the model's iteration and the document's id alone.

        What the model has learned from the document itself is left out. Its mentions may also mean `entities`.
        """
        learned = self.model.contexts
        own = None
        if learned is not None and learned.has(document.text):
            own = taught_by(self.draw_without(replace(document, contexts=None), None))
            if self.model.iteration > 1:  # what it taught last, it was drawn with what was learned before
                own = taught_by(self.draw_without(document, own))
        return self.draw_without(document, own, entities)

    def draw_without(self, document: EncodedDocument, own: Taught | None, entities: OwnEntities | None = None) -> Drawn:
        """Draw a document; what it has taught the model itself is left out (leave-one-out)."""
        places, tables = np.asarray(document.positions, np.int64), self._names
        mentions = resolve(
            numbers(document.mentions), document.names, tables.index_of_names.variants, tables.characters, tables.folds,
            self.limits.backoff > 0,
        )  # fmt: skip
        learned, words = self._learned(document, own), numbers(document.words)
        named_by = titled(document.text, document.spans, self._language)
        parts: list[Part] = []
        for chosen in self._split(mentions, places):
            named = read_names(tables, self.limits.candidates, mentions, document.names, places, named_by, chosen)
            if own is not None:
                counts = own.base / UNIT
                leave_out(named.meanings, named.totals, named.symbols, mentions, own.offsets, own.topics, counts)
            stream = stream_of(self.settings.seed, self.model.iteration, f"{document.id}/{len(parts)}")
            parts.append(self._draw(named, self._find(named, words), chosen, mentions, learned, own, stream, entities))
        return Drawn.of(parts, len(mentions))

    def _find(self, named: Named, words: Numbers) -> Found:
        tables, limits = self._names, self.limits
        by_words = Rows(np.zeros(len(named.symbols) + 1, np.int64), *_NO_TOPICS)
        if limits.backoff:
            by_words = back_off(
                named.names, named.strings, named.symbols, limits.backoff, tables.index_of_names, tables.titles,
                tables.base, tables.characters, tables.folds,
            )  # fmt: skip
        found = find(named, by_words, limits, self.knowledge.graph, self.words, words, self.scratch())
        if self.knowledge.described is not None:
            found = found._replace(evidence=_shrunk(found, self.knowledge.described))
        if self.settings.new_sense > 0:
            more = with_new_senses(found.candidates, named.rows, self.settings.new_sense)
            found = found._replace(candidates=more)
        return found

    def _split(self, mentions: Numbers, places: Numbers) -> Iterator[Numbers]:
        """Mentions in the order of the text, so many at a time that their topics fit a matrix."""
        offsets, limits = self.model.base.offsets, self.limits
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
        learned: tuple[Contexts, ContextCounts] | None, own: Taught | None, stream: int, entities: OwnEntities | None,
    ) -> Part:  # fmt: skip
        exact, nil = _NO_KINDS, self._nil_learned(named.symbols, mentions, own)
        if entities:
            named, found, exact, known_names = entities.join(named, found, self.settings)
            nil[known_names] = 1.0  # texts may have meant just these entities
        contexts, nil = _NO_CONTEXTS, nil * self._nil_strings(named)
        if learned is not None:
            around, known = learned
            weight = self.settings.context_weight
            contexts = context_evidence(around, chosen, named.rows, found.candidates, known, self._counted, weight)
        drawing = draw(
            self._titles, self._weights, self.rules, named.strings, named.rows, named.places, named.parents,
            found.candidates, found.evidence, found.neighbours, self._gains(found.candidates.topics, own), nil, exact,
            contexts, np.array([stream], np.uint64),
        )  # fmt: skip
        return Part(chosen, named, found, drawing, contexts, nil)

    def draw_nothing(self) -> None:
        """Draw no mentions, which compiles the second pass."""
        none = np.empty(0, np.int64)
        self._draw(NO_MENTIONS, NOTHING_FOUND, none, none, None, None, 0, None)

    def _gains(self, topics: NDArray[np.uint32], own: Taught | None) -> Gains:
        """How much more topics are related by what the model has learned from other documents."""
        if self.pairs is None or self.model.contexts is None:
            return _NO_GAINS
        texts = max(float(len(self.model.contexts.texts)), 1.0)
        learned_from = presence(own) if own else ABSENT
        known = topics[topics < self.model.topics]  # a caller's own entities follow the wiki's topics
        gains = pair_gains(known, self.pairs, texts, learned_from, self.settings.pair_weight)
        return gains.padded(len(topics))

    def word_parts(self, part: Part, topics: Numbers) -> NDArray[np.float64]:
        """What each word of a document adds to the logarithm of the weight of some of its topics."""
        overlap, found = self.settings.neighbour_overlap, part.found
        parts = word_parts(found.words, found.counts, self.words, part.topics, found.neighbours, topics, overlap)
        return self.settings.word_weight * parts

    def _nil_strings(self, named: Named) -> NDArray[np.float64]:
        """The weight of NIL by the chance of a new meaning and by how often articles have the string without a link.

        Both are relative to what is typical of the wiki.
        """
        s, new = self.settings, named.new_meanings
        ratios: NDArray[np.float64] = np.where(new < 1.0, new / self._typical.new_meaning, NEVER_LINKED)
        weights = ratios**s.nil_exponent
        if s.nil_unlinked > 0:
            weights *= np.exp(s.nil_unlinked * self._typical.excess(named.unlinked))
        return s.nil_weight * weights

    def _nil_learned(self, symbols: Numbers, mentions: Numbers, own: Taught | None) -> NDArray[np.float64]:
        """What the weight of NIL is multiplied by, given what other texts have taught about strings."""
        if self.nil is None:
            return np.ones(len(symbols), np.float64)
        mine = nil_counts(mentions, own) if own is not None else None
        gained = self.settings.nil_learned * nil_evidence(symbols, self.nil, self._nil_share, mine)
        return np.where(symbols >= 0, np.exp(gained), 1.0)

    def scratch(self) -> Scratch:
        """The scratch of this thread."""
        if not hasattr(self._local, "scratch"):
            self._local.scratch = Scratch.of(self.model.topics)
        found: Scratch = self._local.scratch
        return found

    def _learned(self, document: EncodedDocument, own: Taught | None) -> tuple[Contexts, ContextCounts] | None:
        """The contexts of the mentions, and what others than this document have taught about them."""
        contexts, known = document.contexts, self.contexts
        if contexts is None or known is None:
            return None
        if own is None:
            return contexts, known
        rows = spread(contexts, own, known.types)
        return contexts, without(known, contexts, rows)


def _shrunk(found: Found, described: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The evidence of words, drawn towards its mean over candidates where a topic has few words of its own.

    The cosine of a short description with a document is large or 0 by chance.
    """
    candidates = found.candidates
    words = described[candidates.topics].astype(np.float64)
    trust = np.where(words == WHOLE, 1.0, words / (words + _FEW_WORDS))
    usual = float(found.evidence[candidates.numbers] @ candidates.priors / max(candidates.priors.sum(), 1e-300))
    shrunk: NDArray[np.float64] = usual + trust * (found.evidence - usual)
    return shrunk
