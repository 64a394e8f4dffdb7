"""Settings are frozen dataclasses; from them come the command line's options, files and manifests."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, asdict, field, fields
from typing import Any, TypeVar

from wikilda.errors import SettingsError

Settings = TypeVar("Settings")


def setting(default: Any, about: str) -> Any:
    """One setting, with its default and the sentence that `--help` shows."""
    return field(default=default, metadata={"help": about})


def from_mapping(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Make settings of `kind`, refusing names that it does not have and values of another type."""
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise SettingsError(f"unknown setting {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    return kind(**{name: _checked(known[name], value) for name, value in values.items()})


def to_mapping(settings: Any) -> dict[str, Any]:
    """The settings as plain values for a manifest."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(settings).items()}


def _checked(which: "Field[Any]", value: Any) -> Any:
    default = which.default
    if default is MISSING or default is None:
        return value
    if isinstance(default, tuple) and isinstance(value, list | tuple):
        return tuple(str(each) for each in value)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not type(default):
        wanted = type(default).__name__
        raise SettingsError(f"setting {which.name}: {value!r} is not of type {wanted}")
    return value
