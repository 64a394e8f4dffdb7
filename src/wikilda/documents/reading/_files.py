"""Files and directories → one stream of documents.

A document that cannot be read is yielded as `Bad`. The id of a document is its own, or the name of its file (below the
given directory) and the number of its line or row.
"""

import io
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from wikilda._core.compression import SUFFIXES, CompressionError, lines_up_to, open_compressed, read_up_to
from wikilda._core.errors import InputError
from wikilda._core.jit import LINKED, tier
from wikilda.documents.document import Document, marked
from wikilda.documents.reading.rows import (
    AUTO,
    DUMP,
    JSON_LINES,
    MARKED,
    PARQUET,
    TEXT,
    ReadSettings,
    decode,
    from_line,
    from_row,
    too_large,
)
from wikilda.documents.reading.tables import Row, parquet_rows, separated_rows
from wikilda.mediawiki.dump import Piece, cut, read_piece, site_of
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.site import MAIN, Site
from wikilda.mediawiki.wikitext import ANCHOR_END, ANCHOR_START, IN_ASIDE, Scanned, dialect_of, scan
from wikilda.text.tokens import joined

_PIECE = 1 << 24  # bytes of a dump that are read together
_JSON_START = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"')
_STANDARD_INPUT = "standard input"
_DEFAULT = ReadSettings()


@dataclass(frozen=True)
class Bad:
    """A document that could not be read or linked: its place, and the reason."""

    place: str
    why: str

    def __str__(self) -> str:
        return f"{self.place}: {self.why}"


Read = Document | Bad


class File(NamedTuple):
    """A file, its name in ids, and its format."""

    path: Path
    name: str
    kind: str


def read_documents(
    paths: Sequence[str | Path] = (), standard_input: IO[bytes] | None = None, settings: ReadSettings = _DEFAULT
) -> Iterator[Read]:
    """Read the documents of files and directories, in their order; of standard input when there are no paths.

    Without a format, files go by the end of their names, and standard input is JSON lines if it begins with `{"`.

    Parameters
    ----------
    paths
        Files and directories: text, JSON lines, CSV, TSV, Parquet, MediaWiki dumps; `.gz`, `.bz2`, `.xz` may follow.
    standard_input
        A stream of bytes.
    settings
        Format, columns, encoding.

    Examples
    --------
    >>> from wikilda import read_documents
    >>> [document.id for document in read_documents([news])]
    ['croft', 'bush']
    """
    tier.expect_files(map(Path, paths), LINKED)
    if not paths and standard_input is not None:
        yield from _read_standard_input(standard_input, settings)
    for file in find_files([Path(each) for each in paths], settings):
        try:
            yield from read_file(file, settings)
        except CompressionError as error:
            yield Bad(str(file.path), f"cannot be read: it {error.why}")
        except OSError as error:
            if error.filename is not None:
                raise
            yield Bad(str(file.path), f"cannot be read ({error}).")


def find_files(paths: Sequence[Path], settings: ReadSettings) -> Iterator[File]:
    """Find all files, those of directories in the order of their names. Hidden files in directories are ignored."""
    names = Counter(path.name for path in paths)
    for path in paths:
        if not path.exists():
            piped = "To link a text, pipe it: echo 'TEXT' | wikilda link MODEL"
            remedy = piped if " " in str(path) else "Check the path."
            raise InputError(f"{path}: no such file or directory. {remedy}")
    for path in paths:
        inside = _walk(path) if path.is_dir() else [path]
        for each in inside:
            name = str(each) if names[path.name] > 1 else str(each.relative_to(path)) if path.is_dir() else path.name
            yield File(each, name, settings.format_of(each))


def _walk(directory: Path) -> Iterator[Path]:
    if (directory / "manifest.json").is_file():
        raise InputError(f"{directory}: is an artifact of wikilda, not a directory of documents. Check the path.")
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(folder, name) for name in sorted(files) if not name.startswith("."))


def _read_standard_input(stream: IO[bytes], settings: ReadSettings) -> Iterator[Read]:
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)  # type: ignore[type-var]
    start = buffered.peek(1 << 16)
    if not start:
        raise InputError(f"{_STANDARD_INPUT}: is empty. Give text, or name files.")
    kind = settings.format
    if kind == AUTO:
        kind = JSON_LINES if _JSON_START.match(start) else TEXT
    if kind == DUMP:
        raise InputError(f"{_STANDARD_INPUT}: a dump is read from a file. Name it.")
    yield from _read_stream(buffered, File(Path(_STANDARD_INPUT), "", kind), settings)


def read_file(file: File, settings: ReadSettings) -> Iterator[Read]:
    """The documents of a file."""
    if file.kind == DUMP:
        site = site_of(file.path)
        for piece in cut(file.path, _PIECE):
            yield from read_articles(piece, site)
        return
    with open_compressed(file.path) as stream:
        yield from _read_stream(stream, file, settings)


