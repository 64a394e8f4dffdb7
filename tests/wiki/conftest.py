"""Any text may be tried, and the first try compiles: no deadlines, and fewer tries with the compiler off."""

from collections.abc import Iterator

import numba
import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("kernels", deadline=None, max_examples=20 if numba.config.DISABLE_JIT else 100)
settings.load_profile("kernels")


@pytest.fixture(autouse=True)
def _hashes_overflow() -> Iterator[None]:
    """With the compiler off, NumPy warns where 64-bit hashes wrap around."""
    with np.errstate(over="ignore"):
        yield
