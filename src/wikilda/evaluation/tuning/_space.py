"""Where to search: the values that a method names, or a TOML file with a table for its settings and the model's.

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
from wikilda._core.settings import Settings
from wikilda.evaluation.methods import find_method
from wikilda.model import ModelSettings

MODEL = "model"


def settings_type(kind: str) -> type[Settings]:
    """The class of a method's settings, or of the model's."""
    return ModelSettings if kind == MODEL else find_method(kind)[0].settings_type


class Axis(NamedTuple):
    """A setting and the values to try."""

    kind: str
    name: str
    values: list[Any]


Space = list[Axis]


def own_space(method: str) -> Space:
    """The values that a method names itself."""
    search = find_method(method)[0].search
    if not search:
        raise SettingsError(f"{method} does not say which values to try: give a file (--search)")
    return [_axis(method, method, name, list(values)) for name, values in search.items()]


def read_space(path: Path, method: str = "urn") -> Space:
    """Read where to search for a method, refusing names and values that the settings would refuse."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not valid TOML ({error}).") from None
    space: Space = []
    for kind, settings in tables.items():
        if kind not in (method, MODEL) or not isinstance(settings, dict):
            raise SettingsError(f"{path}: {kind!r} is no table of settings; there are: {method}, {MODEL}")
        space += [_axis(str(path), kind, name, values) for name, values in settings.items()]
    if not space:
        raise SettingsError(f"{path}: has no settings to try. Write, say, [urn] and word_weight = [20.0, 30.0].")
    return space


def _axis(where: str, kind: str, name: str, values: Any) -> Axis:
    known = {each.name: each.default for each in fields(settings_type(kind))}
    if name not in known:
        raise SettingsError(f"{where}: {kind} has no setting {name}; there are: {', '.join(known)}")
    if not isinstance(values, list) or not values:
        raise SettingsError(f"{where}: {kind}.{name} must be a list of values to try")
    wanted = type(known[name])
    values = [float(value) if wanted is float and type(value) is int else value for value in values]
    wrong = [value for value in values if type(value) is not wanted]
    if wrong:  # whether a value is possible depends on the others, and shows when it is tried
        raise SettingsError(f"{where}: {kind}.{name}: {wrong[0]!r} is not of type {wanted.__name__}")
    return Axis(kind, name, values)
