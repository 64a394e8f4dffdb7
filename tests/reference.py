"""The slow, obvious sampler that every fast path is held to: Eq. 4 in a loop over all topics."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

Token = tuple[str, int]  # kind ("words" or "mentions") and symbol, −1 if it is unknown


@dataclass
class Reference:
    """A model small enough for dense arrays: λ̂ by kind as symbols × topics."""

    values: dict[str, NDArray[np.float64]]
    beta: dict[str, float]
    alpha: NDArray[np.float64]  # by topic
    similarity: NDArray[np.float64] | None = None  # topic × topic; None: no coherence
    candidates: set[int] = field(default_factory=set)  # topics that mentions of the document may mean
    noncandidate_coherence: float = 1.0
    coherent_prior: bool = False  # coherence multiplies α, too, unless nothing is coherent

    @property
    def topics(self) -> int:
        return len(self.alpha)

    def log_weight(self, token: Token, topic: int) -> float:
        """E[log φ_kv]; for an unknown symbol, the part that depends on the topic."""
        kind, symbol = token
        values, beta = self.values[kind], self.beta[kind]
        norm = digamma(len(values) * beta + values[:, topic].sum())
        return float((digamma(beta + values[symbol, topic]) if symbol >= 0 else 0.0) - norm)

    def coherence(self, tokens: list[Token], assigned: list[int], i: int, topic: int) -> float:
        """Eq. 6: the mean similarity to the other distinct topics that mentions have."""
        if self.similarity is None:
            return 1.0
        if topic not in self.candidates:
            return self.noncandidate_coherence
        company = {z for j, z in enumerate(assigned) if j != i and tokens[j][0] == "mentions" and z in self.candidates}
        company -= {topic}
        return float(np.mean([self.similarity[topic, other] for other in company])) if company else 1.0

    def conditional(self, tokens: list[Token], assigned: list[int], i: int) -> NDArray[np.float64]:
        """Eq. 4 for token i given the topics of all others (−1: none yet)."""
        others = np.array([sum(z == topic for j, z in enumerate(assigned) if j != i) for topic in range(self.topics)])
        coherence = np.array([self.coherence(tokens, assigned, i, topic) for topic in range(self.topics)])
        logs = np.array([self.log_weight(tokens[i], topic) for topic in range(self.topics)])
        weights = np.exp(logs - logs.max())
        if self.coherent_prior:
            whole = (self.alpha + others) * weights
            found = coherence * whole if (coherence * whole).any() else whole
        else:
            found = (self.alpha + others * coherence) * weights
        return found / found.sum()

    def sample(
        self, tokens: list[Token], assigned: list[int], sweeps: int, burn_in: int, seed: int
    ) -> NDArray[np.int64]:
        """Counts of topics by token over the sweeps after burn-in."""
        rng = np.random.default_rng(seed)
        counts = np.zeros((len(tokens), self.topics), np.int64)
        assigned = list(assigned)
        for sweep in range(1, sweeps + 1):
            for i in range(len(tokens)):
                assigned[i] = int(rng.choice(self.topics, p=self.conditional(tokens, assigned, i)))
                counts[i, assigned[i]] += sweep > burn_in
        return counts


def similarity(in_links: list[set[int]], first: int, second: int) -> float:
    """The Google / Milne–Witten measure."""
    if first == second:
        return 1.0
    a, b = in_links[first], in_links[second]
    if not a & b:
        return 0.0
    distance = np.log(max(len(a), len(b)) / len(a & b)) / np.log(len(in_links) / min(len(a), len(b)))
    return float(max(0.0, 1.0 - distance))


def tagme(
    priors: list[dict[int, float]], alike: NDArray[np.float64], epsilon: float, tau: float
) -> tuple[list[int], list[dict[int, float]]]:
    """The chosen topic and all scores for each mention token, given P(k|v) of each; −1 where there is no candidate."""
    chosen, scores = [], []
    for i, own in enumerate(priors):
        rel = dict.fromkeys(own, 0.0)
        for k in own:
            for j, other in enumerate(priors):
                if j != i and other:
                    rel[k] += sum(alike[k, kk] * p for kk, p in other.items()) / len(other)
        scores.append(rel)
        best = max(rel.values(), default=0.0)
        kept = [k for k in own if not (rel[k] < best * epsilon or own[k] < tau)] or list(own)
        chosen.append(max(kept, key=lambda k: (own[k], -k)) if kept else -1)
    return chosen, scores
