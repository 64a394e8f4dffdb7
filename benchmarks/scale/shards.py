"""The figures of single shards, read while a training writes them: is its rate a stable one?"""

import json
from pathlib import Path
from typing import Any

import numpy as np


class Shards:
    """What the shards of a training took, in the order in which they were done."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._reports: dict[str, dict[str, Any]] = {}

    def look(self) -> str:
        """Read the reports that are new; the phase of what is watched is one and has no name."""
        for file in self.place.glob("iteration-*/notes/*/report.json"):
            if file.parent.name.isdigit() and file.parent.name not in self._reports:
                self._reports[file.parent.name] = json.loads(file.read_text("utf-8"))
        return ""

    def figures(self) -> dict[str, float]:
        """CPU milliseconds to sample a document: in the first and the last third of the shards, and the spread."""
        each = np.array([1000 * one["sampling seconds"] / one["documents"] for one in self._reports.values()])
        third = len(each) // 3
        if not third:
            return {}
        return {
            "train: shards seen": len(each), "train: ms a document, first third": float(each[:third].mean()),
            "train: ms a document, last third": float(each[-third:].mean()),
            "train: ms a document, standard error": float(each.std(ddof=1) / np.sqrt(len(each))),
        }  # fmt: skip
