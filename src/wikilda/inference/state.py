"""The state of a document while it is sampled: topics that tokens have now sit in a few dozen slots.

A topic is *known* once a token has had it; it keeps the list of its holders, the symbols that have it in their
rows. While tokens have it, it sits in a slot: N_k is `counts[slot]`, and `matrix[symbol, slot]` is the weight
κ_kv/κ'_k of each symbol, so that the bucket (c, v) of Eq. 5 is one dot product of two short vectors.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.compiled import inlined
from wikilda.inference.layout import Buckets, bucket_of
from wikilda.inference.packet import number_of
from wikilda.inference.similarity import Likeness
from wikilda.inference.weights import Dense
from wikilda.jit import inner

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
PRESENT, SUM = range(2)

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
    matrix: NDArray[np.float32]  # symbol × slot, κ_kv/κ'_k
    factors: NDArray[np.float32]  # by slot, factor_k of WORD and MENTION
    company: NDArray[np.float64]  # by slot, PRESENT: 1 if mentions have it; SUM of its similarity to those present
    alike: NDArray[np.float32]  # slot × slot, similarities
    candidate_slots: NDArray[np.int32]
    extra: NDArray[np.int64]  # a hash table: KEY of symbol and topic, SWEEPS of tokens on topics not in their rows
    extra_order: NDArray[np.int64]


@inner
def reset(state: State, symbols: int, candidates: int, tokens: int, smooth: bool, coherent: bool) -> None:
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


@inner
def _reset_company(state: State, candidates: int) -> None:
    alike, slots = state.alike, state.candidate_slots
    for slot in range(len(alike)):
        state.seats[slot, MENTIONS] = 0
        state.company[PRESENT, slot] = state.company[SUM, slot] = 0.0
        for other in range(len(alike)):
            alike[slot, other] = np.float32(0)
    for at in range(candidates):
        slots[at] = -1


@inlined
def know_shared(state: State, buckets: Buckets, shift: np.uint64, topic: int) -> int:
    """The number of a topic; its holders are found among the shared entries when it is new."""
    number = _find(state, topic)
    if state.known[number, LENGTH] < 0:
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


@inlined
def know_private(state: State, topic: int, symbol: int, place: int, weight: np.float32) -> int:
    """The number of a topic that only one symbol has."""
    number = _find(state, topic)
    if state.known[number, LENGTH] < 0:
        to = state.numbers[HOLDERS]
        state.holders[to, SYMBOL], state.holders[to, PLACE], state.holders[to, SWEEPS] = symbol, place, 0
        state.holder_weights[to] = weight
        state.known[number, LENGTH] = 1
        state.numbers[HOLDERS] = to + 1
    return number


@inlined
def _find(state: State, topic: int) -> int:
    """The number of a topic; a new one has a length of −1."""
    known, numbers = state.known, state.numbers
    at = _hash_place(state, topic)
    if state.hashed[at] >= 0:
        return np.int64(state.hashed[at])
    number = numbers[KNOWN]
    if number >= len(known) - 1:
        numbers[STATUS] = MORE_TOPICS
        return number  # the last is never used: whatever is written there is forgotten
    if 2 * number >= numbers[HASH]:
        _rehash(state)
        at = _hash_place(state, topic)
    state.hashed[at] = number
    known[number, TOPIC], known[number, SLOT], known[number, CANDIDATE] = topic, -1, _UNSEEN
    known[number, START], known[number, LENGTH] = numbers[HOLDERS], -1
    numbers[KNOWN] = number + 1
    return number


@inlined
def _hash_place(state: State, topic: int) -> int:
    mask, hashed, known = state.numbers[HASH] - 1, state.hashed, state.known
    at = np.int64(((np.uint64(topic) * _MULTIPLIER) & _MASK) >> np.uint64(8)) & mask
    while hashed[at] >= 0 and known[hashed[at], TOPIC] != topic:
        at = (at + 1) & mask
    return at


@inlined
def _rehash(state: State) -> None:
    """Use twice as much of the hash table."""
    state.numbers[HASH] *= 2
    for at in range(state.numbers[HASH]):
        state.hashed[at] = -1
    for number in range(state.numbers[KNOWN]):
        state.hashed[_hash_place(state, state.known[number, TOPIC])] = number


@inlined
def seat(state: State, number: int, likeness: Likeness, dense: Dense) -> int:
    """The slot of a known topic, which gets one if it has none."""
    slot = state.known[number, SLOT]
    if slot >= 0:
        return slot
    slot, seats, holders, weights, matrix = np.int64(0), state.seats, state.holders, state.holder_weights, state.matrix
    while slot < len(seats) and seats[slot, OCCUPANT] >= 0:
        slot += 1
    if slot == len(state.counts):
        state.numbers[STATUS] = MORE_SLOTS
        return np.int64(NOWHERE)
    state.numbers[HIGH] = max(state.numbers[HIGH], (slot // _BLOCK + 1) * _BLOCK)
    state.known[number, SLOT], state.seats[slot, OCCUPANT] = slot, number
    state.counts[slot], state.unit[slot], state.effective[slot] = np.float32(0), np.float32(1), np.float32(0)
    start = state.known[number, START]
    for at in range(start, start + state.known[number, LENGTH]):
        matrix[holders[at, SYMBOL], slot] = weights[at]
    topic = state.known[number, TOPIC]
    if state.numbers[SMOOTH]:
        state.factors[WORD, slot], state.factors[MENTION, slot] = dense.word_factors[topic], dense.mention_factors[topic]
    if state.numbers[COHERENT]:
        _introduce(state, number, slot, likeness)
    return slot


@inlined
def _introduce(state: State, number: int, slot: int, likeness: Likeness) -> None:
    """Tell how alike a topic in a slot is to those in the others."""
    company = state.company
    if state.known[number, CANDIDATE] == _UNSEEN:
        state.known[number, CANDIDATE] = number_of(likeness.topics, state.known[number, TOPIC])
    candidate = state.known[number, CANDIDATE]
    state.seats[slot, SEATED_CANDIDATE], state.seats[slot, MENTIONS] = candidate, 0
    company[PRESENT, slot] = company[SUM, slot] = 0.0
    if candidate < 0:
        return
    slots, alike, neighbours, values = state.candidate_slots, state.alike, likeness.neighbours, likeness.values
    slots[candidate] = slot
    for at in range(likeness.offsets[candidate], likeness.offsets[candidate + 1]):
        other = np.int64(slots[neighbours[at]])
        if other >= 0:
            alike[slot, other] = alike[other, slot] = values[at]
            company[SUM, slot] += company[PRESENT, other] * np.float64(values[at])


@inner
def unseat(state: State, slot: int) -> None:
    """Free the slot of a topic that no token has any more."""
    number, matrix, holders = state.seats[slot, OCCUPANT], state.matrix, state.holders
    start = state.known[number, START]
    for at in range(start, start + state.known[number, LENGTH]):
        matrix[holders[at, SYMBOL], slot] = np.float32(0)
    state.known[number, SLOT], state.seats[slot, OCCUPANT] = -1, -1
    state.counts[slot] = state.effective[slot] = np.float32(0)
    candidate = state.seats[slot, SEATED_CANDIDATE]
    if candidate >= 0:
        state.candidate_slots[candidate] = -1
        state.seats[slot, SEATED_CANDIDATE] = -1
        alike = state.alike
        for other in range(state.numbers[HIGH]):
            alike[slot, other] = alike[other, slot] = np.float32(0)
    while state.numbers[HIGH] > 0 and _block_empty(state.seats, state.numbers[HIGH]):
        state.numbers[HIGH] -= _BLOCK


@inlined
def _block_empty(seats: NDArray[np.int64], end: int) -> bool:
    for slot in range(end - _BLOCK, end):
        if seats[slot, OCCUPANT] >= 0:
            return False
    return True


@inner
def credit(state: State, symbol: int, slot: int, sweeps: int) -> None:
    """Note that a token of a symbol has had the topic in a slot for some sweeps."""
    number, holders = state.seats[slot, OCCUPANT], state.holders
    start = state.known[number, START]
    for at in range(start, start + state.known[number, LENGTH]):
        if holders[at, SYMBOL] == symbol:
            holders[at, SWEEPS] += sweeps
            return
    _credit_extra(state, (np.int64(symbol) << 32) | state.known[number, TOPIC], sweeps)


@inlined
def _credit_extra(state: State, key: int, sweeps: int) -> None:
    extra, mask = state.extra, len(state.extra) - 1
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


@inner
def extra_symbol(key: int) -> int:
    """The symbol of a key in `State.extra`."""
    return key >> 32


@inner
def extra_topic(key: int) -> int:
    """The topic of a key in `State.extra`."""
    return key & 0xFFFFFFFF
