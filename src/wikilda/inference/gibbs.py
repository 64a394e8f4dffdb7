"""Algorithm 1: Gibbs sweeps over one document."""

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.coherence import join, leave
from wikilda.inference.compiled import inlined
from wikilda.inference.counts import Counts, add, add_idle, add_noted, by_symbol, room_for
from wikilda.inference.draw import (
    HIT_PRIVATE,
    HIT_SHARED,
    HIT_SLOTS,
    Rules,
    hit,
    slot_mass,
    slots_mass,
    walk_private,
    walk_shared,
    walk_slots,
)
from wikilda.inference.layout import PRIVATE_MASS, SHARED_MASS
from wikilda.inference.packet import Bag, entries_of
from wikilda.inference.plan import FIXED, SINCE, TOKEN_SLOT, TOKEN_SYMBOL, Plan, Shifts, arrange, shared_of
from wikilda.inference.random import Stream, uniform
from wikilda.inference.similarity import Likeness
from wikilda.inference.special import draw_alias
from wikilda.inference.start import start_fixed, start_mentions, start_words
from wikilda.inference.state import EXTRA, FINE, HIGH, HOLDERS, MENTION, PRIVATE, STATUS, WORD, State, credit, unseat
from wikilda.inference.topics import enter, slot_of_entry, slot_of_topic
from wikilda.inference.weights import Dense
from wikilda.jit import inner, njit


@njit
def gibbs(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    guesses: NDArray[np.int64],
    rules: Rules,
    stream: Stream,
    plan: Plan,
    state: State,
) -> tuple[int, Counts]:
    """Sample a document; `guesses` are places in the rows of its mentions, where they start.

    Returns FINE and the counts, or what there is too little memory for: the caller then gets more and begins anew.
    """
    shifts, tokens = arrange(bag, len(likeness.topics), rules, plan, state)
    start_fixed(bag, likeness, dense, rules, plan, shifts, state)
    start_mentions(bag, likeness, dense, guesses, rules, plan, shifts, state, tokens)
    start_words(bag, likeness, dense, rules, plan, shifts, state, tokens)
    for sweep in range(1, rules.sweeps + 1):
        if state.numbers[STATUS] == FINE:
            _sweep(bag, likeness, dense, rules, stream, plan, shifts, state, tokens, sweep)
    for token in range(tokens):
        _note(plan, state, token, rules.sweeps + 1, rules.burn_in)
    if state.numbers[STATUS] != FINE:
        return state.numbers[STATUS], by_symbol(room_for(np.int64(0)), np.int64(0))
    return state.numbers[STATUS], _collect(bag, rules, stream, plan, shifts, state)


@inner
def _sweep(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    rules: Rules,
    stream: Stream,
    plan: Plan,
    shifts: Shifts,
    state: State,
    tokens: int,
    sweep: int,
) -> None:
    """Lines 7–20 of Algorithm 1. Arrays are taken out of their tuples once, before the loop: each time costs."""
    numbers, counts, unit, effective = state.numbers, state.counts, state.unit, state.effective
    matrix, factors, held, masses = state.matrix, state.factors, plan.tokens, plan.masses
    smoothings, occurrences, alpha = bag.smoothing, bag.occurrences, rules.alpha
    for token in range(tokens):
        symbol, old = held[token, TOKEN_SYMBOL], held[token, TOKEN_SLOT]
        mention, smoothing = symbol >= bag.first_mention, smoothings[symbol]
        kind, total = (MENTION, dense.mention_total) if mention else (WORD, dense.word_total)
        in_company = rules.coherent and mention and old >= 0
        if in_company:
            leave(state, old, rules.stranger)
        if old >= 0:  # N without token i
            effective[old] = (counts[old] - np.float32(1)) * unit[old]
        private, shared = masses[PRIVATE_MASS, symbol], masses[SHARED_MASS, symbol]
        in_slots = slots_mass(effective, matrix, factors, symbol, kind, smoothing, numbers[HIGH])
        everywhere = alpha * smoothing * total
        x = uniform(stream) * (private + shared + in_slots + everywhere)
        where, x = hit(x, private, shared, in_slots, everywhere)
        new = old
        if where == HIT_SLOTS:
            if old >= 0:
                x -= slot_mass(effective, matrix, factors, symbol, kind, smoothing, old)
            if old < 0 or x >= 0.0:
                new = walk_slots(effective, matrix, factors, symbol, kind, smoothing, numbers[HIGH], old, x)
        elif where == HIT_PRIVATE and occurrences[symbol] == 1:
            new = np.int64(PRIVATE)
        else:
            new = _find_slot(bag, likeness, dense, rules, stream, plan, shifts, state, symbol, where, x)
        if new != old:
            _move(plan, state, rules, token, mention, new, sweep)
            if numbers[STATUS] != FINE:
                return
        elif old >= 0:
            if in_company:
                join(state, old, np.int64(1), rules.stranger)
            effective[old] = counts[old] * unit[old]


