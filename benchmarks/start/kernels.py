"""Seconds of the processor that each kernel takes to compile, and how often each of its parts is compiled.

    python -m benchmarks.start.kernels [COMMAND ...]

Kernels are those that `wikilda compile COMMAND` compiles (by default link, show and explain), in a new cache. The
seconds of a kernel include those of the parts that nothing before it has compiled.
"""

import argparse
import os
import tempfile
import time
from collections import Counter, defaultdict
from typing import Any


def main() -> None:
    """Measure, print, and write docs/figures/kernels.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", default=["link", "show", "explain"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wikilda-kernels-") as place:
        os.environ["NUMBA_CACHE_DIR"] = place
        measure(options.commands)


def measure(commands: list[str]) -> None:
    """Compile kernels one after the other."""
    from benchmarks import record
    from wikilda._core.compiler import compile_recorded
    from wikilda.cli.compile import kernels_of

    recorded = kernels_of(*commands)
    begin = time.process_time()
    from numba.core import event  # type: ignore[import-untyped,unused-ignore]

    from wikilda._core import _compiled  # noqa: F401

    watch = _Watch()
    listener = type("Listener", (event.Listener,), {"on_start": watch.start, "on_end": watch.end})()
    rows: list[dict[str, record.Cell]] = [{"kernel": "(import of Numba)", "s": time.process_time() - begin}]
    with event.install_listener("numba:compile", listener):
        for kernel in compile_recorded(recorded):
            name = f"{kernel.function.__module__.removeprefix('wikilda.')}.{kernel.function.__qualname__}"
            rows.append({"kernel": name, "s": time.process_time() - begin - sum(float(row["s"] or 0) for row in rows)})
    total = sum(float(row["s"] or 0) for row in rows)
    rows.sort(key=lambda row: -float(row["s"] or 0))
    rows = [{"kernel": row["kernel"], "s": round(float(row["s"] or 0), 2)} for row in rows]
    rows.append({"kernel": f"all {len(recorded)}", "s": round(total, 1)})
    parts: list[dict[str, record.Cell]] = [
        {"part": name, "times": watch.times[name], "s": round(seconds, 2)}
        for name, seconds in sorted(watch.own.items(), key=lambda each: -each[1])[:40]
    ]
    record.write("kernels", {"kernels": rows, "parts": parts})
    print(record.table(rows), record.table(parts), sep="\n\n")


class _Watch:
    """Counts how often each function is compiled, and the seconds of it without those of its parts."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.own: defaultdict[str, float] = defaultdict(float)
        self._running: list[tuple[float, float]] = []

    def start(self, *_: Any) -> None:
        """Note the beginning of a compilation."""
        self._running.append((time.process_time(), 0.0))

    def end(self, *happened: Any) -> None:
        """Note the end of a compilation."""
        name = str(happened[-1].data["dispatcher"].py_func.__qualname__)
        started, inside = self._running.pop()
        seconds = time.process_time() - started
        self.times[name] += 1
        self.own[name] += seconds - inside
        if self._running:
            begin, before = self._running.pop()
            self._running.append((begin, before + seconds))


if __name__ == "__main__":
    main()
