"""Small random models, as artifacts and as the reference has them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.reference import Reference, Token, similarity
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge.graph import Graph
from wikilda.lda import LdaSettings, Packet, Sampler
from wikilda.model import Model, ModelSettings, ModelWriter


@dataclass
class World:
    """A model with its graph, and the same for the reference."""

    model: Model
    graph: Graph
    reference: Reference
    in_links: list[set[int]]

    def sampler(self, settings: LdaSettings) -> Sampler:
        return Sampler(self.model, settings, self.graph)


def make_world(
    path: Path,
    settings: ModelSettings,
    *,
    seed: int = 0,
    topics: int = 12,
    words: int = 15,
    mentions: int = 8,
    density: float = 0.3,
    scale: float = 5.0,
) -> World:
    """Random sparse λ̂ and links; symbol 0 of each kind has one topic, the last has none; topic 0 has λ̂ = 0."""
    rng = np.random.default_rng(seed)
    values = {}
    for kind, symbols in (("words", words), ("mentions", mentions)):
        table = rng.gamma(0.7, scale, (symbols, topics)) * (rng.random((symbols, topics)) < density)
        table[:, 0] = 0.0
        table[0] = 0.0
        table[0, 1] = scale
        table[-1] = 0.0
        values[kind] = table.astype(np.float32).astype(np.float64)
    popularity = rng.gamma(2.0, 1.0, topics).astype(np.float32) + np.float32(0.1)
    popularity /= popularity.mean()
    model = write_model(path, values, popularity, settings)
    in_links = [set(np.flatnonzero(rng.random(topics) < 0.4).tolist()) for _ in range(topics)]
    alpha = settings.alpha * (popularity.astype(np.float64) if settings.asymmetric else np.ones(topics))
    beta = {"words": settings.beta_words, "mentions": settings.beta_mentions}
    return World(model, graph_of(in_links), Reference(values, beta, alpha), in_links)


def write_model(
    path: Path, values: dict[str, NDArray[np.float64]], popularity: NDArray[np.float32], settings: ModelSettings
) -> Model:
    with ModelWriter(path, len(popularity)) as writer:
        for kind, table in values.items():
            rows, columns = np.nonzero(table)
            offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(table))))).astype(np.int64)
            made = writer.table(kind, offsets)
            made.topics[:] = columns
            made.values[:] = table[rows, columns]
        return writer.finish(settings, popularity)


def graph_of(in_links: list[set[int]]) -> Graph:
    offsets = np.concatenate(([0], np.cumsum([len(each) for each in in_links]))).astype(np.int64)
    links = np.array([link for each in in_links for link in sorted(each)], np.uint32)
    return Graph(offsets, links, offsets, links)


def tokens_of(packet: Packet) -> list[Token]:
    """The tokens of a packet, symbol by symbol, for the reference."""
    bag = packet.bag
    kinds = ["words"] * bag.first_mention + ["mentions"] * (len(bag.symbols) - bag.first_mention)
    numbered = zip(kinds, bag.symbols.tolist(), bag.occurrences.tolist(), strict=True)
    return [(kind, symbol) for kind, symbol, count in numbered for _ in range(count)]


def judge(world: World, packet: Packet, noncandidate_coherence: float = 1.0) -> None:
    """Let the reference use coherence, too."""
    count = world.reference.topics
    alike = [[similarity(world.in_links, i, j) for j in range(count)] for i in range(count)]
    world.reference.similarity = np.array(alike)
    world.reference.candidates = set(packet.likeness.topics.tolist())
    world.reference.noncandidate_coherence = noncandidate_coherence


def random_document(
    world: World, seed: int, words: int = 14, mentions: int = 7, known_only: bool = False
) -> EncodedDocument:
    rng = np.random.default_rng(seed)
    kinds = world.reference.values
    least, spared = (0, 1) if known_only else (-1, 0)
    return EncodedDocument(
        rng.integers(0, len(kinds["words"]) - spared, words),
        rng.integers(least, len(kinds["mentions"]) - spared, mentions),
        seed,
    )
