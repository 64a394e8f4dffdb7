"""The similarity of a document's words with a topic and its neighbours.

A word's share in a topic is P(k|w), its row of λ̂ divided by its sum. Documents and topics are vectors of unit length,
with 1 + log n_w and √P(k|w) for each word; A_k is their cosine. Short articles share few words with documents about
them, but together with their neighbours they share more: with N the neighbours of k, and k itself,

    E_k = (Σ_{j ∈ N} A_j / |N|) / √(1/|N| + overlap)

which is the cosine with the sum of the neighbours' vectors, if those have a cosine of `overlap` with each other.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import find
from wikilda._core.jit import Real, Whole, bare, inlined, njit
from wikilda.model.model import Parameters
from wikilda.urn._relatedness import Neighbours

Vector = NDArray[np.float64]

_1, _6, _63 = np.uint64(1), np.uint64(6), np.uint64(63)
OVERLAP = 0.05  # the expected cosine of the word vectors of two linked topics
_LEAST = np.float32(1e-30)  # length of a topic's vector


class WordTable(NamedTuple):
    """λ̂ of words, the sums of its rows as far as they are known (0: not yet), and the lengths of topics' vectors."""

    rows: Parameters
    totals: NDArray[np.float64]
    lengths: NDArray[np.float32]


class Scratch(NamedTuple):
    """Scratch of one thread: a 0 and an unset bit for every topic. Users restore it.

    Few entries of words belong to requested topics. The bits, which fit a cache, mark these.
    """

    values: NDArray[np.float32]
    marks: NDArray[np.uint64]

    @classmethod
    def of(cls, topics: int) -> "Scratch":
        """Return clean scratch memory."""
        return cls(np.zeros(topics, np.float32), np.zeros((topics >> 6) + 1, np.uint64))


@bare
def mark_all(scratch: Scratch, topics: NDArray[np.uint32]) -> None:
    """Mark requested topics."""
    for topic in topics:
        scratch.marks[np.uint64(topic) >> _6] |= _1 << (np.uint64(topic) & _63)


@bare
def clear_all(scratch: Scratch, topics: NDArray[np.uint32]) -> None:
    """Clear topics and their sums."""
    for topic in topics:
        scratch.marks[np.uint64(topic) >> _6] = np.uint64(0)
        scratch.values[topic] = np.float32(0)


@inlined
def is_marked(scratch: Scratch, topic: np.uint64) -> bool:
    """Whether a topic is requested."""
    return bool((scratch.marks[topic >> _6] >> (topic & _63)) & _1)


@bare
def total_of(table: WordTable, word: Whole) -> Real:
    """The sum of a word's row. Threads that compute it at the same time find the same."""
    if table.totals[word] == 0.0:
        total = 0.0
        for at in range(table.rows.offsets[word], table.rows.offsets[word + 1]):
            total += np.float64(table.rows.values[at])
        table.totals[word] = max(total, 1e-30)  # single precision does not reach further
    return table.totals[word]


@njit
def leave_topic_out(table: WordTable, words: NDArray[np.int64], topic: Whole) -> None:
    """Remove a topic from the sums of some words' rows."""
    for word in words:
        at = find(table.rows.topics, table.rows.offsets[word], table.rows.offsets[word + 1], topic)
        table.totals[word] = 0.0
        total = total_of(table, word)
        if at >= 0:
            table.totals[word] = max(total - np.float64(table.rows.values[at]), 1e-30)


@bare
def _add_word(table: WordTable, word: Whole, weight: Real, least: np.float32, scratch: Scratch) -> None:
    """Add a word's part of the cosines of the requested topics."""
    scale = np.float32(weight / np.sqrt(total_of(table, word)))
    for at in range(np.uint64(table.rows.offsets[word]), np.uint64(table.rows.offsets[word + 1])):
        topic = np.uint64(table.rows.topics[at])
        if is_marked(scratch, topic):
            scratch.values[topic] += scale * np.sqrt(table.rows.values[at]) / max(table.lengths[topic], least)


