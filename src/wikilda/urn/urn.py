"""Draws what the mentions of a document mean."""

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.random import stream_of
from wikilda.documents.encoding import Contexts, EncodedDocument
from wikilda.knowledge import Knowledge
from wikilda.lda.packet import numbers
from wikilda.model import Model
from wikilda.model.context_counts import ContextCounts
from wikilda.text.tokens import Strings
from wikilda.urn._candidates import Candidates, candidates_of, leave_out, with_extra, with_new_senses
from wikilda.urn._coreference import Parents
from wikilda.urn._gibbs import Mentions, Posterior, Rules, gibbs
from wikilda.urn._names import (
    NEVER_LINKED,
    NameCandidates,
    Related,
    UnlinkedWords,
    more_candidates,
    new_meaning,
    nil_titles,
    nil_types,
    related_names,
    typical_new_meaning,
)
from wikilda.urn._relatedness import Matrix, Neighbours, Relations, neighbours_of, relations, rows_of
from wikilda.urn._title_match import INITIALS, SAME, UNLIKE, name_kinds
from wikilda.urn._word_evidence import Scratch, WordTable, word_evidence, word_parts
from wikilda.urn.context_evidence import context_evidence, spread, without
from wikilda.urn.own_entities import OwnEntities
from wikilda.urn.pair_evidence import ABSENT, pair_gains, presence
from wikilda.urn.settings import UrnSettings
from wikilda.urn.statistics import UNIT, Taught, nil_counts, nil_evidence, taught_by

Ranking = tuple[NDArray[np.uint32], NDArray[np.float64]]

_DEFAULT = UrnSettings()
_LEARNED = 0.7  # of the posterior's exponent where topics that texts have together make the urn surer by itself
_TITLES = 1 << 16  # that are kept folded
_BREAKS = re.compile(r"[^\w-]+")
_MOST_TOPICS = 4096  # of a document that are related to each other at once; longer ones are drawn in parts


def folded_words(text: str) -> str:
    """A text in lower case, with a space before each word, without punctuation."""
    return f" {_BREAKS.sub(' ', text.lower()).strip()}"


