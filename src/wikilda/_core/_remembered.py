"""Which artifacts have been checked, in the user's cache: checks that read whole arrays run once.

An artifact is known again by its place and by what the system says of its files: number, size and times. Nothing is
written into the artifact, and nothing in it is believed.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from wikilda._core.platform import cache_directory

_MOST = 1000  # artifacts that are remembered


def stamp_of(files: Iterable[Path], rules: str) -> str:
    """A digest of what the system says of files, and of the rules that they were checked by."""
    made = hashlib.blake2b(rules.encode(), digest_size=16)
    for file in files:
        about = file.stat()
        made.update(repr((about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)).encode())
    return made.hexdigest()


def is_remembered(path: Path, stamp: str) -> bool:
    """Whether the artifact at a path has been checked as it is."""
    try:
        return _note(path).read_text("ascii") == stamp
    except (OSError, ValueError, RuntimeError):  # the last: there is no home
        return False


def remember(path: Path, stamp: str) -> None:
    """Note that an artifact has been checked; where nothing can be written, it will be checked again."""
    with suppress(OSError, RuntimeError):
        note = _note(path)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(stamp, "ascii")
        notes = sorted(note.parent.iterdir(), key=lambda each: each.stat().st_mtime_ns)
        for old in notes[:-_MOST]:
            old.unlink(missing_ok=True)


def forget(path: Path) -> None:
    """Let an artifact be checked again."""
    with suppress(OSError, RuntimeError):
        _note(path).unlink(missing_ok=True)


def _note(path: Path) -> Path:
    name = hashlib.blake2b(str(path.resolve()).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return cache_directory() / "checked" / name
