"""Sums have the same bits whatever the machine: the order of additions is written down."""

import os
import subprocess
import sys

import numpy as np
import pytest

from wikilda._core.jit import Real, Whole, njit
from wikilda.lda import _ordered_sums as sums

MATRIX = (np.random.default_rng(1).random((5, 96)) ** 9).astype(np.float32)
COUNTS = np.random.default_rng(2).integers(0, 9, 96).astype(np.float32)
VALUES = (np.random.default_rng(3).random(1000) ** 9).astype(np.float32)


@njit
def compiled_dot(row: Whole, length: Whole) -> Real:
    return sums.dot(COUNTS, MATRIX, np.uint64(row), np.uint64(length))


@njit
def compiled_total(start: Whole, length: Whole) -> Real:
    return sums.total(VALUES, np.uint64(start), np.uint64(length))


@njit
def compiled_largest(start: Whole, length: Whole) -> Real:
    return sums.largest(VALUES, np.uint64(start), np.uint64(length))


def by_lanes(values: list[Real], zero: Real) -> Real:
    """The order as the module describes it."""
    lanes = [zero] * 16
    for at, value in enumerate(values):
        lanes[at % 16] = lanes[at % 16] + value
    for half in (8, 4, 2, 1):
        lanes = [lanes[i] + lanes[i + half] for i in range(half)]
    return lanes[0]


def everything() -> list[str]:
    dots = [compiled_dot(row, length) for row in range(5) for length in (0, 16, 48, 96)]
    return [float(x).hex() for x in (*dots, *(compiled_total(s, n) for s, n in ((0, 0), (3, 5), (1, 16), (5, 977))))]


@pytest.mark.parametrize("length", [0, 16, 32, 96])
def test_dot(length: int) -> None:
    for row in range(5):
        expected = by_lanes(list(COUNTS[:length] * MATRIX[row, :length]), np.float32(0))
        assert compiled_dot(row, length) == expected
    if length == 96:  # in another order the sum is another, so this can fail
        products = COUNTS * MATRIX
        assert any(compiled_dot(row, 96) != np.cumsum(products[row])[-1] for row in range(5))


@pytest.mark.parametrize(("start", "length"), [(0, 0), (7, 3), (3, 16), (1, 999), (0, 1000)])
def test_total_and_largest(start: int, length: int) -> None:
    values = VALUES[start : start + length]
    whole = length // 16 * 16
    expected = by_lanes(list(values[:whole].astype(np.float64)), np.float64(0))
    for value in values[whole:]:
        expected += np.float64(value)
    assert compiled_total(start, length) == expected
    assert compiled_largest(start, length) == max(values, default=0.0)


@pytest.mark.parametrize("setting", [{"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic"}])
def test_any_machine(setting: dict[str, str], tmp_path: object) -> None:
    """Without the compiler, and with the vectors of the oldest machines."""
    code = "from tests.lda.test_sums import everything; print(*everything())"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **setting}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == everything()
