"""Eq. 6: N_k counts for as much as topic k is like the other topics of the document.

The mean runs over the *company*: the distinct topics that mentions have now (the token being drawn excepted),
as far as they are candidates of some mention, and without k itself. Topics of words alone are not in the company,
but are judged by it. Without company, coherence is 1: there is nothing to agree with. A topic that no mention of
the document could mean is a stranger, of whom the packet has no similarities; strangers have a fixed coherence.
"""

import numpy as np

from wikilda.inference.state import COMPANY, HIGH, MENTIONS, PRESENT, SEATED_CANDIDATE, SUM, State
from wikilda.inference.types import Real, Whole
from wikilda.jit import inner


@inner
def join(state: State, slot: Whole, tokens: Whole, stranger: Real) -> None:
    """Add mentions to the topic in a slot; the first brings it into the company."""
    state.seats[slot, MENTIONS] += tokens
    if state.seats[slot, MENTIONS] == tokens and state.seats[slot, SEATED_CANDIDATE] >= 0:
        state.company[PRESENT, slot] = 1.0
        _spread(state, slot, 1.0, stranger)


@inner
def leave(state: State, slot: Whole, stranger: Real) -> None:
    """Take a mention away from the topic in a slot; with the last it leaves the company."""
    state.seats[slot, MENTIONS] -= 1
    if state.seats[slot, MENTIONS] == 0 and state.seats[slot, SEATED_CANDIDATE] >= 0:
        state.company[PRESENT, slot] = 0.0
        _spread(state, slot, -1.0, stranger)


@inner
def _spread(state: State, slot: Whole, sign: Real, stranger: Real) -> None:
    """Tell all topics that one has come or gone."""
    alike, company, seats = state.alike, state.company, state.seats
    counts, unit, effective = state.counts, state.unit, state.effective
    state.numbers[COMPANY] += np.int64(sign)
    size = np.float64(state.numbers[COMPANY])
    for other in range(state.numbers[HIGH]):
        company[SUM, other] += sign * np.float64(alike[slot, other])
        stray = seats[other, SEATED_CANDIDATE] < 0
        unit[other] = _mean(company[SUM, other], size - company[PRESENT, other], stray, stranger)
        effective[other] = counts[other] * unit[other]


@inner
def coherence_of(state: State, slot: Whole, stranger: Real) -> Real:
    """The mean similarity of the topic in a slot to the others in the company."""
    others = np.float64(state.numbers[COMPANY]) - state.company[PRESENT, slot]
    return _mean(state.company[SUM, slot], others, state.seats[slot, SEATED_CANDIDATE] < 0, stranger)


@inner
def _mean(total: Real, others: Real, stray: bool, stranger: Real) -> Real:
    mean = total / others if others > 0.0 else 1.0
    return np.float32(stranger if stray else mean)
