"""The record of a search: a JSON line a trial, written as soon as it is known, so that a search can go on."""

import json
from pathlib import Path
from typing import Any

from wikilda import __version__
from wikilda.errors import InputError

KIND = "wikilda tune"


class Record:
    """Trials that were made on the same model and data, by their settings."""

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        self.head = {"kind": KIND, "wikilda": __version__, **about}
        self.scores: dict[str, dict[str, Any]] = {}
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        if not any(lines):
            self._append(self.head)
            return
        self._read(lines)

    def find(self, settings: dict[str, Any]) -> dict[str, Any] | None:
        """The scores of some settings, if they are known."""
        return self.scores.get(_key(settings))

    def add(self, settings: dict[str, Any], scores: dict[str, Any]) -> None:
        """Keep the scores of some settings."""
        self.scores[_key(settings)] = scores
        self._append({"settings": settings, **scores})

    def _read(self, lines: list[bytes]) -> None:
        if lines[-1]:  # a search was stopped while it wrote this: that trial is made again
            lines[-1] = b""
            self.path.write_bytes(b"\n".join(lines))
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line) if line else None
            except ValueError as error:
                raise InputError(f"{self.path}: line {number}: is not JSON ({error}).") from None
            if number == 1 and row != self.head:
                raise InputError(
                    f"{self.path}: is the record of a search with another model, other data or another version. "
                    "Name another file."
                )
            if number > 1 and row is not None:
                settings = row.pop("settings")
                self.scores[_key(settings)] = row

    def _append(self, row: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _key(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)
