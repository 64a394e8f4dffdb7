"""Sums over rows, in an order that is the same on every machine.

A sum of rounded numbers depends on its order, and a compiler that is free to choose takes the one that suits the
vectors of the machine. Here the order is written down: number i is added in lane i mod 16, lane by lane from the left;
then lanes 8 to 15 are added to 0 to 7, 4 to 7 to 0 to 3, and so on. Every machine has vectors for this, longer or
shorter ones, and gets the same bits. With the compiler off, NumPy adds in the same order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, cgutils, config, intrinsic, ir, types

LANES = 16

Vector = Any  # a value of 16 numbers in the compiler's intermediate code


@bare
def total(values: NDArray[np.float32], start: Whole, length: Whole) -> Real:
    """The sum of some numbers, in double precision."""
    whole = length & ~np.uint64(LANES - 1)
    result = _total_lanes(values, start, whole)
    for at in range(whole, length):
        result += np.float64(values[start + at])
    return result


@bare
def largest(values: NDArray[np.float32], start: Whole, length: Whole) -> Real:
    """The largest of some numbers that are not negative; 0 of none."""
    whole = length & ~np.uint64(LANES - 1)
    result = _largest_lanes(values, start, whole)
    for at in range(whole, length):
        result = max(result, values[start + at])
    return result


def _folded(lanes: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """Sixteen lanes to one in NumPy, halves onto halves."""
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = combine(lanes[:half], lanes[half:])
    return lanes[0]


def _fold(builder: Any, lanes: Vector, combine: Callable[[Any, Any], Any]) -> Any:
    """The same in intermediate code."""
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
def _compiled_total(typing: Any, values: Any, start: Any, length: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        first = builder.gep(_address(context, builder, values, given[0]), [given[1]], inbounds=True)
        double = ir.VectorType(ir.DoubleType(), LANES)

        def step(lanes: Vector, at: Any) -> Vector:
            return builder.fadd(lanes, builder.fpext(_load(builder, first, at), double))

        return _fold(builder, _each_block(builder, given[2], _zeros(ir.DoubleType()), step), builder.fadd)

    return types.float64(values, types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator,unused-ignore]
def _compiled_largest(typing: Any, values: Any, start: Any, length: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        first = builder.gep(_address(context, builder, values, given[0]), [given[1]], inbounds=True)

        def larger(one: Any, other: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", one, other), one, other)

        def step(lanes: Vector, at: Any) -> Vector:
            return larger(_load(builder, first, at), lanes)

        return _fold(builder, _each_block(builder, given[2], _zeros(ir.FloatType()), step), larger)

    return types.float32(values, types.uint64, types.uint64), generate


def _plain_total(values: NDArray[np.float32], start: Whole, length: Whole) -> Real:
    lanes = np.zeros(LANES, np.float64)
    for at in range(int(start), int(start) + int(length), LANES):
        lanes += values[at : at + LANES]
    return _folded(lanes, np.add)


def _plain_largest(values: NDArray[np.float32], start: Whole, length: Whole) -> Real:
    return max(values[int(start) : int(start) + int(length)], default=np.float32(0))


_total_lanes: Any = _plain_total if config.DISABLE_JIT else _compiled_total
_largest_lanes: Any = _plain_largest if config.DISABLE_JIT else _compiled_largest
