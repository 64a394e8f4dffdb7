"""Gibbs sweeps over the mentions of a document.

Most visits change nothing. So what others put into the urn is kept and changed when a mention changes its topic, and
the conditional of a mention is computed again only if another has changed since.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, inlined, inner, njit
from wikilda._core.random import Stream, uniform
from wikilda.urn._coreference import Parents
from wikilda.urn._relatedness import Relations, fill_row

_TINY = 1e-300
FAR = 3.0  # mentions further off than so many times the reach count no more than any other
NIL = -1  # instead of a candidate
_BETWEEN = 10  # sweeps from one look at the means to the next
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
    tolerance: float  # sweeps end when no mean changes by so much any more; 0: never


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
    close: NDArray[np.float64]  # by candidate of a token: what mentions close by add because they are close
    unknown: NDArray[np.float64]  # by distinct string: how many of its mentions are NIL
    logs: NDArray[np.float64]  # by token: the log weight of what it means
    level: NDArray[np.float64]  # the sum of these over mentions that are not NIL, and their number
    decay: NDArray[np.float64]  # by distance: how much more a mention close by counts
    rows: NDArray[np.float32]  # of R, as far as they were read; the last is 0
    slots: NDArray[np.int32]  # by topic: its row, or −1
    sums: NDArray[np.float64]  # scratch
    sizes: NDArray[np.int64]  # how many rows there are, and how often a mention has changed


class Tally(NamedTuple):
    """Conditionals, and their sums over the sweeps that count. A conditional is added when it is replaced."""

    weights: NDArray[np.float64]  # of candidates, by the last conditional, not normalised
    ends: NDArray[np.float64]  # sums of these from the first candidate of a token on
    times: NDArray[np.float64]  # by token: Σ 1/total over visits with these weights
    all_times: NDArray[np.float64]  # and over all
    shares: NDArray[np.float64]
    nil: NDArray[np.float64]
    level: NDArray[np.float64]
    best: NDArray[np.int64]  # by token: the place of the candidate with the largest weight
    seen: NDArray[np.int64]  # by token: how many changes there were at its last visit


@njit
def gibbs(mentions: Mentions, relations: Relations, rules: Rules, stream: Stream) -> Posterior:
    """The posterior of every candidate of every mention, and of NIL."""
    size, places = len(mentions.places), len(mentions.numbers)
    state = _start(mentions, relations, rules)
    tally = Tally(
        np.zeros(places), np.zeros(places), np.zeros(size), np.zeros(size), np.zeros(places), np.zeros(size),
        np.zeros(size), np.zeros(size, np.int64), np.full(size, np.int64(-1)),
    )  # fmt: skip
    means, nil_means = np.zeros(places), np.zeros(size)
    kept: Whole = np.int64(0)
    for sweep in range(-1, rules.sweeps):
        for token in range(size):
            if sweep < 0:
                place, weight = _first(mentions, token)
            else:
                place, weight = _visit(mentions, relations, rules, state, tally, token, sweep >= rules.burn_in, stream)
            if weight > 0.0:
                _move(mentions, relations, state, token, place, np.log(max(weight, _TINY)))
            tally.seen[token] = state.sizes[1] if sweep >= 0 else np.int64(-1)
        kept = sweep + 1 - rules.burn_in
        look = rules.tolerance > 0.0 and kept > 0 and kept % _BETWEEN == 0
        if look and _change(mentions, tally, kept, means, nil_means) < rules.tolerance and kept > _BETWEEN:
            break
    return _means(mentions, tally, kept)


@inner
def _start(mentions: Mentions, relations: Relations, rules: Rules) -> State:
    """Every mention begins as NIL."""
    size, topics = len(mentions.places), len(relations.scales)
    names = np.int64(0)
    for name in mentions.names:
        names = max(names, name + 1)
    state = State(
        np.full(size, np.int64(NIL)), np.zeros(topics), np.zeros(topics), np.zeros(len(mentions.numbers)),
        np.zeros(names), np.zeros(size), np.zeros(2), _decay(mentions.places, rules),
        np.empty((topics + 1, topics), np.float32), np.full(topics, np.int32(-1)), np.empty(topics),
        np.zeros(2, np.int64),
    )  # fmt: skip
    for k in range(topics):
        state.rows[topics, k] = np.float32(0)
    for token in range(size):
        state.unknown[mentions.names[token]] += 1.0
    return state


@inner
def _decay(places: NDArray[np.int64], rules: Rules) -> NDArray[np.float64]:
    """How much more mentions count, by their distance, up to the largest that matters or that there is."""
    size = np.int64(0)
    if rules.near > 0.0 and len(places):
        size = min(np.int64(min(FAR * rules.reach, 1e9)), places[len(places) - 1] - places[0]) + 1
    decay = np.empty(size)
    for distance in range(size):
        decay[distance] = rules.near * np.exp(-distance / rules.reach)
    return decay


@inlined
def _first(mentions: Mentions, token: Whole) -> tuple[Whole, Real]:
    """The candidate that has the largest share of the base measure, or NIL, and its weight."""
    start, end = mentions.offsets[token], mentions.offsets[token + 1]
    best: Whole = start
    for at in range(start, end):
        if mentions.weights[at] * mentions.base[at] > mentions.weights[best] * mentions.base[best]:
            best = np.int64(at)
    if best == end:
        return np.int64(NIL), 1.0
    return best, mentions.weights[best] * mentions.base[best]


@inlined
def _visit(
    mentions: Mentions, relations: Relations, rules: Rules, state: State, tally: Tally, token: Whole, counts: bool,
    stream: Stream,
) -> tuple[Whole, Real]:  # fmt: skip
    """Draw a mention given all others: the candidate, or NIL, and its weight; 0 if all is as it was."""
    start, end = mentions.offsets[token], mentions.offsets[token + 1]
    changed = tally.seen[token] != state.sizes[1]
    if changed:
        _weigh(mentions, relations, rules, state, tally, token)
    level = _level(state, token)
    nil = _nil_weight(mentions, rules, state, tally, token, level)
    total = nil + (tally.ends[end - 1] if end > start else 0.0)
    if counts:
        tally.level[token] += level
        tally.nil[token] += nil / total
        tally.times[token] += 1.0 / total
        tally.all_times[token] += 1.0 / total
    at: Whole = state.drawn[token]
    x = uniform(stream) * total
    if at == NIL or x >= tally.ends[at] or (at > start and x < tally.ends[at - 1]):
        changed = True
        at = start
        for place in range(start, end):
            at += tally.ends[place] <= x
        if at == end and nil <= 0.0:
            at = end - 1
    if not changed:
        return at, 0.0
    return (at, max(tally.weights[at], _TINY)) if at < end else (np.int64(NIL), 1.0)


@inlined
def _row(relations: Relations, state: State, topic: Whole) -> Whole:
    """The row of a topic among those of R, or that of NIL."""
    if topic == NIL:
        return len(state.rows) - 1
    if state.slots[topic] < 0:
        state.slots[topic] = state.sizes[0]
        state.sizes[0] += 1
        fill_row(relations, topic, state.sums, state.rows[state.slots[topic]])
    return np.int64(state.slots[topic])


@inlined
def _move(mentions: Mentions, relations: Relations, state: State, token: Whole, place: Whole, log: Real) -> None:
    """Let a mention mean another candidate, or NIL."""
    old_place = state.drawn[token]
    old = np.int64(mentions.numbers[old_place]) if old_place != NIL else np.int64(NIL)
    new = np.int64(mentions.numbers[place]) if place != NIL else np.int64(NIL)
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
    state.sizes[1] += 1
    for topic, sign in ((old, -1.0), (new, 1.0)):
        if topic == NIL:
            state.unknown[mentions.names[token]] += sign
        else:
            state.counts[topic] += sign
    before, after = _row(relations, state, old), _row(relations, state, new)
    _exchange(mentions, state, token, state.rows[before], state.rows[after])


@inlined
def _exchange(
    mentions: Mentions, state: State, token: Whole, before: NDArray[np.float32], after: NDArray[np.float32]
) -> None:
    """Others lose a row of R and gain one, those close by more of it."""
    gained, pull, close, numbers = state.sums, state.pull, state.close, mentions.numbers
    for k in range(len(pull)):
        gained[k] = np.float64(after[k]) - np.float64(before[k])
        pull[k] += gained[k]
    for step in (-1, 1):
        other = token + step
        while 0 <= other < len(mentions.places):
            distance = abs(mentions.places[other] - mentions.places[token])
            if distance >= len(state.decay):
                break
            decay = state.decay[distance]
            for at in range(np.uint64(mentions.offsets[other]), np.uint64(mentions.offsets[other + 1])):
                close[at] += decay * gained[np.uint64(numbers[at])]
            other += step


@inlined
def _weigh(mentions: Mentions, relations: Relations, rules: Rules, state: State, tally: Tally, token: Whole) -> None:
    """The conditional of a mention's candidates given all others, not normalised; the last one is added to its sum."""
    start, end = mentions.offsets[token], mentions.offsets[token + 1]
    weights, place = tally.weights, state.drawn[token]
    for at in range(start, end):
        tally.shares[at] += tally.times[token] * weights[at]
    tally.times[token] = 0.0
    own = state.rows[_row(relations, state, np.int64(mentions.numbers[place]) if place != NIL else np.int64(NIL))]
    for at in range(start, end):
        k = np.uint64(mentions.numbers[at])
        urn = rules.repeats * (state.counts[k] - (1.0 if at == place else 0.0)) + state.pull[k] - np.float64(own[k])
        weights[at] = mentions.base[at] + max(urn, 0.0) + max(state.close[at], 0.0)
    parents = mentions.parents
    for parent in range(parents.offsets[token], parents.offsets[token + 1]):
        place = state.drawn[parents.tokens[parent]]
        for at in range(start, end):
            if place != NIL and mentions.numbers[place] == mentions.numbers[at]:
                weights[at] += rules.coreference * parents.weights[parent]
    total = 0.0
    best: Whole = start
    for at in range(start, end):
        weights[at] *= mentions.weights[at]
        total += weights[at]
        tally.ends[at] = total
        if weights[at] > weights[best]:
            best = at
    tally.best[token] = best


