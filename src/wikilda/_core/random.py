"""Random numbers (splitmix64) and alias tables.

A document's stream depends on (seed, iteration, document id) and nothing else.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, njit

Shares = NDArray[np.float32]
Others = NDArray[np.uint32]
Stream = NDArray[np.uint64]  # one number, the state

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0  # 2⁻⁵³


def stream_of(seed: int, iteration: int, document: str | int) -> int:
    """Return the initial state of a document's random stream."""
    text = f"{seed}/{iteration}/{document}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


@bare
def uniform(stream: Stream) -> Real:
    """Return the next number of a stream, in [0, 1)."""
    state = stream[0] + _STEP
    stream[0] = state
    state = (state ^ (state >> _30)) * _FIRST
    state = (state ^ (state >> _27)) * _SECOND
    return np.float64(np.int64((state ^ (state >> _31)) >> _11)) * _UNIT


@njit
def alias_table(weights: NDArray[np.float64]) -> tuple[Shares, Others]:
    """Return Walker's alias table, built by Vose's method: column k keeps its share and gives the rest to another."""
    count = len(weights)
    scale = count / weights.sum()
    shares, others = np.ones(count, np.float32), np.empty(count, np.uint32)
    left = np.empty(count, np.float64)
    waiting = np.empty(count, np.int64)  # columns below the mean from the front, above it from the back
    poor, rich = np.int64(0), np.int64(count)
    for k in range(count):
        others[k] = k
        left[k] = weights[k] * scale
        if left[k] < 1.0:
            waiting[poor] = k
            poor += 1
        else:
            rich -= 1
            waiting[rich] = k
    while poor > 0 and rich < count:
        poor -= 1
        taker, giver = waiting[poor], waiting[rich]
        shares[taker], others[taker] = np.float32(left[taker]), giver
        left[giver] -= 1.0 - left[taker]
        if left[giver] < 1.0:
            rich += 1
            waiting[poor] = giver
            poor += 1
    return shares, others


@bare
def draw_alias(shares: Shares, others: Others, x: Real) -> Whole:
    """Draw from an alias table with a uniform number x in [0, 1), in constant time."""
    scaled = x * len(shares)
    column: Whole = min(np.int64(scaled), len(shares) - 1)
    return column if scaled - column < shares[column] else np.int64(others[column])
