"""Dumps: cut into pieces that processes can read independently.

A piece owns the pages that begin in it. Plain XML is cut anywhere, multistream bz2 between its streams. A dump in a
single stream is decompressed by one process, which passes the XML on.
"""

import bz2
import io
import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wikilda._core.compression import check_expansion, open_compressed
from wikilda._core.errors import InputError
from wikilda.mediawiki import enterprise, zim
from wikilda.mediawiki.site import Site, read_site

try:
    import indexed_bzip2  # of the extra `fast`
except ImportError:
    indexed_bzip2 = None

_HEAD = b"BZh"
_STREAM = re.compile(_HEAD + rb"[1-9](?:1AY&SY|\x17rE8P\x90)")  # the head of a bz2 stream, full or empty
_ONE_STREAM = (".7z", ".gz", ".xz")  # never cut between streams
_ZIM, _SNAPSHOT = ".zim", ".tar.gz"
_READ = 1 << 20
_PAGE, _PAGE_END, _END = b"<page>", b"</page>", b"</mediawiki>"
_BROKEN_PAGE = re.compile(rb"<(?:p(?:a(?:ge?)?)?)?\Z")
_PAGE_OVER = re.compile(rb"</page>|(?=<page>)|(?=</mediawiki>)")
_LONGEST_PAGE = 1 << 28
_LARGEST_PIECE = 1 << 30
_TAIL = 256
_DAMAGES = (RuntimeError, ValueError, IndexError, ArithmeticError, OSError)  # exceptions of C++


@dataclass(frozen=True)
class Piece:
    """A part of a dump: a range of bytes, a range of entries of a ZIM file, or XML that has been read."""

    path: Path
    start: int
    end: int
    compressed: bool = False
    xml: bytes | None = None


