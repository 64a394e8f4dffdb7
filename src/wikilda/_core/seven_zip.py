"""The file inside a 7z archive as a stream: a thread decompresses a little ahead of the reader."""

import io
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import IO, Any

_AHEAD = 64  # blocks
_WAIT = 0.1  # seconds after which the thread looks whether it is still needed
_MEMBER = ".xml"


class _StoppedError(Exception):
    """The reader has closed the stream."""


class SevenZip(io.RawIOBase):
    """The only file in an archive, or the only one that ends in .xml."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            import py7zr
        except ModuleNotFoundError:
            raise ValueError("reading .7z needs py7zr: pip install 'wikilda[7z]'") from None
        try:
            self._archive = py7zr.SevenZipFile(file, "r")
            self._name = _member(self._archive)
        except OSError:
            raise
        except Exception as error:  # of the library, which has many kinds
            raise ValueError(str(error) or type(error).__name__) from None
        self._blocks: Queue[bytes | Exception] = Queue(_AHEAD)
        self._stopped, self._rest, self._ended = Event(), memoryview(b""), False
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def readable(self) -> bool:
        """Return True: it is for reading."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with what comes next; 0 at the end."""
        while not self._rest and not self._ended:
            block = self._blocks.get()
            if isinstance(block, Exception):
                self._ended = True
                raise ValueError(str(block) or type(block).__name__) from None
            self._rest, self._ended = memoryview(block), not block
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        """Stop the thread."""
        if not self.closed:
            self._stopped.set()
            with suppress(Empty):
                while True:
                    self._blocks.get_nowait()
            self._thread.join()
        super().close()

    def put(self, block: "bytes | Exception") -> None:
        """Pass a block to the reader as soon as there is room."""
        while True:
            if self._stopped.is_set():
                raise _StoppedError
            with suppress(Full):
                return self._blocks.put(block, timeout=_WAIT)

    def _run(self) -> None:
        try:
            try:
                self._archive.extract(targets=[self._name], factory=_Factory(self))  # type: ignore[arg-type]
                self.put(b"")
            except _StoppedError:
                raise
            except Exception as error:  # of the library, which has many kinds
                self.put(error)
        except _StoppedError:
            pass


class _Factory:
    def __init__(self, stream: SevenZip) -> None:
        self.stream = stream

    def create(self, _: str) -> "_Writer":
        return _Writer(self.stream)


class _Writer:
    """The file object that the library writes to."""

    def __init__(self, stream: SevenZip) -> None:
        self._stream, self._size = stream, 0

    def write(self, block: "bytes | bytearray") -> int:
        if block:
            self._stream.put(bytes(block))
        self._size += len(block)
        return len(block)

    def read(self, _: int | None = None) -> bytes:
        return b""

    def seek(self, _: int, whence: int = 0) -> int:
        return whence and self._size

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def size(self) -> int:
        return self._size


def _member(archive: Any) -> str:
    names = [each.filename for each in archive.list() if not each.is_directory]
    dumps = [name for name in names if name.lower().endswith(_MEMBER)]
    chosen = dumps if len(dumps) == 1 else names
    if len(chosen) != 1:
        raise ValueError(f"holds {len(names)} files, where one is expected: extract the one that you want")
    return str(chosen[0])
