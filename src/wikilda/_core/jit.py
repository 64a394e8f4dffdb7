"""Kernels: functions that run interpreted or compiled, with bit-identical results.

Every kernel of the package is made by the decorators of this module. A kernel runs compiled where its compiled form is
in the cache, and interpreted otherwise, so nothing waits for the compiler. What runs interpreted is noted in the cache
(`wikilda._core.kernel_cache`), and a process in the background compiles it (`wikilda._core.compiler`). Running
processes look for new kernels once a second. Numba is imported only when there is something compiled to load
(`wikilda._core._compiled`).

`WIKILDA_COMPILE` chooses: `background` (the default), `now` (compile a kernel when it is called first), or `never`
(load what is in the cache, compile nothing).
"""

import builtins
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from multiprocessing import parent_process
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, cast

import numpy as np

from wikilda._core import kernel_cache

Function = TypeVar("Function", bound=Callable[..., Any])
Policy = Literal["now", "background", "never"]

Whole: TypeAlias = Any  # int or np.int64
Real: TypeAlias = Any  # float, np.float64 or np.float32

POLICIES: tuple[Policy, ...] = ("now", "background", "never")
COMPILE_SECONDS = 40.0  # of one core for all kernels that linking needs
# Bytes per second that interpreted kernels get through.
LINKED, PARSED, COPIED = 3e3, 1e5, 1e6
DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

_KERNEL = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_INNER = {"no_cpython_wrapper": True, **_KERNEL}
_LOOK_EVERY = 1.0  # seconds between looks for newly compiled kernels
_MOST_NOTES = 16  # of one kernel, by one process
_lock = threading.RLock()


class NotCompiledError(Exception):
    """A kernel is not in the cache for the types of its arguments."""


def njit(function: Function) -> Function:
    """Make a kernel that Python calls. Compiled, it runs without the interpreter lock."""
    return cast(Function, Kernel(function, _KERNEL))


def inner(function: Function) -> Function:
    """Make a part of kernels: it is called by kernels only, and compiled with them."""
    return cast(Function, Part(function, _INNER))


def bare(function: Function) -> Function:
    """Make a part that does not count references to the arrays it is given.

    Numba counts them wherever arrays are taken out of tuples and passed on, each time with a locked instruction. In
    parts that are called millions of times this costs more than what they do. The callers keep the arrays alive.
    It must not return arrays to a part that counts: that would give back references that were never taken.
    """
    return cast(Function, Part(function, {**_INNER, "_nrt": False}))


def inlined(function: Function) -> Function:
    """Make a bare part whose code becomes part of its callers': a call would copy every array of its tuples.

    The sampler of the urn is about twice as fast with it. Each call has its own copy to compile: use it for what is
    called very often, from few places.
    """
    return cast(Function, Part(function, {**_INNER, "_nrt": False, "forceinline": True}))


def emitted(emitter: Callable[[], Any]) -> Callable[[Function], Function]:
    """Make a part that is compiled as an intrinsic of Numba, which `emitter` imports, and interpreted as written."""

    def make(function: Function) -> Function:
        return cast(Function, _Emitted(function, emitter))

    return make


class Part:
    """A function in two forms: `plain` for the interpreter, `dispatcher` for the compiler."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.function: Any = function
        self.options = options
        self._plain: Any = None
        self._dispatcher: Any = None
        update_wrapper(self, function)

    def __call__(self, *_: Any) -> Any:
        raise TypeError(f"{self.function.__qualname__} is a part of kernels: only kernels can call it")

    def __reduce__(self) -> str:
        return str(self.function.__qualname__)

    @property
    def plain(self) -> Any:
        """The function for the interpreter: what it calls is plain, too."""
        if self._plain is None:
            with _lock:
                made: dict[Part, Any] = {}
                _plain(self, made)
                for part, function in made.items():
                    part._plain = function
        return self._plain

    @property
    def dispatcher(self) -> Any:
        """The function for the compiler."""
        if self._dispatcher is None:
            try:
                from wikilda._core._compiled import make_dispatcher
            except OSError as error:  # a library of the compiler cannot be mapped
                raise ImportError(str(error)) from error
            with _lock:
                self._dispatcher = self._dispatcher or make_dispatcher(self)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes a global of a kernel for."""
        return self.dispatcher._numba_type_


