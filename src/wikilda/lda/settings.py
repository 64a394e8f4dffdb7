"""Settings of the paper's sampler."""

from dataclasses import dataclass
from typing import ClassVar

from wikilda._core.settings import Settings, setting
from wikilda.model.model import LDA


@dataclass(frozen=True)
class TagMeSettings(Settings):
    """Settings of TagMe*, with which sampling starts."""

    epsilon: float = setting(
        0.25, "ε of TagMe*: drop candidates with less than this share of the best score.", minimum=0, maximum=1
    )
    tau: float = setting(0.02, "τ of TagMe*: drop candidates with less than this prior P(k|v).", minimum=0, maximum=1)


@dataclass(frozen=True)
class LdaSettings(TagMeSettings):
    """Settings of the sampler. The priors α and β are settings of the model."""

    method: ClassVar[str] = LDA

    sweeps: int = setting(50, "S: Gibbs sweeps over a document.", minimum=1)
    burn_in: int = setting(10, "B: sweeps at the beginning that do not count.", minimum=0, below="sweeps")
    coherence: bool = setting(True, "Multiply topic counts by the coherence of the topic with the others (Eq. 6).")
    coherent_prior: bool = setting(
        False, "Multiply the prior α of a topic by its coherence, too, so that it weights the whole probability."
    )
    seed: int = setting(1, "Seed of the random numbers.")