class Logs(NamedTuple):
    """What speaks for each candidate of each distinct string, as logarithms; their sum is that of its weight."""

    prior: NDArray[np.float64]
    words: NDArray[np.float64]
    names: NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """Mentions of a document that were drawn together, in the order of the text, and what they were drawn by."""

    chosen: NDArray[np.int64]  # which mentions of the document
    topics: NDArray[np.uint32]
    mentions: Mentions
    posterior: NDArray[np.float64]
    nil: NDArray[np.float64]  # by mention
    shares: NDArray[np.float64]  # the posterior before it was sharpened
    from_base: NDArray[np.float64]  # what the base measure has of them
    rows: NDArray[np.int64]  # which of the distinct strings each mention has
    found: Candidates  # of distinct strings
    logs: Logs
    contexts: NDArray[np.float64]  # the evidence of the context of a mention for its candidates, as logarithms
    neighbours: Neighbours  # of topics
    relations: Relations
    words: NDArray[np.int64]  # distinct words of the document
    counts: NDArray[np.int64]
    nil_shares: NDArray[np.float64]  # the posterior of NIL before it was sharpened
    levels: NDArray[np.float64]  # by mention: how well the others fit, which NIL is compared with
    new_meanings: NDArray[np.float64]  # by distinct string: the chance of a meaning that it never had
    nil_strings: NDArray[np.float64]  # by distinct string: the weight of NIL, before titles count

    @cached_property
    def related(self) -> Matrix:
        """R of all pairs of topics."""
        return rows_of(self.relations, np.arange(len(self.topics)))


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
            topics = only.topics[only.mentions.numbers]
            return cls(only.mentions.offsets, topics, only.posterior, only.from_base, only.nil, parts)
        lengths, starts = np.zeros(mentions, np.int64), np.zeros(mentions, np.int64)
        nil = np.ones(mentions, np.float64)
        before = 0
        for part in parts:
            lengths[part.chosen] = np.diff(part.mentions.offsets)
            starts[part.chosen] = part.mentions.offsets[:-1] + before
            nil[part.chosen] = part.nil
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
        lengths = np.diff(self.offsets)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        order = np.lexsort((self.topics, -self.posterior, owners))
        found = np.full(len(lengths), -1, np.int64)
        found[lengths > 0] = self.topics[order[self.offsets[:-1][lengths > 0]]]
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
        self._names = NameCandidates(knowledge, model.mentions, s.backoff_candidates if s.backoff_share > 0 else 0)
        self._unlinked = UnlinkedWords(knowledge)
        self._local: Any = threading.local()
        self.folded_title = lru_cache(_TITLES)(self._folded_title)

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
        mentions, places = numbers(document.mentions), np.asarray(document.positions, np.int64)
        words, counts = np.unique(numbers(document.words), return_counts=True)
        first = int(np.searchsorted(words, 0))
        learned, strings = self._learned(document, own), document.strings
        mentions = self._names.resolve(mentions, strings)
        parts: list[Part] = []
        for chosen in self._split(mentions, places):
            stream = stream_of(self.settings.seed, self.model.iteration, f"{document.id}/{len(parts)}")
            parts.append(
                self._draw(
                    chosen,
                    mentions,
                    places,
                    [strings[at] for at in chosen],
                    learned,
                    own,
                    words[first:],
                    counts[first:],
                    stream,
                    entities,
                )
            )
        return Drawn.of(parts, len(mentions))

    def _split(self, mentions: NDArray[np.int64], places: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Mentions in the order of the text, so many at a time that their topics fit a matrix."""
        offsets, s = self.model.base.offsets, self.settings
        sizes = np.where(mentions >= 0, offsets[mentions + 1] - offsets[np.maximum(mentions, 0)], 0)
        sizes = np.minimum(sizes, s.max_candidates) + (s.backoff_candidates if s.backoff_share > 0 else 0)
        order = np.argsort(places, kind="stable")
        if 0 < sizes.sum() <= _MOST_TOPICS:
            yield order
            return
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
        self,
        chosen: NDArray[np.int64],
        mentions: NDArray[np.int64],
        places: NDArray[np.int64],
        strings: list[str],
        learned: tuple[Contexts, ContextCounts] | None,
        own: Taught | None,
        words: NDArray[np.int64],
        counts: NDArray[np.int64],
        stream: int,
        entities: OwnEntities | None,
    ) -> Part:
        s = self.settings
        symbols, first, rows = np.unique(mentions[chosen], return_index=True, return_inverse=True)
        names = [strings[at] for at in first]
        data = Strings.of(names)
        found = candidates_of(symbols, self.model.base, s.max_candidates)
        if own is not None:
            found = found._replace(priors=_left_out(found, symbols, mentions, own))
        related_strings = related_names(names, data, rows.ravel(), places[chosen])
        found = self._with_more(found, symbols, data, related_strings)
        if s.new_sense > 0:
            found = with_new_senses(found, rows.ravel(), s.new_sense)
        near = neighbours_of(self.knowledge.graph, found.topics, s.max_neighbours)
        evidence = self._evidence(words, counts, found, near)
        new = new_meaning(symbols, self.knowledge.mentions.offsets, self.knowledge.mentions.counts)
        learned_nil = self._nil_learned(symbols, mentions, own)
        if entities:
            found, near, evidence = entities.join(names, words, counts, found, near, evidence, s)
            new = entities.new_meaning(names, new)
            learned_nil[entities.named(names)] = 1.0  # texts may have meant just these entities
        nil_strings = self._nil_strings(symbols, new) * learned_nil
        log_priors = np.log(np.maximum(found.priors, 1e-300))
        prior, base = s.prior_exponent * log_priors, s.base_weight * np.exp((1.0 - s.prior_exponent) * log_priors)
        kinds = self._kinds(names, data, found, entities)
        logs = Logs(prior, s.word_weight * evidence[found.numbers], self._title_match(kinds, found.offsets))
        tokens = _tokens(
            found,
            logs,
            base,
            self._nil(names, kinds, found, nil_strings),
            rows.ravel(),
            places[chosen],
            related_strings.parents,
        )
        contexts = self._contexts(learned, chosen, tokens, found)
        tokens = tokens._replace(weights=np.exp(tokens.weights + contexts))
        related = self._related(found.topics, near, own)
        drawn = gibbs(tokens, related, self.rules, np.array([stream], np.uint64))
        posterior, unknown = _sharp(drawn, tokens.offsets, self.exponent)
        return Part(
            chosen, found.topics, tokens, posterior, unknown, drawn.shares, drawn.from_base, rows.ravel(), found, logs,
            contexts, near, related, words, counts, drawn.nil, drawn.level, new, nil_strings,
        )  # fmt: skip

    def _nil(
        self, names: list[str], kinds: NDArray[np.uint8], found: Candidates, strings: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The weight of NIL against each candidate of each distinct string."""
        lengths = np.diff(found.offsets)
        several = np.repeat(np.array([" " in name for name in names], np.bool_), lengths)
        known = self._known(found.topics)
        by_type = np.zeros(len(found.topics), np.float64)
        by_type[known] = nil_types(self.knowledge.types, found.topics[known])
        nil = np.exp(self.settings.nil_title * (nil_titles(kinds, several) + by_type[found.numbers]))
        return nil * np.repeat(strings, lengths)

    def _related(self, topics: NDArray[np.uint32], near: Neighbours, own: Taught | None) -> Relations:
        """How topics are related, by links and by what the model has learned from other documents."""
        s = self.settings
        related = relations(self.knowledge.graph, topics, near, s.link_weight, s.shared_neighbour_weight)
        if self.pairs is None or self.model.contexts is None:
            return related
        texts = max(float(len(self.model.contexts.texts)), 1.0)
        learned_from = presence(own) if own else ABSENT
        gains = pair_gains(topics[self._known(topics)], self.pairs, texts, learned_from, s.pair_weight)
        return related._replace(gains=gains.padded(len(topics)))

    def _folded_title(self, topic: int) -> tuple[str, str]:
        """The words of a title without its note, and the first if there are several: a text that has them has it."""
        title = folded_words(self.knowledge.titles[topic].split(" (")[0])
        first, _, rest = title[1:].partition(" ")
        return title, first if rest else ""

    def _known(self, topics: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Which topics are the wiki's; a caller's own entities follow them."""
        return topics < self.model.topics

    def word_parts(self, part: Part, topics: NDArray[np.int64]) -> NDArray[np.float64]:
        """What each word of a document adds to the logarithm of the weight of some of its topics."""
        overlap = self.settings.neighbour_overlap
        found = word_parts(part.words, part.counts, self.words, part.topics, part.neighbours, topics, overlap)
        return self.settings.word_weight * found

    def _nil_strings(self, symbols: NDArray[np.int64], new: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weight of NIL by the chance of a new meaning and by how often articles have the string without a link.

        Both are relative to what is typical of the wiki.
        """
        s = self.settings
        weights: NDArray[np.float64] = np.where(new < 1.0, new / self._typical_new, NEVER_LINKED) ** s.nil_exponent
        if s.nil_unlinked > 0:
            weights *= np.exp(s.nil_unlinked * self._unlinked.excess(symbols))
        return s.nil_weight * weights

    def _nil_learned(
        self, symbols: NDArray[np.int64], mentions: NDArray[np.int64], own: Taught | None
    ) -> NDArray[np.float64]:
        """What the weight of NIL is multiplied by, given what other texts have taught about strings."""
        if self.nil is None:
            return np.ones(len(symbols), np.float64)
        mine = nil_counts(mentions, own) if own is not None else None
        gained = self.settings.nil_learned * nil_evidence(symbols, self.nil, self._nil_share, mine)
        return np.where(symbols >= 0, np.exp(gained), 1.0)

    @cached_property
    def _typical_new(self) -> float:
        table = self.knowledge.mentions
        return float(typical_new_meaning(table.offsets, table.counts))

    def _with_more(self, found: Candidates, symbols: NDArray[np.int64], names: Strings, related: Related) -> Candidates:
        """Candidates with those by the words of titles, and those that longer names of the document have."""
        share = self.settings.backoff_share
        if share <= 0:
            return found
        by_words = self._names.by_words(names, symbols >= 0)
        return with_extra(found, more_candidates(found, by_words, related.strings), share)

    def _evidence(
        self, words: NDArray[np.int64], counts: NDArray[np.int64], found: Candidates, near: Neighbours
    ) -> NDArray[np.float64]:
        overlap = self.settings.neighbour_overlap
        if self.settings.word_weight == 0:
            return np.zeros(len(found.topics), np.float64)
        return word_evidence(words, counts, self.words, found.topics, near, overlap, self.scratch())

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
        rows = spread(contexts, own.offsets, own.topics, own.shares / UNIT, known.types)
        return contexts, without(known, contexts, rows)

    def _contexts(
        self,
        learned: tuple[Contexts, ContextCounts] | None,
        chosen: NDArray[np.int64],
        tokens: Mentions,
        found: Candidates,
    ) -> NDArray[np.float64]:
        if learned is None:
            return np.zeros(len(tokens.numbers), np.float64)
        topics = found.topics[tokens.numbers]
        known = topics < self.model.topics  # nothing was learned of a caller's own entities
        topics = np.where(known, topics, 0).astype(np.uint32)
        evidence = context_evidence(learned[0], chosen, tokens.offsets, topics, learned[1], self._counted)
        return self.settings.context_weight * evidence * known

    def _kinds(
        self, names: list[str], data: Strings, found: Candidates, entities: OwnEntities | None
    ) -> NDArray[np.uint8]:
        """What titles say of strings; an own entity has the string as a name, or is not compared."""
        topics, s = found.topics[found.numbers], self.settings
        if s.acronym_bonus == s.title_mismatch_penalty == s.nil_title == 0:
            return np.zeros(len(topics), np.uint8)
        kinds = name_kinds(data, found.offsets, topics, self.knowledge.titles)
        if entities is not None:
            exact = np.array([SAME if entities.match(name).exact else 0 for name in names], np.uint8)
            kinds |= np.where(topics >= entities.first, np.repeat(exact, np.diff(found.offsets)), 0).astype(np.uint8)
        return kinds

    def _title_match(self, kinds: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
        """The evidence of titles for or against strings, as logarithms; candidates of string i from offsets[i] on."""
        same = offsets_of((kinds & SAME).astype(np.int64))[offsets]
        unlike = ((kinds & UNLIKE) != 0) & np.repeat(np.diff(same) > 0, np.diff(offsets))
        found: NDArray[np.float64] = (
            self.settings.acronym_bonus * ((kinds & INITIALS) != 0) - self.settings.title_mismatch_penalty * unlike
        )
        return found


def _left_out(
    found: Candidates, symbols: NDArray[np.int64], mentions: NDArray[np.int64], own: Taught
) -> NDArray[np.float64]:
    """The priors without the document's own part of λ̂."""
    places = np.minimum(np.searchsorted(symbols, mentions), len(symbols) - 1)
    rows = np.where(symbols[places] == mentions, places, -1)
    return leave_out(found, rows, own.offsets, own.topics, own.base / UNIT)


def _sharp(
    drawn: Posterior, offsets: NDArray[np.int64], power: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The posterior of candidates raised to a power, for the urn by itself is too careful; that of NIL as it is.

    That of candidates is of mentions that mean one of them, and adds up to 1 for each.
    """
    lengths = np.diff(offsets)
    owners = np.repeat(np.arange(len(lengths)), lengths)
    best, filled = np.full(len(lengths), 1e-300), lengths > 0
    if len(owners):
        best[filled] = np.maximum(np.maximum.reduceat(drawn.shares, offsets[:-1][filled]), 1e-300)
    raised = (drawn.shares / best[owners]) ** power  # the best is 1: no underflow
    sums = np.bincount(owners, raised, len(lengths))
    posterior: NDArray[np.float64] = raised / np.maximum(sums, 1e-300)[owners]
    return posterior, drawn.nil.copy()


def _tokens(
    found: Candidates, logs: Logs, base: NDArray[np.float64], nil: NDArray[np.float64], rows: NDArray[np.int64],
    places: NDArray[np.int64], parents: Parents,
) -> Mentions:  # fmt: skip
    """The candidates of symbols, for each token that has the symbol; weights are logarithms yet."""
    lengths = np.diff(found.offsets)[rows]
    offsets = offsets_of(lengths)
    source = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - found.offsets[rows], lengths)
    return Mentions(
        offsets, found.numbers[source], (logs.prior + logs.words + logs.names)[source], base[source], places,
        nil[source], rows, parents,
    )  # fmt: skip
