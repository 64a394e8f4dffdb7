"""How documents are read."""

from dataclasses import dataclass
from pathlib import Path

from wikilda.errors import SettingsError
from wikilda.linking.offsets import CODE_POINTS, UNITS

AUTO, TEXT, MARKED, JSON_LINES, CSV, TSV, PARQUET = "auto", "text", "marked", "jsonl", "csv", "tsv", "parquet"
FORMATS = (AUTO, TEXT, MARKED, JSON_LINES, CSV, TSV, PARQUET)
_SUFFIXES = {
    ".jsonl": JSON_LINES, ".ndjson": JSON_LINES, ".csv": CSV, ".tsv": TSV, ".tab": TSV, ".parquet": PARQUET,
}  # fmt: skip
COMPRESSED = (".gz", ".bz2", ".xz")
REFUSE, REPLACE = "refuse", "replace"


@dataclass(frozen=True)
class ReadSettings:
    """What the input is: its format, its columns, the unit of its offsets, what becomes of bytes that are no text."""

    format: str = AUTO
    text_column: str = "text"
    id_column: str | None = None  # "id" where there is one
    unit: str = CODE_POINTS
    invalid: str = REFUSE
    largest: int = 10_000_000  # bytes of one document

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("format", self.format, FORMATS), ("unit", self.unit, UNITS), ("invalid", self.invalid, (REFUSE, REPLACE)),
        ):  # fmt: skip
            if value not in choices:
                raise SettingsError(f"{name} {value!r}: choose {', '.join(choices)}.")

    def format_of(self, path: Path) -> str:
        """The format of a file: as it was said, or by the end of its name; what has no known end is text."""
        if self.format != AUTO:
            return self.format
        name = Path(path.stem) if path.suffix.lower() in COMPRESSED else path
        return _SUFFIXES.get(name.suffix.lower(), TEXT)
