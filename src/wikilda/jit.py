"""The one door to the compiler: every kernel of the package is made here."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = {"nogil": True, "error_model": "numpy"}


def njit(function: Function) -> Function:
    """A kernel that Python calls: compiled when first used, cached on disk, without the interpreter lock."""
    return cast(Function, numba.njit(cache=True, **_OPTIONS)(function))


def inner(function: Function) -> Function:
    """A part of kernels, never called from Python: no wrapper is compiled and nothing is cached for it alone."""
    if numba.config.DISABLE_JIT:
        return function
    return cast(Function, numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function))
