"""Settings that are refused, and weights that replace those of the model."""

from typing import Any

import pytest

from wikilda._core.errors import SettingsError
from wikilda.model.weights import Weights, pooled
from wikilda.urn import UrnSettings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": 1.0}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"backoff_candidates": -1}, "backoff_candidates"),
        ({"max_candidates": 0}, "max_candidates"),
        ({"max_neighbours": 0}, "max_neighbours"),
        ({"words": float("nan")}, "words"),
        ({"naming": float("inf")}, "naming"),
        ({"naming": "0.5"}, "naming"),
        ({"fame": 1.0}, "unknown setting fame"),
    ],
)
def test_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        UrnSettings.from_mapping(settings)


@pytest.mark.parametrize("given", ["words", "words=", "words=x", "fame=1"])
def test_weights_are_names_with_numbers(given: str) -> None:
    with pytest.raises(SettingsError, match="weight"):
        UrnSettings(weights=(given,)).apply(pooled())


def test_weights_replace_those_of_the_model() -> None:
    settings = UrnSettings.from_mapping({"words": 0, "max_candidates": 3})
    assert (settings.max_candidates, settings.weights) == (3, ("words=0",))
    assert settings.apply(pooled()) == pooled().replaced([("words", 0.0)])
    assert UrnSettings().apply(pooled()) == pooled()


def test_weights_are_plain_numbers() -> None:
    assert Weights.from_mapping(pooled().to_mapping()) == pooled()
    assert all(isinstance(each, float) for each in pooled().to_mapping().values())
