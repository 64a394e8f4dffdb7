"""Sums over slots, the innermost loop of the sampler."""

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.compiled import reordered


@reordered
def dot(counts: NDArray[np.float32], matrix: NDArray[np.float32], row: np.uint64, length: np.uint64) -> np.float32:
    """The sum of counts times the numbers in a row of a matrix."""
    total = np.float32(0)
    for at in range(length):
        total += counts[at] * matrix[row, at]
    return total
