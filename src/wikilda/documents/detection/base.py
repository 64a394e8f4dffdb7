"""What a detector is."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from wikilda._core.settings import Settings, setting
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

    def propose_tokens(self, tokens: Tokens, *, nested: bool) -> Spans:
        """The same with parts of mentions, each after the mention that it is in; with `nested` those of all."""
        ...


@dataclass(frozen=True)
class DetectorSettings(Settings):
    """Settings of the dictionary detector."""

    recall: float = setting(
        0.5, "Balance from precision (0) to recall (1). Larger values detect more names.", minimum=0, maximum=1
    )
