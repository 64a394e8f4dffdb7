"""The digamma function Ψ."""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, bare, njit


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
