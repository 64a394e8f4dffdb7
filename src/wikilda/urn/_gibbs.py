"""Gibbs sweeps over the mentions of a document."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.random import Stream, uniform
from wikilda.urn._relatedness import Matrix

_TINY = 1e-300
FAR = 3.0  # mentions further off than so many times the reach count no more than any other


class Mentions(NamedTuple):
    """The tokens of mentions in the order of the text, each with candidates."""

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int32]  # of candidate topics
    weights: NDArray[np.float64]  # of a candidate, whatever the other mentions are
    base: NDArray[np.float64]  # what a candidate has in the urn by itself
    places: NDArray[np.int64]  # in tokens of the text


class Rules(NamedTuple):
    """Settings, as the kernel takes them."""

    sweeps: int
    burn_in: int
    repeats: float
    near: float
    reach: float


class Posterior(NamedTuple):
    """Means over the sweeps after the burn-in."""

    shares: NDArray[np.float64]  # of every candidate: its conditional probability
    from_base: NDArray[np.float64]  # the share of it that the base measure has
    support: NDArray[np.float64]  # of every mention: what its topic has in the urn


@njit
def gibbs(mentions: Mentions, related: Matrix, rules: Rules, stream: Stream) -> Posterior:
    """The posterior of every candidate of every mention.

    `pull[k]` is kept at Σ_j R(k, z_j): a move adds one row of R and takes one away.
    """
    offsets, numbers = mentions.offsets, mentions.numbers
    counts, pull = np.zeros(len(related), np.float64), np.zeros(len(related), np.float64)
    drawn = _start(mentions)
    for token in range(len(drawn)):
        topic = numbers[drawn[token]]
        counts[topic] += 1.0
        for k in range(len(related)):
            pull[k] += np.float64(related[topic, k])
    shares, from_base = np.zeros(len(numbers), np.float64), np.zeros(len(numbers), np.float64)
    support = np.zeros(len(drawn), np.float64)
    weights = np.empty(_longest(offsets), np.float64)
    for sweep in range(rules.sweeps):
        for token in range(len(drawn)):
            start, end = offsets[token], offsets[token + 1]
            old = numbers[drawn[token]]
            total = _weigh(mentions, related, rules, counts, pull, drawn, token, weights)
            if sweep >= rules.burn_in:
                for at in range(start, end):
                    share = weights[at - start] / total
                    shares[at] += share
                    from_base[at] += mentions.base[at] * mentions.weights[at] / total
                    support[token] += share * weights[at - start] / max(mentions.weights[at], _TINY)
            x = uniform(stream) * total
            at = start
            while at < end - 1 and x >= weights[at - start]:
                x -= weights[at - start]
                at += 1
            drawn[token] = at
            new = numbers[at]
            if new != old:
                counts[old] -= 1.0
                counts[new] += 1.0
                for k in range(len(related)):
                    pull[k] += np.float64(related[new, k]) - np.float64(related[old, k])
    kept = rules.sweeps - rules.burn_in
    return Posterior(shares / kept, from_base / kept, support / kept)


@inner
def _start(mentions: Mentions) -> NDArray[np.int64]:
    """Every mention begins with the candidate that has the largest share of the base measure."""
    drawn = np.empty(len(mentions.places), np.int64)
    for token in range(len(drawn)):
        best = mentions.offsets[token]
        for at in range(best, mentions.offsets[token + 1]):
            if mentions.weights[at] * mentions.base[at] > mentions.weights[best] * mentions.base[best]:
                best = at
        drawn[token] = best
    return drawn


@inner
def _longest(offsets: NDArray[np.int64]) -> Whole:
    longest = np.int64(1)
    for token in range(len(offsets) - 1):
        longest = max(longest, offsets[token + 1] - offsets[token])
    return longest


@inner
def _weigh(
    mentions: Mentions,
    related: Matrix,
    rules: Rules,
    counts: NDArray[np.float64],
    pull: NDArray[np.float64],
    drawn: NDArray[np.int64],
    token: int,
    weights: NDArray[np.float64],
) -> Real:
    """The conditional of a mention given all others, not normalised; returns its sum."""
    start, end = mentions.offsets[token], mentions.offsets[token + 1]
    old = mentions.numbers[drawn[token]]
    for at in range(start, end):
        k = mentions.numbers[at]
        own = 1.0 if k == old else 0.0
        urn = rules.repeats * (counts[k] - own) + pull[k] - np.float64(related[old, k])
        weights[at - start] = mentions.base[at] + max(urn, 0.0)
    if rules.near > 0.0:
        for step in (-1, 1):
            other = token + step
            while 0 <= other < len(drawn):
                distance = np.float64(abs(mentions.places[other] - mentions.places[token]))
                if distance > FAR * rules.reach:
                    break
                share = rules.near * np.exp(-distance / rules.reach)
                z = mentions.numbers[drawn[other]]
                for at in range(start, end):
                    weights[at - start] += share * np.float64(related[z, mentions.numbers[at]])
                other += step
    total = 0.0
    for at in range(start, end):
        weights[at - start] *= mentions.weights[at]
        total += weights[at - start]
    return total
