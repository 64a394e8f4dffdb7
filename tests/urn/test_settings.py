"""Settings that are refused."""

from typing import Any

import pytest

from wikilda._core.errors import SettingsError
from wikilda.urn import UrnSettings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sweeps": 0}, "sweeps"),
        ({"sweeps": 5, "burn_in": 5}, "burn_in"),
        ({"burn_in": -1}, "burn_in"),
        ({"base_weight": 0.0}, "base_weight"),
        ({"proximity_tokens": 0.0}, "proximity_tokens"),
        ({"neighbour_overlap": -0.1}, "neighbour_overlap"),
        ({"prior_exponent": -1.0}, "prior_exponent"),
        ({"word_weight": -1.0}, "word_weight"),
        ({"repeat_weight": -0.1}, "repeat_weight"),
        ({"link_weight": -0.1}, "link_weight"),
        ({"shared_neighbour_weight": -0.1}, "shared_neighbour_weight"),
        ({"proximity_weight": -0.1}, "proximity_weight"),
        ({"posterior_exponent": 0.0}, "posterior_exponent"),
        ({"nil_weight": -0.1}, "nil_weight"),
        ({"nil_exponent": -0.1}, "nil_exponent"),
        ({"max_candidates": 0}, "max_candidates"),
        ({"max_neighbours": 0}, "max_neighbours"),
        ({"base_weight": float("nan")}, "base_weight"),
        ({"word_weight": float("inf")}, "word_weight"),
        ({"acronym_bonus": float("nan")}, "acronym_bonus"),
        ({"title_mismatch_penalty": float("-inf")}, "title_mismatch_penalty"),
    ],
)
def test_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        UrnSettings(**settings)


def test_accepted() -> None:
    nothing = {
        "word_weight": 0.0,
        "repeat_weight": 0.0,
        "link_weight": 0.0,
        "shared_neighbour_weight": 0.0,
        "proximity_weight": 0.0,
        "prior_exponent": 0.0,
    }
    UrnSettings(
        sweeps=1,
        burn_in=0,
        max_candidates=1,
        max_neighbours=1,
        acronym_bonus=-1.0,
        title_mismatch_penalty=0.0,
        **nothing,
    )
