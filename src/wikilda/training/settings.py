"""Settings of training."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import SettingsError
from wikilda._core.settings import Settings, setting, suggestion
from wikilda.lda.settings import LdaSettings
from wikilda.model.model import LDA, URN
from wikilda.training.corpus import Corpus, Documents
from wikilda.training.corpus.corpus import holding_order
from wikilda.urn import UrnSettings
from wikilda.urn.prior_shift import PriorShift


@dataclass(frozen=True)
class Schedule(Settings):
    """Settings that all methods of training have: steps after an iteration, and documents that are held out."""

    rho_global: float = setting(1.0, "ρ of the outer loop, after each iteration.", above=0, maximum=1)
    kappa_global: float = setting(0.0, "κ of the outer loop (0: a constant ρ).", above=0.5, maximum=1, or_zero=True)
    tau0: float = setting(1.0, "τ0 of the schedule.", above=0)
    held_out: float = setting(0.02, "Share of the documents that is held out.", minimum=0, below=1)
    evaluated: int = setting(
        100, "Documents whose likelihood is estimated, and that are compared in the report.", minimum=0
    )
    particles: int = setting(10, "Particles of the left-to-right estimate.", minimum=1)

    def global_step(self, iterations: int) -> float:
        """Return ρ of the outer loop after a number of iterations."""
        return _step(self.rho_global, self.kappa_global, self.tau0, iterations)


@dataclass(frozen=True)
class UrnTraining(Schedule):
    """Settings of `wikilda train`: the urn is the E-step.

    What is learned is S = (1 − ρ) S + ρ N after each iteration, with N the counts of the whole corpus and
    ρ = rho · (tau0 + t)^−kappa, at most 1, or an adaptive rate. The first N is taken as it is.
    """

    method: ClassVar[str] = URN

    adaptive: bool = setting(False, "Let ρ follow the noise of the counts (Ranganath et al. 2013); needs no setting.")
    prior_weight: float = setting(5.0, "Weight of the wiki's P(k|v). Larger values learn less from the texts.", above=0)
    prior_shift: bool = setting(
        True, "Estimate from texts with given mentions how their prior differs from the wiki's."
    )
    naming_shift: float = setting(1.0, "Factor of the weight naming, if it is not estimated.", minimum=0)
    popularity_shift: float = setting(1.0, "Factor of the weight popularity, if it is not estimated.", minimum=0)

    def urn(self) -> UrnSettings:
        """Return the settings of inference."""
        weights = tuple(f"{name}={value!r}" for name, value in self.shift().settings().items())
        return UrnSettings(weights=weights)

    def shift(self) -> PriorShift:
        """How the prior of the texts differs from the wiki's."""
        return PriorShift(self.naming_shift, self.popularity_shift)


@dataclass(frozen=True)
class LdaTraining(Schedule, LdaSettings):
    """Settings of `wikilda train --method lda`; docs/method/training.md says where the presets differ, and why.

    Steps are ρ · (τ0 + t)^−κ, at most 1: constant for κ = 0, a Robbins–Monro schedule for ρ = 1 and 0.5 < κ ≤ 1.
    """

    rho_global: float = setting(0.5, "ρ of the outer loop, after each iteration.", minimum=0, maximum=1)
    rho_local: float = setting(
        1e-4, "ρ of the inner loop, after each minibatch (0: no inner loop).", minimum=0, maximum=1
    )
    kappa_local: float = setting(0.0, "κ of the inner loop (0: a constant ρ).", above=0.5, maximum=1, or_zero=True)
    minibatch: int = setting(32, "Documents between two updates of a shard's copy of the parameters.", minimum=1)
    corpus_scale: bool = setting(True, "Scale updates to the whole corpus (Eq. 3), not to a shard as in Algorithm 2.")
    shrink_sums: bool = setting(True, "Let λ̂_k· of topics that a document does not have shrink with the rest.")
    threshold: float = setting(1e-3, "Drop parameters that fall below this; no symbol loses its last.", minimum=0)

    def local_step(self, minibatches: int) -> float:
        """Return ρ of the inner loop after a number of minibatches."""
        return _step(self.rho_local, self.kappa_local, self.tau0, minibatches)


def _step(rho: float, kappa: float, tau0: float, before: int) -> float:
    return min(1.0, rho * (tau0 + before) ** -kappa) if kappa else rho


TrainingSettings = UrnTraining | LdaTraining
TRAINING: dict[str, type[UrnTraining] | type[LdaTraining]] = {URN: UrnTraining, LDA: LdaTraining}


