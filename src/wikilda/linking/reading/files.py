"""Files: found in directories, opened whatever their compression, read with bounded memory."""

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from wikilda.errors import InputError

_OPEN: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
BROKEN = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
STANDARD_INPUT = "standard input"


def find_files(paths: Sequence[Path]) -> Iterator[Path]:
    """All files, those of directories in the order of their names; hidden ones in directories are left alone."""
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or directory.")
    for path in paths:
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path


def _walk(directory: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(folder, name) for name in sorted(files) if not name.startswith("."))


def open_file(path: Path) -> IO[bytes]:
    """A file's bytes, decompressed."""
    opened: IO[bytes] = _OPEN.get(path.suffix.lower(), open)(path, "rb")
    return opened


def read_up_to(stream: IO[bytes], most: int) -> bytes | None:
    """All that is left, or None if it is more than `most` bytes: then no more than these are held."""
    parts, size = [], 0
    while part := stream.read(min(1 << 20, most + 1 - size)):
        parts.append(part)
        size += len(part)
        if size > most:
            return None
    return b"".join(parts)


def lines_up_to(stream: IO[bytes], most: int) -> Iterator[bytes | None]:
    """Lines with their ends; None for one that is longer than `most` bytes, which is passed over in pieces."""
    while line := stream.readline(most + 1):
        if len(line) <= most or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(1 << 20)
        yield None
