"""The cache of compiled kernels, the list of requested ones, and the start of the compiling process.

The cache of an installation is one directory below `NUMBA_CACHE_DIR` or the user's cache:

    STAMP/…     compiled kernels, by a digest of all source files that they are compiled from
    wanted/…    one JSON file per kernel and argument types that ran interpreted
    filled      its time is that of the last compiled kernel
    lock        held by the compiling process

Nothing here imports Numba.
"""

import atexit
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wikilda._core.platform import cache_directory

_PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from wikilda\.([\w.]+) import (\w+)", re.MULTILINE)
ABOUT = "kernels.json"
# A file with kernels imports or defines their decorators, or has intrinsics.
_KERNELS = re.compile(
    r"^from wikilda\._core\.jit import .*\b(njit|inner|bare|inlined|emitted)\b|^def njit\(|^from numba\.extending",
    re.MULTILINE,
)
IDLE = 3.0  # seconds that the compiling process waits for more requests
_ATTEMPTS = 3
REMEDY = "Set NUMBA_CACHE_DIR to a directory that can be written to."

say: Callable[[str], None] = print  # set by `jit`, which knows what this process has said


@cache
def root() -> Path:
    """The directory of the caches of all installations."""
    try:
        return Path(os.environ.get("NUMBA_CACHE_DIR") or cache_directory() / "kernels").absolute()
    except RuntimeError:  # the user has no home directory
        return Path(os.devnull)


@cache
def directory() -> Path:
    """Return the cache of this installation, by its path, its Python and its virtual environment."""
    installed = f"{_PACKAGE} {sys.prefix} {sys.version_info[:2]} {sys.implementation.cache_tag}"
    return root() / hashlib.blake2b(installed.encode(), digest_size=8).hexdigest()


@cache
def is_writable() -> bool:
    """Whether kernels can be stored."""
    try:
        make_directory(directory() / "wanted")
    except OSError:
        return False
    return os.access(directory(), os.W_OK)


def make_directory(path: Path | str) -> None:
    """Make a directory that only its owner can read: kernels are code."""
    Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)


def filled() -> int:
    """Return the time of the last compilation in nanoseconds; 0 if there was none, 1 for shipped kernels."""
    try:
        return (directory() / "filled").stat().st_mtime_ns
    except OSError:
        return int(shipped() is not None)


def announce(every: float = 0.0) -> None:
    """Announce new kernels to other processes, at most once in `every` seconds."""
    if time.time_ns() - filled() >= every * 1e9:
        with suppress(OSError):
            (directory() / "filled").write_bytes(b"")


class Place(NamedTuple):
    """A place of a compiled kernel, and its processor; without a key, this one."""

    directory: Path
    base: str
    stamp: str
    key: tuple[str, ...] | None
    features: tuple[str, ...] = ()


def places(function: Any) -> list[Place]:
    """Return the places of a function's compiled form; the first is written to. None if it has no file."""
    file = Path(function.__code__.co_filename)
    if not file.is_file():
        return []
    held = stamp(file)
    base = f"{file.stem}.{re.sub('[<>]', '', function.__qualname__)}-{function.__code__.co_firstlineno}"
    found = [Place(directory() / held, base, held, None)]
    if (came := shipped()) is not None:
        found.append(
            Place(directory=came.directory / held, base=base, stamp=held, key=came.key, features=came.features)
        )
    return found


class Shipped(NamedTuple):
    """Kernels that ship with the package."""

    directory: Path
    key: tuple[str, ...]  # the processor they are compiled for
    features: tuple[str, ...]  # features that it must have


