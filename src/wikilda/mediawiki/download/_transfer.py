"""Fetch a file over unreliable connections: resume earlier tries, and check the result."""

import hashlib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.client import HTTPException, HTTPResponse
from io import FileIO
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from wikilda._core.atomic import lock, open_private, sync
from wikilda._core.errors import InputError, explain_full_disk
from wikilda._core.progress import Bar, bar
from wikilda.mediawiki.download import _http as http
from wikilda.mediawiki.download._http import PassingError, RefusedError, ask, length_of, persist
from wikilda.mediawiki.download._listing import RemoteFile

CHUNK = 1 << 18


def remote_file(url: str) -> RemoteFile:
    """Return a file at an address, of which only the size is published."""
    name = PurePosixPath(unquote(urlsplit(url).path)).name

    def attempt() -> tuple[int | None, str]:
        with ask(url, {}) as response:
            return length_of(response.headers), _version(response.headers)

    with bar(f"asking {urlsplit(url).netloc}", None, unit="bytes") as shown:
        size, version = persist(url, attempt, http.PATIENCE.question_tries, shown, lambda: 0)
    if not name or size is None:
        raise InputError(f"{url}: is not the address of a file: the server sends no name or size. Check the address.")
    return RemoteFile(name, url, size, None, version)


def fetch(file: RemoteFile, directory: Path, *, checks_itself: bool = False) -> Path:
    """Fetch a file into `directory`, resuming an earlier run, and check it.

    A file that `checks_itself` needs no published digest.
    """
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / file.name
    if target.is_file() and _is_here(target, file):
        return target
    if target.is_file() and checks_itself:
        raise InputError(f"{target}: is there already, and may be another file than {file.url}. Remove or rename it.")
    part = directory / f"{file.name}.part"
    with lock(target), _opened(part) as sink:
        with explain_full_disk(part):
            _Transfer(file, part, sink).run()
        _accept(file, part, target, quiet=checks_itself)
    return target


def _is_here(target: Path, file: RemoteFile) -> bool:
    """Whether a file is the requested one: by its digest or, without one, its address and version."""
    if _difference(target, file) is not None:
        return False
    if file.digest is not None or not file.version:
        return file.digest is not None
    note = _origin(target)
    return note.is_file() and note.read_text("latin-1") == f"{file.url}\n{file.version}\n"


def _accept(file: RemoteFile, part: Path, target: Path, *, quiet: bool) -> None:
    difference = _difference(part, file)
    if difference is None:
        if file.version:  # for who asks for it again
            _origin(part).replace(_origin(target))
        _origin(part).unlink(missing_ok=True)
        sync(part)
        part.replace(target)
        sync(target.parent)
        if file.digest is None and not quiet:
            print(f"wikilda: {target}: unchecked, since the server publishes no digest of it", file=sys.stderr)
        return
    _origin(part).unlink(missing_ok=True)
    part.unlink()
    raise InputError(
        f"{file.url}: the download is damaged: {difference}. It was removed; run the same command again, "
        "with another --mirror if this happens twice."
    )


@contextmanager
def _opened(part: Path) -> Iterator[FileIO]:
    """Open for resuming, unbuffered; leave no empty file behind."""
    open_private(part).close()
    with FileIO(part, "a") as sink:
        try:
            yield sink
        finally:
            if not os.fstat(sink.fileno()).st_size:
                part.unlink(missing_ok=True)


