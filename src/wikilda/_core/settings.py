"""Settings: frozen dataclasses whose fields declare help and range, for options, TOML files and manifests.

Every value is checked in the constructor. Plain dataclasses, because msgspec does not check the arguments of a
constructor and pydantic takes 0.1 s to import.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any, Self, get_origin

from wikilda._core.errors import SettingsError


def setting(
    default: Any, about: str, *, minimum: float | None = None, maximum: float | None = None,
    above: float | None = None, below: float | str | None = None, choices: Sequence[str] = (),
    or_zero: bool = False, infinite: bool = False,
) -> Any:  # fmt: skip
    """Declare a setting: its default, its help and its range.

    `below` may be the name of another setting; with `or_zero` the range has 0 besides; numbers are finite unless they
    may be `infinite`. A range holds for every value of a tuple.
    """
    limits = {
        "minimum": minimum, "maximum": maximum, "above": above, "below": below, "choices": tuple(choices),
        "or_zero": or_zero, "infinite": infinite,
    }  # fmt: skip
    return field(default=default, metadata={"help": about, **limits})


@dataclass(frozen=True)
class Settings:
    """Base class of settings."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value = _typed(each, getattr(self, each.name))
            object.__setattr__(self, each.name, value)
        for each in fields(self):
            value = getattr(self, each.name)
            if problem := self._problem(each, value):
                raise SettingsError(f"{each.name} must be {problem}, not {value!r}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Make settings from plain values. Unknown names and values out of range are refused."""
        known = [each.name for each in fields(cls)]
        for name in values:
            if name not in known:
                raise SettingsError(f"unknown setting {name}{suggestion(str(name), known)}")
        return cls(**values)

    def to_mapping(self) -> dict[str, Any]:
        """The settings as plain values for a manifest."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def _problem(self, each: "Field[Any]", value: Any) -> str:
        """Return what a value should be; empty if it is valid."""
        limits: Mapping[str, Any] = each.metadata
        if choices := limits.get("choices"):
            return "" if value in choices else f"one of {', '.join(choices)}"
        if not isinstance(value, int | float) or not limits or (limits["or_zero"] and value == 0):
            return ""
        if not math.isfinite(value) and not (limits["infinite"] and value > 0):
            return "a finite number"
        below = limits["below"]
        other = getattr(self, below) if isinstance(below, str) else below
        wrong = (
            (limits["minimum"] is not None and value < limits["minimum"])
            or (limits["maximum"] is not None and value > limits["maximum"])
            or (limits["above"] is not None and value <= limits["above"])
            or (other is not None and value >= other)
        )
        return describe_range(limits, other) if wrong else ""


def describe_range(limits: Mapping[str, Any], below: float | None = None) -> str:
    """Return the range of a setting as text."""
    words = {"minimum": "at least", "maximum": "at most", "above": "above"}
    parts = [f"{word} {limits[name]}" for name, word in words.items() if limits[name] is not None]
    if limits["below"] is not None:
        named = isinstance(limits["below"], str)
        value = f" ({below})" if named and below is not None else ""
        parts.append(f"below {limits['below']}{value}")
    return ("0, or " if limits["or_zero"] else "") + " and ".join(parts)


def suggestion(wrong: str, known: Sequence[str]) -> str:
    """Return the end of a message about an unknown name: a suggestion, or all known names."""
    from difflib import get_close_matches

    close = get_close_matches(wrong, known, 1)
    return f"; did you mean {close[0]}?" if close else f"; there are: {', '.join(sorted(known))}"


def _typed(each: "Field[Any]", value: Any) -> Any:
    """Return a value with the type of a setting. An integer may be given for a float, a list for a tuple."""
    kind: Any = each.type
    if get_origin(kind) is tuple:
        if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
            return tuple(value)
        kind = "list of strings"
    elif kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    elif isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        if kind is int and not -(2**63) <= value < 2**63:
            raise SettingsError(f"{each.name} must be a number of 64 bits, not {value}")
        return value
    raise SettingsError(
        f"setting {each.name}: {value!r} is not of type {getattr(kind, '__name__', kind)}. Correct the value."
    )
