"""How documents are sampled."""

from dataclasses import dataclass

from wikilda.errors import SettingsError
from wikilda.settings import setting


@dataclass(frozen=True)
class SamplerSettings:
    """Settings of the sampler; those of the model (α, β) are the model's."""

    sweeps: int = setting(50, "S: Gibbs sweeps over a document")
    burn_in: int = setting(10, "B: sweeps at the beginning that do not count")
    coherence: bool = setting(True, "multiply topic counts by how alike a topic is to the others (Eq. 6)")
    stranger: float = setting(1.0, "coherence of topics that no mention of the document could mean")
    epsilon: float = setting(0.25, "ε of TagMe*: drop candidates with less than this share of the best score")
    tau: float = setting(0.02, "τ of TagMe*: drop candidates with less than this prior P(k|v)")
    idle_draws: int = setting(4, "draws for a word whose topics no other symbol of the document has, at most")
    seed: int = setting(1, "where random numbers begin")

    def __post_init__(self) -> None:
        if self.sweeps < 1 or not 0 <= self.burn_in < self.sweeps:
            raise SettingsError(f"burn_in ({self.burn_in}) must be less than sweeps ({self.sweeps}), and not negative")
        if not 0 <= self.epsilon <= 1 or not 0 <= self.tau <= 1:
            raise SettingsError("epsilon and tau must be from 0 to 1")
        if self.idle_draws < 1:
            raise SettingsError(f"idle_draws must be at least 1, not {self.idle_draws}")
        if not 0 <= self.stranger < float("inf"):
            raise SettingsError(f"stranger must not be negative, not {self.stranger}")
