"""Sums over rows, in an order that is the same on every machine.

A sum of rounded numbers depends on its order, and a compiler that is free to choose takes the one that suits the
vectors of the machine. Here the order is written down: number i is added in lane i mod 16, lane by lane from the left;
then lanes 8 to 15 are added to 0 to 7, 4 to 7 to 0 to 3, and so on. Every machine has vectors for this, longer or
shorter ones, and gets the same bits. With the compiler off, NumPy adds in the same order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, emitted

LANES = 16


@bare
def total(values: NDArray[np.float32], start: Whole, length: Whole) -> Real:
    """The sum of some numbers, in double precision."""
    whole = length & ~np.uint64(LANES - 1)
    result = _total_lanes(values, start, whole)
    for at in range(whole, length):
        result += np.float64(values[start + at])
    return result


@bare
def largest(values: NDArray[np.float32], start: Whole, length: Whole) -> Real:
    """The largest of some numbers that are not negative; 0 of none."""
    whole = length & ~np.uint64(LANES - 1)
    result = _largest_lanes(values, start, whole)
    for at in range(whole, length):
        result = max(result, values[start + at])
    return result


def _folded(lanes: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """Sixteen lanes to one in NumPy, halves onto halves."""
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = combine(lanes[:half], lanes[half:])
    return lanes[0]


def _intrinsics() -> Any:
    from wikilda.lda import _intrinsics

    return _intrinsics


@emitted(lambda: _intrinsics().total)
def _total_lanes(values: NDArray[np.float32], start: Whole, length: Whole) -> Real:
    lanes = np.zeros(LANES, np.float64)
    for at in range(int(start), int(start) + int(length), LANES):
        lanes += values[at : at + LANES]
    return _folded(lanes, np.add)


@emitted(lambda: _intrinsics().largest)
def _largest_lanes(values: NDArray[np.float32], start: Whole, length: Whole) -> Real:
    return max(values[int(start) : int(start) + int(length)], default=np.float32(0))