@inlined
def _find_slot(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    rules: Rules,
    stream: Stream,
    plan: Plan,
    shifts: Shifts,
    state: State,
    symbol: int,
    where: int,
    x: float,
) -> int:
    """The slot of a topic that is perhaps not in the document yet."""
    if where == HIT_PRIVATE:
        place = walk_private(bag, plan.marks, shifts.marks, symbol, x / rules.alpha)
        return slot_of_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
    if where == HIT_SHARED:
        topic = np.int64(plan.shared_topics[walk_shared(shared_of(plan), symbol, x / rules.alpha)])
    elif symbol >= bag.first_mention:
        topic = draw_alias(dense.mention_shares, dense.mention_others, uniform(stream))
    else:
        topic = draw_alias(dense.word_shares, dense.word_others, uniform(stream))
    return slot_of_topic(likeness, dense, plan, shifts, state, topic)


@inlined
def _move(plan: Plan, state: State, rules: Rules, token: int, mention: bool, new: int, sweep: int) -> None:
    """Give a token, which was excluded, another topic."""
    _note(plan, state, token, sweep, rules.burn_in)
    old = plan.tokens[token, TOKEN_SLOT]
    if old >= 0:
        state.counts[old] -= np.float32(1)
        if state.counts[old] == np.float32(0):
            unseat(state, old)
    if new >= 0:
        enter(state, new, np.int64(1), mention, rules)
    plan.tokens[token, TOKEN_SLOT], plan.tokens[token, SINCE] = new, sweep


@inlined
def _note(plan: Plan, state: State, token: int, sweep: int, burn_in: int) -> None:
    """Credit a token's topic with the sweeps that it lasted, not counting those of the burn-in."""
    lasted = sweep - max(plan.tokens[token, SINCE], burn_in + 1)
    slot, symbol = plan.tokens[token, TOKEN_SLOT], plan.tokens[token, TOKEN_SYMBOL]
    if lasted > 0 and slot >= 0:
        credit(state, symbol, slot, lasted)
    elif lasted > 0 and slot == PRIVATE:
        plan.idle[symbol] += lasted


@inner
def _collect(bag: Bag, rules: Rules, stream: Stream, plan: Plan, shifts: Shifts, state: State) -> Counts:
    """Line 21 of Algorithm 1, not divided by S − B."""
    room = state.numbers[EXTRA] + state.numbers[HOLDERS] + len(bag.symbols)
    for symbol in range(len(bag.symbols)):
        room += min(plan.idle[symbol], bag.lengths[symbol])
    items = room_for(room)
    add_noted(items, state)
    for symbol in range(len(bag.symbols)):
        if plan.roles[symbol] == FIXED:
            topic = entries_of(bag, symbol).topics[bag.starts[symbol]]
            add(items, symbol, topic, np.int64(0), (rules.sweeps - rules.burn_in) * bag.occurrences[symbol])
        elif plan.idle[symbol] > 0:
            sweeps, mass = plan.idle[symbol], plan.masses[PRIVATE_MASS, symbol] / rules.alpha
            draws = sweeps if symbol >= bag.first_mention else min(sweeps, rules.idle_draws)
            add_idle(items, bag, plan.marks, shifts.marks, symbol, mass, sweeps, draws, stream)
    return by_symbol(items, len(bag.symbols))
