"""The one door to the compiler: every kernel of the package is made here."""

import contextlib
import hashlib
import re
import sys
from collections.abc import Callable
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir as _ir  # type: ignore[import-untyped,unused-ignore]
from numba.core import caching, event, runtime  # type: ignore[import-untyped,unused-ignore]
from numba.core import cgutils as _cgutils  # type: ignore[import-untyped,unused-ignore]
from numba.core import types as _types  # type: ignore[import-untyped,unused-ignore]
from numba.extending import intrinsic as _intrinsic  # type: ignore[import-untyped,unused-ignore]

Function = TypeVar("Function", bound=Callable[..., Any])

_numba: Any = numba  # its types, where they are known at all, do not cover what is used here
# For kernels that are written in the compiler's intermediate code; no other module imports Numba.
config: Any = numba.config
ir: Any = _ir
cgutils: Any = _cgutils
types: Any = _types
intrinsic: Any = _intrinsic
_FunctionCache: Any = caching.FunctionCache
_runtime: Any = runtime
_OPTIONS = {"nogil": True, "error_model": "numpy"}
_KERNEL = {"no_cfunc_wrapper": True}
_INNER = {"no_cpython_wrapper": True, **_KERNEL}


def njit(function: Function) -> Function:
    """A kernel that Python calls: compiled when first used, cached on disk, without the interpreter lock."""
    if _numba.config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)  # compiled numbers wrap around without a warning, too
    kernel = _numba.njit(**_KERNEL, **_OPTIONS)(function)
    try:
        kernel._cache = _Cache(function)
    except RuntimeError:  # no place for a cache can be written to; then every process compiles for itself
        _Announcer.text = _EVERY_TIME
    else:
        _watch_imports(kernel, Path(function.__code__.co_filename))
    return cast(Function, kernel)


def inner(function: Function) -> Function:
    """A part of kernels: no wrapper is compiled and nothing is cached for it alone.

    Called from Python it would bring the interpreter down: what tests and modules call is an `njit`.
    """
    if _numba.config.DISABLE_JIT:
        return function
    return cast(Function, _numba.njit(**_INNER, **_OPTIONS)(function))


def bare(function: Function) -> Function:
    """An inner part that makes no arrays: it does not count references to those that it is given.

    Numba counts them wherever arrays are taken out of tuples and passed on, each time with a locked instruction. In
    parts that are called millions of times this costs more than what they do. Whoever calls them keeps the arrays.
    It must not return arrays to a part that counts: that would give back references that were never taken.
    """
    if _numba.config.DISABLE_JIT:
        return function
    return cast(Function, _numba.njit(_nrt=False, **_INNER, **_OPTIONS)(function))


def inlined(function: Function) -> Function:
    """A bare part that becomes part of its callers' code: a call would copy every array of the tuples it is given.

    The sampler of the urn is about twice as fast so. Each place that calls it has its own copy to compile: it is for
    what is called very often, from few places.
    """
    if _numba.config.DISABLE_JIT:
        return function
    return cast(Function, _numba.njit(_nrt=False, forceinline=True, **_INNER, **_OPTIONS)(function))


_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^from wikilda\.([\w.]+) import", re.MULTILINE)


def _watch_imports(made: Any, file: Path) -> None:
    """Let what is cached hold only as long as all kernels that it may call are the same.

    Numba compares the file of the kernel alone: after an upgrade, parts from other files would stay what they were.
    """
    kept: Any = getattr(made._cache, "_cache_file", None)
    if hasattr(kept, "_source_stamp"):  # of Numba's own; in a version that has it elsewhere, its own rule stays
        kept._source_stamp = (kept._source_stamp, stamp(file))


@cache
def stamp(file: Path) -> str:
    """A digest of a file with kernels, and of all others with kernels that it imports, directly or through them."""
    seen: dict[Path, str] = {}
    waiting = [file]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen[each], imported = _read(each)
            waiting += [other for other in imported if _read(other)[0]]
    return hashlib.blake2b(" ".join(sorted(seen.values())).encode(), digest_size=16).hexdigest()


@cache
def _read(file: Path) -> tuple[str, list[Path]]:
    """The digest of a file, if it has kernels, and the files of the package that it imports."""
    text = file.read_text("utf-8") if file.is_file() else ""
    if "wikilda._core.jit" not in text:
        return "", []
    names = [_PACKAGE / f"{name.replace('.', '/')}.py" for name in _IMPORT.findall(text)]
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest(), names


def is_cached(kernel: Any) -> bool:
    """Whether something of a kernel is in the cache, of this version; yes where that cannot be told."""
    kept: Any = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    try:
        return kept is None or bool(kept._load_index())
    except Exception:  # of another version, which its names or a cut show
        return False


@inner
def int64(value: int) -> int:
    """A signed number, whatever it was: a plain 0 or a byte would be a type of its own to compile for."""
    return np.int64(value)  # type: ignore[return-value]


class _Cache(_FunctionCache):  # type: ignore[misc,unused-ignore]
    """Loads what is compiled already without all that compiling needs.

    Before it looks for a kernel on disk, Numba imports its implementation of NumPy, and SciPy if that is there: half a
    second that only a compilation needs, and the compiler does it again. Loaded kernels need the runtime alone.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        _runtime.rtsys.initialize(target_context)
        try:
            with self._guard_against_spurious_io_errors():
                return self._load_overload(sig, target_context)
        except Exception:  # of a version whose modules had other names, cut short, or no index at all
            self._forget()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:  # a full disk, or a directory that is gone: what is compiled serves this process
            _say(f"compiled kernels cannot be kept ({error.strerror}). {_REMEDY}")

    def _forget(self) -> None:
        """Begin anew with an empty index, which Numba reads again before it adds to it."""
        with contextlib.suppress(OSError):
            self._cache_file.flush()


_ONCE = "compiling kernels: once after installation, about 20 seconds"
_REMEDY = "Set NUMBA_CACHE_DIR to a directory that can be written to."
_EVERY_TIME = f"compiling kernels: every process does, for there is no place to keep them. {_REMEDY}"


def _say(text: str) -> None:
    """A line for people, once a process; worker processes leave it to the one that started them."""
    if text not in _Announcer.said and parent_process() is None:
        print(text, file=sys.stderr)
    _Announcer.said.add(text)


class _Announcer(event.Listener):  # type: ignore[misc,unused-ignore]
    """Says once that something is really compiled and not found in the cache."""

    said: ClassVar[set[str]] = set()
    text = _ONCE

    def on_start(self, event: object) -> None:
        _say(self.text)

    def on_end(self, event: object) -> None:
        pass


_register: Any = event.register
_register("numba:compile", _Announcer())


Whole: TypeAlias = Any  # int or np.int64
Real: TypeAlias = Any  # float, np.float64 or np.float32
