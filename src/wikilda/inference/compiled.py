"""Two more ways to compile parts of kernels, for the innermost loops of the sampler."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])
_njit: Any = numba.njit
_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def inlined(function: Function) -> Function:
    """Like `wikilda.jit.inner`, but copied into its callers.

    A call with tuples of arrays counts references to every one of them, which takes longer than what most parts do.
    """
    return function if numba.config.DISABLE_JIT else cast(Function, _njit(inline="always", **_OPTIONS)(function))


def reordered(function: Function) -> Function:
    """Like `wikilda.jit.inner`, but sums may be taken in any order: only then does the compiler use vectors."""
    fast = {"reassoc", "nsz", "arcp", "contract"}
    return function if numba.config.DISABLE_JIT else cast(Function, _njit(fastmath=fast, **_OPTIONS)(function))