def _read_stream(stream: IO[bytes], file: File, settings: ReadSettings) -> Iterator[Read]:
    if file.kind in (TEXT, MARKED):
        yield _whole(stream, file, settings)
    elif file.kind == JSON_LINES:
        yield from from_lines(lines_up_to(stream, settings.largest), file, 1, settings)
    else:
        yield from from_rows(table_rows(stream, file, settings), file, 1, settings)


def _whole(stream: IO[bytes], file: File, settings: ReadSettings) -> Read:
    name = file.name or "1"

    def read() -> Document:
        data = read_up_to(stream, settings.largest)
        if data is None:
            raise too_large(settings)
        text = decode(data, settings, settings.encoding)
        if not text.strip():
            raise InputError("is empty. Remove the file, or write a text into it.")
        return marked(text, name) if file.kind == MARKED else Document(text, None, name)

    return _caught(read, str(file.path))


def from_lines(lines: Iterable[bytes | None], file: File, first: int, settings: ReadSettings) -> Iterator[Read]:
    """Yield documents from lines of JSON, numbered from a first number. None is a line that is too long."""
    for number, line in enumerate(lines, first):
        if line is None:
            yield Bad(f"{file.path}: line {number}", str(too_large(settings)))
        elif line.strip():
            plain = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line

            def read(line: bytes = plain, number: int = number) -> Document:
                return from_line(line, _id(file, number), settings)

            yield _caught(read, f"{file.path}: line {number}")


def from_rows(rows: Iterable[Row], file: File, first: int, settings: ReadSettings) -> Iterator[Read]:
    """Yield documents from the rows of a table, numbered from a first number."""
    for number, row in enumerate(rows, first):

        def read(row: Row = row, number: int = number) -> Document:
            if isinstance(row, InputError):
                raise row
            return from_row(row, _id(file, number), settings)

        yield _caught(read, f"{file.path}: row {number}")


def table_rows(stream: IO[bytes], file: File, settings: ReadSettings) -> Iterator[Row]:
    """Yield the rows of a table. Errors of the whole table name the file."""
    try:
        if file.kind == PARQUET:
            if file.path.suffix.lower() in SUFFIXES:
                raise InputError("is compressed, which Parquet is already. Decompress it first.")
            with _seekable(stream) as whole:
                yield from parquet_rows(whole, settings)
        else:
            yield from separated_rows(stream, file.kind, settings)
    except CompressionError:
        raise
    except InputError as error:
        raise InputError(f"{file.path}: {error}") from None


@contextmanager
def _seekable(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    """Return a stream, or a temporary copy of it: Parquet is read from its end."""
    if stream.seekable():
        yield stream
        return
    with TemporaryFile() as whole:
        shutil.copyfileobj(stream, whole, 1 << 20)
        whole.seek(0)
        yield whole


def _id(file: File, number: int) -> str:
    return f"{file.name}:{number}" if file.name else str(number)


def _caught(read: Callable[[], Document], place: str) -> Read:
    try:
        return read()
    except CompressionError:  # an error of the whole file
        raise
    except InputError as error:
        return Bad(place, str(error))


def read_articles(piece: Piece, site: Site) -> Iterator[Read]:
    """The articles of a piece of a MediaWiki dump."""
    from wikilda.documents.reading._files import articles  # imports kernels

    for found in articles(piece, site):
        yield Bad(f"{piece.path}: page {found[0]!r}", found[1]) if isinstance(found, tuple) else found


def articles(piece: Piece, site: Site) -> Iterator[Document | tuple[str, str]]:
    """Yield the articles of a piece of a dump; for an unreadable page, its title and the reason."""
    pages: list[RawPage] = []
    for page in pages_in(read_piece(piece), site.namespaces):
        if not isinstance(page, RawPage):
            yield page.title, page.reason
        elif page.namespace == MAIN and not page.redirect and page.wikitext:
            pages.append(page)
    scanned = scan(*joined([page.text for page in pages]), dialect_of(site))
    for number, page in enumerate(pages):
        yield _article(number, page, scanned)


def _article(number: int, page: RawPage, scanned: Scanned) -> Document:
    start, end = scanned.text_bounds[number : number + 2]
    links = scanned.links[:, scanned.link_bounds[number] : scanned.link_bounds[number + 1]]
    data = scanned.text[start:end]
    anchors = links[ANCHOR_START : ANCHOR_END + 1, links[IN_ASIDE] == 0].T - start
    characters = ((data & 0xC0) != 0x80).cumsum()  # the number of characters that begin up to each byte
    spans: list[tuple[int, int]] = []
    for first, last in anchors.tolist():
        if first < last and (not spans or characters[first] - 1 >= spans[-1][1]):
            spans.append((int(characters[first]) - 1, int(characters[last - 1])))
    return Document(data.tobytes().decode(), spans, page.title)
