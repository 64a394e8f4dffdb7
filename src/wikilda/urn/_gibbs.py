"""Gibbs sweeps over the mentions of a document."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.random import Stream, uniform
from wikilda.urn._coreference import Parents
from wikilda.urn._relatedness import Matrix

_TINY = 1e-300
FAR = 3.0  # mentions further off than so many times the reach count no more than any other
NIL = -1  # instead of a candidate
ALONE = -6.0  # the log weight of what a mention is compared with if there is no other


class Mentions(NamedTuple):
    """The tokens of mentions in the order of the text, each with candidates, or without."""

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int32]  # of candidate topics
    weights: NDArray[np.float64]  # of a candidate, whatever the other mentions are
    base: NDArray[np.float64]  # what a candidate has in the urn by itself
    places: NDArray[np.int64]  # in tokens of the text
    nil: NDArray[np.float64]  # the weight of NIL against each candidate
    names: NDArray[np.int64]  # the distinct string of a token
    parents: Parents


class Rules(NamedTuple):
    """Settings, as the kernel takes them."""

    sweeps: int
    burn_in: int
    base: float  # of NIL
    repeats: float
    near: float
    reach: float
    coreference: float
    level: float  # how far NIL fits as well as what the other mentions mean


class Posterior(NamedTuple):
    """Means over the sweeps after the burn-in."""

    shares: NDArray[np.float64]  # of every candidate: its conditional probability
    from_base: NDArray[np.float64]  # the share of it that the base measure has
    nil: NDArray[np.float64]  # of every mention: the conditional probability of NIL
    level: NDArray[np.float64]  # of every mention: the mean log weight of what the others mean


class State(NamedTuple):
    """What the mentions mean now, and sums over it."""

    drawn: NDArray[np.int64]  # by token: the place of its candidate, or NIL
    counts: NDArray[np.float64]  # by topic: N_k
    pull: NDArray[np.float64]  # by topic: Σ_j R(k, z_j)
    unknown: NDArray[np.float64]  # by distinct string: how many of its mentions are NIL
    logs: NDArray[np.float64]  # by token: the log weight of what it means
    level: NDArray[np.float64]  # the sum of these over mentions that are not NIL, and their number


@njit
def gibbs(mentions: Mentions, related: Matrix, rules: Rules, stream: Stream) -> Posterior:
    """The posterior of every candidate of every mention, and of NIL."""
    offsets = mentions.offsets
    size = len(mentions.places)
    state = _start(mentions, related)
    shares, from_base = np.zeros(len(mentions.numbers), np.float64), np.zeros(len(mentions.numbers), np.float64)
    nil_shares, levels = np.zeros(size, np.float64), np.zeros(size, np.float64)
    weights = np.empty(_longest(offsets), np.float64)
    for sweep in range(rules.sweeps):
        for token in range(size):
            start, end = offsets[token], offsets[token + 1]
            level = _level(state, token)
            total = _weigh(mentions, related, rules, state, token, weights)
            nil = _nil_weight(mentions, rules, state, token, level, weights, total)
            total += nil
            if sweep >= rules.burn_in:
                levels[token] += level
                nil_shares[token] += nil / total
                for at in range(start, end):
                    shares[at] += weights[at - start] / total
                    from_base[at] += mentions.base[at] * mentions.weights[at] / total
            x = uniform(stream) * total
            at = start
            while at < end and x >= weights[at - start]:
                x -= weights[at - start]
                at += 1
            if at == end and nil <= 0.0:
                at = end - 1
            log = np.log(max(weights[at - start], _TINY)) if at < end else 0.0
            _move(mentions, related, state, token, at if at < end else np.int64(NIL), log)
    kept = rules.sweeps - rules.burn_in
    return Posterior(shares / kept, from_base / kept, nil_shares / kept, levels / kept)


@inner
def _start(mentions: Mentions, related: Matrix) -> State:
    """Every mention begins with the candidate that has the largest share of the base measure."""
    size, topics = len(mentions.places), len(related)
    names = np.int64(0)
    for name in mentions.names:
        names = max(names, name + 1)
    state = State(
        np.full(size, np.int64(NIL)),
        np.zeros(topics, np.float64),
        np.zeros(topics, np.float64),
        np.zeros(names, np.float64),
        np.zeros(size, np.float64),
        np.zeros(2, np.float64),
    )
    for token in range(size):
        state.unknown[mentions.names[token]] += 1.0
        best = mentions.offsets[token]
        for at in range(best, mentions.offsets[token + 1]):
            if mentions.weights[at] * mentions.base[at] > mentions.weights[best] * mentions.base[best]:
                best = at
        if best < mentions.offsets[token + 1]:
            log = np.log(max(mentions.weights[best] * mentions.base[best], _TINY))
            _move(mentions, related, state, token, best, log)
    return state


@inner
def _longest(offsets: NDArray[np.int64]) -> Whole:
    longest = np.int64(1)
    for token in range(len(offsets) - 1):
        longest = max(longest, offsets[token + 1] - offsets[token])
    return longest


@inner
def _move(mentions: Mentions, related: Matrix, state: State, token: Whole, place: Whole, log: Real) -> None:
    """Let a mention mean another candidate, or NIL; `pull` gains a row of R and loses one."""
    old_place = state.drawn[token]
    old = mentions.numbers[old_place] if old_place != NIL else np.int32(NIL)
    new = mentions.numbers[place] if place != NIL else np.int32(NIL)
    if old != NIL:
        state.level[0] -= state.logs[token]
        state.level[1] -= 1.0
    if new != NIL:
        state.level[0] += log
        state.level[1] += 1.0
    state.logs[token] = log
    state.drawn[token] = place
    if old == new:
        return
    for topic, sign in ((old, -1.0), (new, 1.0)):
        if topic == NIL:
            state.unknown[mentions.names[token]] += sign
        else:
            state.counts[topic] += sign
    if old == NIL:
        for k in range(len(related)):
            state.pull[k] += np.float64(related[new, k])
    elif new == NIL:
        for k in range(len(related)):
            state.pull[k] -= np.float64(related[old, k])
    else:
        for k in range(len(related)):
            state.pull[k] += np.float64(related[new, k]) - np.float64(related[old, k])


@inner
def _level(state: State, token: Whole) -> Real:
    """The mean log weight of what the other mentions mean; one more that fits badly counts with them.

    So NIL is improbable where there is little to compare a mention with.
    """
    known = state.drawn[token] != NIL
    total = ALONE + state.level[0] - (state.logs[token] if known else 0.0)
    return total / (state.level[1] + (0.0 if known else 1.0))


@inner
def _nil_weight(
    mentions: Mentions, rules: Rules, state: State, token: Whole, level: Real, weights: NDArray[np.float64], total: Real
) -> Real:
    """The weight of NIL: for itself, by other mentions of the string that are NIL, and by parents that are.

    Its rival is the best candidate, not all of them: many that fit a little are no reason to believe in one.
    """
    start = np.int64(mentions.offsets[token])
    best: Whole = start
    if start == mentions.offsets[token + 1]:
        return 1.0
    for at in range(start + 1, mentions.offsets[token + 1]):
        if weights[at - start] > weights[best - start]:
            best = at
    if mentions.nil[best] <= 0.0:
        return 0.0
    own = 1.0 if state.drawn[token] == NIL else 0.0
    urn = rules.base + rules.repeats * (state.unknown[mentions.names[token]] - own)
    parents = mentions.parents
    for at in range(parents.offsets[token], parents.offsets[token + 1]):
        if parents.surnames[at] and state.drawn[parents.tokens[at]] == NIL:
            urn += rules.coreference * parents.weights[at]
    return mentions.nil[best] * urn * np.exp(rules.level * level) * total / max(weights[best - start], _TINY)


@inner
def _weigh(
    mentions: Mentions, related: Matrix, rules: Rules, state: State, token: int, weights: NDArray[np.float64]
) -> Real:
    """The conditional of a mention's candidates given all others, not normalised; returns its sum."""
    start, end = mentions.offsets[token], mentions.offsets[token + 1]
    old = mentions.numbers[state.drawn[token]] if state.drawn[token] != NIL else np.int32(NIL)
    for at in range(start, end):
        k = mentions.numbers[at]
        own = 1.0 if k == old else 0.0
        urn = rules.repeats * (state.counts[k] - own) + state.pull[k]
        if old != NIL:
            urn -= np.float64(related[old, k])
        weights[at - start] = mentions.base[at] + max(urn, 0.0)
    _add_near(mentions, related, rules, state, token, weights)
    parents = mentions.parents
    for parent in range(parents.offsets[token], parents.offsets[token + 1]):
        place = state.drawn[parents.tokens[parent]]
        for at in range(start, end):
            if place != NIL and mentions.numbers[place] == mentions.numbers[at]:
                weights[at - start] += rules.coreference * parents.weights[parent]
    total = 0.0
    for at in range(start, end):
        weights[at - start] *= mentions.weights[at]
        total += weights[at - start]
    return total


@inner
def _add_near(
    mentions: Mentions, related: Matrix, rules: Rules, state: State, token: int, weights: NDArray[np.float64]
) -> None:
    """What mentions close by add because they are close."""
    if rules.near <= 0.0:
        return
    start, end = mentions.offsets[token], mentions.offsets[token + 1]
    for step in (-1, 1):
        other = token + step
        while 0 <= other < len(state.drawn):
            distance = np.float64(abs(mentions.places[other] - mentions.places[token]))
            if distance > FAR * rules.reach:
                break
            if state.drawn[other] != NIL:
                share = rules.near * np.exp(-distance / rules.reach)
                z = mentions.numbers[state.drawn[other]]
                for at in range(start, end):
                    weights[at - start] += share * np.float64(related[z, mentions.numbers[at]])
            other += step
