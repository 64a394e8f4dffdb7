"""What a detector is."""

from typing import Protocol

Spans = list[tuple[int, int]]


class Detector(Protocol):
    """Finds the mentions of a text. One detector serves many threads."""

    def detect(self, text: str) -> Spans:
        """The spans of the mentions in characters (code points), sorted, none overlapping another."""
        ...
