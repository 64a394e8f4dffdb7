"""Settings of the urn."""

from dataclasses import dataclass
from typing import ClassVar

from wikilda._core.settings import Settings, setting
from wikilda.model.model import URN


@dataclass(frozen=True)
class UrnSettings(Settings):
    """Settings of the urn. docs/urn.md has the formula."""

    method: ClassVar[str] = URN

    sweeps: int = setting(100, "S: Gibbs sweeps over the mentions of a document", minimum=1)
    burn_in: int = setting(10, "B: sweeps at the beginning that are discarded", minimum=0, below="sweeps")
    tolerance: float = setting(
        0.02, "sweeps end when no mean of the posterior changes by so much in ten of them (0: never)", minimum=0
    )
    prior_exponent: float = setting(0.3, "exponent of P(k|v) where another mention supports a candidate", minimum=0)
    word_weight: float = setting(30.0, "weight of the document's words", minimum=0)
    base_weight: float = setting(0.1, "weight of the base measure P(k|v), which needs no other mention", above=0)
    repeat_weight: float = setting(0.1, "support by another mention of the same topic", minimum=0)
    link_weight: float = setting(1.0, "support by a mention of a topic that it has a link with", minimum=0)
    shared_neighbour_weight: float = setting(
        0.8, "support by each neighbour shared with the topic of another mention", minimum=0
    )
    proximity_weight: float = setting(3.0, "additional weight of support by a mention close by", minimum=0)
    proximity_tokens: float = setting(10.0, "how close that is, in tokens", above=0)
    acronym_bonus: float = setting(3.0, "log weight of a title whose initials are the mention string")
    title_mismatch_penalty: float = setting(0.5, "log penalty of titles unlike the string, if another title matches it")
    context_weight: float = setting(
        0.3, "weight of the context of a mention, if the model was trained on texts", minimum=0
    )
    pair_weight: float = setting(
        0.03, "support by a topic that texts have together with it, if the model was trained on texts", minimum=0
    )
    posterior_exponent: float = setting(3.0, "exponent of the posterior, for calibration", above=0)
    backoff_share: float = setting(
        0.001, "share of P(k|v) for candidates by the words of their titles (0: none)", minimum=0, maximum=1
    )
    backoff_candidates: int = setting(8, "candidates of a string by the words of their titles", minimum=1)
    coreference_weight: float = setting(1.0, "support by a longer name that a mention is short for", minimum=0)
    nil_weight: float = setting(0.5, "weight of NIL for a typical string of the wiki (0: no NIL)", minimum=0)
    nil_exponent: float = setting(0.5, "how much the string's own chance of a new meaning counts for NIL", minimum=0)
    nil_unlinked: float = setting(
        0.45, "how much it counts for NIL that articles have a word more often than its links explain", minimum=0
    )
    nil_title: float = setting(1.0, "how much the title and the type of the best candidate count for NIL", minimum=0)
    nil_learned: float = setting(
        0.25, "how much it counts for NIL how often texts had the string as NIL, if the model was trained", minimum=0
    )
    nil_level: float = setting(0.5, "how much the fit of the other mentions counts for NIL", minimum=0)
    neighbour_overlap: float = setting(0.05, "expected cosine of the words of two linked topics", above=0)
    max_candidates: int = setting(64, "candidates of a mention, those with the highest prior", minimum=1)
    max_neighbours: int = setting(10000, "neighbours of a topic in the link graph, evenly spread", minimum=1)
    new_sense: float = setting(
        0.0,
        "prior of a topic of the document that a string was never seen to mean; 0 in linking",
        minimum=0,
        below=1e-3,
    )
    seed: int = setting(1, "seed of the random numbers")
