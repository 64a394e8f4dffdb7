"""What only some systems can do, each with something that does on the others."""

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
RELOAD_SIGNAL = getattr(signal, "SIGHUP", None)  # by which servers are told to take in what has changed


def available_cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def reserve(file: IO[bytes], size: int) -> None:
    """Make a file `size` bytes long with its space taken on the disk, so that a full disk is an error here."""
    allocate = getattr(os, "posix_fallocate", None)
    if allocate and size:
        allocate(file.fileno(), 0, size)
        return
    at = file.seek(0, os.SEEK_END)
    while at < size:
        at += file.write(bytes(min(_ZEROS, size - at)))
    file.flush()


def exchange(one: Path, other: Path) -> bool:
    """Let two files or directories swap their names at once; False where the system or the disk cannot."""
    swap = _libc("renameat2")
    if swap is None:
        return False
    return bool(swap(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0)


def can_fork() -> bool:
    """Whether a process can be copied, with all that it has opened."""
    return hasattr(os, "fork")


def end_with_parent() -> None:
    """Ask to be terminated when the parent process ends; elsewhere than on Linux nothing happens."""
    control = _libc("prctl")
    if control is not None:
        control(_PR_SET_PDEATHSIG, signal.SIGTERM)


def raise_file_limit() -> None:
    """Let this process have as many files and connections open as it may; elsewhere than on Unix nothing happens."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems have a lower limit than they say
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def cache_directory() -> Path:
    """Where the user's caches are."""
    home = Path.home()
    places = {
        "win32": Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")),
        "darwin": home / "Library" / "Caches",
    }
    return Path(os.environ.get("XDG_CACHE_HOME") or places.get(sys.platform, home / ".cache")) / "wikilda"


def _libc(name: str) -> Any:
    """A function of the C library, where there is one of that name."""
    try:
        return getattr(ctypes.CDLL(None), name, None)
    except (OSError, TypeError):  # Windows has no library without a name
        return None
