"""Draw a topic for one token: the masses of the buckets of Eq. 5, and a walk through the selected bucket.

Bucket (v) is in two parts, private and shared entries; (c, v) is the live row, (c) all present topics where a symbol
is smoothed; (d) is an alias table. With coherence, N_k is multiplied by what Eq. 6 has for the topic, and on request
α_k, too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, inlined
from wikilda.lda._sampler_state import CANDIDATE, COHERENT, COMPANY, END, FIRST, MENTIONS, PRESENT, State
from wikilda.lda.similarity import Likeness

# The bucket of a draw.
HIT_PRIVATE, HIT_SHARED, HIT_LIVE, HIT_PRESENT, HIT_DENSE = range(5)


class Rules(NamedTuple):
    """The settings that kernels need."""

    alpha: float
    sweeps: int
    burn_in: int
    coherent: bool
    coherent_prior: bool
    noncandidate_coherence: float
    idle_draws: int


@inlined
def worth(state: State, number: Whole, old: Whole, noncandidate_coherence: Real) -> Real:
    """N_k of a topic, times its coherence if that counts, without one token that has topic `old`."""
    tokens = state.counts[np.uint64(number)] - np.float64(number == old)
    if state.numbers[COHERENT]:
        return tokens * coherence_of(state, state.known[number, CANDIDATE], noncandidate_coherence)
    return tokens


@bare
def coherence_of(state: State, candidate: Whole, noncandidate_coherence: Real) -> Real:
    """Eq. 6: the mean similarity of a topic to the others that mentions have."""
    if candidate < 0:
        return noncandidate_coherence
    others = state.numbers[COMPANY] - state.company[candidate]
    return state.similarities[candidate] / np.float64(others) if others > 0 else 1.0


@inlined
def live_mass(state: State, symbol: Whole, old: Whole, noncandidate_coherence: Real) -> Real:
    """Z^(c,v): the mass of the present topics in a symbol's row, without one token that has topic `old`."""
    topics, weights, mass = state.live_topics, state.live_weights, 0.0
    for at in range(np.uint64(state.live[symbol, FIRST]), np.uint64(state.live[symbol, END])):
        mass += worth(state, np.int64(topics[at]), old, noncandidate_coherence) * np.float64(weights[at])
    return mass


@bare
def present_mass(state: State, kind: Whole, old: Whole, noncandidate_coherence: Real) -> Real:
    """Z^(c) but for the symbol's smoothing: the mass of all present topics, without one token that has `old`."""
    mass = 0.0
    for at in range(state.numbers[PRESENT]):
        number = np.int64(state.present[at])
        mass += worth(state, number, old, noncandidate_coherence) * np.float64(state.factors[kind, number])
    return mass


@bare
def walk_live(state: State, symbol: Whole, old: Whole, x: Real, noncandidate_coherence: Real) -> Whole:
    """The topic at distance x in a symbol's live row."""
    last, at, end = np.int64(old), np.uint64(state.live[symbol, FIRST]), np.uint64(state.live[symbol, END])
    while at < end and x >= 0.0:
        number = np.int64(state.live_topics[at])
        mass = worth(state, number, old, noncandidate_coherence) * np.float64(state.live_weights[at])
        if mass > 0.0:
            last = number
            x -= mass
        at += np.uint64(1)
    return last


@bare
def walk_present(state: State, kind: Whole, old: Whole, x: Real, noncandidate_coherence: Real) -> Whole:
    """The topic at distance x among all present ones, not counting the symbol's smoothing."""
    last, at = np.int64(old), np.int64(0)
    while at < state.numbers[PRESENT] and x >= 0.0:
        number = np.int64(state.present[at])
        mass = worth(state, number, old, noncandidate_coherence) * np.float64(state.factors[kind, number])
        if mass > 0.0:
            last = number
            x -= mass
        at += 1
    return last


