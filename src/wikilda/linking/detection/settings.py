"""Settings of the dictionary detector."""

from dataclasses import dataclass

from wikilda.errors import SettingsError
from wikilda.settings import setting


@dataclass(frozen=True)
class DetectorSettings:
    """What link probability a string must have to be a mention, by what its capitals say.

    Probabilities over 1 are never reached: they turn a kind of string off.
    """

    capitalised: float = setting(0.01, "least link probability of a capitalised string")
    unclear: float = setting(0.03, "the same where capitals say nothing: at a sentence's start, in lines of capitals")
    part: float = setting(0.3, "the same where a capitalised word stands next to it, so that it may be part of a name")
    lower: float = setting(2.0, "the same in lower case, in scripts that have two cases")
    uncased: float = setting(0.2, "the same in scripts without cases")

    def __post_init__(self) -> None:
        for name in ("capitalised", "unclear", "part", "lower", "uncased"):
            if not getattr(self, name) >= 0:
                raise SettingsError(f"setting {name}: a probability is not negative.")
