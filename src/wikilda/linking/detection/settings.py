"""Settings of the dictionary detector."""

from dataclasses import dataclass, fields

from wikilda.errors import SettingsError
from wikilda.settings import setting

NEVER = float("inf")


@dataclass(frozen=True)
class DetectorSettings:
    """How probable a link must be for a string to be a mention, by what its capitals say.

    Each is a ratio of odds: 2 means twice the odds that an average string of the dictionary has of being a link where
    it occurs. So they hold for wikis that link every name and for those that link it once; `inf` is never.
    """

    capitalised: float = setting(0.3, "least odds of being a link, to those of an average string, if capitalised")
    unclear: float = setting(0.5, "the same where capitals say nothing: at a sentence's start, in lines of capitals")
    part: float = setting(20.0, "the same where a capitalised word stands next to it, so that it may be part of a name")
    lower: float = setting(NEVER, "the same in lower case, in scripts that have two cases")
    uncased: float = setting(5.0, "the same in scripts without cases")

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) >= 0:
                raise SettingsError(f"setting {each.name}: odds are not negative.")
