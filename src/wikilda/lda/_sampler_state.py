"""The state of a document while it is sampled: topics that tokens have now sit in a few dozen slots.

A topic is *known* once a token has had it; it keeps the list of its holders, the symbols that have it in their
rows. While tokens have it, it sits in a slot: N_k is `counts[slot]`, and `matrix[symbol, slot]` is the weight
κ_kv/κ'_k of each symbol, so that the bucket (c, v) of Eq. 5 is one dot product of two short vectors.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare
from wikilda.lda._shared_rows import Buckets, bucket_of
from wikilda.lda.expected_phi import Dense
from wikilda.lda.packet import number_of
from wikilda.lda.similarity import Likeness

PRIVATE, NOWHERE = -1, -2  # instead of a slot: some private topic, no matter which; no topic yet

# Numbers that change, in `State.numbers`.
HIGH, KNOWN, HOLDERS, COMPANY, EXTRA, HASH, STATUS, SMOOTH, COHERENT = range(9)
# What is too small, in `numbers[STATUS]`.
FINE, MORE_SLOTS, MORE_TOPICS, MORE_EXTRA = range(4)
# Columns of `known`, `holders`, `seats` and `extra`; rows of `factors` and `company`.
TOPIC, SLOT, START, LENGTH, CANDIDATE = range(5)
SYMBOL, PLACE, SWEEPS = range(3)
OCCUPANT, MENTIONS, SEATED_CANDIDATE = range(3)
KEY, KEY_SWEEPS = range(2)
WORD, MENTION = range(2)
SUM, PRESENT, STRAY = range(3)

_BLOCK = 16  # slots are looked at in blocks of this many
_MULTIPLIER = np.uint64(0x9E3779B1)
_MASK = np.uint64(0xFFFFFFFF)
_UNSEEN = -2  # a candidate's number that has not been looked up


class State(NamedTuple):
    """All of it."""

    numbers: NDArray[np.int64]
    hashed: NDArray[np.int32]  # numbers of known topics by a hash of the topic, −1: none
    known: NDArray[np.int64]  # TOPIC, its SLOT (−1: none), START and LENGTH of its holders, CANDIDATE in Likeness
    holders: NDArray[np.int64]  # SYMBOL that has the topic in its row at PLACE, and SWEEPS that its tokens had it
    holder_weights: NDArray[np.float32]
    seats: NDArray[np.int64]  # by slot: OCCUPANT (−1: none), MENTIONS that have its topic, CANDIDATE
    counts: NDArray[np.float32]  # by slot, N_k
    unit: NDArray[np.float32]  # by slot, the coherence by which N_k is multiplied, or 1
    effective: NDArray[np.float32]  # by slot, their product
    without: NDArray[np.float32]  # by slot, the same as if the mention being drawn were not there
    matrix: NDArray[np.float32]  # symbol × slot, κ_kv/κ'_k
    factors: NDArray[np.float32]  # by slot, factor_k of WORD and MENTION
    company: NDArray[np.float64]  # by slot, SUM of its similarity to those PRESENT: 1 if mentions have it; 1: a STRAY
    alike: NDArray[np.float32]  # slot × slot, similarities
    candidate_slots: NDArray[np.int32]
    extra: NDArray[np.int64]  # a hash table: KEY of symbol and topic, SWEEPS of tokens on topics not in their rows
    extra_order: NDArray[np.int64]


@bare
def reset(state: State, symbols: Whole, candidates: Whole, tokens: Whole, smooth: bool, coherent: bool) -> None:
    """Empty everything for the next document."""
    numbers = state.numbers
    for at in range(numbers[EXTRA]):
        state.extra[state.extra_order[at], KEY] = -1
    for at in range(len(numbers)):
        numbers[at] = 0
    numbers[SMOOTH], numbers[COHERENT] = smooth, coherent
    size = np.int64(1024)
    while size < len(state.hashed) and size < 4 * tokens:
        size *= 2
    numbers[HASH] = size
    hashed, seats, matrix = state.hashed, state.seats, state.matrix
    for at in range(size):
        hashed[at] = -1
    for slot in range(len(seats)):
        seats[slot, OCCUPANT], seats[slot, SEATED_CANDIDATE] = -1, -1
        state.counts[slot] = state.unit[slot] = state.effective[slot] = np.float32(0)
        state.factors[WORD, slot] = state.factors[MENTION, slot] = np.float32(0)
    for symbol in range(symbols):
        for slot in range(len(seats)):
            matrix[symbol, slot] = np.float32(0)
    if coherent:
        _reset_company(state, candidates)


@bare
def _reset_company(state: State, candidates: Whole) -> None:
    alike, slots = state.alike, state.candidate_slots
    for slot in range(len(alike)):
        state.seats[slot, MENTIONS] = 0
        state.company[PRESENT, slot] = state.company[SUM, slot] = state.company[STRAY, slot] = 0.0
        for other in range(len(alike)):
            alike[slot, other] = np.float32(0)
    for at in range(candidates):
        slots[at] = -1


@bare
def know_shared(state: State, buckets: Buckets, shift: Whole, topic: Whole) -> Whole:
    """The number of a topic; its holders are found among the shared entries when it is new."""
    number = find_known(state, topic)
    if number < 0:
        number = _introduce_topic(state, topic)
        wanted, bucket, to = np.uint32(topic), bucket_of(np.uint32(topic), shift), state.numbers[HOLDERS]
        holders, weights, topics = state.holders, state.holder_weights, buckets.topics
        for at in range(buckets.starts[bucket], buckets.starts[bucket + 1]):
            if topics[at] == wanted:
                holders[to, SYMBOL], holders[to, PLACE] = buckets.symbols[at], buckets.places[at]
                holders[to, SWEEPS], weights[to] = 0, buckets.weights[at]
                to += 1
        state.known[number, LENGTH] = to - state.numbers[HOLDERS]
        state.numbers[HOLDERS] = to
    return number


@bare
def know_private(state: State, topic: Whole, symbol: Whole, place: Whole, weight: Real) -> Whole:
    """The number of a topic that only one symbol has."""
    number = find_known(state, topic)
    if number < 0:
        number, to = _introduce_topic(state, topic), state.numbers[HOLDERS]
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
def _introduce_topic(state: State, topic: Whole) -> Whole:
    """Give a topic that is not known yet a number; its holders are still to be told."""
    known, numbers = state.known, state.numbers
    number = numbers[KNOWN]
    if number >= len(known) - 1:
        numbers[STATUS] = MORE_TOPICS
        return number  # the last is never used: whatever is written there is forgotten
    if 2 * number >= numbers[HASH]:
        _rehash(numbers, state.hashed, known)
    _put_hash(state.hashed, numbers[HASH] - 1, topic, number)
    known[number, TOPIC], known[number, SLOT], known[number, CANDIDATE] = topic, -1, _UNSEEN
    known[number, START], known[number, LENGTH] = numbers[HOLDERS], 0
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
def seat(state: State, number: Whole, likeness: Likeness, dense: Dense) -> Whole:
    """The slot of a known topic, which gets one if it has none."""
    slot = state.known[number, SLOT]
    if slot < 0:
        slot = take_seat(state, number)
        topic = state.known[number, TOPIC]
        if slot >= 0 and state.numbers[SMOOTH]:
            state.factors[WORD, slot] = dense.word_factors[topic]
            state.factors[MENTION, slot] = dense.mention_factors[topic]
        if slot >= 0 and state.numbers[COHERENT]:
            _introduce(state, number, slot, likeness)
    return slot


@bare
def take_seat(state: State, number: Whole) -> Whole:
    """A slot for a known topic that has none."""
    seats, holders, weights, matrix = state.seats, state.holders, state.holder_weights, state.matrix
    slot, free = np.int64(NOWHERE), np.int64(0)
    while free < len(seats) and seats[free, OCCUPANT] >= 0:
        free += 1
    if free < len(seats):
        slot = free
        state.numbers[HIGH] = max(state.numbers[HIGH], (slot // _BLOCK + 1) * _BLOCK)
        state.known[number, SLOT], seats[slot, OCCUPANT] = slot, number
        state.counts[slot], state.unit[slot], state.effective[slot] = np.float32(0), np.float32(1), np.float32(0)
        start = state.known[number, START]
        for at in range(start, start + state.known[number, LENGTH]):
            matrix[holders[at, SYMBOL], slot] = weights[at]
    else:
        state.numbers[STATUS] = MORE_SLOTS
    return slot


@bare
def _introduce(state: State, number: Whole, slot: Whole, likeness: Likeness) -> None:
    """Tell how alike a topic in a slot is to those in the others."""
    company = state.company
    if state.known[number, CANDIDATE] == _UNSEEN:
        state.known[number, CANDIDATE] = number_of(likeness.topics, state.known[number, TOPIC])
    candidate = state.known[number, CANDIDATE]
    state.seats[slot, SEATED_CANDIDATE], state.seats[slot, MENTIONS] = candidate, 0
    company[PRESENT, slot] = company[SUM, slot] = 0.0
    company[STRAY, slot] = 1.0 if candidate < 0 else 0.0
    if candidate < 0:
        return
    slots, alike, neighbours, values = state.candidate_slots, state.alike, likeness.neighbours, likeness.values
    slots[candidate] = slot
    for at in range(likeness.offsets[candidate], likeness.offsets[candidate + 1]):
        other = np.int64(slots[neighbours[at]])
        if other >= 0:
            alike[slot, other] = alike[other, slot] = values[at]
            company[SUM, slot] += company[PRESENT, other] * np.float64(values[at])


@bare
def unseat(state: State, slot: Whole) -> None:
    """Free the slot of a topic that no token has any more."""
    seats, matrix, holders, alike = state.seats, state.matrix, state.holders, state.alike
    number = seats[slot, OCCUPANT]
    start = state.known[number, START]
    for at in range(start, start + state.known[number, LENGTH]):
        matrix[holders[at, SYMBOL], slot] = np.float32(0)
    state.known[number, SLOT], seats[slot, OCCUPANT] = -1, -1
    state.counts[slot] = state.effective[slot] = np.float32(0)
    high, candidate = state.numbers[HIGH], seats[slot, SEATED_CANDIDATE]
    if candidate >= 0:
        state.candidate_slots[candidate] = -1
        seats[slot, SEATED_CANDIDATE] = -1
        for other in range(high):
            alike[slot, other] = alike[other, slot] = np.float32(0)
    while high > 0 and seats[high - 1, OCCUPANT] < 0:
        high -= 1
    state.numbers[HIGH] = (high + _BLOCK - 1) // _BLOCK * _BLOCK


@bare
def credit(state: State, symbol: Whole, slot: Whole, sweeps: Whole) -> Whole:
    """Note that a token had the topic in a slot for some sweeps; False if its symbol has no such entry."""
    known, holders, number = state.known, state.holders, state.seats[slot, OCCUPANT]
    at, end = known[number, START], known[number, START] + known[number, LENGTH]
    while at < end and holders[at, SYMBOL] != symbol:
        at += 1
    if at < end:
        holders[at, SWEEPS] += sweeps
    return at < end


@bare
def credit_extra(state: State, symbol: Whole, slot: Whole, sweeps: Whole) -> None:
    """The same for a topic that the symbol has no entry for."""
    extra, mask = state.extra, len(state.extra) - 1
    key = (np.int64(symbol) << 32) | state.known[state.seats[slot, OCCUPANT], TOPIC]
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
