"""Settings of the urn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, setting
from wikilda.model.model import URN
from wikilda.model.weights import WEIGHT_NAMES, Weights


@dataclass(frozen=True)
class UrnSettings(Settings):
    """Settings of the urn. The weights of the evidence are part of the model; any of them may be replaced here."""

    method: ClassVar[str] = URN

    max_candidates: int = setting(64, "Candidates of a mention: those with the highest prior.", minimum=1)
    max_neighbours: int = setting(10000, "Neighbours of a topic in the link graph that are read.", minimum=1)
    backoff_candidates: int = setting(8, "Candidates of a string by the words of titles (0: none).", minimum=0)
    tolerance: float = setting(0.001, "Inference ends when no probability changes by more.", above=0, below=1)
    weights: tuple[str, ...] = setting((), "Weights that replace those of the model, as NAME=VALUE.")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Settings from plain values; names of weights are settings, too."""
        own = {name: value for name, value in values.items() if name not in WEIGHT_NAMES}
        replaced = {name: value for name, value in values.items() if name in WEIGHT_NAMES}
        Weights.from_mapping(replaced)
        given = tuple(own.pop("weights", ())) + tuple(f"{name}={value}" for name, value in replaced.items())
        return super().from_mapping({**own, "weights": given})

    def apply(self, weights: Weights) -> Weights:
        """The weights with those that the settings replace."""
        pairs = [each.partition("=") for each in self.weights]
        try:
            return weights.replaced((name, float(value)) for name, _, value in pairs)
        except ValueError:
            raise SettingsError(f"weights must be given as NAME=VALUE, not {', '.join(self.weights)}") from None
