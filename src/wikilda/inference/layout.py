"""What is done once per document: which rows share topics, and which tokens need drawing at all.

An entry (symbol, topic) is *shared* if another symbol of the document has the topic too, else *private*. Only
shared topics let tokens influence one another, so private entries enter the sampling by their sum alone. That an
entry is sometimes taken for shared though it is not does no harm.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.marks import Marks, clear, log_size, mark, seen_again
from wikilda.inference.packet import Bag, Entries, entries_of
from wikilda.inference.types import Real, Whole
from wikilda.jit import inner

_SPREAD = np.uint64(0x85EBCA6B)
_MASK = np.uint64(0xFFFFFFFF)
_PER_BUCKET = 12


class Shared(NamedTuple):
    """Shared entries by symbol, from offsets[symbol] on; `places` are their places in the symbol's row."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    weights: NDArray[np.float32]
    priors: NDArray[np.float32]
    places: NDArray[np.int32]


class Buckets(NamedTuple):
    """The same entries in short buckets by a hash of their topic: who else has it is a short scan."""

    starts: NDArray[np.int64]
    topics: NDArray[np.uint32]
    weights: NDArray[np.float32]
    places: NDArray[np.int32]
    symbols: NDArray[np.int32]


# Rows of `masses` by symbol: Σ_k α_k κ_kv/κ'_k over private and over shared entries, which is Z^(v) of Eq. 5, and
# the largest private one.
PRIVATE_MASS, SHARED_MASS, PRIVATE_BEST = range(3)


@inner
def mark_rows(bag: Bag, marks: Marks, all_shared: bool, mentions_shared: bool) -> Whole:
    """See all topics of all rows; those that shall count as shared in any case are seen twice."""
    total = np.int64(0)
    for symbol in range(len(bag.symbols)):
        total += bag.lengths[symbol]
    log = log_size(total)
    shift = clear(marks, log)
    for symbol in range(len(bag.symbols)):
        topics = entries_of(bag, symbol).topics
        start, length = np.uint64(bag.starts[symbol]), np.uint64(bag.lengths[symbol])
        for at in range(length):
            mark(marks, shift, np.uint64(topics[start + at]))
        if all_shared or (mentions_shared and symbol >= bag.first_mention):
            for at in range(length):
                mark(marks, shift, np.uint64(topics[start + at]))
    return shift


@inner
def split_rows(bag: Bag, marks: Marks, shift: Whole, alpha: Real, shared: Shared, masses: NDArray[np.float64]) -> None:
    """Copy the shared entries, sum up the private ones."""
    count = np.uint64(0)
    for symbol in range(len(bag.symbols)):
        shared.offsets[symbol] = count
        start, length = np.uint64(bag.starts[symbol]), np.uint64(bag.lengths[symbol])
        entries = entries_of(bag, symbol)
        count, shared_mass, private_mass, best = _split_row(entries, start, length, marks, shift, shared, count)
        masses[SHARED_MASS, symbol], masses[PRIVATE_MASS, symbol] = alpha * shared_mass, alpha * private_mass
        masses[PRIVATE_BEST, symbol] = alpha * np.float64(best)
    shared.offsets[len(bag.symbols)] = count


@inner
def _split_row(
    entries: Entries,
    start: Whole,
    length: Whole,
    marks: Marks,
    shift: Whole,
    shared: Shared,
    count: Whole,
) -> tuple[Whole, Real, Real, Real]:
    topics, weights, priors = entries.topics, entries.weights, entries.priors
    to_topics, to_weights, to_priors, to_places = shared.topics, shared.weights, shared.priors, shared.places
    shared_mass, private_mass, best = 0.0, 0.0, np.float32(0)
    for at in range(length):
        topic, weight, prior = topics[start + at], weights[start + at], priors[start + at]
        kept = seen_again(marks, shift, np.uint64(topic)) & np.uint64(weight > np.float32(0))
        # Always written, kept by moving on: there is no branch to guess wrong.
        to_topics[count], to_weights[count], to_priors[count], to_places[count] = topic, weight, prior, at
        count += kept
        mass = np.float64(prior)
        kept_mass = mass * np.float64(np.int64(kept))
        shared_mass += kept_mass
        private_mass += mass - kept_mass
        best = max(best, np.float32(mass - kept_mass))
    return count, shared_mass, private_mass, best


@inner
def fill_buckets(shared: Shared, symbols: Whole, buckets: Buckets) -> Whole:
    """Sort shared entries into buckets; returns the shift that `bucket_of` wants."""
    offsets, topics, weights, places = shared.offsets, shared.topics, shared.weights, shared.places
    starts, count, log = buckets.starts, offsets[symbols], np.int64(4)
    while (np.int64(_PER_BUCKET) << log) < count and log < 16:
        log += 1
    shift = np.uint64(32 - log)
    for bucket in range((np.int64(1) << log) + 2):
        starts[bucket] = 0
    for at in range(count):
        starts[bucket_of(topics[at], shift) + 2] += 1
    for bucket in range(2, (np.int64(1) << log) + 2):
        starts[bucket] += starts[bucket - 1]
    to_topics, to_weights, to_places, to_symbols = buckets.topics, buckets.weights, buckets.places, buckets.symbols
    for symbol in range(symbols):
        for at in range(offsets[symbol], offsets[symbol + 1]):
            bucket = bucket_of(topics[at], shift) + 1
            to = starts[bucket]
            starts[bucket] = to + 1
            to_topics[to], to_weights[to], to_places[to], to_symbols[to] = topics[at], weights[at], places[at], symbol
    return shift


@inner
def bucket_of(topic: Whole, shift: Whole) -> Whole:
    """The bucket in which a topic's entries are."""
    return np.int64(((np.uint64(topic) * _SPREAD) & _MASK) >> shift)