class _Emitted(Part):
    def __init__(self, function: Callable[..., Any], emitter: Callable[[], Any]) -> None:
        super().__init__(function, {})
        self._emitter = emitter

    @property
    def _numba_type_(self) -> Any:
        from wikilda._core._compiled import type_of_intrinsic

        return type_of_intrinsic(self._emitter())


class Kernel(Part):
    """A function that Python calls, compiled if that is in the cache."""

    _notes = 0
    _run: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """Run it; a call whose types are not compiled is interpreted."""
        if tier.compiled:
            try:
                return (self._dispatcher or self.dispatcher)(*arguments)
            except NotCompiledError:
                pass
        return self._interpret(arguments)

    def _interpret(self, arguments: tuple[Any, ...]) -> Any:
        if tier.recorded is not None:
            tier.record(self, arguments)
        elif tier.policy == "background":
            if tier.look():
                return self(*arguments)
            if self._notes < _MOST_NOTES:
                self._notes += 1
                tier.want(self, arguments)
        if self._run is None:
            self._run = np.errstate(all="ignore")(self.plain)  # compiled numbers wrap around without a warning, too
        return self._run(*arguments)


class Tier:
    """How the kernels of this process run."""

    def __init__(self) -> None:
        self.policy: Policy = _chosen()
        self.announce_every = 0.0  # seconds
        self.recorded: dict[tuple[Kernel, str], None] | None = None
        self.generation = 0  # how often newly compiled kernels were seen
        self._filled = kernel_cache.filled()
        self.compiled = not DISABLED and (self.policy == "now" or self._filled > 0)
        self._next = time.monotonic() + _LOOK_EVERY
        self._starter = kernel_cache.Starter()
        self._own = threading.local()

    def set_policy(self, policy: Policy) -> None:
        """Choose for this process and for those that it starts."""
        os.environ["WIKILDA_COMPILE"] = policy
        self.policy = policy if not DISABLED else "never"
        self.compiled = not DISABLED and (self.compiled or policy == "now")
        self.generation += 1

    def expect(self, seconds: float) -> None:
        """Choose by how long the work of this process would take interpreted, if the user has not chosen."""
        if self.policy == "background" and "WIKILDA_COMPILE" not in os.environ and seconds > COMPILE_SECONDS:
            self.set_policy("now")

    def expect_files(self, paths: Iterable[Path], rate: float) -> None:
        """Choose by the size of files and directories, and the bytes per second of interpreted kernels."""
        self.expect(sum(map(_size, paths)) / rate)

    def stay(self) -> None:
        """Say that this process runs for long: compiling in the background is worth it in a container, too."""
        self._starter.stays = True

    def compiles(self) -> bool:
        """Whether what is not in the cache is compiled in this process."""
        return self.policy == "now" or getattr(self._own, "now", False)

    @contextmanager
    def now(self) -> Iterator[None]:
        """Compile what this thread calls."""
        before, self._own.now = getattr(self._own, "now", False), True
        try:
            yield
        finally:
            self._own.now = before

    @contextmanager
    def recording(self) -> Iterator[dict[tuple[Kernel, str], None]]:
        """Interpret everything, and record the kernels that are called with the types of their arguments."""
        compiled, self.compiled, self.recorded = self.compiled, False, {}
        try:
            yield self.recorded
        finally:
            self.compiled, self.recorded = compiled, None

    def record(self, kernel: Kernel, arguments: tuple[Any, ...]) -> None:
        """Record a call."""
        if self.recorded is not None:
            described = [kernel_cache.describe(each) for each in arguments]
            self.recorded[kernel, json.dumps(described)] = None

    def look(self) -> bool:
        """Whether kernels have been compiled since the last look; looks at the disk once a second."""
        if time.monotonic() < self._next:
            return False
        with _lock:
            if time.monotonic() < self._next:
                return False
            self._next = time.monotonic() + _LOOK_EVERY
            filled = kernel_cache.filled()
            if filled <= self._filled:
                return False
            self._filled = filled
            self.generation += 1
            if not self.compiled:
                from wikilda._core import _compiled  # noqa: F401 imports Numba while the others wait

                self.compiled = True
        return True

    def want(self, kernel: Kernel, arguments: tuple[Any, ...]) -> None:
        """Note a call for the compiler, and have it started."""
        self._starter.want(kernel.function, arguments)


