"""The one door to the compiler: every kernel of the package is made by this `njit`."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def njit(function: Function) -> Function:
    """Compile lazily, cache on disk, release the interpreter lock; integer division as in C."""
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy")(function))