@dataclass(frozen=True)
class TrainingPlan(Settings):
    """The plan of a training: iterations, shards, and models to keep."""

    iterations: int = setting(1, "T: passes over the texts.", minimum=1)
    shards: int = setting(0, "M: shards; 0: some dozens, of at most 2,000 documents.", minimum=0)
    keep: int = setting(0, "Number of earlier iterations whose models are kept, in OUTPUT.iterations.", minimum=0)
    round: int = setting(0, "Shards of a Spark job; 0: 8 per core.", minimum=0)


PRESETS = {
    "default": LdaTraining(),
    "paper": LdaTraining(
        rho_local=1e-3,
        rho_global=0.5,
        minibatch=1,
        corpus_scale=False,
        shrink_sums=False,
        threshold=0.0,
    ),
}


def training_settings(
    method: str | None = None, preset: str | None = None, settings: TrainingSettings | Mapping[str, Any] | None = None
) -> TrainingSettings:
    """Return the settings of a method of training: its own or those of a preset, with some replaced.

    Examples
    --------
    >>> training_settings("lda", "paper", {"sweeps": 20}).minibatch
    1
    """
    if settings is not None and not isinstance(settings, Mapping):
        if preset is not None or method not in (None, settings.method):
            raise SettingsError(
                f"{type(settings).__name__} are settings of the method {settings.method}. Remove `method` or `preset`."
            )
        return settings
    name = method or URN
    if name not in TRAINING:
        raise SettingsError(f"there is no method {name!r}{suggestion(name, list(TRAINING))}")
    if preset is not None and name != LDA:
        raise SettingsError(f"preset {preset!r} is for the method lda. Remove it, or use --method lda.")
    if preset is not None and preset not in PRESETS:
        raise SettingsError(f"there is no preset {preset!r}{suggestion(preset, list(PRESETS))}")
    base = PRESETS[preset].to_mapping() if preset else {}
    chosen = TRAINING[name].from_mapping(base | dict(settings or {}))
    _refuse_idle(chosen, settings or {})
    return chosen


# A setting, and the values of other settings with which it has no effect.
_IDLE: tuple[tuple[str, dict[str, float | bool]], ...] = (
    ("naming_shift", {"prior_shift": True}),
    ("popularity_shift", {"prior_shift": True}),
    ("rho_global", {"adaptive": True}),
    ("kappa_global", {"adaptive": True}),
    ("tau0", {"adaptive": True}),
    ("tau0", {"kappa_global": 0.0, "kappa_local": 0.0}),
    ("kappa_global", {"rho_global": 0.0}),
    ("kappa_local", {"rho_local": 0.0}),
    ("minibatch", {"rho_local": 0.0}),
    ("shrink_sums", {"rho_local": 0.0}),
    ("particles", {"evaluated": 0}),
)


def _refuse_idle(settings: TrainingSettings, given: Container[str]) -> None:
    """Refuse settings that were given and have no effect."""
    for name, others in _IDLE:
        values = {other: getattr(settings, other) for other in others if hasattr(settings, other)}
        if name in given and values and all(value == others[other] for other, value in values.items()):
            with_these = " and ".join(f"{other}={str(value).lower()}" for other, value in values.items())
            raise SettingsError(f"{name} has no effect with {with_these}. Remove it, or change {' or '.join(values)}.")


def is_held_out(keys: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Whether documents are held out."""
    return holding_order(keys) < np.uint64(share * 2**53)


def of_shard(corpus: Corpus, number: int, shards: int, held_out: float) -> Documents:
    """The documents of a shard that are trained on."""
    documents = corpus.shard(number, shards)
    return documents.chosen(~is_held_out(documents.keys, held_out))


def trained_on(corpus: Corpus, held_out: float) -> NDArray[np.uint64]:
    """The digests of the documents that are trained on."""
    found, stretches = [np.empty(0, np.uint64)], max(corpus.documents // 100_000, 1)
    for number in range(stretches):
        some = corpus.shard(number, stretches)
        found.append(some.digests[~is_held_out(some.keys, held_out)])
    return np.concatenate(found)


def to_evaluate(corpus: Corpus, settings: TrainingSettings, *, held_out: bool) -> Documents:
    """The documents whose likelihood is estimated."""
    return sample(corpus, settings, settings.evaluated, held_out=held_out)


def sample(corpus: Corpus, settings: TrainingSettings, wanted: int, *, held_out: bool) -> Documents:
    """The first documents by key, held out or not: a fair sample, since keys are hashes."""
    share = settings.held_out if held_out else 1.0 - settings.held_out
    part = min(1.0, (wanted + 10 * wanted**0.5 + 50) / max(share * corpus.documents, 1e-9))
    documents = corpus.between(0, min(int(part * 2**64), 2**64))
    which = is_held_out(documents.keys, settings.held_out) == held_out
    which &= np.cumsum(which) <= wanted
    return documents.chosen(which)
