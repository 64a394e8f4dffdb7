"""Samples documents: the posterior of every mention and word over topics."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wikilda.errors import SettingsError
from wikilda.inference.counts import Counts
from wikilda.inference.draw import Rules
from wikilda.inference.gibbs import gibbs
from wikilda.inference.memory import Memory
from wikilda.inference.packet import Document, Packet, form_packet, numbers
from wikilda.inference.random import stream_of
from wikilda.inference.settings import SamplerSettings
from wikilda.inference.state import FINE
from wikilda.inference.tagme import Guess, tagme
from wikilda.inference.weights import Dense, Weights, prepare
from wikilda.knowledge.graph import Graph
from wikilda.model import Model

_DEFAULT = SamplerSettings()

Ranking = tuple[NDArray[np.uint32], NDArray[np.float64]]


@dataclass(frozen=True)
class Sampled:
    """What sampling a document has found. Tokens with the same symbol are alike, and share their counts."""

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

    def __init__(self, alpha: float, settings: SamplerSettings, dense: Dense) -> None:
        self.dense = dense
        self.rules = Rules(
            alpha,
            settings.sweeps,
            settings.burn_in,
            settings.coherence,
            settings.stranger,
            settings.idle_draws,
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

    def __init__(self, model: Model, settings: SamplerSettings = _DEFAULT, graph: Graph | None = None) -> None:
        self.model, self.settings = model, settings
        if graph is None and model.artifact.manifest["knowledge"]["identity"]:
            graph = model.knowledge().graph
        if graph is None and settings.coherence:
            raise SettingsError(f"{model.path}: has no knowledge, and coherence needs its link graph. Turn it off.")
        self.graph = graph
        self.weights: Weights = prepare(model)
        self.packets = PacketSampler(model.settings.alpha, settings, self.weights.dense)
        self.rules, self.memory = self.packets.rules, self.packets.memory

    def packet(self, document: Document) -> Packet:
        """All that is needed to sample a document."""
        return form_packet(document, self.model, self.weights, self.graph)

    def sample(self, document: Document, iteration: int | None = None) -> Sampled:
        """Sample a document. The result depends on the seed, the iteration and the document's id alone."""
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
