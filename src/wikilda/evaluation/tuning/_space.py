"""Where to search: a TOML file with a table a kind of settings, and in it the values to try of each setting.

[urn]
word_weight = [20.0, 30.0]

[model]
mass_mentions = [1.0, 10.0, 100.0]
"""

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from wikilda._core.errors import SettingsError
from wikilda.model import ModelSettings
from wikilda.urn import UrnSettings

KINDS: dict[str, type[Any]] = {"urn": UrnSettings, "model": ModelSettings}


class Axis(NamedTuple):
    """A setting and the values to try."""

    kind: str
    name: str
    values: list[Any]


Space = list[Axis]


def read_space(path: Path) -> Space:
    """Read where to search, refusing names and values that the settings would refuse."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not valid TOML ({error}).") from None
    space: Space = []
    for kind, settings in tables.items():
        if kind not in KINDS or not isinstance(settings, dict):
            raise SettingsError(f"{path}: {kind!r} is no table of settings; there are: {', '.join(KINDS)}")
        space += [_axis(path, kind, name, values) for name, values in settings.items()]
    if not space:
        raise SettingsError(f"{path}: has no settings to try. Write, say, [urn] and word_weight = [20.0, 30.0].")
    return space


def _axis(path: Path, kind: str, name: str, values: Any) -> Axis:
    known = {each.name: each.default for each in fields(KINDS[kind])}
    if name not in known:
        raise SettingsError(f"{path}: {kind} has no setting {name}; there are: {', '.join(known)}")
    if not isinstance(values, list) or not values:
        raise SettingsError(f"{path}: {kind}.{name} must be a list of values to try")
    wanted = type(known[name])
    values = [float(value) if wanted is float and type(value) is int else value for value in values]
    wrong = [value for value in values if type(value) is not wanted]
    if wrong:  # whether a value is possible depends on the others, and shows when it is tried
        raise SettingsError(f"{path}: {kind}.{name}: {wrong[0]!r} is not of type {wanted.__name__}")
    return Axis(kind, name, values)
