"""Bytes, lines and rows to documents. Errors are InputErrors without the place."""

import codecs
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wikilda._core.compression import uncompressed_suffix
from wikilda._core.errors import InputError, SettingsError
from wikilda._core.settings import Settings, setting
from wikilda.documents.document import Document, marked
from wikilda.text.offsets import CODE_POINTS, UNITS, to_code_points

AUTO, TEXT, MARKED, JSON_LINES, CSV, TSV, PARQUET, DUMP = (
    "auto", "text", "marked", "jsonl", "csv", "tsv", "parquet", "dump",
)  # fmt: skip
FORMATS = (AUTO, TEXT, MARKED, JSON_LINES, CSV, TSV, PARQUET, DUMP)
_SUFFIXES = {
    ".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".parquet": PARQUET,
    ".xml": DUMP, ".zim": DUMP,
}  # fmt: skip
REFUSE, REPLACE = "refuse", "replace"


@dataclass(frozen=True)
class ReadSettings(Settings):
    """The input of linking and training: its format, columns and encoding, and the unit of its offsets.

    Examples
    --------
    >>> from wikilda import ReadSettings
    >>> ReadSettings(format="csv", text_column="body").text_column
    'body'
    """

    format: str = setting(AUTO, "Format of the input.", choices=FORMATS)
    text_column: str = setting("text", "Column or field with the text.")
    id_column: str | None = setting(
        None, "Column or field with the id of the document; by default `id`, if there is one."
    )
    source_column: str | None = setting(
        None, "Column or field with the document's source; training lets no source dominate a string."
    )
    offsets: str = setting(CODE_POINTS, "Unit of the offsets of mentions.", choices=UNITS)
    encoding: str = setting("utf-8", "Encoding of text, CSV and TSV files.")
    invalid: str = setting(
        REFUSE, "What to do with a document that is not in this encoding.", choices=(REFUSE, REPLACE)
    )
    largest: int = setting(10_000_000, "Largest document in bytes.", minimum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise SettingsError(f"encoding {self.encoding!r} is not known; try utf-8, latin-1, cp1252, …") from None

    def format_of(self, path: Path) -> str:
        """Return the format of a file: the given one, or by the end of its name; text if that is unknown."""
        return self.format if self.format != AUTO else _SUFFIXES.get(uncompressed_suffix(path), TEXT)


_ESCAPED = re.compile("[\udc80-\udcff]")
_REMEDY = "Use --set encoding=NAME, or --set invalid=replace."


def decode(data: bytes, settings: ReadSettings, encoding: str = "utf-8") -> str:
    """Decode text without changes. With the policy `replace`, bad bytes become U+FFFD."""
    nul = data.find(b"\0")
    if nul >= 0 and not encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):
        raise InputError(f"has a zero byte at {nul:,}: it is a binary file or in UTF-16. Save it as UTF-8.")
    try:
        return data.decode(encoding, "replace" if settings.invalid == REPLACE else "strict")
    except UnicodeDecodeError as error:
        name = encoding.upper() if encoding == "utf-8" else encoding
        raise InputError(f"is not {name} ({error.reason} at byte {error.start:,}). {_REMEDY}") from None


def unescape(text: str, settings: ReadSettings) -> str:
    """Apply the same policy to text that was decoded with `surrogateescape`."""
    bad = _ESCAPED.search(text)
    if bad is None:
        return text
    if settings.invalid == REPLACE:
        return _ESCAPED.sub("\ufffd", text)
    raise InputError(f"is not {settings.encoding.upper()} (at character {bad.start():,}). {_REMEDY}")


def too_large(settings: ReadSettings) -> InputError:
    """Return the error for a document that is too large."""
    return InputError(
        f"is larger than {settings.largest:,} bytes. Split it into documents, or raise --set largest=BYTES."
    )


def row_of(line: bytes, settings: ReadSettings) -> dict[str, Any]:
    """Parse a line of JSON into a row of named values."""
    try:
        row = json.loads(decode(line, settings))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error}). Correct or remove the line.") from None
    if not isinstance(row, dict):
        raise InputError("is not a JSON object. Write one object per line.")
    return row


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A record in its plain form: `text` for `marked`, an id that is a string, mentions that are objects.

    All readers of JSON lines accept the same records. Unknown fields are ignored.
    """
    kept = {name: value for name, value in row.items() if name != "id" or value is not None}
    if "text" not in kept and isinstance(kept.get("marked"), str):
        document = marked(kept.pop("marked"))
        kept |= {"text": document.text, "mentions": [list(each) for each in document.mentions or ()]}
    if "id" in kept:
        kept["id"] = str(kept["id"])
    if isinstance(kept.get("mentions"), list):
        kept["mentions"] = [
            {"start": each[0], "end": each[1]} if isinstance(each, list) and len(each) == 2 else each
            for each in kept["mentions"]
        ]
    return kept


def from_line(line: bytes, id: str, settings: ReadSettings) -> Document:  # noqa: A002
    """A document from a line of JSON: `text`, with `mentions` or without, or `marked` with [[mentions]]."""
    return from_row(row_of(line, settings), id, settings)


def from_row(row: dict[str, Any], id: str, settings: ReadSettings) -> Document:  # noqa: A002
    """A document from a row of named values."""
    given = row.get(settings.id_column or "id")
    name = id if given is None else str(given)
    source = row.get(settings.source_column) if settings.source_column else None
    published = "" if source is None else str(source)
    if settings.text_column not in row and isinstance(row.get("marked"), str):
        return replace(marked(row["marked"], name), source=published)
    text = row.get(settings.text_column)
    if not isinstance(text, str):
        raise InputError(f'needs "{settings.text_column}", a string. Add it, or name another field with --text-column.')
    if len(text) > settings.largest:
        raise too_large(settings)
    return Document(text, _mentions(row.get("mentions"), text, settings), name, source=published)


def _mentions(given: Any, text: str, settings: ReadSettings) -> list[tuple[int, int]] | None:
    if given is None:
        return None
    if not isinstance(given, list):
        raise InputError('has "mentions" that are not a list. Write [{"start": 0, "end": 5}].')
    return to_code_points(text, [_span(each, settings.offsets) for each in given], settings.offsets)


def _span(mention: Any, unit: str) -> tuple[int, int]:
    if isinstance(mention, dict):
        mention = (mention.get("start"), mention.get("end"))
    if isinstance(mention, list | tuple) and len(mention) == 2 and all(type(each) is int for each in mention):
        return mention[0], mention[1]
    counted = "characters" if unit == CODE_POINTS else unit
    raise InputError(f'has a mention that is not {{"start": 0, "end": 5}} or [0, 5], in {counted}. Correct it.')
