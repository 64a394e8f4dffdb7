"""Eq. 6: N_k counts for as much as topic k is like the other topics of the document.

The mean runs over the *company*: the distinct topics that mentions have now (the token being drawn excepted),
as far as they are candidates of some mention, and without k itself. Topics of words alone are not in the company,
but are judged by it. Without company, coherence is 1: there is nothing to agree with. A topic that no mention of
the document could mean is a stranger, of whom the packet has no similarities; strangers have a fixed coherence.
"""

import numpy as np

from wikilda.inference.compiled import inlined
from wikilda.inference.state import COMPANY, HIGH, MENTIONS, PRESENT, SEATED_CANDIDATE, SUM, State
from wikilda.jit import inner


@inner
def join(state: State, slot: int, tokens: int, stranger: float) -> None:
    """Add mentions to the topic in a slot; the first brings it into the company."""
    state.seats[slot, MENTIONS] += tokens
    if state.seats[slot, MENTIONS] == tokens and state.seats[slot, SEATED_CANDIDATE] >= 0:
        state.company[PRESENT, slot] = 1.0
        _spread(state, slot, 1.0, stranger)


@inner
def leave(state: State, slot: int, stranger: float) -> None:
    """Take a mention away from the topic in a slot; with the last it leaves the company."""
    state.seats[slot, MENTIONS] -= 1
    if state.seats[slot, MENTIONS] == 0 and state.seats[slot, SEATED_CANDIDATE] >= 0:
        state.company[PRESENT, slot] = 0.0
        _spread(state, slot, -1.0, stranger)


@inlined
def _spread(state: State, slot: int, sign: float, stranger: float) -> None:
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


@inlined
def coherence_of(state: State, slot: int, stranger: float) -> np.float32:
    """The mean similarity of the topic in a slot to the others in the company."""
    others = np.float64(state.numbers[COMPANY]) - state.company[PRESENT, slot]
    return _mean(state.company[SUM, slot], others, state.seats[slot, SEATED_CANDIDATE] < 0, stranger)


@inlined
def _mean(total: float, others: float, stray: bool, stranger: float) -> np.float32:
    mean = total / others if others > 0.0 else 1.0
    return np.float32(stranger if stray else mean)
