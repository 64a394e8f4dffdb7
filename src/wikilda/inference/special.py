"""Ψ, and tables from which one of many is drawn in two steps."""

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.types import Real, Whole
from wikilda.jit import bare, njit

Shares = NDArray[np.float32]
Others = NDArray[np.uint32]


@bare
def digamma(x: Real) -> Real:
    """Ψ(x) for x > 0: the recurrence up to 6, then the asymptotic series; right to about 1e-13."""
    result = 0.0
    while x < 6.0:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y / 12))))))
    return result + np.log(x) - 0.5 / x - series


@njit
def digammas(values: NDArray[np.float64], add: Real) -> NDArray[np.float64]:
    """Ψ(add + value) of many values."""
    out = np.empty(len(values), np.float64)
    for at in range(len(values)):
        out[at] = digamma(add + values[at])
    return out


@njit
def alias_table(weights: NDArray[np.float64]) -> tuple[Shares, Others]:
    """Walker's alias table as Vose builds it: column k keeps its share, and gives the rest to another."""
    count = len(weights)
    scale = count / weights.sum()
    shares, others = np.ones(count, np.float32), np.empty(count, np.uint32)
    left = np.empty(count, np.float64)
    waiting = np.empty(count, np.int64)  # the poor from the front, the rich from the back
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
def draw_alias(shares: Shares, others: Others, uniform: Real) -> Whole:
    """One of many by a uniform number from 0 to 1, whatever their number."""
    scaled = uniform * len(shares)
    column: Whole = min(np.int64(scaled), len(shares) - 1)
    return column if scaled - column < shares[column] else np.int64(others[column])