class _Transfer:
    """One file on its way into its `.part`."""

    def __init__(self, file: RemoteFile, part: Path, sink: FileIO) -> None:
        self._file, self._sink, self._origin = file, sink, _origin(part)
        self._bar = Bar(None, None)

    @property
    def _held(self) -> int:
        return os.fstat(self._sink.fileno()).st_size

    def run(self) -> None:
        """Request until the file is complete."""
        if self._held > self._file.size:
            self._start_over()
        with bar(self._file.name, self._file.size, unit="bytes", done=self._held) as self._bar:
            if self._held < self._file.size:
                persist(self._file.url, self._attempt, http.PATIENCE.tries, self._bar, lambda: self._held)

    def _attempt(self) -> None:
        self._bar.label(self._file.name)
        try:
            response = ask(self._file.url, self._conditions())
        except RefusedError as refusal:
            if refusal.status != 416:
                raise
            return self._out_of_range(refusal.headers)
        with response:
            self._receive(response)
        if self._held < self._file.size:
            raise PassingError("the connection was dropped")
        return None

    def _conditions(self) -> dict[str, str]:
        if not self._held:
            return {}
        version = self._version_held()
        return {"Range": f"bytes={self._held}-"} | ({"If-Range": version} if version else {})

    def _out_of_range(self, headers: Message) -> None:
        # The server has no more bytes: the file is complete, which the check decides, or it is another file.
        if headers.get("Content-Range", "").strip() == f"bytes */{self._held}":
            return
        self._start_over()
        raise PassingError("the file on the server has changed")

    def _receive(self, response: HTTPResponse) -> None:
        if response.status not in (200, 206):
            raise PassingError(f"the server answered {response.status} {response.reason}")
        start, total = _span(response)
        if total not in (None, self._file.size):
            raise InputError(
                f"{self._file.url}: expected {self._file.size} bytes, found {total} on the server. "
                "Try again later, or name another --mirror or --date."
            )
        version, held = _version(response.headers), self._version_held()
        if start and (start != self._held or (version and held and version != held)):
            self._start_over()
            raise PassingError("the file on the server has changed")
        if not start:
            self._start_over()
            self._origin.write_text(f"{self._file.url}\n{version}\n", encoding="latin-1")
        self._copy(response)

    def _copy(self, response: HTTPResponse) -> None:
        for chunk in _chunks(response):
            _write(self._sink, chunk)
            self._bar.advance(len(chunk))
            if self._held > self._file.size:
                return

    def _start_over(self) -> None:
        if self._held:
            self._bar.advance(-self._held)
            self._sink.truncate(0)
        self._origin.unlink(missing_ok=True)

    def _version_held(self) -> str:
        """Return the server's name of the version whose beginning we hold; mirrors differ in this."""
        if not self._origin.is_file():
            return ""
        url, _, version = self._origin.read_text(encoding="latin-1").partition("\n")
        return version.strip() if url == self._file.url else ""


def _origin(part: Path) -> Path:
    """Return the note next to a `.part`: its address and version."""
    return part.with_name(f"{part.name}.origin")


def _difference(path: Path, file: RemoteFile) -> str | None:
    """Return how a file on disk differs from the published one."""
    size = path.stat().st_size
    if size != file.size:
        return f"expected {file.size} bytes, found {size}"
    if file.digest is None:
        return None
    kind, expected = file.digest
    found = _digest(path, kind, size)
    return None if found == expected else f"expected {kind} {expected}, found {found}"


def _digest(path: Path, kind: str, size: int) -> str:
    digest = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as source, bar(f"checking {path.name}", size, unit="bytes") as shown:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            shown.advance(len(chunk))
    return digest.hexdigest()


def _write(sink: FileIO, chunk: bytes) -> None:
    rest = memoryview(chunk)
    while rest:
        rest = rest[sink.write(rest) :]


def _version(headers: Message) -> str:
    """A name of the file's version that may be sent in If-Range; weak ETags may not."""
    tag = " ".join(headers.get("ETag", "").split())
    return tag if tag.startswith('"') else " ".join(headers.get("Last-Modified", "").split())


def _span(response: HTTPResponse) -> tuple[int, int | None]:
    """Return where in the file an answer begins, and the length of the whole file, if it is declared."""
    if response.status == 206:
        match = re.match(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)", response.headers.get("Content-Range", ""))
        if match is None:
            raise PassingError("the server sent a part without saying which")
        return int(match[1]), None if match[2] == "*" else int(match[2])
    return 0, length_of(response.headers)


def _chunks(response: HTTPResponse) -> Iterator[bytes]:
    # read1 returns received bytes; read would lose them if the connection breaks within a chunk.
    while True:
        try:
            chunk = response.read1(CHUNK)
        except (OSError, HTTPException) as error:
            raise PassingError(f"the connection was dropped ({error})") from error
        if not chunk:
            return
        yield chunk
