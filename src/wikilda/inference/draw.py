"""Drawing a topic for one token: the masses of the buckets of Eq. 5, and a walk through the one that is hit.

Bucket (v) is in two parts, private and shared entries; (c, v) and (c) are both in the slots; (d) is an alias table.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.marks import Marks, seen_again
from wikilda.inference.packet import Bag, entries_of
from wikilda.inference.sums import dot
from wikilda.inference.types import Real, Whole
from wikilda.jit import inner

# Where a draw has hit.
HIT_SLOTS, HIT_PRIVATE, HIT_SHARED, HIT_DENSE = range(4)


class Rules(NamedTuple):
    """The settings that kernels need."""

    alpha: float
    sweeps: int
    burn_in: int
    coherent: bool
    stranger: float
    idle_draws: int


@inner
def slots_mass(
    effective: NDArray[np.float32],
    matrix: NDArray[np.float32],
    factors: NDArray[np.float32],
    symbol: Whole,
    kind: Whole,
    smoothing: Real,
    high: Whole,
) -> Real:
    """Z^(c,v) + Z^(c): the mass of the topics in the document."""
    mass = np.float64(dot(effective, matrix, np.uint64(symbol), np.uint64(high)))
    if smoothing > 0.0:
        mass += smoothing * np.float64(dot(effective, factors, np.uint64(kind), np.uint64(high)))
    return mass


@inner
def hit(x: Real, private: Real, shared: Real, slots: Real, dense: Real) -> tuple[Whole, Real]:
    """The bucket at distance x, given the masses of all, and how far into it."""
    if x < private:
        return HIT_PRIVATE, x
    x -= private
    if x < shared:
        return HIT_SHARED, x
    x -= shared
    if x < slots:
        return HIT_SLOTS, x
    if dense > 0.0:
        return HIT_DENSE, x
    # Only rounding leads here: the last bucket that has any mass.
    if slots > 0.0:
        return HIT_SLOTS, x
    return (HIT_SHARED, x) if shared > 0.0 else (HIT_PRIVATE, x)


@inner
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
    weight = np.float64(matrix[symbol, slot])
    if smoothing > 0.0:
        weight += smoothing * np.float64(factors[kind, slot])
    return np.float64(effective[slot]) * weight


@inner
def walk_slots(
    effective: NDArray[np.float32],
    matrix: NDArray[np.float32],
    factors: NDArray[np.float32],
    symbol: Whole,
    kind: Whole,
    smoothing: Real,
    high: Whole,
    current: Whole,
    x: Real,
) -> Whole:
    """The slot at distance x, not looking at the current one."""
    last, slot = np.int64(current), np.int64(0)
    while slot < high and (x >= 0.0 or last == current):
        weight = np.float64(matrix[symbol, slot]) + smoothing * np.float64(factors[kind, slot])
        mass = np.float64(effective[slot]) * weight
        if mass > 0.0 and slot != current:
            last = slot
            x -= mass
        slot += 1
    return last


@inner
def walk_shared(offsets: NDArray[np.int64], priors: NDArray[np.float32], symbol: Whole, x: Real) -> Whole:
    """The shared entry at distance x, in units of priors."""
    at, last = offsets[symbol], offsets[symbol + 1] - 1
    x -= np.float64(priors[at])
    while x >= 0.0 and at < last:
        at += 1
        x -= np.float64(priors[at])
    return at


@inner
def walk_private(bag: Bag, marks: Marks, shift: Whole, symbol: Whole, x: Real) -> Whole:
    """The place in a symbol's row of the private entry at distance x, in units of priors."""
    entries, start = entries_of(bag, symbol), np.uint64(bag.starts[symbol])
    topics, priors = entries.topics, entries.priors
    last = np.int64(0)
    for at in range(np.uint64(bag.lengths[symbol])):
        prior = np.float64(priors[start + at])
        if prior > 0.0 and seen_again(marks, shift, np.uint64(topics[start + at])) == np.uint64(0):
            last = np.int64(at)
            x -= prior
            if x < 0.0:
                break
    return last
