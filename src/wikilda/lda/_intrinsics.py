"""Parts of kernels that are written in the compiler's intermediate code; imported only to compile."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped,unused-ignore]
from numba.core import cgutils as _cgutils  # type: ignore[import-untyped,unused-ignore]
from numba.core import types  # type: ignore[import-untyped,unused-ignore]
from numba.extending import intrinsic  # type: ignore[import-untyped,unused-ignore]

cgutils: Any = _cgutils
LANES = 16

Vector = Any  # a value of 16 numbers in the compiler's intermediate code


def _fold(builder: Any, lanes: Vector, combine: Callable[[Any, Any], Any]) -> Any:
    """Sixteen lanes to one, halves onto halves."""
    half = LANES // 2
    while half:
        halves = [[*range(half)], [*range(half, 2 * half)]]
        one, other = (
            builder.shuffle_vector(lanes, lanes, ir.Constant(ir.VectorType(ir.IntType(32), half), which))
            for which in halves
        )
        lanes = combine(one, other)
        half //= 2
    return builder.extract_element(lanes, ir.Constant(ir.IntType(32), 0))


def _address(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Where an array begins."""
    return context.make_array(kind)(context, builder, array).data


def _load(builder: Any, address: Any, at: Any) -> Vector:
    kind = ir.VectorType(ir.FloatType(), LANES)
    pointer = builder.bitcast(builder.gep(address, [at], inbounds=True), kind.as_pointer())
    return builder.load(pointer, align=4, typ=kind)


def _each_block(builder: Any, length: Any, zero: Any, step: Callable[[Vector, Any], Vector]) -> Vector:
    """Go through blocks of 16 numbers with 16 sums."""
    lanes = cgutils.alloca_once_value(builder, zero)
    counter = length.type
    with cgutils.for_range_slice(builder, ir.Constant(counter, 0), length, ir.Constant(counter, LANES), counter) as (
        at,
        _,
    ):
        builder.store(step(builder.load(lanes, typ=zero.type), at), lanes)
    return builder.load(lanes, typ=zero.type)


def _zeros(kind: Any) -> Any:
    return ir.Constant(ir.VectorType(kind, LANES), [0.0] * LANES)


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def total(typing: Any, values: Any, start: Any, length: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        first = builder.gep(_address(context, builder, values, given[0]), [given[1]], inbounds=True)
        double = ir.VectorType(ir.DoubleType(), LANES)

        def step(lanes: Vector, at: Any) -> Vector:
            return builder.fadd(lanes, builder.fpext(_load(builder, first, at), double))

        return _fold(builder, _each_block(builder, given[2], _zeros(ir.DoubleType()), step), builder.fadd)

    return types.float64(values, types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def largest(typing: Any, values: Any, start: Any, length: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        first = builder.gep(_address(context, builder, values, given[0]), [given[1]], inbounds=True)

        def larger(one: Any, other: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", one, other), one, other)

        def step(lanes: Vector, at: Any) -> Vector:
            return larger(_load(builder, first, at), lanes)

        return _fold(builder, _each_block(builder, given[2], _zeros(ir.FloatType()), step), larger)

    return types.float32(values, types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def prefetch(typing: Any, values: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        whole = ir.IntType(32)
        data = context.make_array(values)(context, builder, given[0]).data
        address = builder.bitcast(builder.gep(data, [given[1]]), cgutils.voidptr_t)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, whole, whole, whole])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        # To read, to be kept in all caches, data.
        builder.call(function, [address, ir.Constant(whole, 0), ir.Constant(whole, 3), ir.Constant(whole, 1)])
        return context.get_dummy_value()

    return types.void(values, types.uint64), generate
