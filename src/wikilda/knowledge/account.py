"""The account of a build: every page, link and byte of the dump by class. The classes of a part add up to its total."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wikilda._core.atomic import write_text
from wikilda._core.errors import ArtifactError
from wikilda._core.html_page import bars, items, page

JSON_FILE, HTML_FILE = "build-report.json", "build-report.html"


@dataclass(frozen=True)
class Entry:
    """A class of pages, links or bytes: its count, examples, and the settings that change it."""

    name: str
    count: int
    examples: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """All pages, all links or all bytes by class; the counts of the entries add up to the total."""

    name: str
    total: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Account:
    """The account of a dump."""

    wiki: str
    source: dict[str, Any]
    parts: tuple[Part, ...]
    complaints: tuple[str, ...] = ()

    def save(self, directory: Path, complaints: list[str]) -> None:
        """Write it as JSON and as a page of HTML."""
        known = {**asdict(self), "complaints": complaints}
        write_text(directory / JSON_FILE, json.dumps(known, ensure_ascii=False, indent=1) + "\n")
        write_text(directory / HTML_FILE, Account(self.wiki, self.source, self.parts, tuple(complaints)).to_html())

    @classmethod
    def read(cls, directory: Path) -> "Account":
        """Read the account of a model."""
        file = directory / JSON_FILE
        if not file.is_file():
            raise ArtifactError(
                f"{directory}: has no build report: it was not built from a dump. Give a model that was."
            )
        known = json.loads(file.read_text("utf-8"))
        parts = tuple(
            Part(part["name"], part["total"], tuple(
                Entry(each["name"], each["count"], tuple(each["examples"]), tuple(each["settings"]))
                for each in part["entries"]
            ))
            for part in known["parts"]
        )  # fmt: skip
        return cls(known["wiki"], known["source"], parts, tuple(known["complaints"]))

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """The rows of a short table: names, counts and shares; classes without members are left out."""
        for part in self.parts:
            yield part.name, f"{part.total:,}", ""
            for each in part.entries:
                if each.count:
                    yield f"  {each.name}", f"{each.count:,}", f"{each.count / max(part.total, 1):.1%}"

    def to_html(self) -> str:
        """Return a page without scripts."""
        body = []
        for part in self.parts:
            rows = [
                (each.name, each.count, ", ".join(each.examples), ", ".join(each.settings)) for each in part.entries
            ]
            body.append(bars(part.name, part.total, ("class", "count", "examples", "settings that change it"), rows))
        if self.complaints:
            body.append(items("Complaints", self.complaints))
        about = ", ".join(f"{name}: {_words(value)}" for name, value in self.source.items() if value)
        return page(f"Build report: {self.wiki}", about, body)


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
