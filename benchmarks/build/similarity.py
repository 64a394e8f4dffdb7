"""Common in-links of a small topic and a hub: ours beside NumPy's intersection, in one run.

python -m benchmarks.build.similarity
"""

import time
from collections.abc import Callable

import numpy as np

from benchmarks import record
from wikilda.knowledge.graph import count_common

TOPICS = 4_000_000


def microseconds(run: Callable[[], object]) -> float:
    """The best of some rounds."""
    run()
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(5):
            run()
        times.append((time.perf_counter() - start) / 5 * 1e6)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(1)
    rows: list[dict[str, record.Cell]] = []
    for small, large in (
        (20, 20),
        (20, 1_000),
        (100, 100_000),
        (100, 1_000_000),
        (10_000, 1_000_000),
        (500_000, 1_000_000),
    ):
        a, b = (np.sort(rng.choice(TOPICS, size, replace=False)).astype(np.uint32) for size in (small, large))
        common = np.intersect1d(a, b, assume_unique=True)
        assert count_common(a, b) == len(common)
        ours = microseconds(lambda a=a, b=b: count_common(a, b))
        theirs = microseconds(lambda a=a, b=b: np.intersect1d(a, b, assume_unique=True))
        rows.append({
            "in-links of the one": small, "of the other": large, "ours, µs": ours, "numpy.intersect1d, µs": theirs,
            "times": theirs / ours,
        })  # fmt: skip
    record.write("similarity", {"similarity": rows})
    print(record.table(rows))


if __name__ == "__main__":
    main()