def cut(path: Path, size: int) -> Iterator[Piece]:
    """Cut a dump into pieces of about `size` bytes of XML."""
    if path.suffix == _ZIM:
        for start, end in zim.ranges(path, size):
            yield Piece(path, start, end)
    elif path.name.endswith(_SNAPSHOT):
        for start, end, xml in enterprise.pages(path, size):
            yield Piece(path, start, end, xml=xml)
    elif path.suffix == ".bz2":
        starts = _stream_starts(path)
        if len(starts) > 1:
            yield from _groups(path, starts, max(1, size // 4))
            return
        yield from _one_stream(path, size)
    elif path.suffix in _ONE_STREAM:
        yield from _one_stream(path, size)
    else:
        end = path.stat().st_size
        for start in range(0, end, size):
            yield Piece(path, start, min(start + size, end))


def length(path: Path) -> int:
    """Return the total size of the pieces without own XML: bytes, or entries of a ZIM file."""
    return zim.length(path) if path.suffix == _ZIM else path.stat().st_size


def check(path: Path) -> None:
    """Compare a file with its own checksum, if it has one for the whole of it."""
    if path.suffix == _ZIM:
        zim.check(path)


def read_piece(piece: Piece) -> bytes:
    """Return the XML of the pages that begin in a piece."""
    if piece.xml is not None:
        return piece.xml
    if piece.path.suffix == _ZIM:
        return zim.read(piece.path, piece.start, piece.end)
    blocks = _stream_blocks(piece) if piece.compressed else _plain_blocks(piece)
    own = next(blocks)
    limit = len(own)
    while _BROKEN_PAGE.search(own, len(own) - len(_PAGE)) and (block := next(blocks, b"")):
        own += block  # a tag may begin in this piece and end in the next
    first = own.find(_PAGE)
    if first < 0 or first >= limit:
        return b""
    return _complete(piece, own, first, limit, blocks)


def site_of(path: Path) -> Site:
    """Return the wiki of a dump. Also checks, before hours are spent, that the dump is complete."""
    if not path.is_file():
        raise InputError(f"{path}: no such file. Run `wikilda download` to fetch a dump.")
    if path.suffix == _ZIM:
        return zim.site_of(path)
    if path.name.endswith(_SNAPSHOT):
        return enterprise.site_of(path)
    head = b""
    if path.stat().st_size:
        with open_compressed(path) as stream:
            head = stream.read(_READ)
    if not head.strip():
        raise InputError(f"{path}: is empty. Download it again.")
    site = read_site(head, str(path))
    _check_end(path)
    return site


def _stream_starts(path: Path) -> list[int]:
    if not path.stat().st_size:
        raise InputError(f"{path}: is empty. Download it again.")
    with _mapped(path) as data:
        starts = [found.start() for found in _STREAM.finditer(data)]
    if not starts or starts[0] != 0:
        raise InputError(f"{path}: is not bzip2 data, though its name says so. Download it again.")
    return starts


@contextmanager
def _mapped(path: Path) -> Iterator[mmap.mmap]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data


def _groups(path: Path, starts: list[int], size: int) -> Iterator[Piece]:
    begin = 0
    for start in [*starts[1:], path.stat().st_size]:
        if start - begin >= size:
            yield Piece(path, begin, start, compressed=True)
            begin = start
    if begin < path.stat().st_size:
        yield Piece(path, begin, path.stat().st_size, compressed=True)


def _stream_blocks(piece: Piece) -> Iterator[bytes]:
    """Yield the piece's streams as one block, then the following data in small blocks."""
    with piece.path.open("rb") as file:
        file.seek(piece.start)
        yield _decompress(file.read(piece.end - piece.start), piece)
        following = bz2.BZ2Decompressor()
        while block := file.read(1 << 16):
            while block:
                yield from _expand(following, block, piece.path, piece.end)
                block = following.unused_data
                if following.eof:
                    following = bz2.BZ2Decompressor()


def _decompress(data: bytes, piece: Piece) -> bytes:
    """Decompress all streams of a piece. Decompression bombs are refused."""
    if indexed_bzip2 is not None:
        with suppress(*_DAMAGES), indexed_bzip2.open(io.BytesIO(data), parallelization=1) as stream:
            xml = _bounded(iter(lambda: stream.read(_READ), b""), piece)
            if stream.tell_compressed() == 8 * len(data):  # bits; it ignores data after a damaged stream
                return xml
        # The standard library reports what is damaged.
    return _bounded(_streams(data, piece), piece)


def _bounded(parts: Iterator[bytes], piece: Piece) -> bytes:
    kept, size = [], 0
    for part in parts:
        kept.append(part)
        size += len(part)
        check_expansion(piece.path, piece.end - piece.start, size)
        if size > _LARGEST_PIECE:
            raise _endless(piece.path, piece.end)
    return b"".join(kept)


def _streams(data: bytes, piece: Piece) -> Iterator[bytes]:
    at = piece.start
    while data:
        decompressor = bz2.BZ2Decompressor()
        yield from _expand(decompressor, data, piece.path, at)
        if not decompressor.eof:
            raise _cut_short(piece.path, at)
        at += len(data) - len(decompressor.unused_data)
        data = decompressor.unused_data


def _expand(decompressor: bz2.BZ2Decompressor, data: bytes, path: Path, at: int) -> Iterator[bytes]:
    """Yield decompressed data, a megabyte at a time."""
    try:
        while not decompressor.eof and (data or not decompressor.needs_input):
            if part := decompressor.decompress(data, _READ):
                yield part
            data = b""
    except OSError:
        raise _damaged(path, at) from None


def _plain_blocks(piece: Piece) -> Iterator[bytes]:
    with piece.path.open("rb") as file:
        file.seek(piece.start)
        yield file.read(piece.end - piece.start)
        while block := file.read(1 << 16):
            yield block


def _complete(piece: Piece, own: bytes, first: int, limit: int, blocks: Iterator[bytes]) -> bytes:
    """Return the pages that begin between `first` and `limit`: completes the last one and cuts the rest.

    A page without `</page>` ends where the next begins, or with the dump; `pages_in` reports it.
    """
    last = own.rfind(_PAGE, 0, limit + len(_PAGE) - 1)
    page = bytearray(own[last:])
    searched = len(_PAGE)
    while not (over := _PAGE_OVER.search(page, searched)):
        searched = max(searched, len(page) - len(_END))
        block = next(blocks, b"")
        if not block:
            raise _cut_short(piece.path, piece.start)
        page += block
        if len(page) > limit - last + _LONGEST_PAGE:
            raise _endless(piece.path, piece.end)
    return own[first:last] + page[: over.end()]


def _one_stream(path: Path, size: int) -> Iterator[Piece]:
    """Decompress in this process, and yield pieces that end with a page."""
    rest, at = b"", 0
    with open_compressed(path) as stream:
        while block := stream.read(_READ):
            rest += block
            if len(rest) >= size and (end := rest.rfind(_PAGE_END)) >= 0:
                end += len(_PAGE_END)
                yield Piece(path, at, at + end, xml=rest[:end])
                rest, at = rest[end:], at + end
            if len(rest) > size + _LONGEST_PAGE:
                raise _endless(path, at + len(rest))
    if _END not in rest:
        raise _cut_short(path, path.stat().st_size)
    yield Piece(path, at, at + len(rest), xml=rest)


def _check_end(path: Path) -> None:
    """Check that the dump ends with `</mediawiki>`, where that can be read directly."""
    if path.suffix == ".bz2":
        tail = _last_streams(path)
        if not tail:
            return
    elif path.suffix in _ONE_STREAM:
        return
    else:
        tail = _bytes_of(path, max(0, path.stat().st_size - _TAIL), path.stat().st_size)
    if _END not in tail:
        raise _cut_short(path, path.stat().st_size)


def _last_streams(path: Path) -> bytes:
    """Return the end of the XML, from as many streams as needed; empty for a single stream."""
    tail, end = b"", path.stat().st_size
    with _mapped(path) as data:
        at = data.rfind(_HEAD)
        while at >= 0 and len(tail) < _TAIL and (at, end) != (0, len(data)):
            if _STREAM.match(data, at):
                tail = _decompress(data[at:end], Piece(path, at, end, compressed=True)) + tail
                end = at
            at = data.rfind(_HEAD, 0, at)
    return tail


def _bytes_of(path: Path, start: int, end: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(end - start)


def _cut_short(path: Path, at: int) -> InputError:
    return InputError(
        f"{path}: is cut short (after byte {at} there is no whole page and no {_END.decode()}). Download it again; "
        "`wikilda download` resumes and checks what it fetches."
    )


def _endless(path: Path, at: int) -> InputError:
    return InputError(f"{path}: a page that begins before byte {at} does not end. Download it again.")


def _damaged(path: Path, at: int) -> InputError:
    return InputError(f"{path}: cannot be decompressed at byte {at}: the data is damaged. Download it again.")
