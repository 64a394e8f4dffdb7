"""The state of a document while it is sampled.

A topic is *known*, and has a number, once a token has had it; it keeps the list of its holders, the symbols that have
it in their rows. It is *present* while tokens have it. Every symbol has a *live row*: the entries of its row whose
topics are present. They are few, so that the bucket (c, v) of Eq. 5 is a short sum.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare
from wikilda.lda._shared_rows import Shared, bucket_of
from wikilda.lda.expected_phi import Dense
from wikilda.lda.packet import number_of
from wikilda.lda.similarity import Likeness

PRIVATE, NOWHERE = -1, -2  # instead of a topic's number: any private topic; no topic yet

# Numbers that change, in `State.numbers`.
KNOWN, HOLDERS, PRESENT, COMPANY, EXTRA, HASH, STATUS, SMOOTH, COHERENT = range(9)
# The table that is too small, in `numbers[STATUS]`.
FINE, MORE_TOPICS, MORE_EXTRA = range(3)
# Columns of `known`, `holders`, `live` and `extra`; rows of `factors`.
TOPIC, START, LENGTH, CANDIDATE, MENTIONS, POSITION = range(6)
SYMBOL, PLACE, SWEEPS = range(3)
FIRST, END = range(2)
KEY, KEY_SWEEPS = range(2)
WORD, MENTION = range(2)

_MULTIPLIER = np.uint64(0x9E3779B1)
_MASK = np.uint64(0xFFFFFFFF)


class State(NamedTuple):
    """The state of a document."""

    numbers: NDArray[np.int64]
    hashed: NDArray[np.int32]  # numbers of known topics by a hash of the topic, −1: none
    known: NDArray[np.int64]  # TOPIC, START and LENGTH of its holders, CANDIDATE in Likeness, MENTIONS, POSITION
    counts: NDArray[np.float64]  # N_k of known topics
    factors: NDArray[np.float32]  # factor_k of known topics for WORD and MENTION
    holders: NDArray[np.int64]  # SYMBOL that has the topic in its row at PLACE, and SWEEPS that its tokens had it
    holder_weights: NDArray[np.float32]
    present: NDArray[np.int32]  # numbers of present topics, each at its POSITION
    live: NDArray[np.int64]  # by symbol, FIRST and END of its live row
    live_topics: NDArray[np.int32]  # numbers of topics
    live_weights: NDArray[np.float32]  # κ_kv/κ'_k
    similarities: NDArray[np.float64]  # by candidate, the sum of its similarities to present topics of mentions
    company: NDArray[np.int64]  # by candidate, 1 where mentions have it now
    extra: NDArray[np.int64]  # a hash table: KEY of symbol and topic, SWEEPS of tokens on topics not in their rows
    extra_order: NDArray[np.int64]


@bare
def reset(
    state: State,
    shared_offsets: NDArray[np.int64],
    occurrences: NDArray[np.int64],
    candidates: Whole,
    tokens: Whole,
    smooth: bool,
    coherent: bool,
) -> None:
    """Empty everything for the next document."""
    numbers, hashed, live = state.numbers, state.hashed, state.live
    for at in range(numbers[EXTRA]):
        state.extra[state.extra_order[at], KEY] = -1
    for at in range(len(numbers)):
        numbers[at] = 0
    numbers[SMOOTH], numbers[COHERENT] = smooth, coherent
    size = np.int64(1024)
    while size < len(hashed) and size < 4 * tokens:
        size *= 2
    numbers[HASH] = size
    for at in range(size):
        hashed[at] = -1
    first = np.int64(0)
    for symbol in range(len(occurrences)):
        live[symbol, FIRST] = live[symbol, END] = first
        # Its tokens may have some of its private topics, too, each another one.
        first += shared_offsets[symbol + 1] - shared_offsets[symbol] + occurrences[symbol]
    for at in range(candidates):
        state.similarities[at] = 0.0
        state.company[at] = 0


@bare
def know_shared(state: State, likeness: Likeness, dense: Dense, shared: Shared, shift: Whole, topic: Whole) -> Whole:
    """The number of a topic; its holders are found among the shared entries when it is new."""
    number = find_known(state, topic)
    if number < 0:
        number = _introduce(state, likeness, dense, topic)
        bucket, to = bucket_of(np.uint32(topic), shift), state.numbers[HOLDERS]
        holders, weights = state.holders, state.holder_weights
        for at in range(shared.bucket_starts[bucket], shared.bucket_starts[bucket + np.uint64(1)]):
            entry = shared.buckets[at]
            if shared.topics[entry] == np.uint32(topic):
                holders[to, SYMBOL], holders[to, PLACE] = shared.symbols[entry], shared.places[entry]
                holders[to, SWEEPS], weights[to] = 0, shared.weights[entry]
                to += 1
        state.known[number, LENGTH] = to - state.numbers[HOLDERS]
        state.numbers[HOLDERS] = to
    return number


@bare
def know_private(
    state: State, likeness: Likeness, dense: Dense, topic: Whole, symbol: Whole, place: Whole, weight: Real
) -> Whole:
    """The number of a topic that only one symbol has."""
    number = find_known(state, topic)
    if number < 0:
        number, to = _introduce(state, likeness, dense, topic), state.numbers[HOLDERS]
        state.holders[to, SYMBOL], state.holders[to, PLACE], state.holders[to, SWEEPS] = symbol, place, 0
        state.holder_weights[to] = weight
        state.known[number, LENGTH] = 1
        state.numbers[HOLDERS] = to + 1
    return number


@bare
def find_known(state: State, topic: Whole) -> Whole:
    """The number of a topic that is known, else −1."""
    mask, hashed, known = state.numbers[HASH] - 1, state.hashed, state.known
    at = np.int64(((np.uint64(topic) * _MULTIPLIER) & _MASK) >> np.uint64(8)) & mask
    while hashed[at] >= 0 and known[hashed[at], TOPIC] != topic:
        at = (at + 1) & mask
    return np.int64(hashed[at])


@bare
def _introduce(state: State, likeness: Likeness, dense: Dense, topic: Whole) -> Whole:
    """Number a topic that is not known yet. Its holders are not updated."""
    known, numbers = state.known, state.numbers
    number = numbers[KNOWN]
    if number >= len(known) - 1:
        numbers[STATUS] = MORE_TOPICS
        return number  # the last entry is a sink
    if 2 * number >= numbers[HASH]:
        _rehash(numbers, state.hashed, known)
    _put_hash(state.hashed, numbers[HASH] - 1, topic, number)
    known[number, TOPIC], known[number, START], known[number, LENGTH] = topic, numbers[HOLDERS], 0
    known[number, CANDIDATE] = number_of(likeness.topics, topic) if numbers[COHERENT] else np.int64(-1)
    known[number, MENTIONS], state.counts[number] = 0, 0.0
    if numbers[SMOOTH]:
        state.factors[WORD, number] = dense.word_factors[topic]
        state.factors[MENTION, number] = dense.mention_factors[topic]
    numbers[KNOWN] = number + 1
    return number


@bare
def _put_hash(hashed: NDArray[np.int32], mask: Whole, topic: Whole, number: Whole) -> None:
    at = np.int64(((np.uint64(topic) * _MULTIPLIER) & _MASK) >> np.uint64(8)) & mask
    while hashed[at] >= 0:
        at = (at + 1) & mask
    hashed[at] = number


@bare
def _rehash(numbers: NDArray[np.int64], hashed: NDArray[np.int32], known: NDArray[np.int64]) -> None:
    """Use twice as much of the hash table."""
    numbers[HASH] *= 2
    for at in range(numbers[HASH]):
        hashed[at] = -1
    for number in range(numbers[KNOWN]):
        _put_hash(hashed, numbers[HASH] - 1, known[number, TOPIC], number)


@bare
def count(state: State, number: Whole, tokens: Whole) -> None:
    """Count tokens for a topic."""
    if state.counts[number] == 0.0:
        _appear(state, number)
    state.counts[number] += np.float64(tokens)


@bare
def _appear(state: State, number: Whole) -> None:
    """Put a topic that is not present into the live rows of its holders."""
    known, holders, weights, live = state.known, state.holders, state.holder_weights, state.live
    topics, to_weights, position = state.live_topics, state.live_weights, state.numbers[PRESENT]
    known[number, POSITION], state.present[position] = position, number
    state.numbers[PRESENT] = position + 1
    start = known[number, START]
    for at in range(start, start + known[number, LENGTH]):
        end = live[holders[at, SYMBOL], END]
        topics[end], to_weights[end] = number, weights[at]
        live[holders[at, SYMBOL], END] = end + 1


@bare
def vanish(state: State, number: Whole) -> None:
    """Remove a topic without tokens from the live rows."""
    known, holders, live, topics, weights = (
        state.known, state.holders, state.live, state.live_topics, state.live_weights
    )  # fmt: skip
    last, position = state.numbers[PRESENT] - 1, known[number, POSITION]
    moved = np.int64(state.present[last])
    state.present[position], known[moved, POSITION], state.numbers[PRESENT] = moved, position, last
    start = known[number, START]
    for holder in range(start, start + known[number, LENGTH]):
        symbol = holders[holder, SYMBOL]
        at, end = live[symbol, FIRST], live[symbol, END] - 1
        while topics[at] != number:
            at += 1
        topics[at], weights[at], live[symbol, END] = topics[end], weights[end], end


@bare
def credit(state: State, symbol: Whole, number: Whole, sweeps: Whole) -> None:
    """Note that a token had a topic for some sweeps."""
    known, holders = state.known, state.holders
    at, end = known[number, START], known[number, START] + known[number, LENGTH]
    while at < end and holders[at, SYMBOL] != symbol:
        at += 1
    if at < end:
        holders[at, SWEEPS] += sweeps
    else:
        _credit_extra(state, symbol, known[number, TOPIC], sweeps)


@bare
def _credit_extra(state: State, symbol: Whole, topic: Whole, sweeps: Whole) -> None:
    """The same for a topic that the symbol has no entry for."""
    extra, mask = state.extra, len(state.extra) - 1
    key = (np.int64(symbol) << 32) | topic
    mixed = (np.uint64(key) ^ (np.uint64(key) >> np.uint64(29))) & _MASK
    at = np.int64(((mixed * _MULTIPLIER) & _MASK) >> np.uint64(8)) & mask
    while extra[at, KEY] != key and extra[at, KEY] != -1:
        at = (at + 1) & mask
    if extra[at, KEY] == key:
        extra[at, KEY_SWEEPS] += sweeps
    elif state.numbers[EXTRA] >= len(state.extra_order):
        state.numbers[STATUS] = MORE_EXTRA
    else:
        extra[at, KEY], extra[at, KEY_SWEEPS] = key, sweeps
        state.extra_order[state.numbers[EXTRA]] = at
        state.numbers[EXTRA] += 1


@bare
def extra_symbol(key: Whole) -> Whole:
    """The symbol of a key in `State.extra`."""
    return key >> 32


@bare
def extra_topic(key: Whole) -> Whole:
    """The topic of a key in `State.extra`."""
    return key & 0xFFFFFFFF