@njit
def word_evidence(
    words: NDArray[np.int64], counts: NDArray[np.int64], table: WordTable, topics: NDArray[np.uint32],
    neighbours: Neighbours, overlap: Real, scratch: Scratch,
) -> Vector:  # fmt: skip
    """E of some topics, for a document's distinct words."""
    mark_all(scratch, topics)
    mark_all(scratch, neighbours.topics)
    norm = _norm(counts)
    for number in range(len(words)):
        _add_word(table, words[number], (1.0 + np.log(counts[number])) / norm, _LEAST, scratch)
    evidence = np.empty(len(topics), np.float64)
    for i in range(len(topics)):
        total = np.float64(scratch.values[topics[i]])
        for at in range(neighbours.offsets[i], neighbours.offsets[i + 1]):
            total += np.float64(scratch.values[neighbours.topics[at]])
        evidence[i] = total * _scale(neighbours, i, overlap)
    clear_all(scratch, topics)
    clear_all(scratch, neighbours.topics)
    return evidence


@njit
def word_scores(
    words: NDArray[np.int64], often: Vector, table: WordTable, topics: NDArray[np.uint32], scratch: Scratch
) -> Vector:
    """Return the cosines of words with topics; short vectors are not favoured."""
    mark_all(scratch, topics)
    for number in range(len(words)):
        _add_word(table, words[number], often[number], np.float32(1), scratch)
    scores = np.empty(len(topics), np.float64)
    for i in range(len(topics)):
        scores[i] = scratch.values[topics[i]]
    clear_all(scratch, topics)
    return scores


@njit
def word_parts(
    words: NDArray[np.int64],
    counts: NDArray[np.int64],
    table: WordTable,
    topics: NDArray[np.uint32],
    neighbours: Neighbours,
    chosen: NDArray[np.int64],
    overlap: Real,
) -> NDArray[np.float64]:
    """Return the contribution of each word to E of chosen topics (indices in `topics`), by topic and word."""
    rows, lengths = table.rows, table.lengths
    last = np.full(len(lengths), -1, np.int32)  # of each page's owners: the chosen topics that it counts for
    most = len(chosen)
    for i in chosen:
        most += neighbours.offsets[i + 1] - neighbours.offsets[i]
    owners, before = np.empty(most, np.int32), np.empty(most, np.int32)
    count = np.int32(0)
    for owner in range(len(chosen)):
        i = chosen[owner]
        for at in range(neighbours.offsets[i] - 1, neighbours.offsets[i + 1]):
            page = topics[i] if at < neighbours.offsets[i] else neighbours.topics[at]
            owners[count], before[count] = owner, last[page]
            last[page] = count
            count += np.int32(1)
    norm = _norm(counts)
    parts = np.zeros((len(chosen), len(words)), np.float64)
    for number in range(len(words)):
        start, end = rows.offsets[words[number]], rows.offsets[words[number] + 1]
        weight = (1.0 + np.log(counts[number])) / (norm * np.sqrt(total_of(table, words[number])))
        for at in range(start, end):
            entry = last[rows.topics[at]]
            while entry >= 0:
                length = max(lengths[rows.topics[at]], _LEAST)
                parts[owners[entry], number] += weight * np.sqrt(np.float64(rows.values[at])) / length
                entry = before[entry]
    for owner in range(len(chosen)):
        parts[owner] *= _scale(neighbours, chosen[owner], overlap)
    return parts


@bare
def _norm(counts: NDArray[np.int64]) -> Real:
    """The length of the document's vector."""
    norm = 0.0
    for count in counts:
        norm += (1.0 + np.log(count)) ** 2
    return np.sqrt(max(norm, 1e-300))


@bare
def _scale(neighbours: Neighbours, i: Whole, overlap: Real) -> Real:
    """Return the factor that makes the sum of A over a topic and its neighbours a cosine."""
    size = 1.0 + neighbours.offsets[i + 1] - neighbours.offsets[i]
    return 1.0 / size / np.sqrt(1.0 / size + overlap)
