"""The two methods that decide mentions, and one factory of their settings for all who link."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, suggestion
from wikilda.lda.settings import LdaSettings
from wikilda.model import Model
from wikilda.urn.settings import UrnSettings

URN, LDA = "urn", "lda"
METHODS: dict[str, type[UrnSettings] | type[LdaSettings]] = {URN: UrnSettings, LDA: LdaSettings}
MethodSettings = UrnSettings | LdaSettings


def method_settings(
    method: str | None = None, settings: MethodSettings | Mapping[str, Any] | None = None
) -> MethodSettings:
    """The settings of a method.

    Parameters
    ----------
    method
        `urn`, the default, or `lda`, the paper's sampler.
    settings
        The settings that differ from the defaults, or whole settings, which name their method by their type. Where
        `sweeps` is given and `burn_in` is not, the burn-in is at most a fifth of the sweeps.

    Examples
    --------
    >>> method_settings("lda").sweeps, method_settings("urn", {"words": 0}).weights
    (50, ('words=0',))
    >>> method_settings("lda", {"max_neighbours": 3})
    Traceback (most recent call last):
    wikilda._core.errors.SettingsError: max_neighbours is a setting of the method urn, not of lda.
    """
    if method is not None and method not in METHODS:
        raise SettingsError(f"there is no method {method!r}{suggestion(str(method), list(METHODS))}")
    if isinstance(settings, Settings):
        return _checked(method, settings)
    kind, values = METHODS[method or URN], dict(settings or {})
    for name in values:
        _refuse_foreign(name, method or URN)
    if kind is LdaSettings and "sweeps" in values and "burn_in" not in values:
        values["burn_in"] = min(LdaSettings.burn_in, values["sweeps"] // 5)
    return kind.from_mapping(values)


def method_of(settings: MethodSettings) -> str:
    """The method that settings belong to."""
    return URN if isinstance(settings, UrnSettings) else LDA


def check_method(model: Model, settings: MethodSettings) -> None:
    """Refuse a model that was trained for the other method: what it has learned would mislead this one."""
    if model.method not in ("", method_of(settings)):
        raise SettingsError(
            f"{model.path}: was trained for the method {model.method}. Link with --method {model.method}, or train a "
            f"model with --method {method_of(settings)}."
        )


def _checked(method: str | None, settings: Settings) -> MethodSettings:
    if not isinstance(settings, UrnSettings | LdaSettings):
        raise SettingsError(f"settings must be UrnSettings or LdaSettings, not {type(settings).__name__}")
    if method is not None and method_of(settings) != method:
        raise SettingsError(f"{type(settings).__name__} are not settings of the method {method}.")
    return settings


def _refuse_foreign(name: str, method: str) -> None:
    """A setting of the other method is refused by name; one that nobody has, when the settings are made."""
    owners = [each for each, kind in METHODS.items() if name in {one.name for one in fields(kind)}]
    if owners and method not in owners:
        raise SettingsError(f"{name} is a setting of the method {owners[0]}, not of {method}.")
