"""How a model is trained."""

from dataclasses import dataclass

from wikilda.errors import SettingsError
from wikilda.inference.settings import SamplerSettings
from wikilda.settings import setting


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of `wikilda train`; docs/training.md says where the presets differ, and why.

    Steps are ρ · (τ0 + t)^−κ, at most 1: constant for κ = 0, a Robbins–Monro schedule for ρ = 1 and 0.5 < κ ≤ 1.
    """

    rho_local: float = setting(1e-4, "ρ of the inner loop, after each minibatch of a shard (0: no inner loop)")
    kappa_local: float = setting(0.0, "κ of the inner loop (0: a constant ρ)")
    rho_global: float = setting(0.5, "ρ of the outer loop, after each iteration")
    kappa_global: float = setting(0.0, "κ of the outer loop (0: a constant ρ)")
    tau0: float = setting(1.0, "τ0 of both schedules")
    minibatch: int = setting(32, "documents between two updates of a shard's copy of the parameters")
    corpus_scale: bool = setting(True, "scale updates to the whole corpus (Eq. 3), not to a shard as in Algorithm 2")
    shrink_sums: bool = setting(True, "let λ̂_k· of topics that a document does not have shrink with the rest")
    threshold: float = setting(1e-3, "drop parameters that fall below this; no symbol loses its last")
    sweeps: int = setting(50, "S: Gibbs sweeps over a document")
    burn_in: int = setting(10, "B: sweeps at the beginning that do not count")
    coherence: bool = setting(True, "multiply topic counts by how alike a topic is to the others (Eq. 6)")
    held_out: float = setting(0.02, "share of the documents that is held out")
    evaluated: int = setting(100, "documents, held out and not, whose likelihood is estimated after each iteration")
    particles: int = setting(10, "particles of the left-to-right estimate")
    seed: int = setting(1, "where random numbers begin")

    def __post_init__(self) -> None:
        for name in ("rho_local", "rho_global"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{name} must be from 0 to 1, not {getattr(self, name)}")
        for name in ("kappa_local", "kappa_global"):
            if getattr(self, name) and not 0.5 < getattr(self, name) <= 1:
                raise SettingsError(f"{name} must be 0, or over 0.5 and at most 1, not {getattr(self, name)}")
        if self.tau0 <= 0:
            raise SettingsError(f"tau0 must be over 0, not {self.tau0}")
        if not 0 <= self.held_out < 1:
            raise SettingsError(f"held_out must be from 0 to below 1, not {self.held_out}")
        for name, least in (("minibatch", 1), ("evaluated", 0), ("particles", 1), ("threshold", 0)):
            if getattr(self, name) < least:
                raise SettingsError(f"{name} must be at least {least}, not {getattr(self, name)}")
        self.sampler()

    def sampler(self) -> SamplerSettings:
        """How documents are sampled."""
        return SamplerSettings(self.sweeps, self.burn_in, self.coherence, seed=self.seed)

    def local_step(self, minibatches: int) -> float:
        """ρ of the inner loop after so many minibatches."""
        return self._step(self.rho_local, self.kappa_local, minibatches)

    def global_step(self, iterations: int) -> float:
        """ρ of the outer loop after so many iterations."""
        return self._step(self.rho_global, self.kappa_global, iterations)

    def _step(self, rho: float, kappa: float, before: int) -> float:
        return min(1.0, rho * (self.tau0 + before) ** -kappa) if kappa else rho


PRESETS = {
    "default": TrainingSettings(),
    "paper": TrainingSettings(
        rho_local=1e-3,
        rho_global=0.5,
        minibatch=1,
        corpus_scale=False,
        shrink_sums=False,
        threshold=0.0,
    ),
}