def _size(path: Path) -> float:
    """The bytes of a file, or of all files of a directory; compressed ones count as what is in them."""
    try:
        if path.is_dir():
            return sum(_size(each) for each in path.rglob("*") if not each.is_dir())
        return path.stat().st_size * (4 if path.suffix in (".7z", ".gz", ".bz2", ".xz") else 1)
    except OSError:  # who reads it says so
        return 0.0


def _chosen() -> Policy:
    executor = "pyspark.worker" in sys.modules  # of a cluster: its work is long
    given = os.environ.get("WIKILDA_COMPILE") or ("now" if executor else "background")
    if given not in POLICIES:
        say(f"WIKILDA_COMPILE is {given!r}; it can be {', '.join(POLICIES)}. It is taken as background.")
        given = "background"
    return "never" if DISABLED else cast(Policy, given)


class _Said:
    lines: ClassVar[set[str]] = set()


def say(text: str) -> None:
    """Print a line on stderr, once per process; worker processes leave it to the one that started them."""
    if text not in _Said.lines and parent_process() is None:
        print(f"wikilda: {text}", file=sys.stderr, flush=True)
    _Said.lines.add(text)


kernel_cache.say = say
tier = Tier()
if hasattr(os, "register_at_fork"):  # a child must not inherit a lock that another thread holds
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def _plain(part: Part, made: dict[Part, Any]) -> Any:
    """A copy of a function whose globals are what the interpreter needs."""
    if part._plain is not None:
        return part._plain
    if part not in made:
        function = part.function
        globals_: dict[str, Any] = {"__builtins__": builtins, "__name__": function.__module__}
        cells = tuple(CellType() for _ in function.__closure__ or ())
        made[part] = FunctionType(function.__code__, globals_, function.__name__, function.__defaults__, cells)
        for name in _names(function.__code__):
            if name in function.__globals__:
                globals_[name] = _for_interpreter(function.__globals__[name], made)
        for new, old in zip(cells, function.__closure__ or (), strict=True):
            new.cell_contents = _for_interpreter(old.cell_contents, made)
    return made[part]


def _names(code: CodeType) -> set[str]:
    inside = [_names(each) for each in code.co_consts if isinstance(each, CodeType)]
    return set(code.co_names).union(*inside)


def _for_interpreter(value: Any, made: dict[Part, Any]) -> Any:
    if isinstance(value, Part):
        return _plain(value, made)
    return _NUMPY if value is np else value


def _of_c(name: str, function: Callable[[float], float], at_zero: float = math.nan) -> Callable[[Any], Any]:
    """A function of the C library, which compiled kernels call, too; NumPy's own have other last bits."""

    def call(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return np.array([call(each) for each in x.ravel()], np.float64).reshape(x.shape)
        if isinstance(x, np.float32):
            raise TypeError(f"np.{name} of a float32 has other bits when compiled: convert it to np.float64 first")
        try:
            return np.float64(function(x))
        except OverflowError:
            return np.float64(math.inf)
        except ValueError:
            return np.float64(at_zero if x == (-1 if name == "log1p" else 0) else math.nan)

    return call


_NUMPY = ModuleType("numpy")
_NUMPY.__dict__.update(vars(np))
for _name in ("exp", "expm1", "sin", "cos", "tan", "tanh"):
    setattr(_NUMPY, _name, _of_c(_name, getattr(math, _name)))
for _name in ("log", "log1p", "log2", "log10"):
    setattr(_NUMPY, _name, _of_c(_name, getattr(math, _name), -math.inf))


@inner
def int64(value: int) -> int:
    """Convert to int64: a plain 0 or a byte would be another type to compile for."""
    return np.int64(value)  # type: ignore[return-value]
