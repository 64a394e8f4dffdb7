"""Preparation of a document: the topics that rows share, and the tokens that need sampling.

An entry (symbol, topic) is *shared* if another symbol of the document has the topic too, else *private*. Only
shared topics let tokens influence one another, so private entries enter the sampling only by their sum. That an
entry is sometimes taken for shared though it is not does no harm.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, emitted
from wikilda._core.seen_twice_filter import Marks, clear, log_size, mark, seen_again
from wikilda.lda._ordered_sums import largest, total
from wikilda.lda.packet import Bag, Entries, entries_of

_LINE = 16  # four-byte numbers in a cache line


@bare
def ask_for(values: NDArray[Any], start: Whole, length: Whole) -> None:
    """Prefetch some four-byte numbers."""
    for at in range(start, start + length + np.uint64(_LINE), np.uint64(_LINE)):
        _ask(values, at)


def _intrinsics() -> Any:
    from wikilda.lda import _intrinsics

    return _intrinsics


@emitted(lambda: _intrinsics().prefetch)
def _ask(values: NDArray[Any], at: Whole) -> None:
    """No effect when interpreted."""


_SPREAD = np.uint64(0x85EBCA6B)
_MASK = np.uint64(0xFFFFFFFF)
_PER_BUCKET = 12
_AHEAD = 2  # rows ahead of which a row is prefetched


class Shared(NamedTuple):
    """Shared entries by symbol, from offsets[symbol] on; `places` are their places in the symbol's row.

    `buckets` are their numbers in short buckets by a hash of their topic: who else has it is a short scan.
    """

    offsets: NDArray[np.int64]
    symbols: NDArray[np.int32]
    topics: NDArray[np.uint32]
    weights: NDArray[np.float32]
    priors: NDArray[np.float32]
    places: NDArray[np.int32]
    bucket_starts: NDArray[np.int32]
    buckets: NDArray[np.int32]


# Columns of `masses` by symbol: Σ_k α_k κ_kv/κ'_k over private and over shared entries, which is Z^(v) of Eq. 5, and
# the largest of all.
PRIVATE_MASS, SHARED_MASS, BEST = range(3)

TOO_CLOSE = 1e-6  # a difference that is a smaller share than this of the minuend is not exact enough


@bare
def mark_rows(bag: Bag, marks: Marks, all_shared: bool, mentions_shared: bool) -> Whole:
    """Mark all topics of all rows. Topics that always count as shared are marked twice."""
    total = np.int64(0)
    for symbol in range(len(bag.symbols)):
        total += bag.lengths[symbol]
    log = log_size(total)
    shift = clear(marks, log)
    for symbol in range(len(bag.symbols)):
        entries, start, length = entries_of(bag, symbol), np.uint64(bag.starts[symbol]), np.uint64(bag.lengths[symbol])
        topics = entries.topics
        ask_for(entries.weights, start, length)  # for `split_rows`
        if symbol + _AHEAD < len(bag.symbols):
            later = symbol + _AHEAD
            ask_for(entries_of(bag, later).topics, np.uint64(bag.starts[later]), np.uint64(bag.lengths[later]))
        for at in range(length):
            mark(marks, shift, np.uint64(topics[start + at]))
        if all_shared or (mentions_shared and symbol >= bag.first_mention):
            for at in range(length):
                mark(marks, shift, np.uint64(topics[start + at]))
    return shift


@bare
def split_rows(bag: Bag, marks: Marks, shift: Whole, alpha: Real, shared: Shared, masses: NDArray[np.float64]) -> None:
    """Copy the shared entries, and sum the private ones as the row's total minus the shared ones."""
    count = np.uint64(0)
    for symbol in range(len(bag.symbols)):
        start, length, entries = np.uint64(bag.starts[symbol]), np.uint64(bag.lengths[symbol]), entries_of(bag, symbol)
        first = shared.offsets[symbol] = np.int64(count)
        count = _copy_shared(entries, start, length, marks, shift, shared, count)
        shared_mass, everything = 0.0, total(entries.priors, start, length)
        for at in range(np.uint64(first), count):
            shared_mass += np.float64(shared.priors[at])
            shared.symbols[at] = symbol
        private_mass = everything - shared_mass
        if private_mass < everything * TOO_CLOSE:
            private_mass = private_sum(entries.priors, start, length, shared.places, first, np.int64(count))
        masses[symbol, SHARED_MASS], masses[symbol, PRIVATE_MASS] = alpha * shared_mass, alpha * private_mass
        masses[symbol, BEST] = alpha * np.float64(largest(entries.priors, start, length))
    shared.offsets[len(bag.symbols)] = count


@bare
def _copy_shared(
    entries: Entries, start: Whole, length: Whole, marks: Marks, shift: Whole, shared: Shared, count: Whole
) -> Whole:
    """Copy the shared entries of a row that have weight, and return the new number of entries."""
    topics, weights, priors = entries.topics, entries.weights, entries.priors
    to_topics, to_weights, to_priors, to_places = shared.topics, shared.weights, shared.priors, shared.places
    end = count
    for at in range(length):
        # Written always and kept by advancing, without a branch.
        to_places[end] = at
        end += seen_again(marks, shift, np.uint64(topics[start + at]))
    for at in range(count, end):
        place = np.uint64(to_places[at])
        weight = weights[start + place]
        to_topics[count], to_weights[count] = topics[start + place], weight
        to_priors[count], to_places[count] = priors[start + place], place
        count += np.uint64(weight > np.float32(0))
    return count


@bare
def private_sum(
    priors: NDArray[np.float32], start: Whole, length: Whole, places: NDArray[np.int32], shared: Whole, end: Whole
) -> Real:
    """The sum of the private priors of a row, of which the entries at places[shared:end] are not private."""
    mass = 0.0
    for place in range(length):
        if shared < end and np.uint64(places[shared]) == place:
            shared += 1
        else:
            mass += np.float64(priors[start + place])
    return mass


@bare
def fill_buckets(shared: Shared, symbols: Whole) -> Whole:
    """Sort shared entries into buckets; returns the shift that `bucket_of` wants."""
    topics, starts, buckets = shared.topics, shared.bucket_starts, shared.buckets
    count, log = np.uint64(shared.offsets[symbols]), np.int64(4)
    while (np.uint64(_PER_BUCKET) << np.uint64(log)) < count and log < 16:
        log += 1
    shift, size = np.uint64(32 - log), (np.int64(1) << log) + 2
    for bucket in range(size):
        starts[bucket] = 0
    for at in range(count):
        starts[bucket_of(topics[at], shift) + np.uint64(2)] += 1
    for bucket in range(2, size):
        starts[bucket] += starts[bucket - 1]
    for at in range(count):
        bucket = bucket_of(topics[at], shift) + np.uint64(1)
        buckets[np.uint64(starts[bucket])] = at
        starts[bucket] += 1
    return shift


@bare
def bucket_of(topic: Whole, shift: Whole) -> Whole:
    """The bucket in which a topic's entries are."""
    return ((np.uint64(topic) * _SPREAD) & _MASK) >> shift
