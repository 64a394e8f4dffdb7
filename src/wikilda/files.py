"""Files that may be compressed, and files and directories that get their names when they are whole."""

import bz2
import gzip
import lzma
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def open_any(path: Path) -> IO[bytes]:
    """Open a file that may be compressed."""
    opened: IO[bytes] = _OPENERS.get(path.suffix, open)(path, "rb")
    return opened


def write_text(path: Path, text: str) -> None:
    """Write beside, then rename."""
    beside = path.with_name(f"{path.name}.writing")
    try:
        beside.write_text(text, "utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def directory(target: Path) -> Iterator[Path]:
    """A directory that gets its name when it is whole."""
    beside = target.with_name(f"{target.name}.{os.getpid()}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        yield beside
        shutil.rmtree(target, ignore_errors=True)
        beside.rename(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
