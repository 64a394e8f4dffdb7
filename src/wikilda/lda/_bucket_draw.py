"""Drawing a topic for one token: the masses of the buckets of Eq. 5, and a walk through the one that is hit.

Bucket (v) is in two parts, private and shared entries; (c, v) and (c) are both in the slots; (d) is an alias table.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare
from wikilda.lda._ordered_sums import dot
from wikilda.lda._sampler_state import COMPANY, HIGH, MENTIONS, PRESENT, SEATED_CANDIDATE, STRAY, SUM, State

# Where a draw has hit.
HIT_SLOTS, HIT_PRIVATE, HIT_SHARED, HIT_DENSE = range(4)


class Rules(NamedTuple):
    """The settings that kernels need."""

    alpha: float
    sweeps: int
    burn_in: int
    coherent: bool
    noncandidate_coherence: float
    idle_draws: int


@bare
def slots_mass(
    counts: NDArray[np.float32],
    unit: NDArray[np.float32],
    effective: NDArray[np.float32],
    matrix: NDArray[np.float32],
    factors: NDArray[np.float32],
    symbol: Whole,
    kind: Whole,
    smoothing: Real,
    high: Whole,
    old: Whole,
) -> tuple[Real, Real]:
    """Z^(c,v) + Z^(c), the mass of the topics in the document, without one token in slot `old`; and that slot's part.

    What one of several tokens adds is subtracted. The only one is left out of the sum: a difference of numbers that
    are nearly the same would not be exact. It is not done so for all, as a number that was just written is slow to
    read again as part of a vector.
    """
    row, length = np.uint64(symbol), np.uint64(high)
    alone = old >= 0 and counts[old] == np.float32(1)
    if alone:
        effective[old] = np.float32(0)
    mass = np.float64(dot(effective, matrix, row, length))
    if smoothing > 0.0:
        mass += smoothing * np.float64(dot(effective, factors, np.uint64(kind), length))
    here = 0.0
    if alone:
        effective[old] = unit[old]
    elif old >= 0:
        one = np.float64(unit[old]) * np.float64(matrix[symbol, old])
        if smoothing > 0.0:
            one += smoothing * np.float64(unit[old]) * np.float64(factors[kind, old])
        here = (np.float64(counts[old]) - 1.0) * one
        mass = max(mass - one, here)
    return mass, here


@bare
def hit(x: Real, private: Real, shared: Real, slots: Real, everywhere: Real) -> tuple[Whole, Real]:
    """The bucket at distance x, given the masses of all, and how far into it."""
    small = private + shared
    if x < small and (x < private or shared > 0.0):
        return (HIT_PRIVATE, x) if x < private else (HIT_SHARED, x - private)
    if slots > 0.0 and (x - small < slots or everywhere <= 0.0):
        return HIT_SLOTS, x - small
    if everywhere > 0.0:
        return HIT_DENSE, x - small - slots
    # Only rounding leads here: a bucket that has any mass.
    return (HIT_SHARED, x) if shared > 0.0 else (HIT_PRIVATE, x)


@bare
def slot_mass(
    effective: NDArray[np.float32],
    matrix: NDArray[np.float32],
    factors: NDArray[np.float32],
    symbol: Whole,
    kind: Whole,
    smoothing: Real,
    slot: Whole,
) -> Real:
    """N_k (κ_kv + smoothing) / κ'_k of the topic in one slot."""
    weight = np.float64(matrix[symbol, slot]) + smoothing * np.float64(factors[kind, slot])
    return np.float64(effective[slot]) * weight


@bare
def walk_slots(
    effective: NDArray[np.float32],
    matrix: NDArray[np.float32],
    factors: NDArray[np.float32],
    symbol: Whole,
    kind: Whole,
    smoothing: Real,
    high: Whole,
    old: Whole,
    x: Real,
) -> Whole:
    """The slot at distance x, not looking at the old one."""
    last, slot = np.int64(old), np.int64(0)
    while slot < high and (x >= 0.0 or last == old):
        mass = slot_mass(effective, matrix, factors, symbol, kind, smoothing, slot)
        if mass > 0.0 and slot != old:
            last = slot
            x -= mass
        slot += 1
    return last


@bare
def walk_shared(offsets: NDArray[np.int64], priors: NDArray[np.float32], symbol: Whole, x: Real) -> Whole:
    """The shared entry at distance x, in units of priors."""
    at, last = offsets[symbol], offsets[symbol + 1] - 1
    x -= np.float64(priors[at])
    while x >= 0.0 and at < last:
        at += 1
        x -= np.float64(priors[at])
    return at


