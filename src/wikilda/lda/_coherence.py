"""Eq. 6: N_k counts for as much as topic k is like the other topics of the document.

The mean runs over the *company*: the distinct topics that mentions have now (the token being drawn excepted),
as far as they are candidates of some mention, and without k itself. Topics of words alone are not in the company,
but are judged by it. Without company, coherence is 1: there is nothing to agree with. A topic that is no
candidate of any mention has a fixed coherence, for the packet has no similarities of it.

What a topic's count is worth, given the others of the document, is said here and nowhere else: `_worth` of the numbers
in `State.company`, which `_spread` keeps up to date. All slots are done at once, in short loops over few arrays, which
the compiler turns into vector operations.
"""

import numpy as np

from wikilda._core.jit import Real, Whole, bare
from wikilda.lda._sampler_state import COMPANY, HIGH, MENTIONS, PRESENT, SEATED_CANDIDATE, STRAY, SUM, State


@bare
def join(state: State, slot: Whole, tokens: Whole, noncandidate_coherence: Real) -> None:
    """Add mentions to the topic in a slot; the first brings it into the company."""
    state.seats[slot, MENTIONS] += tokens
    if state.seats[slot, MENTIONS] == tokens and state.seats[slot, SEATED_CANDIDATE] >= 0:
        state.company[PRESENT, slot] = 1.0
        _spread(state, slot, 1.0, noncandidate_coherence)


@bare
def leave(state: State, slot: Whole, noncandidate_coherence: Real) -> None:
    """Take a mention away from the topic in a slot; with the last it leaves the company."""
    state.seats[slot, MENTIONS] -= 1
    if state.seats[slot, MENTIONS] == 0 and state.seats[slot, SEATED_CANDIDATE] >= 0:
        state.company[PRESENT, slot] = 0.0
        _spread(state, slot, -1.0, noncandidate_coherence)


@bare
def stands_alone(state: State, slot: Whole) -> bool:
    """Whether a topic is in the company by one mention alone."""
    return bool(state.seats[slot, MENTIONS] == 1 and state.seats[slot, SEATED_CANDIDATE] >= 0)


@bare
def judge_without(state: State, slot: Whole, noncandidate_coherence: Real) -> None:
    """What all counts would be worth if the topic in a slot were not in the company, in `State.without`."""
    sums, present, stray = state.company[SUM], state.company[PRESENT], state.company[STRAY]
    alike, counts, without = state.alike[slot], state.counts, state.without
    shares = _shares(np.float64(state.numbers[COMPANY] - 1))
    for other in range(np.uint64(state.numbers[HIGH])):
        worth = _worth(
            sums[other] - np.float64(alike[other]), present[other], stray[other], shares, noncandidate_coherence
        )
        without[other] = counts[other] * worth
    without[slot] = state.effective[slot]  # no topic is judged by itself


@bare
def coherence_of(state: State, slot: Whole, noncandidate_coherence: Real) -> Real:
    """The mean similarity of the topic in a slot to the others in the company."""
    sums, present, stray = state.company[SUM, slot], state.company[PRESENT, slot], state.company[STRAY, slot]
    return _worth(sums, present, stray, _shares(np.float64(state.numbers[COMPANY])), noncandidate_coherence)


@bare
def _spread(state: State, slot: Whole, sign: Real, noncandidate_coherence: Real) -> None:
    """Tell all topics that one has come or gone."""
    sums, present, stray = state.company[SUM], state.company[PRESENT], state.company[STRAY]
    alike, counts, unit, effective = state.alike[slot], state.counts, state.unit, state.effective
    state.numbers[COMPANY] += np.int64(sign)
    shares, high = _shares(np.float64(state.numbers[COMPANY])), np.uint64(state.numbers[HIGH])
    for other in range(high):
        sums[other] += sign * np.float64(alike[other])
    for other in range(high):
        unit[other] = _worth(sums[other], present[other], stray[other], shares, noncandidate_coherence)
    for other in range(high):
        effective[other] = counts[other] * unit[other]


@bare
def _shares(size: Real) -> tuple[Real, Real, Real, Real]:
    """By what the sums of topics in a company of some size, and of others, are multiplied, and what is added."""
    inside = (1.0 / (size - 1.0), 0.0) if size > 1.0 else (0.0, 1.0)
    outside = (1.0 / size, 0.0) if size > 0.0 else (0.0, 1.0)
    return inside[0], inside[1], outside[0], outside[1]


@bare
def _worth(
    total: Real, present: Real, stray: Real, shares: tuple[Real, Real, Real, Real], noncandidate_coherence: Real
) -> Real:
    """A topic's coherence, from the sum of its similarities to the company, of which it may be one."""
    inside, outside = total * shares[0] + shares[1], total * shares[2] + shares[3]
    mean = inside if present > 0.0 else outside
    return np.float32(noncandidate_coherence if stray > 0.0 else mean)
