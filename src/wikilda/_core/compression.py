"""Files that may be compressed, read with bounded memory: what expands beyond all reason is refused."""

import bz2
import gzip
import io
import json
import lzma
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from wikilda._core.errors import InputError
from wikilda._core.seven_zip import SevenZip

SUFFIXES = (".7z", ".bz2", ".gz", ".xz")
MAX_RATIO = 300  # decompressed to compressed bytes; dumps have 5, tables of numbers 20, logs of one line 100
FREE_BYTES = 1 << 26  # whatever their ratio
MAX_LINE = 1 << 27
_BUFFER = 1 << 18
_DAMAGED = (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error)
_DECOMPRESS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".7z": SevenZip}


class CompressionError(InputError):
    """Compressed data is damaged, cut short, or a bomb; `why` says it without naming the file."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.why = why


def open_compressed(path: Path) -> IO[bytes]:
    """Open a file for reading its bytes, decompressed if its name ends in .7z, .gz, .bz2 or .xz.

    Reading raises a CompressionError if the data is damaged or cut short, or if it is more than 64 MB and more than
    300 times what is on the disk.
    """
    file = path.open("rb")
    decompress = _DECOMPRESS.get(path.suffix.lower())
    return io.BufferedReader(_Bounded(path, file, decompress), _BUFFER) if decompress else file


def uncompressed_suffix(path: Path) -> str:
    """The ending of a file's name, without that of its compression, in lower case."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() in SUFFIXES else path.suffix.lower()


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


def whole_lines(stream: IO[bytes], place: Path) -> Iterator[bytes]:
    """Lines with their ends; one that is longer than 128 MB is an error."""
    for number, line in enumerate(lines_up_to(stream, MAX_LINE), 1):
        if line is None:
            raise InputError(f"{place}: line {number:,} is longer than {MAX_LINE >> 20} MB. Is it made of lines?")
        yield line


def json_objects(lines: Iterable[bytes], place: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """JSON objects, one per line, with the numbers of their lines; blank lines are skipped."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place}: line {number} is not JSON ({error}).") from None
        if not isinstance(row, dict):
            raise InputError(f"{place}: line {number} is not a JSON object.")
        yield number, row


def check_expansion(path: Path, compressed: int, decompressed: int) -> None:
    """Refuse what expands beyond all reason: to more than 64 MB and more than 300 times its size."""
    if decompressed > FREE_BYTES and decompressed > MAX_RATIO * compressed:
        raise CompressionError(
            path,
            f"expands to more than {MAX_RATIO} times its size ({decompressed >> 20:,} MB so far), which no text does. "
            "If it is meant to, decompress it yourself.",
        )


class _Bounded(io.RawIOBase):
    """A decompressed stream that counts what goes in and what comes out."""

    def __init__(self, path: Path, file: IO[bytes], decompress: Any) -> None:
        self._path, self._file, self._out = path, file, 0
        try:
            self._stream: IO[bytes] = decompress(file)
        except ValueError as error:
            file.close()
            raise CompressionError(path, f"{error}.") from None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            read: int = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        except EOFError:
            raise CompressionError(self._path, "is cut short. Download it again.") from None
        except _DAMAGED as error:
            if isinstance(error, OSError) and error.errno:  # of the disk, not of the data
                raise
            raise CompressionError(self._path, f"cannot be decompressed ({error}). Download it again.") from None
        self._out += read
        check_expansion(self._path, self._file.tell(), self._out)
        return read

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._file.close()
        super().close()
