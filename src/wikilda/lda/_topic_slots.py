"""From a topic to its slot, and tokens in and out of it."""

import numpy as np

from wikilda._core.jit import Whole, bare
from wikilda._core.seen_twice_filter import seen_again
from wikilda.lda._bucket_draw import Rules
from wikilda.lda._coherence import coherence_of, join
from wikilda.lda._document_plan import Plan, Shifts, buckets_of
from wikilda.lda._sampler_state import FINE, NOWHERE, PRIVATE, STATUS, State, know_private, know_shared, seat
from wikilda.lda.expected_phi import Dense
from wikilda.lda.packet import Bag, entries_of
from wikilda.lda.similarity import Likeness


@bare
def slot_of_entry(
    bag: Bag, likeness: Likeness, dense: Dense, plan: Plan, shifts: Shifts, state: State, symbol: Whole, place: Whole
) -> Whole:
    """The slot for the topic at a place in a symbol's row; PRIVATE where it does not matter which it is."""
    entries, at = entries_of(bag, symbol), bag.starts[symbol] + place
    topic, weight = np.int64(entries.topics[at]), entries.weights[at]
    if weight > np.float32(0) and seen_again(plan.marks, shifts.marks, np.uint64(topic)) != np.uint64(0):
        return slot_of_topic(likeness, dense, plan, shifts, state, topic)
    if bag.occurrences[symbol] == 1:
        return np.int64(PRIVATE)
    number = know_private(state, topic, symbol, place, weight)
    return seat(state, number, likeness, dense) if state.numbers[STATUS] == FINE else np.int64(NOWHERE)


@bare
def slot_of_topic(likeness: Likeness, dense: Dense, plan: Plan, shifts: Shifts, state: State, topic: Whole) -> Whole:
    """The slot for a topic that is not private to any symbol."""
    number = know_shared(state, buckets_of(plan), shifts.buckets, topic)
    return seat(state, number, likeness, dense) if state.numbers[STATUS] == FINE else np.int64(NOWHERE)


@bare
def enter(state: State, slot: Whole, tokens: Whole, mention: bool, rules: Rules) -> None:
    """Count tokens for the topic in a slot."""
    state.counts[slot] += np.float32(tokens)
    if rules.coherent:
        if mention:
            join(state, slot, tokens, rules.noncandidate_coherence)
        state.unit[slot] = coherence_of(state, slot, rules.noncandidate_coherence)
    state.effective[slot] = state.counts[slot] * state.unit[slot]
