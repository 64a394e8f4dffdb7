"""Sums have the same bits on every machine: the order of additions is written down."""

import os
import subprocess
import sys

import numpy as np
import pytest

from wikilda._core.jit import Real, Whole, njit
from wikilda.lda._ordered_sums import largest, total

VALUES = (np.random.default_rng(3).random(1000) ** 40).astype(np.float32)


@njit
def compiled_total(start: Whole, length: Whole) -> Real:
    return total(VALUES, np.uint64(start), np.uint64(length))


@njit
def compiled_largest(start: Whole, length: Whole) -> Real:
    return largest(VALUES, np.uint64(start), np.uint64(length))


def by_lanes(values: list[Real], zero: Real) -> Real:
    """The order as the module describes it."""
    lanes = [zero] * 16
    for at, value in enumerate(values):
        lanes[at % 16] = lanes[at % 16] + value
    for half in (8, 4, 2, 1):
        lanes = [lanes[i] + lanes[i + half] for i in range(half)]
    return lanes[0]


def everything() -> list[str]:
    return [float(compiled_total(s, n)).hex() for s, n in ((0, 0), (3, 5), (1, 16), (5, 977), (0, 1000))]


@pytest.mark.parametrize(("start", "length"), [(0, 0), (7, 3), (3, 16), (1, 999), (0, 1000)])
def test_total_and_largest(start: int, length: int) -> None:
    values = VALUES[start : start + length]
    whole = length // 16 * 16
    expected = by_lanes(list(values[:whole].astype(np.float64)), np.float64(0))
    for value in values[whole:]:
        expected += np.float64(value)
    assert compiled_total(start, length) == expected
    if length == 1000:  # in another order the sum is another, so this can fail
        assert expected != np.cumsum(values.astype(np.float64))[-1]
    assert compiled_largest(start, length) == max(values, default=0.0)


@pytest.mark.parametrize("setting", [{"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic"}])
def test_any_machine(setting: dict[str, str], tmp_path: object) -> None:
    """Without the compiler, and with the vectors of the oldest machines."""
    code = "from tests.lda.test_ordered_sums import everything; print(*everything())"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), **setting}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.split() == everything()
