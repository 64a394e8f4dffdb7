"""The numbers that a model is made with and sampled with."""

from dataclasses import dataclass

from wikilda.errors import SettingsError
from wikilda.settings import setting


@dataclass(frozen=True)
class ModelSettings:
    """Settings of a model: the scale of its first parameters, and its priors."""

    mass_words: float = setting(100.0, "λ̂ of a word at the start, shared out among its topics by P(k|v)")
    mass_mentions: float = setting(10.0, "λ̂ of a mention at the start, shared out among its topics by P(k|v)")
    beta_words: float = setting(1e-4, "β of words: pseudo-count of every word in every topic")
    beta_mentions: float = setting(1e-4, "β of mentions: pseudo-count of every mention in every topic")
    alpha: float = setting(1e-3, "α: pseudo-count of every topic in every document (the mean, if they differ)")
    asymmetric: bool = setting(True, "let α of a topic grow with its popularity, the number of its mentions")

    def __post_init__(self) -> None:
        for name in ("mass_words", "mass_mentions", "beta_words", "beta_mentions", "alpha"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise SettingsError(f"{name} must be a number over 0, not {value}")


PRESETS = {
    "default": ModelSettings(),
    "paper": ModelSettings(1.0, 1.0, beta_words=1e-7, beta_mentions=1e-7, alpha=1e-5, asymmetric=False),
}
