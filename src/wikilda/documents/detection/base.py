"""What a detector is."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

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


NEVER = float("inf")


def _odds(default: float, about: str) -> Any:
    return setting(default, about, minimum=0, infinite=True)


@dataclass(frozen=True)
class DetectorSettings(Settings):
    """How probable a link must be for a string to be a mention, by what its capitals say.

    Each is a ratio of odds: 2 means twice the odds that an average string of the dictionary has of being a link where
    it occurs. So they hold for wikis that link every name and for those that link it once; `inf` is never.
    """

    capitalised: float = _odds(0.1, "least odds of being a link, to those of an average string, if capitalised")
    unclear: float = _odds(0.5, "the same where capitals say nothing: at a sentence's start, in lines of capitals")
    part: float = _odds(20.0, "the same where a capitalised word stands next to it, so that it may be part of a name")
    lower: float = _odds(NEVER, "the same in lower case, in scripts that have two cases")
    uncased: float = _odds(5.0, "the same in scripts without cases")
    unknown: float = _odds(
        0.5, "odds of being a link, to those of an average string, of capitalised names that the dictionary lacks"
    )
