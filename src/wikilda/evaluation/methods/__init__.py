"""Methods side by side: the paper's baselines and its model, and ours.

`Method` is the base class of all methods, including your own: name one `MODULE:CLASS`, or let a package announce it as
an entry point of the group `wikilda.methods`.
"""

import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, suggestion
from wikilda.evaluation.methods.base import Answer, Candidates, Given, Method
from wikilda.evaluation.methods.tagme import Prior, TagMe
from wikilda.evaluation.methods.wikilda import Lda, Paper, Trained, Urn

__all__ = [
    "GROUP",
    "METHODS",
    "Answer",
    "Candidates",
    "Given",
    "Method",
    "find_method",
    "make_method",
    "make_methods",
]

GROUP = "wikilda.methods"  # of entry points
METHODS: dict[str, type[Method]] = {kind.name: kind for kind in (Prior, TagMe, Paper, Lda, Urn, Trained)}


def make_method(name: str, given: Given, settings: Mapping[str, Settings] | None = None) -> Method:
    """Make a method: NAME or MODULE:CLASS, either with `:FILE.toml` for settings from a file.

    `settings` has the settings of methods without a file, by the name of the method.
    """
    kind, file = find_method(name)
    chosen: Any = kind.settings_type.from_mapping(_read(name, file)) if file else (settings or {}).get(kind.name)
    began = time.perf_counter()
    made = kind(given, chosen)
    made.name = f"{kind.name}:{file}" if file else kind.name
    made.preparation = time.perf_counter() - began
    return made


def make_methods(
    names: Sequence[str], given: Sequence[Given], settings: Mapping[str, Settings] | None = None
) -> list[Method]:
    """Make methods on one or more models: one for each model where a method depends on it."""
    made = []
    for name in names:
        for at, each in enumerate(given if find_method(name)[0].uses_model else given[:1]):
            method = make_method(name, each, settings)
            if at:
                method.name = f"{method.name} @{each.model.path.name}"
            made.append(method)
    return made


@cache
def find_method(name: str) -> tuple[type[Method], str]:
    """Return the class of a method, and the settings file if one is named."""
    base, _, rest = name.partition(":")
    if base in METHODS:
        return METHODS[base], rest
    for entry in metadata.entry_points(group=GROUP):
        if entry.name == base:
            return _checked(entry.load(), base), rest
    if rest:
        attribute, _, file = rest.partition(":")
        return _checked(_imported(base, attribute), f"{base}:{attribute}"), file
    announced = [entry.name for entry in metadata.entry_points(group=GROUP)]
    raise SettingsError(f"no method is called {name!r}{suggestion(name, [*METHODS, *announced])}")


def _checked(found: object, name: str) -> type[Method]:
    if not (isinstance(found, type) and issubclass(found, Method)):
        raise SettingsError(f"{name}: is not derived from wikilda.evaluation.methods.Method. Make it a subclass.")
    if not found.name:
        found.name = name
    return found


def _imported(module: str, attribute: str) -> object:
    here = str(Path.cwd())
    if here not in sys.path:  # as `python -m` has it
        sys.path.insert(0, here)
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        known = ", ".join(METHODS)
        raise SettingsError(
            f"{module}:{attribute}: is neither a method ({known}) nor a class ({error}). Check the name."
        ) from None


def _read(name: str, file: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(file).read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name}: {file} is not a TOML file with settings ({error}). Correct the file.") from None