@inlined
def _level(state: State, token: Whole) -> Real:
    """The mean log weight of what the other mentions mean; one more that fits badly counts with them.

    So NIL is improbable where there is little to compare a mention with.
    """
    known = state.drawn[token] != NIL
    total = ALONE + state.level[0] - (state.logs[token] if known else 0.0)
    return total / (state.level[1] + (0.0 if known else 1.0))


@inlined
def _nil_weight(mentions: Mentions, rules: Rules, state: State, tally: Tally, token: Whole, level: Real) -> Real:
    """The weight of NIL: for itself, by other mentions of the string that are NIL, and by parents that are.

    Its rival is the best candidate, not all of them: many that fit a little are no reason to believe in one.
    """
    if mentions.offsets[token] == mentions.offsets[token + 1]:
        return 1.0
    best, total = tally.best[token], tally.ends[mentions.offsets[token + 1] - 1]
    if mentions.nil[best] <= 0.0:
        return 0.0
    own = 1.0 if state.drawn[token] == NIL else 0.0
    urn = rules.base + rules.repeats * (state.unknown[mentions.names[token]] - own)
    parents = mentions.parents
    for at in range(parents.offsets[token], parents.offsets[token + 1]):
        if parents.surnames[at] and state.drawn[parents.tokens[at]] == NIL:
            urn += rules.coreference * parents.weights[at]
    return mentions.nil[best] * urn * np.exp(rules.level * level) * total / max(tally.weights[best], _TINY)