@inlined
def hit(uniform: Real, private: Real, shared: Real, live: Real, present: Real, everywhere: Real) -> tuple[Whole, Real]:
    """The bucket at a uniform number, given the masses of all, and how far into it."""
    x = uniform * (private + shared + live + present + everywhere)
    if x < private:
        return HIT_PRIVATE, x
    x -= private
    if x < shared:
        return HIT_SHARED, x
    x -= shared
    if x < live:
        return HIT_LIVE, x
    x -= live
    if x < present:
        return HIT_PRESENT, x
    if everywhere > 0.0:
        return HIT_DENSE, x - present
    # Reached by rounding only: the last bucket with mass.
    if present > 0.0 or live > 0.0:
        return HIT_PRESENT if present > 0.0 else HIT_LIVE, x
    return HIT_SHARED if shared > 0.0 else HIT_PRIVATE, x


@bare
def walk_shared(offsets: NDArray[np.int64], priors: NDArray[np.float32], symbol: Whole, x: Real) -> Whole:
    """The shared entry at distance x, in units of priors."""
    at, last = offsets[symbol], offsets[symbol + np.uint64(1)] - 1
    x -= np.float64(priors[at])
    while x >= 0.0 and at < last:
        at += 1
        x -= np.float64(priors[at])
    return at


@bare
def coherent_shared_mass(
    candidates: NDArray[np.int32], priors: NDArray[np.float32], start: Whole, end: Whole, state: State,
    noncandidate_coherence: Real,
) -> Real:  # fmt: skip
    """The mass of shared entries whose priors are multiplied by the coherence of their topics."""
    mass = 0.0
    for at in range(start, end):
        mass += coherence_of(state, np.int64(candidates[at]), noncandidate_coherence) * np.float64(priors[at])
    return mass


@bare
def walk_coherent_shared(
    candidates: NDArray[np.int32], priors: NDArray[np.float32], start: Whole, end: Whole, state: State, x: Real,
    noncandidate_coherence: Real,
) -> Whole:  # fmt: skip
    """The shared entry at distance x therein."""
    last, at = start, start
    while at < end and x >= 0.0:
        mass = coherence_of(state, np.int64(candidates[at]), noncandidate_coherence) * np.float64(priors[at])
        if mass > 0.0:
            last = at
            x -= mass
        at += 1
    return last


@bare
def walk_private(
    priors: NDArray[np.float32],
    start: Whole,
    length: Whole,
    places: NDArray[np.int32],
    shared: Whole,
    end: Whole,
    x: Real,
) -> Whole:
    """The place in a row of the private entry at distance x, in units of priors; places[shared:end] are not private."""
    last = np.int64(0)
    for place in range(length):
        if shared < end and np.int64(places[shared]) == place:
            shared += 1
            continue
        prior = np.float64(priors[start + place])
        if prior > 0.0:
            last = np.int64(place)
            x -= prior
            if x < 0.0:
                break
    return last


@bare
def join(state: State, likeness: Likeness, number: Whole, tokens: Whole) -> None:
    """Add mentions to a topic. The first makes it present."""
    mentions = state.known[number, MENTIONS]
    state.known[number, MENTIONS] = mentions + tokens
    if mentions == 0:
        _tell(state, likeness, state.known[number, CANDIDATE], np.int64(1))


@bare
def leave(state: State, likeness: Likeness, number: Whole) -> None:
    """Remove a mention from a topic. The last makes it absent."""
    mentions = state.known[number, MENTIONS] - 1
    state.known[number, MENTIONS] = mentions
    if mentions == 0:
        _tell(state, likeness, state.known[number, CANDIDATE], np.int64(-1))


@bare
def _tell(state: State, likeness: Likeness, candidate: Whole, sign: Whole) -> None:
    """Update the sums of a candidate's neighbours. The sums are exact and do not drift."""
    if candidate >= 0:
        state.numbers[COMPANY] += sign
        state.company[candidate] += sign
        for at in range(likeness.offsets[candidate], likeness.offsets[candidate + 1]):
            state.similarities[likeness.neighbours[at]] += np.float64(sign) * np.float64(likeness.values[at])
