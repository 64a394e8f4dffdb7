"""Methods side by side: the paper's baselines, systems of its related work, and Wiki-LDA itself.

`Method` is the base class of them all, and of one's own: name it `MODULE:CLASS`, or let a package announce it as an
entry point of the group `wikilda.methods`.
"""

import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module, metadata, resources
from pathlib import Path
from typing import Any

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, suggestion
from wikilda.evaluation.methods.aida import Aida, AidaLocal
from wikilda.evaluation.methods.base import Answer, Candidates, Given, Method
from wikilda.evaluation.methods.entity_topic import EntityTopic
from wikilda.evaluation.methods.kataria import Kataria
from wikilda.evaluation.methods.kulkarni import Kulkarni
from wikilda.evaluation.methods.milne_witten import MilneWitten
from wikilda.evaluation.methods.pagerank import PageRank
from wikilda.evaluation.methods.tagme import Prior, TagMe
from wikilda.evaluation.methods.wikify import Wikify
from wikilda.evaluation.methods.wikilda import Lda, Paper, Trained, Urn

__all__ = [
    "GROUP",
    "METHODS",
    "TUNED",
    "Answer",
    "Candidates",
    "Given",
    "Method",
    "everything",
    "find_method",
    "make_method",
    "make_methods",
    "tuned_settings",
]

GROUP = "wikilda.methods"  # of entry points
TUNED = "tuned"  # the variant of a method with the settings that were chosen on AIDA train
_OURS = (Paper, Lda, Urn, Trained)
_OTHERS = (Prior, Wikify, MilneWitten, Kulkarni, TagMe, AidaLocal, Aida, Kataria, EntityTopic, PageRank)
METHODS: dict[str, type[Method]] = {kind.name: kind for kind in (*_OTHERS, *_OURS)}


def make_method(name: str, given: Given, settings: Mapping[str, Settings] | None = None) -> Method:
    """A method by its name: NAME, NAME:tuned, NAME:FILE.toml with settings, or MODULE:CLASS.

    `settings` has those of methods without a variant, by name.
    """
    kind, variant = find_method(name)
    if variant:
        chosen: Any = kind.settings_type.from_mapping(_variant(kind.name, variant))
    else:
        chosen = (settings or {}).get(kind.name)
    began = time.perf_counter()
    made = kind(given, chosen)
    made.name, made.preparation = name, time.perf_counter() - began
    return made


def make_methods(
    names: Sequence[str], given: Sequence[Given], settings: Mapping[str, Settings] | None = None
) -> list[Method]:
    """Methods by their names on one or more models: a row for each model where they depend on it."""
    made = []
    for name in names:
        for at, each in enumerate(given if find_method(name)[0].uses_model else given[:1]):
            method = make_method(name, each, settings)
            method.name = f"{name} @{each.model.path.name}" if at else name
            made.append(method)
    return made


def everything() -> list[str]:
    """All methods, each with its paper's settings and with those that were tuned."""
    tuned = tuned_settings()
    return [each for name in METHODS for each in ((name, f"{name}:{TUNED}") if name in tuned else (name,))]


@cache
def find_method(name: str) -> tuple[type[Method], str]:
    """The class of a method, and its variant if one is named."""
    base, _, rest = name.partition(":")
    if base in METHODS:
        return METHODS[base], rest
    for entry in metadata.entry_points(group=GROUP):
        if entry.name == base:
            return _checked(entry.load(), name), rest
    if rest:
        return _checked(_imported(base, rest), name), ""
    announced = [entry.name for entry in metadata.entry_points(group=GROUP)]
    raise SettingsError(f"no method is called {name!r}{suggestion(name, [*METHODS, *announced])}")


def _checked(found: object, name: str) -> type[Method]:
    if not (isinstance(found, type) and issubclass(found, Method)):
        raise SettingsError(f"{name}: is not a class derived from wikilda.evaluation.methods.Method")
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
        raise SettingsError(f"{module}:{attribute}: is neither a method ({known}) nor a class ({error})") from None


def _variant(name: str, variant: str) -> dict[str, Any]:
    """The settings of a variant: what was tuned, or a TOML file."""
    if variant == TUNED:
        if name not in tuned_settings():
            raise SettingsError(f"{name} has no tuned settings; {', '.join(tuned_settings())} have")
        return tuned_settings()[name]
    try:
        return tomllib.loads(Path(variant).read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{name}:{variant}: is no TOML file with settings ({error})") from None


def tuned_settings() -> dict[str, dict[str, Any]]:
    """By method the settings that were chosen on AIDA train, where they are not the paper's."""
    return tomllib.loads(resources.files(__package__).joinpath("tuned.toml").read_text("utf-8"))
