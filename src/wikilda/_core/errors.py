"""Errors that a user can correct."""

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path


class WikildaError(Exception):
    """Base of all errors that a user can correct. The message has the place, the cause and the remedy."""


class InputError(WikildaError):
    """Something given by the user (a dump, a table, a document) cannot be read."""


class ArtifactError(WikildaError):
    """A directory is not the expected artifact, or it is damaged."""


class BusyError(WikildaError):
    """Another process is writing the same target."""


class SettingsError(WikildaError):
    """A setting has an unknown name or an impossible value."""


def disk_is_full(where: Path | str) -> WikildaError:
    """Return the error for a full disk."""
    return WikildaError(f"{where}: the disk is full. Free some space and run the same command again.")


@contextmanager
def explain_full_disk(where: Path) -> Iterator[None]:
    """Turn the system's error for a full disk into a message."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise disk_is_full(error.filename or where) from None


_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)}


def printable(text: str) -> str:
    """Return text without control characters, which could control a terminal. Tabs and line breaks stay."""
    return text.translate(_CONTROLS)


_EXAMPLES = 20
_FILE = "report.json"


@dataclass
class Report:
    """Counts, with examples of errors."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def count(self, what: str, amount: int = 1) -> None:
        """Count something."""
        self.counts[what] = self.counts.get(what, 0) + amount

    def complain(self, what: str, example: str) -> None:
        """Count an error and keep an example of it."""
        self.count(what)
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)

    def add(self, other: "Report") -> None:
        """Add another report to this one."""
        for what, amount in other.counts.items():
            self.count(what, amount)
        self.examples = (self.examples + other.examples)[:_EXAMPLES]

    def save(self, directory: Path) -> None:
        """Write it into a directory."""
        (directory / _FILE).write_text(json.dumps(asdict(self)), "utf-8")

    @classmethod
    def read(cls, directory: Path) -> "Report":
        """Read what `save` has written."""
        return cls(**json.loads((directory / _FILE).read_text("utf-8")))
