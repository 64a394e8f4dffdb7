"""TagMe*: the paper's fast initial assignment of mentions, also a method of its own.

    votes_j(k) = Σ_k' sim(k, k') P(k'|w_j) / |z(w_j)|      rel(k|w_i) = Σ_{j≠i} votes_j(k)

Candidates with rel < ε · max rel or P(k|w_i) < τ are dropped; of the rest the one with the highest prior is
chosen. If none is left, it is the candidate with the highest prior of all. P(k|v) is λ̂ shared out, so at
t = 0 it is the paper's λ. A mention that occurs twice votes for itself once.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.lda.packet import Choices, Packet
from wikilda.lda.similarity import Likeness


class Guess(NamedTuple):
    """By mention symbol of a packet the place in its row of the chosen topic (−1: no candidates), and all scores."""

    chosen: NDArray[np.int64]
    scores: NDArray[np.float64]


def tagme(packet: Packet, epsilon: float = 0.25, tau: float = 0.02) -> Guess:
    """Choose a topic for each mention of a packet; `scores` are rel(k|w), in the order of `packet.choices`."""
    occurrences = packet.bag.occurrences[packet.bag.first_mention :]
    return Guess(*_tagme(packet.choices, packet.likeness, occurrences, epsilon, tau))


@njit
def _tagme(
    choices: Choices, alike: Likeness, occurrences: NDArray[np.int64], epsilon: Real, tau: Real
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    everyone, own = _ballots(choices, len(alike.topics), occurrences)
    scores = np.zeros(len(choices.candidates), np.float64)
    chosen = np.empty(len(occurrences), np.int64)
    mine = np.zeros(len(alike.topics), np.float64)
    for mention in range(len(occurrences)):
        start, end = choices.offsets[mention], choices.offsets[mention + 1]
        for at in range(start, end):
            mine[choices.candidates[at]] = own[at]
        for at in range(start, end):
            scores[at] = _related(alike, choices.candidates[at], everyone, mine)
        for at in range(start, end):
            mine[choices.candidates[at]] = 0.0
        chosen[mention] = _choose(choices, scores, start, end, epsilon, tau)
    return chosen, scores


@inner
def _ballots(
    choices: Choices, topics: Whole, occurrences: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return P(k'|w_j) / |z(w_j)|, summed over all mentions by candidate, and of each mention."""
    everyone, own = np.zeros(topics, np.float64), np.zeros(len(choices.candidates), np.float64)
    for mention in range(len(occurrences)):
        start, end = choices.offsets[mention], choices.offsets[mention + 1]
        size = np.int64(0)
        for at in range(start, end):
            size += choices.priors[at] > 0.0
        for at in range(start, end):
            own[at] = choices.priors[at] / size
            everyone[choices.candidates[at]] += occurrences[mention] * own[at]
    return everyone, own


@inner
def _related(alike: Likeness, topic: Whole, everyone: NDArray[np.float64], mine: NDArray[np.float64]) -> Real:
    """Return rel(k|w_i): the votes of all other mentions for a topic."""
    score = everyone[topic] - mine[topic]
    for at in range(alike.offsets[topic], alike.offsets[topic + 1]):
        other = alike.neighbours[at]
        score += alike.values[at] * (everyone[other] - mine[other])
    return score


@inner
def _choose(choices: Choices, scores: NDArray[np.float64], start: Whole, end: Whole, epsilon: Real, tau: Real) -> Whole:
    best = 0.0
    for at in range(start, end):
        best = max(best, scores[at])
    chosen: Whole = np.int64(-1)
    fallback: Whole = np.int64(-1)
    for at in range(start, end):
        if fallback < 0 or choices.priors[at] > choices.priors[fallback]:
            fallback = at
        if scores[at] < best * epsilon or choices.priors[at] < tau:
            continue
        if chosen < 0 or choices.priors[at] > choices.priors[chosen]:
            chosen = at
    return (fallback if chosen < 0 else chosen) - start if end > start else np.int64(-1)
