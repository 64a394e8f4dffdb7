"""A packet: a document, its parameters and its similarities, which is all that the sampler needs.

Forming packets and sampling them are two steps. Here they are formed from memory-mapped tables, without
copying parameters: a packet has the positions of its rows. An engine that joins tables makes packets from the joined
rows, and samples them in the same way.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wikilda._core.arrays import find
from wikilda._core.jit import Whole, bare, njit
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge.graph import Graph
from wikilda.lda.expected_phi import Rows, Weights
from wikilda.lda.similarity import Likeness, likeness, no_likeness
from wikilda.model.model import Model, Parameters

UNKNOWN = -1


class Entries(NamedTuple):
    """Arrays of rows of (topic, weight, prior)."""

    topics: NDArray[np.uint32]
    weights: NDArray[np.float32]
    priors: NDArray[np.float32]


class Bag(NamedTuple):
    """Distinct symbols of a document, words before mentions, and where their rows are.

    Kernels take flat tuples: access to arrays of nested tuples is slower.
    """

    word_topics: NDArray[np.uint32]
    word_weights: NDArray[np.float32]
    word_priors: NDArray[np.float32]
    mention_topics: NDArray[np.uint32]
    mention_weights: NDArray[np.float32]
    mention_priors: NDArray[np.float32]
    first_mention: int
    symbols: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    smoothing: NDArray[np.float64]


class Choices(NamedTuple):
    """Candidates of each mention symbol: their numbers in `Likeness.topics`, and P(k|v)."""

    offsets: NDArray[np.int64]
    candidates: NDArray[np.int32]
    priors: NDArray[np.float64]


class Packet(NamedTuple):
    """A document, its parameters and similarities."""

    bag: Bag
    choices: Choices
    likeness: Likeness


def form_packet(document: EncodedDocument, model: Model, weights: Weights, graph: Graph | None) -> Packet:
    """Form the packet of a document. Words that are not in the vocabulary are left out.

    Unknown mentions stay: they may mean any topic. Without a graph, all similarities are 0.
    """
    words, word_counts = _distinct(np.sort(numbers(document.words)))
    mentions, mention_counts = _distinct(np.sort(numbers(document.mentions)))
    known = np.searchsorted(words, 0)
    return form(
        words[known:],
        word_counts[known:],
        mentions,
        mention_counts,
        weights.words,
        weights.mentions,
        model.mentions,
        graph,
    )


@njit
def _distinct(ordered: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct values of sorted numbers, which are overwritten, and their counts."""
    counts, found = np.zeros(len(ordered), np.int64), np.int64(0)
    for at in range(len(ordered)):
        if at == 0 or ordered[at] != ordered[found - 1]:
            ordered[found] = ordered[at]
            found += 1
        counts[found - 1] += 1
    return ordered[:found], counts[:found]


def numbers(symbols: ArrayLike) -> NDArray[np.int64]:
    """Return numbers of symbols as an array; negative numbers are unknown symbols."""
    return np.maximum(np.asarray(symbols, np.int64).ravel(), UNKNOWN)


def form(
    words: NDArray[np.int64],
    word_counts: NDArray[np.int64],
    mentions: NDArray[np.int64],
    mention_counts: NDArray[np.int64],
    word_rows: Rows,
    mention_rows: Rows,
    parameters: Parameters,
    graph: Graph | None,
) -> Packet:
    """A packet of distinct words and mentions and how often they occur."""
    symbols = np.concatenate((words, mentions))
    located = _locate(symbols, len(words), word_rows, mention_rows)
    candidates, choices = _choices(mentions, parameters)
    bag = Bag(
        *(word_rows.topics, word_rows.weights, word_rows.priors),
        *(mention_rows.topics, mention_rows.weights, mention_rows.priors),
        len(words),
        symbols,
        np.concatenate((word_counts, mention_counts)),
        *located,
    )
    return Packet(bag, choices, no_likeness(candidates) if graph is None else likeness(graph, candidates))


@njit
def _locate(
    symbols: NDArray[np.int64], first_mention: Whole, words: Rows, mentions: Rows
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    starts, lengths = np.zeros(len(symbols), np.int64), np.zeros(len(symbols), np.int64)
    smoothing = np.ones(len(symbols), np.float64)
    for at in range(len(symbols)):
        rows = words if at < first_mention else mentions
        symbol = symbols[at]
        if symbol >= 0:
            starts[at] = rows.offsets[symbol]
            lengths[at] = rows.offsets[symbol + 1] - starts[at]
            smoothing[at] = rows.smoothing[symbol]
    return starts, lengths, smoothing


def _choices(mentions: NDArray[np.int64], parameters: Parameters) -> tuple[NDArray[np.uint32], Choices]:
    """The topics that mentions may mean (sorted, each once), and by mention their numbers and P(k|v)."""
    starts, every, priors = _candidates(mentions, parameters.offsets, parameters.topics, parameters.values)
    distinct, numbers = _numbered(every, np.sort(every))  # not sorted in a kernel, where it takes seconds to compile
    return distinct, Choices(starts, numbers, priors)


@njit
def _candidates(
    mentions: NDArray[np.int64], offsets: NDArray[np.int64], topics: NDArray[np.uint32], values: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64]]:
    """By mention, from starts[mention] on, the topics of its row and P(k|v)."""
    starts = np.zeros(len(mentions) + 1, np.int64)
    for at in range(len(mentions)):
        symbol = mentions[at]
        starts[at + 1] = starts[at] + (offsets[symbol + 1] - offsets[symbol] if symbol >= 0 else 0)
    every, priors = np.empty(starts[-1], np.uint32), np.empty(starts[-1], np.float64)
    for at in range(len(mentions)):
        total = 0.0
        for to in range(starts[at], starts[at + 1]):
            source = offsets[mentions[at]] + to - starts[at]
            every[to], priors[to] = topics[source], values[source]
            total += priors[to]
        for to in range(starts[at], starts[at + 1]):
            priors[to] /= max(total, 1e-300)
    return starts, every, priors


@njit
def _numbered(every: NDArray[np.uint32], ordered: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The distinct ones of some topics, and the number of each topic among these."""
    count = np.int64(0)
    for at in range(len(ordered)):
        if at == 0 or ordered[at] != ordered[at - 1]:
            ordered[count] = ordered[at]
            count += 1
    distinct, numbers = ordered[:count].copy(), np.empty(len(every), np.int32)
    for at in range(len(every)):
        numbers[at] = number_of(distinct, every[at])
    return distinct, numbers


@bare
def entries_of(bag: Bag, symbol: Whole) -> Entries:
    """The arrays in which a symbol's row lies."""
    if symbol < bag.first_mention:
        return Entries(bag.word_topics, bag.word_weights, bag.word_priors)
    return Entries(bag.mention_topics, bag.mention_weights, bag.mention_priors)


@bare
def number_of(ordered: NDArray[np.uint32], topic: Whole) -> Whole:
    """Return the index of a topic in a sorted list, or −1."""
    return find(ordered, np.int64(0), np.int64(len(ordered)), topic)
