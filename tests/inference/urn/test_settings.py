"""Settings that are refused."""

from typing import Any

import pytest

from wikilda.errors import SettingsError
from wikilda.inference.urn import UrnSettings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sweeps": 0}, "burn_in"),
        ({"sweeps": 5, "burn_in": 5}, "burn_in"),
        ({"burn_in": -1}, "burn_in"),
        ({"base": 0.0}, "base"),
        ({"reach": 0.0}, "reach"),
        ({"overlap": -0.1}, "overlap"),
        ({"temper": -1.0}, "temper"),
        ({"words": -1.0}, "words"),
        ({"repeats": -0.1}, "repeats"),
        ({"links": -0.1}, "links"),
        ({"shared": -0.1}, "shared"),
        ({"near": -0.1}, "near"),
        ({"sharpen": 0.0}, "sharpen"),
        ({"nil": -0.1}, "nil"),
        ({"nil_power": -0.1}, "nil_power"),
        ({"most": 0}, "most"),
        ({"hub": 0}, "hub"),
        ({"base": float("nan")}, "base"),
        ({"words": float("inf")}, "words"),
        ({"acronym": float("nan")}, "acronym"),
        ({"stray": float("-inf")}, "stray"),
    ],
)
def test_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        UrnSettings(**settings)


def test_accepted() -> None:
    nothing = {"words": 0.0, "repeats": 0.0, "links": 0.0, "shared": 0.0, "near": 0.0, "temper": 0.0}
    UrnSettings(sweeps=1, burn_in=0, most=1, hub=1, acronym=-1.0, stray=0.0, **nothing)
