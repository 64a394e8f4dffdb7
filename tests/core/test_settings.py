"""Settings say what they may be, and are held to it."""

import math
from dataclasses import dataclass
from typing import Any

import pytest

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, setting


@dataclass(frozen=True)
class Some(Settings):
    sweeps: int = setting(10, "sweeps", minimum=1)
    burn_in: int = setting(2, "burn-in", minimum=0, below="sweeps")
    share: float = setting(0.5, "a share", above=0, maximum=1)
    kappa: float = setting(0.0, "an exponent", above=0.5, maximum=1, or_zero=True)
    odds: float = setting(1.0, "odds", minimum=0, infinite=True)
    free: float = setting(-3.0, "any number")
    words: tuple[str, ...] = setting((), "some words")
    format: str = setting("a", "a format", choices=("a", "b"))
    column: str | None = setting(None, "a column")
    on: bool = setting(True, "a switch")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"sweeps": 0}, "sweeps must be at least 1, not 0"),
        ({"burn_in": 10}, r"burn_in must be at least 0 and below sweeps \(10\), not 10"),
        ({"sweeps": 2}, "burn_in must be"),
        ({"share": 0}, "share must be at most 1 and above 0, not 0.0"),
        ({"share": 1.01}, "share must be"),
        ({"kappa": 0.5}, "kappa must be 0, or at most 1 and above 0.5, not 0.5"),
        ({"odds": -1}, "odds must be at least 0"),
        ({"odds": math.nan}, "odds must be a finite number, not nan"),
        ({"free": math.inf}, "free must be a finite number"),
        ({"free": "x"}, "free: 'x' is not of type float"),
        ({"free": True}, "free: True is not of type float"),
        ({"sweeps": 1.0}, "sweeps: 1.0 is not of type int"),
        ({"sweeps": 2**64}, "sweeps must be a number of 64 bits"),
        ({"words": "abc"}, "words: 'abc' is not of type list of strings"),
        ({"words": [1]}, "words: .1. is not of type list of strings"),
        ({"format": "c"}, "format must be one of a, b, not 'c'"),
        ({"column": 3}, "column: 3 is not of type"),
        ({"on": 1}, "on: 1 is not of type bool"),
        ({"swepes": 1}, "unknown setting swepes; did you mean sweeps?"),
        ({"zzz": 1}, "unknown setting zzz; there are: burn_in, column"),
    ],
)
def test_errors_are_reported(values: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Some.from_mapping(values)


def test_what_is_right_is_taken() -> None:
    made = Some.from_mapping({"share": 1, "words": ["x", "y"], "odds": math.inf, "kappa": 0.7, "column": "c"})
    assert made == Some(share=1.0, words=("x", "y"), odds=math.inf, kappa=0.7, column="c")
    assert isinstance(made.share, float)
    assert Some.from_mapping(made.to_mapping()) == made
    assert made.to_mapping()["words"] == ["x", "y"]


def test_a_constructor_checks_too() -> None:
    with pytest.raises(SettingsError, match="sweeps"):
        Some(sweeps=0)
