"""One stream of documents from whatever is given; what cannot be read comes out as such, in its place."""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from wikilda._core.compression import CompressionError, lines_up_to, open_compressed, read_up_to
from wikilda._core.errors import InputError
from wikilda.documents.document import Document, marked
from wikilda.documents.reading._decode import decode, too_large
from wikilda.documents.reading._files import STANDARD_INPUT, find_files
from wikilda.documents.reading.rows import from_line, from_row
from wikilda.documents.reading.settings import AUTO, JSON_LINES, MARKED, PARQUET, TEXT, ReadSettings
from wikilda.documents.reading.tables import parquet_rows, separated_rows

_JSON_START = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"')
_DEFAULT = ReadSettings()


@dataclass(frozen=True)
class Bad:
    """A document that could not be read or linked: where it is, and why."""

    place: str
    why: str

    def __str__(self) -> str:
        return f"{self.place}: {self.why}"


Read = Document | Bad


def read_documents(
    paths: Sequence[Path] = (), standard_input: IO[bytes] | None = None, settings: ReadSettings = _DEFAULT
) -> Iterator[Read]:
    """The documents of files and directories in their order; of standard input when there are no paths.

    Without a format, files go by the end of their names, and standard input is JSON lines if it begins with `{"`.
    """
    if not paths and standard_input is not None:
        yield from _read_standard_input(standard_input, settings)
    for path in find_files(paths):
        try:
            with open_compressed(path) as stream:
                yield from _read(stream, settings.format_of(path), str(path), settings)
        except CompressionError as error:
            yield Bad(str(path), f"cannot be read: it {error.why}")
        except OSError as error:
            if error.filename is not None:
                raise
            yield Bad(str(path), f"cannot be read ({error}).")


def _read_standard_input(stream: IO[bytes], settings: ReadSettings) -> Iterator[Read]:
    buffered = stream if hasattr(stream, "peek") else io.BufferedReader(stream)  # type: ignore[type-var]
    start = buffered.peek(1 << 16)
    if not start:
        raise InputError(f"{STANDARD_INPUT}: is empty. Give text, or name files.")
    kind = settings.format
    if kind == AUTO:
        kind = JSON_LINES if _JSON_START.match(start) else TEXT
    yield from _read(buffered, kind, STANDARD_INPUT, settings)


def _read(stream: IO[bytes], kind: str, name: str, settings: ReadSettings) -> Iterator[Read]:
    if kind in (TEXT, MARKED):
        yield _whole(stream, kind, name, settings)
    elif kind == JSON_LINES:
        yield from _lines(stream, name, settings)
    else:
        yield from _rows(stream, kind, name, settings)


def _whole(stream: IO[bytes], kind: str, name: str, settings: ReadSettings) -> Read:
    number = "1" if name == STANDARD_INPUT else name

    def read() -> Document:
        data = read_up_to(stream, settings.largest)
        if data is None:
            raise too_large(settings)
        text = decode(data, settings)
        if not text.strip():
            raise InputError("is empty.")
        return marked(text, number) if kind == MARKED else Document(text, None, number)

    return _caught(read, name)


def _lines(stream: IO[bytes], name: str, settings: ReadSettings) -> Iterator[Read]:
    for number, line in enumerate(lines_up_to(stream, settings.largest), 1):
        if line is None:
            yield Bad(f"{name}: line {number}", str(too_large(settings)))
        elif line.strip():

            def read(line: bytes = line, number: int = number) -> Document:
                text = decode(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, settings)
                return from_line(text, _id(name, number), settings)

            yield _caught(read, f"{name}: line {number}")


def _rows(stream: IO[bytes], kind: str, name: str, settings: ReadSettings) -> Iterator[Read]:
    try:
        rows: Iterable[dict[str, object] | InputError] = (
            parquet_rows(stream, settings) if kind == PARQUET else separated_rows(stream, kind, settings)
        )
        for number, row in enumerate(rows, 1):

            def read(row: dict[str, object] | InputError = row, number: int = number) -> Document:
                if isinstance(row, InputError):
                    raise row
                return from_row(row, _id(name, number), settings)

            yield _caught(read, f"{name}: row {number}")
    except CompressionError:
        raise
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _id(name: str, number: int) -> str:
    return str(number) if name == STANDARD_INPUT else f"{name}:{number}"


def _caught(read: Callable[[], Document], place: str) -> Read:
    try:
        return read()
    except CompressionError:  # of the whole file
        raise
    except InputError as error:
        return Bad(place, str(error))
