"""Samples documents: the posterior of every mention and word over topics."""

import threading
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import SettingsError
from wikilda._core.random import stream_of
from wikilda._core.seen_twice_filter import marks_for
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge.graph import Graph
from wikilda.lda._bucket_draw import Rules
from wikilda.lda._document_plan import Plan
from wikilda.lda._gibbs import gibbs
from wikilda.lda._sampler_state import FINE, MORE_EXTRA, MORE_TOPICS, State
from wikilda.lda.counts import Counts
from wikilda.lda.expected_phi import Dense, Weights, prepare
from wikilda.lda.packet import Packet, form_packet, numbers
from wikilda.lda.settings import LdaSettings
from wikilda.lda.tagme import Guess, tagme
from wikilda.model import Model

_BUCKETS = (1 << 16) + 2


class Memory(threading.local):
    """The memory of each thread."""

    def __init__(self) -> None:
        self._symbols = self._entries = self._tokens = self._candidates = 0
        self._topics, self._extra = 4096, 64
        self._made: tuple[Plan, State] | None = None

    def for_document(self, packet: Packet) -> tuple[Plan, State]:
        """Return memory for a document, by an estimate."""
        bag = packet.bag
        needed = (len(bag.symbols), int(bag.lengths.sum()), int(bag.occurrences.sum()), len(packet.likeness.topics))
        there = (self._symbols, self._entries, self._tokens, self._candidates)
        if any(need > has for need, has in zip(needed, there, strict=True)):
            larger = [max(_rounded(need), has) for need, has in zip(needed, there, strict=True)]
            self._symbols, self._entries, self._tokens, self._candidates = larger
            self._made = None
        return self._both()

    def more(self, status: int) -> tuple[Plan, State]:
        """Return memory with a larger table where one was too small."""
        self._topics *= 4 if status == MORE_TOPICS else 1
        self._extra *= 4 if status == MORE_EXTRA else 1
        self._made = None
        return self._both()

    def _both(self) -> tuple[Plan, State]:
        if self._made is None:
            sizes = (self._symbols, self._entries, self._tokens)
            self._made = _new_plan(*sizes), _new_state(*sizes, self._candidates, self._topics, self._extra)
        return self._made


def _rounded(size: int) -> int:
    return 1 << max(size, 1).bit_length()


def _new_plan(symbols: int, entries: int, tokens: int) -> Plan:
    room = entries + 1  # one more entry is written than kept
    return Plan(
        marks=np.empty(marks_for(entries), np.uint64),
        shared_offsets=np.empty(symbols + 1, np.int64),
        shared_symbols=np.empty(room, np.int32),
        shared_topics=np.empty(room, np.uint32),
        shared_weights=np.empty(room, np.float32),
        shared_priors=np.empty(room, np.float32),
        shared_places=np.empty(room, np.int32),
        shared_candidates=np.empty(room, np.int32),
        bucket_starts=np.empty(_BUCKETS, np.int32),
        buckets=np.empty(room, np.int32),
        masses=np.empty((symbols, 3), np.float64),
        roles=np.empty(symbols, np.int64),
        idle=np.empty(symbols, np.int64),
        tokens=np.empty((tokens, 3), np.int64),
    )


def _new_state(symbols: int, entries: int, tokens: int, candidates: int, topics: int, extra: int) -> State:
    return State(
        numbers=np.zeros(9, np.int64),
        hashed=np.empty(2 * topics, np.int32),
        known=np.empty((topics, 6), np.int64),
        counts=np.empty(topics, np.float64),
        factors=np.empty((2, topics), np.float32),
        holders=np.empty((entries + 1, 3), np.int64),
        holder_weights=np.empty(entries + 1, np.float32),
        present=np.empty(topics, np.int32),
        live=np.empty((symbols, 2), np.int64),
        live_topics=np.empty(entries + tokens, np.int32),
        live_weights=np.empty(entries + tokens, np.float32),
        similarities=np.empty(candidates, np.float64),
        company=np.empty(candidates, np.int64),
        extra=np.full((4 * extra, 2), -1, np.int64),
        extra_order=np.empty(extra, np.int64),
    )


_DEFAULT = LdaSettings()
NONCANDIDATE_COHERENCE = 1.0  # of topics that no mention of the document could mean
IDLE_DRAWS = 4  # most draws for a word whose topics no other symbol of the document has

