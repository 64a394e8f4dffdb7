"""Asking for memory before it is needed: rows lie anywhere in tables of gigabytes, and waiting for them costs time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, bare, cgutils, config, intrinsic, ir
from wikilda._core.jit import types as kinds

_LINE = 16  # numbers of four bytes that come at once


@bare
def ask_for(values: NDArray[Any], start: Whole, length: Whole) -> None:
    """Have some four-byte numbers fetched, without waiting for them."""
    for at in range(start, start + length + np.uint64(_LINE), np.uint64(_LINE)):
        _ask(values, at)


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def _compiled_ask(typing: Any, values: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        whole = ir.IntType(32)
        data = context.make_array(values)(context, builder, given[0]).data
        address = builder.bitcast(builder.gep(data, [given[1]]), cgutils.voidptr_t)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, whole, whole, whole])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # To read, to be kept in all caches, data.
        builder.call(function, [address, ir.Constant(whole, 0), ir.Constant(whole, 3), ir.Constant(whole, 1)])
        return context.get_dummy_value()

    return kinds.void(values, kinds.uint64), generate


def _nothing(values: NDArray[Any], at: Whole) -> None:
    """With the compiler off there is nothing to gain."""


_ask: Any = _nothing if config.DISABLE_JIT else _compiled_ask
