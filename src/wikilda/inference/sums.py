"""Sums over slots, the innermost loop of the sampler."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from wikilda.inference.types import Real, Whole

Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = numba.njit
_config: Any = numba.config


def _reordered(function: Function) -> Function:
    """Like `wikilda.jit.inner`, but sums may be taken in any order: only then does the compiler use vectors."""
    if _config.DISABLE_JIT:
        return function
    options = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Function, _njit(fastmath={"reassoc", "nsz", "arcp", "contract"}, **options)(function))


@_reordered
def dot(counts: NDArray[np.float32], matrix: NDArray[np.float32], row: Whole, length: Whole) -> Real:
    """The sum of counts times the numbers in a row of a matrix."""
    total = np.float32(0)
    for at in range(length):
        total += counts[at] * matrix[row, at]
    return total
