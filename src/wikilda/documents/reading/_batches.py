"""Documents in batches that can be read on their own, in any process."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

from wikilda._core.compression import SUFFIXES, CompressionError, lines_up_to, open_compressed
from wikilda._core.errors import InputError
from wikilda.documents.reading._files import (
    Bad,
    File,
    Read,
    find_files,
    from_lines,
    from_rows,
    read_articles,
    read_file,
    table_rows,
)  # fmt: skip
from wikilda.documents.reading.rows import DUMP, JSON_LINES, MARKED, PARQUET, TEXT, ReadSettings
from wikilda.documents.reading.tables import Row, parquet_rows, row_groups
from wikilda.mediawiki.dump import Piece, cut, site_of
from wikilda.mediawiki.site import Site

BATCH_BYTES = 1 << 23  # batches depend on the input only, not on the number of workers
_FILES, _ROWS = 256, 4096  # of a batch
_DEFAULT = ReadSettings()
Item = TypeVar("Item")


@dataclass(frozen=True)
class Texts:
    """Files with one document each."""

    files: tuple[File, ...]

    def read(self, settings: ReadSettings) -> Iterator[Read]:
        """The documents."""
        for file in self.files:
            try:
                yield from read_file(file, settings)
            except CompressionError as error:
                yield Bad(str(file.path), f"cannot be read: it {error.why}")


@dataclass(frozen=True)
class Lines:
    """Lines of a file of JSON lines."""

    file: File
    first: int
    lines: tuple[bytes | None, ...]

    def read(self, settings: ReadSettings) -> Iterator[Read]:
        """The documents."""
        return from_lines(self.lines, self.file, self.first, settings)


@dataclass(frozen=True)
class Rows:
    """Rows of a table."""

    file: File
    first: int
    rows: tuple[Row, ...]

    def read(self, settings: ReadSettings) -> Iterator[Read]:
        """The documents."""
        return from_rows(self.rows, self.file, self.first, settings)


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file."""

    file: File
    first: int
    group: int

    def read(self, settings: ReadSettings) -> Iterator[Read]:
        """The documents."""
        try:
            with self.file.path.open("rb") as stream:
                yield from from_rows(parquet_rows(stream, settings, self.group), self.file, self.first, settings)
        except InputError as error:
            raise InputError(f"{self.file.path}: {error}") from None


@dataclass(frozen=True)
class Articles:
    """A piece of a MediaWiki dump, and its wiki."""

    piece: Piece
    site: Site

    def read(self, settings: ReadSettings) -> Iterator[Read]:
        """The documents."""
        return read_articles(self.piece, self.site)


Batch = Texts | Lines | Rows | RowGroup | Articles


def batches(paths: Sequence[Path], settings: ReadSettings = _DEFAULT) -> Iterator[Batch]:
    """Yield the documents of files and directories in batches that any process can read."""
    texts: list[File] = []
    for file in find_files(paths, settings):
        if file.kind in (TEXT, MARKED):
            texts.append(file)
            if len(texts) == _FILES:
                yield Texts(tuple(texts))
                texts = []
            continue
        if texts:
            yield Texts(tuple(texts))
            texts = []
        yield from _batches_of(file, settings)
    if texts:
        yield Texts(tuple(texts))


def _batches_of(file: File, settings: ReadSettings) -> Iterator[Batch]:
    if file.kind == DUMP:
        site = site_of(file.path)
        yield from (Articles(piece, site) for piece in cut(file.path, 2 * BATCH_BYTES))
        return
    with open_compressed(file.path) as stream:
        if file.kind == JSON_LINES:
            for first, lines in _cut(lines_up_to(stream, settings.largest), BATCH_BYTES, lambda line: len(line or b"")):
                yield Lines(file, first, lines)
        elif file.kind == PARQUET and file.path.suffix not in SUFFIXES:
            yield from _row_groups(file, stream)
        else:
            for first, rows in _cut(table_rows(stream, file, settings), _ROWS, lambda _: 1):
                yield Rows(file, first, rows)


def _row_groups(file: File, stream: IO[bytes]) -> Iterator[Batch]:
    try:
        sizes = row_groups(stream)
    except InputError as error:
        raise InputError(f"{file.path}: {error}") from None
    first = 1
    for group, size in enumerate(sizes):
        yield RowGroup(file, first, group)
        first += size


def _cut(items: Iterable[Item], most: int, size_of: Callable[[Item], int]) -> Iterator[tuple[int, tuple[Item, ...]]]:
    """Yield items in groups of about some size, each with the number of its first item."""
    held: list[Item] = []
    size, first = 0, 1
    for number, item in enumerate(items, 1):
        held.append(item)
        size += size_of(item)
        if size >= most:
            yield first, tuple(held)
            held, size, first = [], 0, number + 1
    if held:
        yield first, tuple(held)
