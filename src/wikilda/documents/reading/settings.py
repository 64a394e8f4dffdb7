"""How documents are read."""

from dataclasses import dataclass
from pathlib import Path

from wikilda._core.compression import uncompressed_suffix
from wikilda._core.settings import Settings, setting
from wikilda.text.offsets import CODE_POINTS, UNITS

AUTO, TEXT, MARKED, JSON_LINES, CSV, TSV, PARQUET = "auto", "text", "marked", "jsonl", "csv", "tsv", "parquet"
FORMATS = (AUTO, TEXT, MARKED, JSON_LINES, CSV, TSV, PARQUET)
_SUFFIXES = {
    ".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".parquet": PARQUET,
}  # fmt: skip
REFUSE, REPLACE = "refuse", "replace"


@dataclass(frozen=True)
class ReadSettings(Settings):
    """What the input is: its format, its columns, the unit of its offsets, what becomes of bytes that are no text."""

    format: str = setting(AUTO, "format of the input", choices=FORMATS)
    text_column: str = setting("text", "column that holds a document's text")
    id_column: str | None = setting(None, 'column that holds its id; else "id", where there is one')
    unit: str = setting(CODE_POINTS, "unit of the offsets of mentions", choices=UNITS)
    invalid: str = setting(REFUSE, "what becomes of bytes that are not UTF-8", choices=(REFUSE, REPLACE))
    largest: int = setting(10_000_000, "bytes of one document", minimum=1)

    def format_of(self, path: Path) -> str:
        """The format of a file: as it was said, or by the end of its name; what has no known end is text."""
        if self.format != AUTO:
            return self.format
        return _SUFFIXES.get(uncompressed_suffix(path), TEXT)
