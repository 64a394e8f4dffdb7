"""How mentions are drawn from the urn."""

import math
from dataclasses import dataclass

from wikilda.errors import SettingsError
from wikilda.settings import setting, to_mapping


@dataclass(frozen=True)
class UrnSettings:
    """Settings of the urn. What they brought is in docs/results.md."""

    sweeps: int = setting(100, "S: Gibbs sweeps over the mentions of a document")
    burn_in: int = setting(20, "B: sweeps at the beginning that do not count")
    temper: float = setting(0.3, "the exponent of the prior P(k|v)")
    words: float = setting(30.0, "weight of the document's words")
    base: float = setting(0.03, "what a topic has in the urn before anything is drawn")
    repeats: float = setting(0.1, "what a topic gains when it is drawn itself")
    links: float = setting(1.0, "what a topic gains when one is drawn that it has a link with")
    shared: float = setting(0.8, "what a topic gains for each neighbour shared with a topic that is drawn")
    near: float = setting(3.0, "how much more a mention close by counts")
    reach: float = setting(10.0, "how close that is, in tokens")
    acronym: float = setting(3.0, "log weight of a string made of the initials of the title")
    stray: float = setting(0.5, "log penalty of titles unlike the string, if another title is the string")
    surroundings: float = setting(0.3, "weight of the tokens around the mention, if the model was adapted to texts")
    sharpen: float = setting(3.0, "exponent of the posterior that makes it as sure as it is right")
    nil: float = setting(0.6, "odds that a mention means nothing that is known, if its topic has four links alone")
    nil_power: float = setting(0.67, "how fast these odds fall with the topic's links and what supports it")
    overlap: float = setting(0.05, "mean cosine that the words of two linked topics have by chance")
    most: int = setting(64, "candidates of a mention that are looked at, those with the highest prior")
    hub: int = setting(10000, "neighbours of a topic that are looked at, evenly spread")
    seed: int = setting(1, "where random numbers begin")

    def __post_init__(self) -> None:
        endless = [name for name, value in to_mapping(self).items() if not math.isfinite(value)]
        if endless:
            raise SettingsError(f"{', '.join(endless)} must be a finite number")
        if self.sweeps < 1 or not 0 <= self.burn_in < self.sweeps:
            raise SettingsError(f"burn_in ({self.burn_in}) must be less than sweeps ({self.sweeps}), and not negative")
        if min(self.base, self.reach, self.overlap, self.sharpen) <= 0:
            raise SettingsError("base, reach, overlap and sharpen must be above 0")
        if min(self.temper, self.words, self.repeats, self.links, self.shared, self.near, self.surroundings) < 0:
            raise SettingsError("temper, words, repeats, links, shared, near and surroundings must not be negative")
        if self.nil < 0 or self.nil_power < 0:
            raise SettingsError("nil and nil_power must not be negative")
        if self.most < 1 or self.hub < 1:
            raise SettingsError("most and hub must be at least 1")
