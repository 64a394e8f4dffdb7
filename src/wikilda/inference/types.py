"""Names for numbers in kernels, which are Python's own where Python calls, and NumPy's within."""

from typing import Any, TypeAlias

Whole: TypeAlias = Any  # int or np.int64
Real: TypeAlias = Any  # float, np.float64 or np.float32
