"""How well the words of a document go with a topic, and with what is linked to it.

A word's share in a topic is P(k|w), its row of λ̂ divided by its sum. Documents and topics are vectors of unit length,
with 1 + log n_w and √P(k|w) for each word; A_k is their cosine. Short articles share few words with a document that
speaks of them, but together with their neighbours they do: with N the neighbours of k, and k itself,

    E_k = (Σ_{j ∈ N} A_j / |N|) / √(1/|N| + overlap)

which is the cosine with the sum of the neighbours' vectors, if those have a cosine of `overlap` with each other.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.prefetch import ask_for
from wikilda.model.model import Parameters
from wikilda.urn._relatedness import Neighbours

Vector = NDArray[np.float64]

_AHEAD = 24  # entries of a row: topics lie anywhere in memory


@njit
def word_evidence(
    words: NDArray[np.int64],
    counts: NDArray[np.int64],
    rows: Parameters,
    lengths: NDArray[np.float32],
    topics: NDArray[np.uint32],
    neighbours: Neighbours,
    overlap: Real,
    scratch: NDArray[np.float32],
) -> Vector:
    """E of some topics, for a document's distinct words; `scratch` holds a 0 for every topic, before and after."""
    norm = _norm(counts)
    for number in range(len(words)):
        start, end = rows.offsets[words[number]], rows.offsets[words[number] + 1]
        weight = _weight(rows.values[start:end], counts[number], norm)
        for at in range(start, end):
            if at + _AHEAD < end:
                soon = np.uint64(rows.topics[at + _AHEAD])
                ask_for(lengths, soon, np.uint64(0))
                ask_for(scratch, soon, np.uint64(0))
            length = max(lengths[rows.topics[at]], np.float32(1e-30))
            scratch[rows.topics[at]] += np.float32(weight * np.sqrt(np.float64(rows.values[at])) / length)
    evidence = np.empty(len(topics), np.float64)
    for i in range(len(topics)):
        total = np.float64(scratch[topics[i]])
        for at in range(neighbours.offsets[i], neighbours.offsets[i + 1]):
            total += np.float64(scratch[neighbours.topics[at]])
        evidence[i] = total * _scale(neighbours, i, overlap)
    for number in range(len(words)):
        for at in range(rows.offsets[words[number]], rows.offsets[words[number] + 1]):
            scratch[rows.topics[at]] = np.float32(0)
    return evidence


@njit
def word_parts(
    words: NDArray[np.int64],
    counts: NDArray[np.int64],
    rows: Parameters,
    lengths: NDArray[np.float32],
    topics: NDArray[np.uint32],
    neighbours: Neighbours,
    chosen: NDArray[np.int64],
    overlap: Real,
) -> NDArray[np.float64]:
    """What each word adds to E of chosen topics (numbers in `topics`), by topic and word."""
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
        weight = _weight(rows.values[start:end], counts[number], norm)
        for at in range(start, end):
            entry = last[rows.topics[at]]
            while entry >= 0:
                length = max(lengths[rows.topics[at]], np.float32(1e-30))
                parts[owners[entry], number] += weight * np.sqrt(np.float64(rows.values[at])) / length
                entry = before[entry]
    for owner in range(len(chosen)):
        parts[owner] *= _scale(neighbours, chosen[owner], overlap)
    return parts


@inner
def _norm(counts: NDArray[np.int64]) -> Real:
    """The length of the document's vector."""
    norm = 0.0
    for count in counts:
        norm += (1.0 + np.log(count)) ** 2
    return np.sqrt(max(norm, 1e-300))


@inner
def _weight(values: NDArray[np.float32], count: Whole, norm: Real) -> Real:
    """What √λ̂ of a word is multiplied by: its entry in the document's vector, over the root of its row's sum."""
    total = 0.0
    for value in values:
        total += np.float64(value)
    return (1.0 + np.log(count)) / (norm * np.sqrt(max(total, 1e-300)))


@inner
def _scale(neighbours: Neighbours, i: Whole, overlap: Real) -> Real:
    """What makes the sum of A over a topic and its neighbours a cosine."""
    size = 1.0 + neighbours.offsets[i + 1] - neighbours.offsets[i]
    return 1.0 / size / np.sqrt(1.0 / size + overlap)