Ranking = tuple[NDArray[np.uint32], NDArray[np.float64]]


@dataclass(frozen=True)
class Sampled:
    """The result of sampling a document. Tokens with the same symbol share their counts."""

    packet: Packet
    counts: Counts  # by symbol of the packet; those of a row add up to sweeps · occurrences
    sweeps: int  # S − B
    guess: Guess  # where the mentions started
    rows: NDArray[np.int64]  # for each mention of the document its symbol in the packet

    def mention(self, number: int) -> Ranking:
        """The topics that a mention may mean and their posterior probabilities, best first."""
        row = int(self.rows[number])
        span = slice(self.counts.offsets[row], self.counts.offsets[row + 1])
        topics, sweeps = self.counts.topics[span], self.counts.sweeps[span]
        order = np.lexsort((topics, -sweeps))
        return topics[order], sweeps[order] / max(int(sweeps.sum()), 1)

    def guessed(self, number: int) -> int:
        """The topic that TagMe* chose for a mention; −1 if it has no candidates."""
        symbol = int(self.rows[number]) - self.packet.bag.first_mention
        place = int(self.guess.chosen[symbol])
        if place < 0:
            return -1
        choices = self.packet.choices
        return int(self.packet.likeness.topics[choices.candidates[choices.offsets[symbol] + place]])

    @cached_property
    def mixture(self) -> Ranking:
        """θ of the document: the share of its tokens that each topic has, largest first."""
        topics, where = np.unique(self.counts.topics, return_inverse=True)
        sweeps = np.bincount(where, self.counts.sweeps, minlength=len(topics))
        order = np.lexsort((topics, -sweeps))
        return topics[order], sweeps[order] / max(float(sweeps.sum()), 1.0)


class PacketSampler:
    """Samples packets, wherever their parameters come from."""

    def __init__(self, alpha: float, settings: LdaSettings, dense: Dense) -> None:
        self.dense = dense
        self.rules = Rules(
            alpha=alpha,
            sweeps=settings.sweeps,
            burn_in=settings.burn_in,
            coherent=settings.coherence,
            coherent_prior=settings.coherence and settings.coherent_prior,
            noncandidate_coherence=NONCANDIDATE_COHERENCE,
            idle_draws=IDLE_DRAWS,
        )
        self.memory = Memory()

    def sample(self, packet: Packet, guess: Guess, stream: int) -> Counts:
        """Sample a packet, with random numbers from `stream` on."""
        plan, state = self.memory.for_document(packet)
        while True:
            random = np.array([stream], np.uint64)
            status, counts = gibbs(
                packet.bag, packet.likeness, self.dense, guess.chosen, self.rules, random, plan, state
            )
            if status == FINE:
                return counts
            plan, state = self.memory.more(status)


class Sampler:
    """Samples documents from a model. One sampler serves many threads."""

    def __init__(self, model: Model, settings: LdaSettings = _DEFAULT, graph: Graph | None = None) -> None:
        self.model, self.settings = model, settings
        if graph is None and model.knowledge_identity:
            graph = model.knowledge().graph
        if graph is None and settings.coherence:
            raise SettingsError(f"{model.path}: has no knowledge, and coherence needs its link graph. Turn it off.")
        self.graph = graph
        self.weights: Weights = prepare(model)
        self.packets = PacketSampler(model.settings.alpha, settings, self.weights.dense)
        self.rules, self.memory = self.packets.rules, self.packets.memory

    def packet(self, document: EncodedDocument) -> Packet:
        """Return the packet of a document."""
        return form_packet(document, self.model, self.weights, self.graph)

    def sample(self, document: EncodedDocument, iteration: int | None = None) -> Sampled:
        """Sample a document. The result depends on the seed, the iteration and the document's id only."""
        packet = self.packet(document)
        first = packet.bag.first_mention
        rows = first + np.searchsorted(packet.bag.symbols[first:], numbers(document.mentions))
        guess = tagme(packet, self.settings.epsilon, self.settings.tau)
        at = self.model.iteration if iteration is None else iteration
        counts = self.sample_packet(packet, guess, stream_of(self.settings.seed, at, document.id))
        return Sampled(packet, counts, self.settings.sweeps - self.settings.burn_in, guess, rows)

    def sample_packet(self, packet: Packet, guess: Guess, stream: int) -> Counts:
        """Sample a packet, with random numbers from `stream` on."""
        return self.packets.sample(packet, guess, stream)