@bare
def _change(
    mentions: Mentions, tally: Tally, kept: Whole, means: NDArray[np.float64], nil_means: NDArray[np.float64]
) -> Real:
    """How much the means over the sweeps so far differ from those at the last look, which they replace."""
    largest = 0.0
    for token in range(len(mentions.places)):
        for at in range(mentions.offsets[token], mentions.offsets[token + 1]):
            mean = (tally.shares[at] + tally.times[token] * tally.weights[at]) / kept
            largest = max(largest, abs(mean - means[at]))
            means[at] = mean
        largest = max(largest, abs(tally.nil[token] / kept - nil_means[token]))
        nil_means[token] = tally.nil[token] / kept
    return largest


@inner
def _means(mentions: Mentions, tally: Tally, sweeps: Whole) -> Posterior:
    from_base = np.empty(len(mentions.numbers))
    for token in range(len(mentions.places)):
        for at in range(mentions.offsets[token], mentions.offsets[token + 1]):
            tally.shares[at] = (tally.shares[at] + tally.times[token] * tally.weights[at]) / sweeps
            from_base[at] = mentions.base[at] * mentions.weights[at] * tally.all_times[token] / sweeps
        tally.nil[token] /= sweeps
        tally.level[token] /= sweeps
    return Posterior(tally.shares, from_base, tally.nil, tally.level)
