"""Compile the kernels that processes have requested: `python -m wikilda._core.compiler`.

One process per cache does so, at low priority. It ends when nothing has been requested for some seconds.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from wikilda._core import kernel_cache
from wikilda._core.jit import Kernel, tier

_SECONDS = 900  # processor time of one process, after which something is wrong
_ANNOUNCE_EVERY = 10.0


def compile_wanted(*, wait: float = kernel_cache.IDLE) -> int:
    """Compile all requested kernels, including those requested meanwhile. Return their number."""
    tier.set_policy("now")
    tier.announce_every = _ANNOUNCE_EVERY
    compiled, idle = 0, time.monotonic()
    while True:
        waiting = kernel_cache.wanted()
        if waiting:
            compiled += _compile(waiting[0])
            idle = time.monotonic()
            if len(waiting) == 1:
                kernel_cache.announce()
        elif time.monotonic() - idle > wait:
            return compiled
        else:
            time.sleep(min(0.1, wait))


def compile_recorded(recorded: Iterable[tuple[Kernel, str]]) -> Iterator[Kernel]:
    """Compile or load recorded kernels, and yield each when it is done."""
    from wikilda._core._compiled import compile_for

    tier.set_policy("now")
    for kernel, described in recorded:
        compile_for(kernel, tuple(map(kernel_cache.example, json.loads(described))))
        yield kernel


# The processor level of a wheel's kernels, and the features that it needs.
_PORTABLE = {
    "x86_64": (
        "x86-64-v3",
        ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "xsave"),
    ),
}


def compile_into(target: Path, program: Iterable[str]) -> None:
    """Run a Python program, and write what it compiles, for a portable level of the processor, to a directory."""
    processor, features = _PORTABLE.get(platform.machine(), ("generic", ()))
    with tempfile.TemporaryDirectory(prefix="wikilda-kernels-") as made:
        environment = {**os.environ, "NUMBA_CACHE_DIR": made, "NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
        environment["WIKILDA_COMPILE"] = "now"
        subprocess.run([sys.executable, *program], env=environment, check=True, stdout=subprocess.DEVNULL)
        code = "from wikilda._core._compiled import processor; print(*processor(), sep='\\n')"
        key = subprocess.run([sys.executable, "-c", code], env=environment, check=True, text=True, capture_output=True)
        [own] = Path(made).iterdir()
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(own, target, ignore=shutil.ignore_patterns("wanted", "filled", "lock"))
    about = {
        "python": sys.implementation.cache_tag, "machine": platform.machine(), "features": features,
        "key": key.stdout.split("\n")[:3],
    }  # fmt: skip
    (target / kernel_cache.ABOUT).write_text(json.dumps(about), "utf-8")


def _compile(path: Path) -> bool:
    """Compile the kernel that a file names. It is tried a few times at most, however this process ends."""
    tried = path.with_suffix(".tried")
    try:
        if kernel_cache.has_failed(path):
            return False
        with tried.open("ab") as file:
            file.write(b".")
        kernel, arguments = _read(path)
        if kernel is None:  # a version of the source that no longer exists
            return False
        from wikilda._core._compiled import compile_for

        compile_for(kernel, arguments)
    except Exception:
        with suppress(OSError):
            tried.write_text(traceback.format_exc(), "utf-8")
        return False
    else:
        with suppress(OSError):
            tried.unlink()
        return True
    finally:
        with suppress(OSError):
            path.unlink()


def _read(path: Path) -> tuple[Kernel | None, tuple[Any, ...]]:
    note = json.loads(path.read_text("utf-8"))
    module = import_module(note["module"])
    if kernel_cache.stamp(Path(str(module.__file__))) != note["stamp"]:
        return None, ()
    kernel = getattr(module, note["name"])
    if not isinstance(kernel, Kernel):
        raise TypeError(f"{note['name']} is not a kernel")
    return kernel, tuple(kernel_cache.example(each) for each in note["arguments"])


def main() -> None:
    """Compile at low priority, unless another process is compiling."""
    with suppress(OSError, AttributeError):
        os.nice(19)
    with suppress(
        OSError, AttributeError
    ):  # Linux shares processors among sessions first, and this process has its own session
        if os.getsid(0) == os.getpid():
            Path("/proc/self/autogroup").write_text("19", "ascii")
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    try:
        with FileLock(kernel_cache.directory() / "lock", timeout=0):
            compile_wanted()
    except (Timeout, OSError):
        sys.exit(0)


if __name__ == "__main__":
    main()