@bare
def walk_private(
    priors: NDArray[np.float32],
    start: Whole,
    length: Whole,
    places: NDArray[np.int32],
    shared: Whole,
    end: Whole,
    x: Real,
) -> Whole:
    """The place in a row of the private entry at distance x, in units of priors; places[shared:end] are not private."""
    last = np.int64(0)
    for place in range(length):
        if shared < end and np.int64(places[shared]) == place:
            shared += 1
            continue
        prior = np.float64(priors[start + place])
        if prior > 0.0:
            last = np.int64(place)
            x -= prior
            if x < 0.0:
                break
    return last


@bare
def join(state: State, slot: Whole, tokens: Whole, noncandidate_coherence: Real) -> None:
    """Add mentions to the topic in a slot; the first brings it into the company."""
    state.seats[slot, MENTIONS] += tokens
    if state.seats[slot, MENTIONS] == tokens and state.seats[slot, SEATED_CANDIDATE] >= 0:
        state.company[PRESENT, slot] = 1.0
        _spread(state, slot, 1.0, noncandidate_coherence)


@bare
def leave(state: State, slot: Whole, noncandidate_coherence: Real) -> None:
    """Take a mention away from the topic in a slot; with the last it leaves the company."""
    state.seats[slot, MENTIONS] -= 1
    if state.seats[slot, MENTIONS] == 0 and state.seats[slot, SEATED_CANDIDATE] >= 0:
        state.company[PRESENT, slot] = 0.0
        _spread(state, slot, -1.0, noncandidate_coherence)


@bare
def stands_alone(state: State, slot: Whole) -> bool:
    """Whether a topic is in the company by one mention alone."""
    return bool(state.seats[slot, MENTIONS] == 1 and state.seats[slot, SEATED_CANDIDATE] >= 0)


@bare
def judge_without(state: State, slot: Whole, noncandidate_coherence: Real) -> None:
    """What all counts would be worth if the topic in a slot were not in the company, in `State.without`."""
    sums, present, stray = state.company[SUM], state.company[PRESENT], state.company[STRAY]
    alike, counts, without = state.alike[slot], state.counts, state.without
    shares = _shares(np.float64(state.numbers[COMPANY] - 1))
    for other in range(np.uint64(state.numbers[HIGH])):
        worth = _worth(
            sums[other] - np.float64(alike[other]), present[other], stray[other], shares, noncandidate_coherence
        )
        without[other] = counts[other] * worth
    without[slot] = state.effective[slot]  # no topic is judged by itself


@bare
def coherence_of(state: State, slot: Whole, noncandidate_coherence: Real) -> Real:
    """The mean similarity of the topic in a slot to the others in the company."""
    sums, present, stray = state.company[SUM, slot], state.company[PRESENT, slot], state.company[STRAY, slot]
    return _worth(sums, present, stray, _shares(np.float64(state.numbers[COMPANY])), noncandidate_coherence)


@bare
def _spread(state: State, slot: Whole, sign: Real, noncandidate_coherence: Real) -> None:
    """Tell all topics that one has come or gone."""
    sums, present, stray = state.company[SUM], state.company[PRESENT], state.company[STRAY]
    alike, counts, unit, effective = state.alike[slot], state.counts, state.unit, state.effective
    state.numbers[COMPANY] += np.int64(sign)
    shares, high = _shares(np.float64(state.numbers[COMPANY])), np.uint64(state.numbers[HIGH])
    for other in range(high):
        sums[other] += sign * np.float64(alike[other])
    for other in range(high):
        unit[other] = _worth(sums[other], present[other], stray[other], shares, noncandidate_coherence)
    for other in range(high):
        effective[other] = counts[other] * unit[other]


@bare
def _shares(size: Real) -> tuple[Real, Real, Real, Real]:
    """By what the sums of topics in a company of some size, and of others, are multiplied, and what is added."""
    inside = (1.0 / (size - 1.0), 0.0) if size > 1.0 else (0.0, 1.0)
    outside = (1.0 / size, 0.0) if size > 0.0 else (0.0, 1.0)
    return inside[0], inside[1], outside[0], outside[1]


@bare
def _worth(
    total: Real, present: Real, stray: Real, shares: tuple[Real, Real, Real, Real], noncandidate_coherence: Real
) -> Real:
    """A topic's coherence, from the sum of its similarities to the company, of which it may be one."""
    inside, outside = total * shares[0] + shares[1], total * shares[2] + shares[3]
    mean = inside if present > 0.0 else outside
    return np.float32(noncandidate_coherence if stray > 0.0 else mean)
