"""Methods of linking: their protocol, and a registry. A method is chosen once, by name."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, suggestion
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge import Knowledge
from wikilda.lda.method import LdaMethod
from wikilda.lda.settings import LdaSettings
from wikilda.model import Model
from wikilda.model.model import LDA, URN
from wikilda.urn.evidence import Evidence
from wikilda.urn.method import UrnMethod
from wikilda.urn.settings import UrnSettings

MethodSettings = UrnSettings | LdaSettings
Ranking = tuple[NDArray[np.uint32], NDArray[np.float64]]


class Posterior(Protocol):
    """The candidates of each mention: those of mention i from offsets[i] on."""

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The first candidate of each mention, and the end of the last."""

    @property
    def topics(self) -> NDArray[np.uint32]:
        """The candidates."""

    @property
    def posterior(self) -> NDArray[np.float64]:
        """Their probabilities, given that the mention means one of them."""

    @property
    def nil(self) -> NDArray[np.float64]:
        """The probability of NIL of each mention."""

    def priors(self) -> NDArray[np.float64]:
        """Return the prior of each candidate that the method used."""


class Method(Protocol):
    """A way to decide mentions. One instance serves many threads."""

    @property
    def settings(self) -> Any:
        """The settings of the method."""

    @property
    def proposes_parts(self) -> bool:
        """Whether it decides between a name and the known names inside of it."""

    @property
    def needs_contexts(self) -> bool:
        """Whether documents are encoded with the contexts of their mentions."""

    def infer(self, document: EncodedDocument, entities: Any = None) -> Any:
        """Return a `Posterior` of the mentions of a document; `entities` are the caller's own."""

    def topics(
        self, document: EncodedDocument, inferred: Any, unknown: NDArray[np.bool_], by_words: int = 0
    ) -> Ranking:
        """Return the topics of a document and their shares, largest first."""

    def evidence(self, document: EncodedDocument, inferred: Any) -> Evidence:
        """Return the evidence that the posterior came from."""


class _Kind(NamedTuple):
    settings: type[UrnSettings] | type[LdaSettings]
    make: Callable[[Model, Knowledge, Any], Method]


_KINDS = {URN: _Kind(UrnSettings, UrnMethod), LDA: _Kind(LdaSettings, LdaMethod)}
METHODS: dict[str, type[UrnSettings] | type[LdaSettings]] = {name: kind.settings for name, kind in _KINDS.items()}


def make_method(model: Model, knowledge: Knowledge, settings: MethodSettings) -> Method:
    """Make the method that settings belong to."""
    return _KINDS[settings.method].make(model, knowledge, settings)


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


def check_method(model: Model, settings: MethodSettings) -> None:
    """Refuse a model that was trained for the other method, whose parameters would mislead this one."""
    if model.method not in ("", settings.method):
        raise SettingsError(
            f"{model.path}: was trained for the method {model.method}. Link with --method {model.method}, or train a "
            f"model with --method {settings.method}."
        )


def _checked(method: str | None, settings: Any) -> MethodSettings:
    if type(settings) not in METHODS.values():
        raise SettingsError(f"settings must be UrnSettings or LdaSettings, not {type(settings).__name__}")
    if method is not None and settings.method != method:
        raise SettingsError(
            f"{type(settings).__name__} are not settings of the method {method}. Give others, or change the method."
        )
    checked: MethodSettings = settings
    return checked


def _refuse_foreign(name: str, method: str) -> None:
    """Refuse a setting of the other method. Unknown settings are refused when settings are made."""
    owners = [each for each, kind in METHODS.items() if name in {one.name for one in fields(kind)}]
    if owners and method not in owners:
        raise SettingsError(f"{name} is a setting of the method {owners[0]}, not of {method}. Remove it.")
