"""Settings of models: masses and priors."""

from dataclasses import dataclass

from wikilda._core.settings import Settings, setting


@dataclass(frozen=True)
class ModelSettings(Settings):
    """Settings of a model: the scale of its first parameters, and its priors."""

    mass_words: float = setting(100.0, "λ̂ of a word at the start, shared out among its topics by P(k|v).", above=0)
    mass_mentions: float = setting(10.0, "λ̂ of a mention at the start, shared out among its topics by P(k|v).", above=0)
    beta_words: float = setting(1e-4, "β of words: pseudo-count of every word in every topic.", above=0)
    beta_mentions: float = setting(1e-4, "β of mentions: pseudo-count of every mention in every topic.", above=0)
    alpha: float = setting(1e-3, "α: pseudo-count of every topic in every document (mean, if they differ).", above=0)
    asymmetric: bool = setting(True, "Let α of a topic grow with its popularity, its number of mentions.")


PRESETS = {
    "default": ModelSettings(),
    # β is 1e-7 to 1e-3 in the paper, whose V is about 10^6: Vβ is 0.1 to 1,000. V is smaller here, so that β is from
    # the middle of that range.
    "paper": ModelSettings(1.0, 1.0, beta_words=1e-4, beta_mentions=1e-4, alpha=1e-5, asymmetric=False),
}