@cache
def shipped() -> Shipped | None:
    """Return the kernels that ship with the package, if they fit this Python and machine."""
    place = _PACKAGE / "_kernels"
    try:
        about = json.loads((place / ABOUT).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if (about["python"], about["machine"]) != (sys.implementation.cache_tag, platform.machine()):
        return None
    return Shipped(place, tuple(about["key"]), tuple(about["features"]))


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
    if not _KERNELS.search(text):
        return "", []
    names = [(_PACKAGE / module.replace(".", "/"), name) for module, name in _IMPORT.findall(text)]
    files = [file for module, name in names for file in (module.with_suffix(".py"), module / f"{name}.py")]
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest(), files


def describe(value: Any) -> Any:
    """Return the type of an argument as JSON; an error for types that kernels do not take."""
    if isinstance(value, np.ndarray):
        layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
        return ["array", value.dtype.str, value.ndim, layout, value.flags.writeable]
    if isinstance(value, tuple):
        kind = type(value)
        name = [kind.__module__, kind.__qualname__] if hasattr(kind, "_fields") else None
        return ["tuple", name, [describe(each) for each in value]]
    if isinstance(value, bool | np.bool_):
        return ["bool"]
    if isinstance(value, int | float):
        return [type(value).__name__] if not isinstance(value, np.generic) else ["scalar", value.dtype.str]
    if isinstance(value, np.generic):
        return ["scalar", value.dtype.str]
    raise TypeError(f"no kernel takes a {type(value).__name__}")


def example(described: Any) -> Any:
    """A value of a described type."""
    kind, *rest = described
    if kind == "array":
        dtype, dimensions, layout, writeable = rest
        made: Any = np.zeros((2,) * dimensions, dtype, order="F" if layout == "F" else "C")
        if layout == "A":
            made = np.zeros((4,) * dimensions, dtype)[(slice(None, None, 2),) * dimensions]
        made.flags.writeable = writeable
        return made
    if kind == "tuple":
        name, parts = rest
        values = [example(each) for each in parts]
        if name is None:
            return tuple(values)
        made_by: Any = import_module(name[0])
        for each in name[1].split("."):
            made_by = getattr(made_by, each)
        return made_by(*values)
    if kind == "scalar":
        return np.dtype(rest[0]).type(1)
    return {"bool": True, "int": 1, "float": 1.0}[kind]


def wanted() -> list[Path]:
    """Return the requested kernels, oldest first."""
    try:
        found = [each for each in (directory() / "wanted").iterdir() if each.suffix == ".json"]
        return sorted(found, key=lambda each: (each.stat().st_mtime_ns, each.name))
    except OSError:  # there is none, or another process has removed one
        return []


class _Detached(subprocess.Popen[bytes]):
    """A process that may outlive this one without a warning."""

    def __del__(self, *_: object, **__: object) -> None:
        pass


class Starter:
    """Requests compiled kernels, and starts the process that compiles them."""

    def __init__(self) -> None:
        self.stays = False  # whether this process runs for long
        self._noted: set[str] = set()
        self._next = 0.0
        self._failed = False

    def want(self, function: Any, arguments: tuple[Any, ...]) -> None:
        """Note that a kernel ran interpreted, and start the compiler if it does not run."""
        if self._failed or not Path(function.__code__.co_filename).is_file():
            return
        try:
            described = [describe(each) for each in arguments]
        except TypeError:  # no type to compile for
            return
        note = {
            "module": function.__module__, "name": function.__qualname__,
            "stamp": stamp(Path(function.__code__.co_filename)), "arguments": described,
        }  # fmt: skip
        text = json.dumps(note, sort_keys=True)
        name = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        if name in self._noted:
            return
        if refusal := background_refusal(stays=self.stays):
            self._failed = True
            if not is_writable():
                say(f"kernels run interpreted: {refusal}. {REMEDY}")
            return
        if not self._noted:
            atexit.register(self.start)
        self._noted.add(name)
        with suppress(OSError):  # a full disk: it runs interpreted
            path = directory() / "wanted" / f"{name}.json"
            if not path.exists() and not has_failed(path):
                fresh = path.with_suffix(f".{os.getpid()}")
                fresh.write_text(text, "utf-8")
                fresh.replace(path)
            if time.monotonic() >= self._next:
                self._next = time.monotonic() + IDLE
                self.start()

    def start(self) -> None:
        """Start the compiling process, if something is wanted and it does not run."""
        if not wanted() or is_locked():
            return
        environment = {**os.environ, "WIKILDA_COMPILE": "now"}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_PACKAGE.parent), os.environ.get("PYTHONPATH"))))
        nothing = subprocess.DEVNULL
        command = [sys.executable, "-P", "-m", "wikilda._core.compiler"]
        try:
            process = _Detached(
                command, stdin=nothing, stdout=nothing, stderr=nothing, env=environment, start_new_session=True
            )
        except OSError:  # process limit reached: it runs interpreted
            return
        threading.Thread(
            target=process.wait, daemon=True
        ).start()  # otherwise it would stay a zombie while this process runs
        say("kernels run interpreted while a process in the background compiles them, once after installation "
            "(WIKILDA_COMPILE=now waits for it)")  # fmt: skip


def has_failed(path: Path) -> bool:
    """Whether a requested kernel could not be compiled in several attempts."""
    try:
        return path.with_suffix(".tried").stat().st_size >= _ATTEMPTS
    except OSError:
        return False


def background_refusal(*, stays: bool) -> str:
    """Return why nothing is compiled in the background; empty if it is."""
    if not is_writable():
        return f"{directory()} cannot be written to"
    if not sys.executable:
        return "the Python interpreter has no file"
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        return "this is a CI job"
    if not stays and os.getpid() == 1:
        return "the container ends with this process"
    return ""


def is_locked() -> bool:
    """Whether a process is compiling."""
    from filelock import FileLock, Timeout

    try:
        with FileLock(directory() / "lock", timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return True
