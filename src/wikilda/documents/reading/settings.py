"""How documents are read."""

import codecs
from dataclasses import dataclass
from pathlib import Path

from wikilda._core.compression import uncompressed_suffix
from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, setting
from wikilda.text.offsets import CODE_POINTS, UNITS

AUTO, TEXT, MARKED, JSON_LINES, CSV, TSV, PARQUET, DUMP = (
    "auto", "text", "marked", "jsonl", "csv", "tsv", "parquet", "dump",
)  # fmt: skip
FORMATS = (AUTO, TEXT, MARKED, JSON_LINES, CSV, TSV, PARQUET, DUMP)
_SUFFIXES = {
    ".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".parquet": PARQUET,
    ".xml": DUMP,
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

    format: str = setting(AUTO, "format of the input", choices=FORMATS)
    text_column: str = setting("text", "column or field with the text")
    id_column: str | None = setting(None, 'column or field with the document\'s id; else "id", where there is one')
    offsets: str = setting(CODE_POINTS, "unit of the offsets of mentions", choices=UNITS)
    encoding: str = setting("utf-8", "encoding of text, CSV and TSV files")
    invalid: str = setting(REFUSE, "what to do with a document that is not in this encoding", choices=(REFUSE, REPLACE))
    largest: int = setting(10_000_000, "bytes of a document, at most", minimum=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise SettingsError(f"encoding {self.encoding!r} is not known; try utf-8, latin-1, cp1252, …") from None

    def format_of(self, path: Path) -> str:
        """The format of a file: the given one, or by the end of its name; text if that is not known."""
        return self.format if self.format != AUTO else _SUFFIXES.get(uncompressed_suffix(path), TEXT)
