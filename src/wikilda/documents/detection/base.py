"""What a detector is."""

from typing import Protocol, runtime_checkable

from wikilda.text.offsets import Spans
from wikilda.text.tokens import Tokens


class Detector(Protocol):
    """Finds the mentions of a text. One detector serves many threads."""

    def detect(self, text: str) -> Spans:
        """The spans of the mentions in characters (code points), sorted, none overlapping another."""
        ...


@runtime_checkable
class TokenDetector(Detector, Protocol):
    """A detector that works on the tokens of a text, so that the text need not be tokenised again."""

    def detect_tokens(self, tokens: Tokens) -> Spans:
        """The same, for a text that is tokenised."""
        ...
