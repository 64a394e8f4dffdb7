"""Drawing a topic for one token: the masses of the buckets of Eq. 5, and a walk through the one that is hit.

Bucket (v) is in two parts, private and shared entries; (c, v) and (c) are both in the slots; (d) is an alias table.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare
from wikilda.lda._ordered_sums import dot

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
