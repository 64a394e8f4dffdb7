"""Where documents come from: files and directories, cut into batches that can be read on their own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wikilda._core.compression import open_compressed, uncompressed_suffix, whole_lines
from wikilda._core.errors import InputError
from wikilda._core.parquet import ParquetError, open_parquet
from wikilda.mediawiki.dump import Piece, cut, site_of
from wikilda.mediawiki.site import Site

BATCH_BYTES = 1 << 23  # a batch depends on the input alone, never on who reads it
_BATCH_FILES = 256
_LINES, _ROWS, _DUMP = (".jsonl", ".ndjson"), (".parquet",), (".xml",)
PLAIN = (".txt", ".text")


@dataclass(frozen=True)
class TextFiles:
    """Plain text files, a document each; their names are their ids."""

    files: tuple[tuple[Path, str], ...]


@dataclass(frozen=True)
class Lines:
    """Lines of JSON, as bytes."""

    name: str
    first: int
    lines: tuple[bytes, ...]


@dataclass(frozen=True)
class RowGroup:
    """A group of rows of a Parquet file."""

    path: Path
    group: int
    first: int


@dataclass(frozen=True)
class Articles:
    """A piece of a MediaWiki dump, and the wiki that it is of."""

    piece: Piece
    site: Site


Batch = TextFiles | Lines | RowGroup | Articles


def batches(inputs: list[Path]) -> Iterator[Batch]:
    """All inputs, in order; directories are walked, by name."""
    for path in inputs:
        if not path.exists():
            raise InputError(f"{path}: no such file or directory.")
        if path.is_dir():
            yield from _directory(path)
        else:
            yield from _file(path)


def _directory(directory: Path) -> Iterator[Batch]:
    files = sorted(path for path in directory.rglob("*") if path.is_file() and not path.name.startswith("."))
    known = [path for path in files if uncompressed_suffix(path) in (*PLAIN, *_LINES, *_ROWS, *_DUMP)]
    if not known:
        raise InputError(f"{directory}: has no .txt, .jsonl, .parquet or .xml files.")
    plain = [path for path in known if path.suffix.lower() in PLAIN]
    for start in range(0, len(plain), _BATCH_FILES):
        some = plain[start : start + _BATCH_FILES]
        yield TextFiles(tuple((path, str(path.relative_to(directory))) for path in some))
    for path in known:
        if path.suffix.lower() not in PLAIN:
            yield from _file(path)


def _file(path: Path) -> Iterator[Batch]:
    kind = uncompressed_suffix(path)
    if kind in _LINES:
        yield from _lines(path)
    elif kind in _ROWS:
        yield from _row_groups(path)
    elif kind in _DUMP:
        site = site_of(path)
        yield from (Articles(piece, site) for piece in cut(path, 2 * BATCH_BYTES))
    else:
        yield TextFiles(((path, path.name),))


def _lines(path: Path) -> Iterator[Batch]:
    held: list[bytes] = []
    first, size = 1, 0
    with open_compressed(path) as stream:
        for number, line in enumerate(whole_lines(stream, path), 1):
            held.append(line)
            size += len(line)
            if size >= BATCH_BYTES:
                yield Lines(path.name, first, tuple(held))
                held, first, size = [], number + 1, 0
    if held:
        yield Lines(path.name, first, tuple(held))


def _row_groups(path: Path) -> Iterator[Batch]:
    try:
        about = open_parquet(path).metadata
    except ParquetError as error:
        raise InputError(f"{path}: {error}") from None
    first = 1
    for group in range(about.num_row_groups):
        yield RowGroup(path, group, first)
        first += about.row_group(group).num_rows
