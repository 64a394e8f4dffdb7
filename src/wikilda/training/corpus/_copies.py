"""What counts once, and what a source may count for at most.

*Near-copies.* A document is its set of shingles: sequences of five tokens. Two documents are near-copies if the
resemblance of their sets (Broder 1997), which is estimated from the 64 shingles with the smallest hashes, is at least a
half. Of near-copies the document with the least key is kept.

*Sources.* Where documents name their source, it counts for a mention string in at most as many documents as all other
sources together, or in ten.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.text.tokens import FLAGS, Hashes

SKETCH = 64  # shingles of a sketch: the standard error of a resemblance of a half is 0.06
_SHINGLE = 5  # tokens
_ALIKE = 0.5
_INDEXED = 8  # of a sketch: near-copies share one of them with a probability of 0.996
_MOST_COMPARED = 32  # documents that have one shingle in common: boilerplate makes every document look at all others
_FEW = 10  # documents in which any source counts for a string
_NOTHING = np.uint64(0xFFFFFFFFFFFFFFFF)  # fills sketches of short documents
_MULTIPLIER, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xFF51AFD7ED558CCD)
_SHIFT = np.uint64(32)

Flags = NDArray[np.bool_]


def sketch(hashes: Hashes, piece: int = 0) -> Hashes:
    """Return the smallest hashes of the shingles of a text, sorted; pieces of a cut text resemble the same piece."""
    tokens = hashes[hashes != 0] & ~FLAGS
    width = min(_SHINGLE, len(tokens))
    sequences = np.full(len(tokens) - width + 1 if width else 0, piece, np.uint64)
    for at in range(width):
        sequences = _scrambled(sequences + tokens[at : at + len(sequences)])
    if len(sequences) > 4 * SKETCH:
        sequences = np.partition(sequences, 4 * SKETCH)[: 4 * SKETCH]  # most are distinct
    found = np.full(SKETCH, _NOTHING, np.uint64)
    smallest = np.unique(sequences)[:SKETCH]
    found[: len(smallest)] = smallest
    return found


def _scrambled(values: Hashes) -> Hashes:
    values = (values ^ (values >> _SHIFT)) * _MULTIPLIER
    values = (values ^ (values >> _SHIFT)) * _MIX
    scrambled: Hashes = values ^ (values >> _SHIFT)
    return scrambled


def without_near_copies(sketches: NDArray[np.uint64], order: NDArray[np.int64]) -> Flags:
    """Return which documents are kept: in their order, those that are no near-copy of one that is kept before."""
    _, values = np.unique(sketches[:, :_INDEXED], return_inverse=True)
    return _kept(sketches, values.reshape(-1, _INDEXED).astype(np.int64), order)


@njit
def _kept(sketches: NDArray[np.uint64], values: NDArray[np.int64], order: NDArray[np.int64]) -> Flags:
    size = np.int64(0)
    for number in range(len(values)):
        for at in range(_INDEXED):
            size = max(size, values[number, at] + 1)
    last, counts = np.full(size, -1, np.int64), np.zeros(size, np.int64)  # by value: its latest entry, and how many
    previous = np.empty(_INDEXED * len(values), np.int64)  # of an entry, which is a place of `values`
    kept = np.zeros(len(values), np.bool_)
    for number in order:
        kept[number] = not _resembles_one(sketches, values, number, last, previous)
        if not kept[number]:
            continue
        for at in range(_INDEXED):
            value = values[number, at]
            if sketches[number, at] != _NOTHING and counts[value] < _MOST_COMPARED:
                previous[_INDEXED * number + at] = last[value]
                last[value] = _INDEXED * number + at
                counts[value] += 1
    return kept


@inner
def _resembles_one(
    sketches: NDArray[np.uint64], values: NDArray[np.int64], number: Whole, last: NDArray[np.int64],
    previous: NDArray[np.int64],
) -> bool:  # fmt: skip
    for at in range(_INDEXED):
        entry = last[values[number, at]]
        while entry >= 0 and sketches[number, at] != _NOTHING:
            if _resemblance(sketches[number], sketches[entry // _INDEXED]) >= _ALIKE:
                return True
            entry = previous[entry]
    return False


@inner
def _resemblance(one: Hashes, other: Hashes) -> Real:
    """The share of the smallest hashes of the union that both have."""
    a, b, seen, both = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while seen < SKETCH and a < SKETCH and b < SKETCH and (one[a] != _NOTHING or other[b] != _NOTHING):
        if one[a] == other[b]:
            both += 1
            a += 1
            b += 1
        elif one[a] < other[b]:
            a += 1
        else:
            b += 1
        seen += 1
    found: Real = np.float64(both) / np.float64(seen) if seen > 0 else 0.0
    return found


class Sourced(NamedTuple):
    """Mentions of documents: of which source they are (0: of none), which document and which string."""

    sources: NDArray[np.uint64]
    documents: NDArray[np.int64]  # places in the order of their keys
    strings: NDArray[np.int64]


def counted(mentions: Sourced) -> Flags:
    """Return which mentions count; of a source that has a string too often, those of its first documents."""
    counts = np.ones(len(mentions.strings), np.bool_)
    if len(np.unique(mentions.sources)) < 2:
        return counts
    size = int(mentions.documents.max()) + 1
    once, places = np.unique(mentions.strings * np.int64(size) + mentions.documents, return_inverse=True)
    strings, documents = once // size, once % size
    sources = np.zeros(len(once), np.uint64)
    sources[places] = mentions.sources
    order = np.lexsort((documents, sources, strings))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(strings[order]) != 0) | (np.diff(sources[order]) != 0)
    group = np.cumsum(new) - 1  # the documents of a source that have a string
    rank = np.arange(len(order)) - np.flatnonzero(new)[group]
    others = np.bincount(strings)[strings[order]] - np.bincount(group)[group]
    kept = np.ones(len(order), np.bool_)
    kept[order] = (rank < np.maximum(others, _FEW)) | (sources[order] == 0)
    found: Flags = kept[places]
    return found
