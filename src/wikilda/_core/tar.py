"""Tar archives from others, read as streams by their plain headers only."""

import io
from pathlib import Path
from typing import IO, NamedTuple

from wikilda._core.errors import InputError

_BLOCK, _MAGICS, _PLAIN = 512, (b"ustar\0", b"ustar "), (b"0", b"\0")
_ABOUT = b"xgL5"  # extended headers, long names, directories
_LARGEST_ABOUT = 1 << 16


class Entry(NamedTuple):
    """A file in an archive."""

    name: str
    size: int


class TarReader:
    """The files of a tar stream.

    `tarfile` reads long names, PAX headers and sparse maps of any size whole, before a program can look at them, and
    converts numbers of any length. Here anything but a plain file is refused; with `skips`, small extended headers and
    directories are skipped.
    """

    def __init__(self, stream: IO[bytes], file: Path, *, skips: bool = False) -> None:
        self._stream, self._file, self._skips = stream, file, skips
        self._left = self._padding = 0  # of the file before

    def next(self) -> Entry | None:
        """Return the next file, or None at the end."""
        while True:
            while self._left:
                self.read(min(self._left, 1 << 20))
            self._exactly(self._padding)
            self._padding = 0
            head = self._exactly(_BLOCK)
            if not any(head):
                return None
            name, size, checksum, magic = head[:100], head[124:136], head[148:156], head[257:263]
            total = sum(head) - sum(checksum) + 8 * ord(" ")
            if magic not in _MAGICS or _octal(checksum) != total:
                raise self.damaged("not a tar archive")
            length = int.from_bytes(size[4:]) if size[:4] == b"\x80\0\0\0" else _octal(size)
            plain = name.rstrip(b"\0").decode("ascii", "backslashreplace")
            skipped = self._skips and head[156] in _ABOUT and length is not None and length <= _LARGEST_ABOUT
            usual = head[156:157] in _PLAIN and (self._skips or not (any(head[157:257]) or any(head[345:500])))
            if length is None or not (usual or skipped):
                raise InputError(
                    f"{self._file}: has {plain!r}, which is not a plain file. Get it again from its maker."
                )
            self._left, self._padding = length, -length % _BLOCK
            if not skipped:
                return Entry(plain, length)

    def read(self, most: int) -> bytes:
        """Return up to some bytes of the current file."""
        data = self._exactly(min(most, self._left))
        self._left -= len(data)
        return data

    def open(self) -> io.BufferedReader:
        """Return the current file as a stream."""
        return io.BufferedReader(_Current(self), 1 << 18)

    def _exactly(self, size: int) -> bytes:
        data = self._stream.read(size) if size else b""
        if len(data) != size:
            raise self.damaged("cut short")
        return data

    def damaged(self, why: object) -> InputError:
        """Return the error for an archive that is damaged or incomplete."""
        return InputError(f"{self._file}: cannot be read as a tar file ({why}). Download it again.")


class _Current(io.RawIOBase):
    """The current file of an archive."""

    def __init__(self, archive: TarReader) -> None:
        self._archive = archive

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._archive.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _octal(field: bytes) -> int | None:
    digits = field.strip(b" \0")
    return int(digits, 8) if digits and all(each in b"01234567" for each in digits) else None
