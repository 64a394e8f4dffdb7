"""Chance that does not depend on order: a number and a purpose always give the same draw."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def mixed(numbers: Numbers, purpose: int) -> NDArray[np.uint64]:
    """64 random bits a number (SplitMix64)."""
    salt = np.uint64((purpose * 0xD1342543DE82EF95 + 0x2545F4914F6CDD1D) % 2**64)
    bits = (np.asarray(numbers).astype(np.uint64) + salt) * _STEP
    bits = (bits ^ (bits >> np.uint64(30))) * _MIX[0]
    bits = (bits ^ (bits >> np.uint64(27))) * _MIX[1]
    return bits ^ (bits >> np.uint64(31))


def uniform(numbers: Numbers, purpose: int) -> NDArray[np.float64]:
    """A draw from [0, 1) a number."""
    return (mixed(numbers, purpose) >> np.uint64(11)) * 2.0**-53


def zipf(draws: Numbers, size: Numbers | int, exponent: float = 1.0, offset: float = 1.0) -> NDArray[np.int64]:
    """Turn uniform draws into ranks below `size`, where rank r has weight 1/(r + offset)^exponent."""
    low, high = offset, size + offset
    if exponent == 1.0:
        drawn = low * np.exp(draws * np.log(high / low))
    else:
        power = 1.0 - exponent
        drawn = (low**power + draws * (high**power - low**power)) ** (1.0 / power)
    return np.clip((drawn - offset).astype(np.int64), 0, np.asarray(size) - 1)


class Shuffle:
    """A permutation of 0 … size-1 that takes no memory."""

    def __init__(self, size: int, purpose: int) -> None:
        self.size = size
        step = int(mixed(np.array([size]), purpose)[0] % np.uint64(max(1, size))) | 1
        while np.gcd(step, size) != 1:
            step += 2
        self._step, self._start = step % max(1, size), size // 3

    def __call__(self, numbers: Numbers) -> NDArray[np.int64]:
        return (np.asarray(numbers, np.int64) * self._step + self._start) % self.size  # below 2^63 up to 3 · 10⁹
