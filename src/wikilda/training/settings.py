"""How a model is trained."""

from dataclasses import dataclass
from typing import ClassVar

from wikilda._core.settings import Settings, setting
from wikilda.lda.settings import LdaSettings
from wikilda.model.model import LDA, URN
from wikilda.urn import UrnSettings


@dataclass(frozen=True)
class UrnTraining(Settings):
    """Settings of `wikilda train`: the urn is the E-step.

    What is learned is S = (1 − ρ) S + ρ N after each iteration, with N the counts of the whole corpus and
    ρ = rho · (tau0 + t)^−kappa, at most 1. The first N is taken as it is.
    """

    method: ClassVar[str] = URN

    sweeps: int = setting(50, "S: Gibbs sweeps over a document", minimum=1)
    burn_in: int = setting(10, "B: sweeps at the beginning that do not count", minimum=0, below="sweeps")
    rho_global: float = setting(1.0, "ρ of the outer loop, after each iteration", above=0, maximum=1)
    kappa_global: float = setting(0.0, "κ of the outer loop (0: a constant ρ)", above=0.5, maximum=1, or_zero=True)
    tau0: float = setting(1.0, "τ0 of the schedule", above=0)
    new_sense: float = setting(
        1e-8,
        "prior of a topic of the document that a string was never seen to mean (0: no growth)",
        minimum=0,
        below=1e-3,
    )
    new_mentions: float = setting(3.0, "mentions that a new sense must have had, in all", minimum=0)
    held_out: float = setting(0.02, "share of the documents that is held out", minimum=0, below=1)
    evaluated: int = setting(100, "documents, held out and not, whose likelihood is estimated", minimum=0)
    particles: int = setting(10, "particles of the left-to-right estimate", minimum=1)
    seed: int = setting(1, "where random numbers begin")

    def urn(self) -> UrnSettings:
        """How documents are drawn."""
        return UrnSettings(sweeps=self.sweeps, burn_in=self.burn_in, seed=self.seed, new_sense=self.new_sense)

    def global_step(self, iterations: int) -> float:
        """ρ of the outer loop after so many iterations."""
        return _step(self.rho_global, self.kappa_global, self.tau0, iterations)


@dataclass(frozen=True)
class LdaTraining(Settings):
    """Settings of `wikilda train --method lda`; docs/training.md says where the presets differ, and why.

    Steps are ρ · (τ0 + t)^−κ, at most 1: constant for κ = 0, a Robbins–Monro schedule for ρ = 1 and 0.5 < κ ≤ 1.
    """

    method: ClassVar[str] = LDA

    rho_local: float = setting(
        1e-4, "ρ of the inner loop, after each minibatch (0: no inner loop)", minimum=0, maximum=1
    )
    kappa_local: float = setting(0.0, "κ of the inner loop (0: a constant ρ)", above=0.5, maximum=1, or_zero=True)
    rho_global: float = setting(0.5, "ρ of the outer loop, after each iteration", minimum=0, maximum=1)
    kappa_global: float = setting(0.0, "κ of the outer loop (0: a constant ρ)", above=0.5, maximum=1, or_zero=True)
    tau0: float = setting(1.0, "τ0 of both schedules", above=0)
    minibatch: int = setting(32, "documents between two updates of a shard's copy of the parameters", minimum=1)
    corpus_scale: bool = setting(True, "scale updates to the whole corpus (Eq. 3), not to a shard as in Algorithm 2")
    shrink_sums: bool = setting(True, "let λ̂_k· of topics that a document does not have shrink with the rest")
    threshold: float = setting(1e-3, "drop parameters that fall below this; no symbol loses its last", minimum=0)
    sweeps: int = setting(50, "S: Gibbs sweeps over a document", minimum=1)
    burn_in: int = setting(10, "B: sweeps at the beginning that do not count", minimum=0, below="sweeps")
    coherence: bool = setting(True, "multiply topic counts by how alike a topic is to the others (Eq. 6)")
    held_out: float = setting(0.02, "share of the documents that is held out", minimum=0, below=1)
    evaluated: int = setting(100, "documents, held out and not, whose likelihood is estimated", minimum=0)
    particles: int = setting(10, "particles of the left-to-right estimate", minimum=1)
    seed: int = setting(1, "where random numbers begin")

    def sampler(self) -> LdaSettings:
        """How documents are sampled."""
        return LdaSettings(self.sweeps, self.burn_in, self.coherence, seed=self.seed)

    def local_step(self, minibatches: int) -> float:
        """ρ of the inner loop after so many minibatches."""
        return _step(self.rho_local, self.kappa_local, self.tau0, minibatches)

    def global_step(self, iterations: int) -> float:
        """ρ of the outer loop after so many iterations."""
        return _step(self.rho_global, self.kappa_global, self.tau0, iterations)


def _step(rho: float, kappa: float, tau0: float, before: int) -> float:
    return min(1.0, rho * (tau0 + before) ** -kappa) if kappa else rho


TrainingSettings = UrnTraining | LdaTraining

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
