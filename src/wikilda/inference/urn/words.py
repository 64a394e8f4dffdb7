"""How well the words of a document go with a topic, and with what is linked to it.

A word's share in a topic is P(k|w), its row of λ̂ divided by its sum. Documents and topics are vectors of unit length,
with 1 + log n_w and √P(k|w) for each word; A_k is their cosine. Short articles share few words with a document that
speaks of them, but together with their neighbours they do: with N the neighbours of k, and k itself,

    E_k = (Σ_{j ∈ N} A_j / |N|) / √(1/|N| + overlap)

which is the cosine with the sum of the neighbours' vectors, if those have a cosine of `overlap` with each other.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.types import Real
from wikilda.inference.urn.neighbours import Neighbours
from wikilda.jit import njit
from wikilda.model.model import Parameters

Vector = NDArray[np.float64]


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
    norm = 0.0
    for count in counts:
        norm += (1.0 + np.log(count)) ** 2
    norm = np.sqrt(max(norm, 1e-300))
    for number in range(len(words)):
        start, end = rows.offsets[words[number]], rows.offsets[words[number] + 1]
        total = 0.0
        for at in range(start, end):
            total += np.float64(rows.values[at])
        weight = (1.0 + np.log(counts[number])) / (norm * np.sqrt(max(total, 1e-300)))
        for at in range(start, end):
            length = max(lengths[rows.topics[at]], np.float32(1e-30))
            scratch[rows.topics[at]] += np.float32(weight * np.sqrt(np.float64(rows.values[at])) / length)
    evidence = np.empty(len(topics), np.float64)
    for i in range(len(topics)):
        total = np.float64(scratch[topics[i]])
        for at in range(neighbours.offsets[i], neighbours.offsets[i + 1]):
            total += np.float64(scratch[neighbours.topics[at]])
        size = 1.0 + neighbours.offsets[i + 1] - neighbours.offsets[i]
        evidence[i] = total / size / np.sqrt(1.0 / size + overlap)
    for number in range(len(words)):
        for at in range(rows.offsets[words[number]], rows.offsets[words[number] + 1]):
            scratch[rows.topics[at]] = np.float32(0)
    return evidence
