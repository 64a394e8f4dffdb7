"""The distribution from which the sampler draws, written out over all topics.

It comes from the same plan, state and masses as a draw.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, njit
from wikilda._core.seen_twice_filter import seen_again
from wikilda.lda._bucket_draw import Rules, join, leave, live_mass, present_mass, worth
from wikilda.lda._document_plan import ACTIVE, FIXED, TOKEN_TOPIC, Plan, Shifts, arrange
from wikilda.lda._gibbs import enter, know_entry, know_topic, start_fixed
from wikilda.lda._sampler_state import END, FINE, FIRST, MENTION, NOWHERE, PRESENT, STATUS, TOPIC, WORD, State
from wikilda.lda._shared_rows import PRIVATE_MASS, SHARED_MASS
from wikilda.lda.expected_phi import Dense
from wikilda.lda.packet import Bag, Packet, entries_of
from wikilda.lda.sampler import Sampler
from wikilda.lda.similarity import Likeness


def conditionals(sampler: Sampler, packet: Packet, topics: NDArray[np.int64]) -> NDArray[np.float64]:
    """Eq. 4 for every token of a packet (symbol by symbol, in their order), given the topics of all of them."""
    plan, state = sampler.memory.for_document(packet)
    while True:
        out = np.zeros((len(topics), sampler.model.topics), np.float64)
        status = _conditionals(
            packet.bag, packet.likeness, sampler.weights.dense, topics, sampler.rules, plan, state, out
        )
        if status == FINE:
            return out
        plan, state = sampler.memory.more(status)


@njit
def _conditionals(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    topics: NDArray[np.int64],
    rules: Rules,
    plan: Plan,
    state: State,
    out: NDArray[np.float64],
) -> Whole:
    shifts, _ = arrange(bag, likeness, rules, plan, state)
    start_fixed(bag, likeness, dense, rules, plan, shifts, state)
    token, position = np.int64(0), np.int64(0)
    for symbol in range(len(bag.symbols)):
        for _ in range(bag.occurrences[symbol]):
            if plan.roles[symbol] == ACTIVE:
                number = _number_of(bag, likeness, dense, plan, shifts, state, symbol, topics[position])
                plan.tokens[token, TOKEN_TOPIC] = number
                if number >= 0:
                    enter(state, likeness, number, np.int64(1), symbol >= bag.first_mention, rules)
                token += 1
            position += 1
    token, position = np.int64(0), np.int64(0)
    for symbol in range(len(bag.symbols)):
        for _ in range(bag.occurrences[symbol]):
            _write(bag, likeness, dense, rules, plan, shifts, state, symbol, token, out[position])
            token += plan.roles[symbol] == ACTIVE
            position += 1
    return state.numbers[STATUS]


@bare
def _number_of(
    bag: Bag, likeness: Likeness, dense: Dense, plan: Plan, shifts: Shifts, state: State, symbol: Whole, topic: Whole
) -> Whole:
    entries = entries_of(bag, symbol)
    for place in range(bag.lengths[symbol]):
        if np.int64(entries.topics[bag.starts[symbol] + place]) == topic:
            return know_entry(bag, likeness, dense, plan, shifts, state, symbol, np.int64(place))
    return know_topic(likeness, dense, plan, shifts, state, topic)


@bare
def _write(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    rules: Rules,
    plan: Plan,
    shifts: Shifts,
    state: State,
    symbol: Whole,
    token: Whole,
    out: NDArray[np.float64],
) -> None:
    """The distribution of one token."""
    if plan.roles[symbol] == FIXED:
        out[entries_of(bag, symbol).topics[bag.starts[symbol]]] = 1.0
        return
    old = plan.tokens[token, TOKEN_TOPIC] if plan.roles[symbol] == ACTIVE else np.int64(NOWHERE)
    judged = old >= 0 and rules.coherent and symbol >= bag.first_mention
    if judged:
        leave(state, likeness, old)
    kind, total = (MENTION, dense.mention_total) if symbol >= bag.first_mention else (WORD, dense.word_total)
    smoothing, everywhere = bag.smoothing[symbol], rules.alpha * bag.smoothing[symbol] * total
    whole = plan.masses[symbol, PRIVATE_MASS] + plan.masses[symbol, SHARED_MASS] + everywhere
    whole += live_mass(state, symbol, old, rules.noncandidate_coherence)
    if smoothing > 0.0:
        whole += smoothing * present_mass(state, kind, old, rules.noncandidate_coherence)
    _write_rows(bag, rules, plan, shifts, symbol, out)
    _write_present(state, rules, symbol, kind, smoothing, old, out)
    if everywhere > 0.0:
        _write_dense(dense, kind == MENTION, everywhere, out)
    for topic in range(len(out)):
        out[topic] /= whole
    if judged:
        join(state, likeness, old, np.int64(1))


@bare
def _write_present(
    state: State, rules: Rules, symbol: Whole, kind: Whole, smoothing: Real, old: Whole, out: NDArray[np.float64]
) -> None:
    for at in range(state.live[symbol, FIRST], state.live[symbol, END]):
        number = np.int64(state.live_topics[at])
        tokens = worth(state, number, old, rules.noncandidate_coherence)
        out[state.known[number, TOPIC]] += tokens * np.float64(state.live_weights[at])
    for at in range(state.numbers[PRESENT] if smoothing > 0.0 else 0):
        number = np.int64(state.present[at])
        tokens = worth(state, number, old, rules.noncandidate_coherence)
        out[state.known[number, TOPIC]] += smoothing * tokens * np.float64(state.factors[kind, number])


@bare
def _write_rows(bag: Bag, rules: Rules, plan: Plan, shifts: Shifts, symbol: Whole, out: NDArray[np.float64]) -> None:
    for at in range(plan.shared_offsets[symbol], plan.shared_offsets[symbol + 1]):
        out[plan.shared_topics[at]] += rules.alpha * np.float64(plan.shared_priors[at])
    entries = entries_of(bag, symbol)
    for at in range(bag.starts[symbol], bag.starts[symbol] + bag.lengths[symbol]):
        if seen_again(plan.marks, shifts.marks, np.uint64(entries.topics[at])) == np.uint64(0):
            out[entries.topics[at]] += rules.alpha * np.float64(entries.priors[at])


@bare
def _write_dense(dense: Dense, mention: bool, mass: Real, out: NDArray[np.float64]) -> None:
    shares = dense.mention_shares if mention else dense.word_shares
    others = dense.mention_others if mention else dense.word_others
    each = mass / len(out)
    for topic in range(len(out)):
        out[topic] += each * np.float64(shares[topic])
        out[others[topic]] += each * (1.0 - np.float64(shares[topic]))
