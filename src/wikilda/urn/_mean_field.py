"""The posterior of the mentions of a document, by collapsed mean-field inference.

The conditional of a mention given all others is that of `wikilda.urn`. Where a Gibbs sampler would draw the others,
their current posteriors take the place of the draws (the zero-order update of Asuncion et al. 2009, "CVB0"). Mentions
are visited in the order of the text until no probability changes any more. The result is deterministic, and the
logarithm of each posterior is exactly the sum of the terms that it was computed from.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inlined, inner, njit
from wikilda.urn._coreference import Parents
from wikilda.urn._relatedness import Relations, fill_row

Vector = NDArray[np.float64]

FAR = 3.0  # mentions that are more than this many reaches apart do not count as close
_LEAST = 1e-3  # smaller probabilities, and smaller changes of them, do not reach other mentions
_MOST_SWEEPS = 50
NIL_FEATURES = ("parents", "same_string", "level", "fit", "mentions")  # those that depend on the other mentions


class Mentions(NamedTuple):
    """The mentions in the order of the text, each with candidates, or without."""

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int32]  # of candidate topics, sorted within a mention
    scores: Vector  # by candidate: its log weight, without the other mentions
    places: NDArray[np.int64]  # in tokens of the text
    strings: NDArray[np.int64]  # the number of the mention's distinct string
    nil: Vector  # by mention: the log odds of NIL by its string only
    against: Vector  # by candidate: what it adds to the log odds of NIL in proportion to its probability
    parents: Parents


class Rules(NamedTuple):
    """Weights, as the kernel takes them."""

    alone: float  # α: the content of the urn for a candidate without any other mention
    repeats: float  # added by another mention of the same topic
    near: float  # additional weight of a mention at distance 0
    reach: float  # in tokens
    coreference: float
    graph: float  # γ: the exponent of the urn's content
    nil_parents: float
    nil_same: float
    nil_level: float
    nil_fit: float
    nil_mentions: float
    usual_fit: float  # the fit of a mention where there is no other to compare with


class Posterior(NamedTuple):
    """The result."""

    shares: Vector  # by candidate: its probability given that the mention is not NIL
    content: Vector  # by candidate: the content of the urn, with α
    nil: Vector  # by mention: the probability of NIL
    features: NDArray[np.float64]  # by mention: NIL_FEATURES
    from_base: Vector  # by candidate: the part of its probability, NIL included, that does not come from other mentions


class State(NamedTuple):
    """The posteriors of mentions as known to other mentions, and sums over them."""

    held: Vector  # by candidate of a mention: its probability, NIL included, 0 if it is too small
    counts: Vector  # by topic: N_k
    pull: Vector  # by topic: Σ_j R(k, z_j)
    close: Vector  # by candidate of a mention: the additional weight of close mentions
    unknown: Vector  # by distinct string: the expected number of its mentions that are NIL
    times: Vector  # by distinct string: the number of its mentions
    level: Vector  # Σ (1 − nil) · fit over the mentions that have candidates, and Σ (1 − nil)
    decay: Vector  # by distance: the additional weight of a close mention
    rows: NDArray[np.float32]  # of R, as far as they were read
    slots: NDArray[np.int32]  # by topic: its row, or −1
    sums: Vector  # scratch
    weights: Vector  # scratch, by candidate of a mention
    used: NDArray[np.int64]  # the number of rows


@njit
def mean_field(mentions: Mentions, relations: Relations, rules: Rules, tolerance: Real) -> Posterior:
    """Return the posterior of every candidate of every mention, and of NIL."""
    size, places = len(mentions.places), len(mentions.numbers)
    state = _start(mentions, relations, rules)
    found = Posterior(
        shares=np.zeros(places),
        content=np.zeros(places),
        nil=np.zeros(size),
        features=np.zeros((size, 5)),
        from_base=np.zeros(places),
    )
    several = np.int64(0)
    for mention in range(size):
        found.nil[mention] = 1.0 if mentions.offsets[mention + 1] == mentions.offsets[mention] else 0.0
        several += mentions.offsets[mention + 1] > mentions.offsets[mention]
    for mention in range(size):
        if mentions.offsets[mention + 1] > mentions.offsets[mention]:
            found.features[mention, 4] = np.log(np.float64(several))
    for mention in range(size):  # without any other
        _visit(mentions, relations, rules, state, found, mention)
    for mention in range(size):
        _tell(mentions, relations, state, found, mention, 0.0)
    for _ in range(_MOST_SWEEPS):
        change: Real = 0.0
        for mention in range(size):
            fit, nil = found.features[mention, 3], found.nil[mention]
            change = max(change, _visit(mentions, relations, rules, state, found, mention))
            if mentions.offsets[mention + 1] > mentions.offsets[mention]:
                state.level[0] -= (1.0 - nil) * fit
                state.level[1] -= 1.0 - nil
                _tell(mentions, relations, state, found, mention, nil)
        if change < tolerance:
            break
    for mention in range(size):
        for at in range(mentions.offsets[mention], mentions.offsets[mention + 1]):
            known = found.shares[at] * (1.0 - found.nil[mention])
            found.from_base[at] = known * (rules.alone / found.content[at]) ** rules.graph
    return found


@inner
def _start(mentions: Mentions, relations: Relations, rules: Rules) -> State:
    topics, strings = len(relations.scales), np.int64(0)
    for string in mentions.strings:
        strings = max(strings, string + 1)
    state = State(
        held=np.zeros(len(mentions.numbers)), counts=np.zeros(topics), pull=np.zeros(topics),
        close=np.zeros(len(mentions.numbers)), unknown=np.zeros(strings), times=np.zeros(strings), level=np.zeros(2),
        decay=_decay(mentions.places, rules), rows=np.empty((topics, topics), np.float32),
        slots=np.full(topics, np.int32(-1)), sums=np.empty(topics),
        weights=np.empty(len(mentions.numbers)), used=np.zeros(1, np.int64),
    )  # fmt: skip
    for string in mentions.strings:
        state.times[string] += 1.0
    return state


@inner
def _decay(places: NDArray[np.int64], rules: Rules) -> Vector:
    """The additional weight of close mentions by distance, up to the largest that matters or exists."""
    size = np.int64(0)
    if rules.near > 0.0 and len(places):
        size = min(np.int64(FAR * rules.reach), places[len(places) - 1] - places[0]) + 1
    decay = np.empty(size)
    for distance in range(size):
        decay[distance] = rules.near * np.exp(-distance / rules.reach)
    return decay


@inlined
def _row(relations: Relations, state: State, topic: Whole) -> Whole:
    """The row of R that belongs to a topic."""
    if state.slots[topic] < 0:
        state.slots[topic] = state.used[0]
        state.used[0] += 1
        fill_row(relations, topic, state.sums, state.rows[state.slots[topic]])
    return np.int64(state.slots[topic])


@inlined
def _visit(
    mentions: Mentions, relations: Relations, rules: Rules, state: State, found: Posterior, mention: Whole
) -> Real:
    """Update the posterior of a mention given those of all others; return the largest change of a probability."""
    start, end = mentions.offsets[mention], mentions.offsets[mention + 1]
    if start == end:
        return 0.0
    _fill_content(mentions, relations, rules, state, found, mention)
    weights = state.weights  # logarithms and powers take most of the time: each is computed once
    best: Real = -np.inf
    for at in range(start, end):
        weights[at] = mentions.scores[at] + rules.graph * np.log(found.content[at])
        best = max(best, weights[at])
    total: Real = 0.0
    for at in range(start, end):
        weights[at] = np.exp(weights[at] - best)
        total += weights[at]
    odds = mentions.nil[mention]
    change: Real = 0.0
    for at in range(start, end):
        share = weights[at] / total
        change = max(change, abs(share - found.shares[at]))
        found.shares[at] = share
        odds += share * mentions.against[at]
    _fill_features(mentions, rules, state, found, mention, best + np.log(total))
    features = found.features[mention]
    odds += rules.nil_parents * features[0] + rules.nil_same * features[1]
    odds += rules.nil_level * features[2] + rules.nil_fit * features[3]
    odds += rules.nil_mentions * features[4]
    nil = 1.0 / (1.0 + np.exp(-odds))
    change = max(change, abs(nil - found.nil[mention]))
    found.nil[mention] = nil
    return change


@inlined
def _fill_content(
    mentions: Mentions, relations: Relations, rules: Rules, state: State, found: Posterior, mention: Whole
) -> None:
    """Compute the content of the urn for each candidate of a mention, from all other mentions."""
    start, end = mentions.offsets[mention], mentions.offsets[mention + 1]
    numbers, content = mentions.numbers, found.content
    for at in range(start, end):
        k = np.uint64(numbers[at])
        content[at] = rules.repeats * (state.counts[k] - state.held[at]) + state.pull[k] + state.close[at]
    for own in range(start, end):  # without the mention itself
        if state.held[own] > 0.0:
            row = state.rows[_row(relations, state, np.int64(numbers[own]))]
            for at in range(start, end):
                content[at] -= state.held[own] * np.float64(row[numbers[at]])
    for at in range(start, end):
        content[at] = rules.alone + max(content[at], 0.0)
    parents = mentions.parents
    for parent in range(parents.offsets[mention], parents.offsets[mention + 1]):
        other = parents.tokens[parent]
        own_place: Whole = start
        for place in range(mentions.offsets[other], mentions.offsets[other + 1]):
            while own_place < end and numbers[own_place] < numbers[place]:
                own_place += 1
            if own_place < end and numbers[own_place] == numbers[place]:
                content[own_place] += rules.coreference * parents.weights[parent] * state.held[place]


@inlined
def _fill_features(mentions: Mentions, rules: Rules, state: State, found: Posterior, mention: Whole, fit: Real) -> None:
    """NIL_FEATURES of a mention.

    They are: whether its longer names are NIL (1) or known (−1), the share of NIL among other mentions of its string,
    the mean fit of the other mentions, and its own fit: the logarithm of the summed weights of its candidates. The last
    is the logarithm of the number of mentions with candidates, since support by others makes any candidate fit better.
    """
    parents, features = mentions.parents, found.features[mention]
    features[0] = 0.0
    for at in range(parents.offsets[mention], parents.offsets[mention + 1]):
        if parents.surnames[at]:
            features[0] += parents.weights[at] * (2.0 * found.nil[parents.tokens[at]] - 1.0)
    string = mentions.strings[mention]
    others = state.times[string] - 1.0
    unknown: Real = state.unknown[string] - found.nil[mention]
    features[1] = max(unknown, 0.0) / others if others > 0.0 else 0.0
    known: Real = 1.0 - found.nil[mention]
    features[2] = rules.usual_fit
    if state.level[1] > 0.0:
        rest: Real = state.level[0] - known * features[3]
        weight: Real = max(state.level[1] - known, 0.0)
        features[2] = (rest + rules.usual_fit) / (weight + 1.0)
    features[3] = fit


@inlined
def _tell(
    mentions: Mentions, relations: Relations, state: State, found: Posterior, mention: Whole, before: Real
) -> None:
    """Update the sums with a mention's posterior; `before` is its previous probability of NIL."""
    start, end = mentions.offsets[mention], mentions.offsets[mention + 1]
    nil = found.nil[mention]
    state.unknown[mentions.strings[mention]] += nil - before
    if start == end:
        return
    state.level[0] += (1.0 - nil) * found.features[mention, 3]
    state.level[1] += 1.0 - nil
    for at in range(start, end):
        known = found.shares[at] * (1.0 - nil)
        known = known if known >= _LEAST else 0.0
        gained = known - state.held[at]
        if gained == 0.0 or (known > 0.0 and abs(gained) < _LEAST):
            continue
        state.held[at] = known
        topic = np.int64(mentions.numbers[at])
        state.counts[topic] += gained
        _spread(mentions, state, mention, gained, state.rows[_row(relations, state, topic)])


@inlined
def _spread(mentions: Mentions, state: State, mention: Whole, gained: Real, row: NDArray[np.float32]) -> None:
    """Add a row of R to what all topics have, and more of it to the candidates of close mentions."""
    pull, close, numbers = state.pull, state.close, mentions.numbers
    for k in range(len(pull)):
        pull[k] += gained * np.float64(row[k])
    for step in (-1, 1):
        other = mention + step
        while 0 <= other < len(mentions.places):
            distance = abs(mentions.places[other] - mentions.places[mention])
            if distance >= len(state.decay):
                break
            weight = gained * state.decay[distance]
            for at in range(np.uint64(mentions.offsets[other]), np.uint64(mentions.offsets[other + 1])):
                close[at] += weight * np.float64(row[np.uint64(numbers[at])])
            other += step
