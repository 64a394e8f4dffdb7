"""What many do with sorted arrays and with rows that lie one after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import bare


@bare
def lower_bound(values: NDArray[Any], low: Any, high: Any, wanted: Any) -> Any:
    """The first place from `low` on where a sorted array is not less than what is wanted; `high` if there is none."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@bare
def find(values: NDArray[Any], low: Any, high: Any, wanted: Any) -> Any:
    """Where a value is from `low` to below `high` of a sorted array, or −1."""
    at = lower_bound(values, low, high, wanted)
    return at if at < high and values[at] == wanted else np.int64(-1)


def offsets_of(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Where rows of some lengths begin that lie one after the other, and where the last ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
