"""System calls that only some platforms have, each with a fallback."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of renameat2(2)
_PR_SET_PDEATHSIG = 1  # of prctl(2)
_ZEROS = 1 << 20
RELOAD_SIGNAL = getattr(signal, "SIGHUP", None)  # tells a server to reload


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def reserve(file: IO[bytes], size: int) -> None:
    """Extend a file to `size` bytes and allocate its space, so that a full disk is an error here."""
    allocate = getattr(os, "posix_fallocate", None)
    if allocate and size:
        allocate(file.fileno(), 0, size)
        return
    at = file.seek(0, os.SEEK_END)
    while at < size:
        at += file.write(bytes(min(_ZEROS, size - at)))
    file.flush()


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two files or directories atomically. Return False where that is not supported."""
    swap = _libc("renameat2")
    if swap is None:
        return False
    return bool(swap(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0)


def can_fork() -> bool:
    """Whether processes can be forked."""
    return hasattr(os, "fork")


def end_with_parent() -> None:
    """Ask to be terminated when the parent process ends (Linux only)."""
    control = _libc("prctl")
    if control is not None:
        control(_PR_SET_PDEATHSIG, signal.SIGTERM)


def raise_file_limit() -> None:
    """Raise the limit of open files and connections to its maximum (Unix only)."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems enforce a lower limit than they report
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def cache_directory() -> Path:
    """Return the directory of the user's caches."""
    home = Path.home()
    places = {
        "win32": Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")),
        "darwin": home / "Library" / "Caches",
    }
    return Path(os.environ.get("XDG_CACHE_HOME") or places.get(sys.platform, home / ".cache")) / "wikilda"


def _libc(name: str) -> Any:
    """Return a function of the C library, or None if it has none of that name."""
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # Windows needs the name of a library
        return None
