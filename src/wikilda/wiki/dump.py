"""Dumps: cut into pieces that can be read on their own, so that many processes can read one file.

A piece owns the pages that begin in it. Plain XML is cut anywhere, multistream bz2 between its streams; a
dump in one single stream is decompressed by one process, which hands the XML on.
"""

import bz2
import gzip
import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from wikilda.errors import InputError
from wikilda.wiki.site import Site, read_site

_STREAM = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")  # the head of a bz2 stream, full or empty
_READ = 1 << 20
_PAGE, _PAGE_END, _END = b"<page>", b"</page>", b"</mediawiki>"
_LONGEST_PAGE = 1 << 28


@dataclass(frozen=True)
class Piece:
    """A stretch of a dump: a range of the file's bytes, or XML that has been read already."""

    path: Path
    start: int
    end: int
    compressed: bool = False
    xml: bytes | None = None


def cut(path: Path, size: int) -> Iterator[Piece]:
    """Cut a dump into pieces of about `size` bytes of XML."""
    if path.suffix == ".bz2":
        starts = _stream_starts(path)
        if len(starts) > 1:
            yield from _groups(path, starts, max(1, size // 4))
            return
        yield from _one_stream(path, size)
    elif path.suffix == ".gz":
        yield from _one_stream(path, size)
    else:
        length = path.stat().st_size
        for start in range(0, length, size):
            yield Piece(path, start, min(start + size, length))


def read_piece(piece: Piece) -> bytes:
    """The XML of the pages that begin in a piece, whole."""
    if piece.xml is not None:
        return piece.xml
    blocks = _stream_blocks(piece) if piece.compressed else _plain_blocks(piece)
    own = next(blocks)
    limit = len(own)
    own += next(blocks, b"")  # a tag may begin in this piece and end in the next
    first = own.find(_PAGE)
    if first < 0 or first >= limit:
        return b""
    return _complete(piece, own, limit, blocks)[first:]


def site_of(path: Path) -> Site:
    """What the dump says of its wiki; also finds out, before hours are spent, whether it is a whole dump."""
    if not path.is_file():
        raise InputError(f"{path}: no such file. `wikilda download` fetches a dump.")
    with _open(path) as stream:
        head = _read(stream, path, _READ)
    if not head.strip():
        raise InputError(f"{path}: is empty.")
    site = read_site(head, str(path))
    _check_end(path)
    return site


def _stream_starts(path: Path) -> list[int]:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        starts = [found.start() for found in _STREAM.finditer(data)]
    if not starts or starts[0] != 0:
        raise InputError(f"{path}: is not bzip2 data, though its name says so. Download it again.")
    return starts


def _groups(path: Path, starts: list[int], size: int) -> Iterator[Piece]:
    begin = 0
    for start in [*starts[1:], path.stat().st_size]:
        if start - begin >= size:
            yield Piece(path, begin, start, compressed=True)
            begin = start
    if begin < path.stat().st_size:
        yield Piece(path, begin, path.stat().st_size, compressed=True)


def _stream_blocks(piece: Piece) -> Iterator[bytes]:
    """The piece's own streams as one block, then what follows, a little at a time."""
    with piece.path.open("rb") as file:
        file.seek(piece.start)
        own = file.read(piece.end - piece.start)
        yield _decompress(own, piece)
        following = bz2.BZ2Decompressor()
        while block := file.read(1 << 16):
            yield _more(following, block, piece)
            if following.eof:
                rest = following.unused_data
                following = bz2.BZ2Decompressor()
                if rest:
                    yield _more(following, rest, piece)


def _more(decompressor: bz2.BZ2Decompressor, block: bytes, piece: Piece) -> bytes:
    try:
        return decompressor.decompress(block)
    except OSError:
        raise _damaged(piece.path, piece.end) from None


def _decompress(data: bytes, piece: Piece) -> bytes:
    parts, at = [], piece.start
    while data:
        decompressor = bz2.BZ2Decompressor()
        try:
            parts.append(decompressor.decompress(data))
        except OSError:
            raise _damaged(piece.path, at) from None
        if not decompressor.eof:
            raise _cut_short(piece.path, at)
        at += len(data) - len(decompressor.unused_data)
        data = decompressor.unused_data
    return b"".join(parts)


def _plain_blocks(piece: Piece) -> Iterator[bytes]:
    with piece.path.open("rb") as file:
        file.seek(piece.start)
        yield file.read(piece.end - piece.start)
        while block := file.read(1 << 16):
            yield block


def _complete(piece: Piece, own: bytes, limit: int, blocks: Iterator[bytes]) -> bytes:
    """Add what is missing of the last page that begins before `limit`, and cut what is not ours."""
    last = own.rfind(_PAGE, 0, limit + len(_PAGE) - 1)
    parts, tail = [own], own[last:]
    while _PAGE_END not in tail:
        block = next(blocks, b"")
        if not block:
            raise _cut_short(piece.path, piece.start)
        parts.append(block)
        tail = tail[-len(_PAGE_END) :] + block
        if sum(map(len, parts)) - limit > _LONGEST_PAGE:
            raise InputError(f"{piece.path}: a page that begins before byte {piece.end} does not end.")
    whole = b"".join(parts)
    return whole[: whole.find(_PAGE_END, last) + len(_PAGE_END)]


def _one_stream(path: Path, size: int) -> Iterator[Piece]:
    """Decompress here, and hand on pieces that end with a page."""
    rest, at = b"", 0
    with _open(path) as stream:
        while block := _read(stream, path, _READ):
            rest += block
            if len(rest) >= size and (end := rest.rfind(_PAGE_END)) >= 0:
                end += len(_PAGE_END)
                yield Piece(path, at, at + end, xml=rest[:end])
                rest, at = rest[end:], at + end
    if _END not in rest:
        raise _cut_short(path, path.stat().st_size)
    yield Piece(path, at, at + len(rest), xml=rest)


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".bz2":
        return bz2.open(path, "rb")
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _read(stream: IO[bytes], path: Path, size: int) -> bytes:
    try:
        return stream.read(size)
    except EOFError:
        raise _cut_short(path, path.stat().st_size) from None
    except (OSError, ValueError):
        raise _damaged(path, 0) from None


def _check_end(path: Path) -> None:
    """A whole dump ends with `</mediawiki>`; where that can be seen at once, look."""
    if path.suffix == ".bz2":
        starts = _stream_starts(path)
        if len(starts) == 1:
            return
        last = Piece(path, starts[-1], path.stat().st_size, compressed=True)
        tail = _decompress(path.read_bytes()[last.start :] if last.end < _READ else _tail(last), last)
    elif path.suffix == ".gz":
        return
    else:
        tail = _tail(Piece(path, max(0, path.stat().st_size - 4096), path.stat().st_size))
    if _END not in tail:
        raise _cut_short(path, path.stat().st_size)


def _tail(piece: Piece) -> bytes:
    with piece.path.open("rb") as file:
        file.seek(piece.start)
        return file.read()


def _cut_short(path: Path, at: int) -> InputError:
    return InputError(
        f"{path}: is cut short (after byte {at} there is no whole page and no {_END.decode()}). Download it again; "
        "`wikilda download` resumes and checks what it fetches."
    )


def _damaged(path: Path, at: int) -> InputError:
    return InputError(f"{path}: cannot be decompressed at byte {at}: the data is damaged. Download it again.")


def without_xml(piece: Piece) -> Piece:
    """The piece's place alone."""
    return replace(piece, xml=None)
