"""Algorithm 1: Gibbs sweeps over one document."""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, inner, njit
from wikilda._core.random import Stream, draw_alias, uniform
from wikilda._core.seen_twice_filter import seen_again
from wikilda.lda._bucket_draw import (
    HIT_PRIVATE,
    HIT_SHARED,
    HIT_SLOTS,
    Rules,
    coherence_of,
    hit,
    join,
    judge_without,
    leave,
    slots_mass,
    stands_alone,
    walk_private,
    walk_shared,
    walk_slots,
)
from wikilda.lda._document_plan import FIXED, SINCE, TOKEN_SLOT, TOKEN_SYMBOL, Plan, Shifts, arrange, buckets_of
from wikilda.lda._sampler_state import (
    EXTRA,
    FINE,
    HIGH,
    HOLDERS,
    MENTION,
    NOWHERE,
    PRIVATE,
    SLOT,
    STATUS,
    WORD,
    State,
    credit,
    credit_extra,
    find_known,
    know_private,
    know_shared,
    seat,
    unseat,
)
from wikilda.lda._shared_rows import BEST, PRIVATE_MASS, SHARED_MASS
from wikilda.lda.counts import Counts, Items, add, add_idle, add_noted, by_symbol, room_for
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


@bare
def start_fixed(
    bag: Bag, likeness: Likeness, dense: Dense, rules: Rules, plan: Plan, shifts: Shifts, state: State
) -> None:
    """Count the tokens of symbols with one topic only, where others have it, too."""
    for symbol in range(len(bag.symbols)):
        shared = plan.shared_offsets[symbol] < plan.shared_offsets[symbol + 1]
        if plan.roles[symbol] == FIXED and shared and state.numbers[STATUS] == FINE:
            slot = slot_of_entry(bag, likeness, dense, plan, shifts, state, symbol, np.int64(0))
            if slot >= 0:
                enter(state, slot, bag.occurrences[symbol], symbol >= bag.first_mention, rules)


@bare
def start_mentions(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    guesses: NDArray[np.int64],
    rules: Rules,
    plan: Plan,
    shifts: Shifts,
    state: State,
    tokens: Whole,
) -> None:
    """Give mentions the topics that were guessed; those without a guess have none before they are drawn."""
    for token in range(tokens):
        symbol = plan.tokens[token, TOKEN_SYMBOL]
        if symbol < bag.first_mention or state.numbers[STATUS] != FINE:
            continue
        place = guesses[symbol - bag.first_mention]
        if place >= 0:
            if entries_of(bag, symbol).weights[bag.starts[symbol] + place] == np.float32(0):
                # the guess is so unlikely that it would never be drawn
                place = best_place(entries_of(bag, symbol).priors, bag.starts[symbol], bag.lengths[symbol])
            slot = slot_of_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
            plan.tokens[token, TOKEN_SLOT] = slot
            if slot >= 0:
                enter(state, slot, np.int64(1), True, rules)


@bare
def start_words(
    bag: Bag, likeness: Likeness, dense: Dense, rules: Rules, plan: Plan, shifts: Shifts, state: State, tokens: Whole
) -> None:
    """Give words their best topics given those of the mentions: argmax (α_k + N_k) κ_kv/κ'_k, to within α_k."""
    words, held = np.int64(0), plan.tokens
    while words < tokens and held[words, TOKEN_SYMBOL] < bag.first_mention:
        if words > 0 and held[words - 1, TOKEN_SYMBOL] == held[words, TOKEN_SYMBOL]:
            held[words, TOKEN_SLOT] = held[words - 1, TOKEN_SLOT]
        else:
            held[words, TOKEN_SLOT] = _best_start(plan, state, rules.alpha, held[words, TOKEN_SYMBOL])
        words += 1
    # They are counted only now: every word was judged by the mentions alone.
    for token in range(words):
        slot, symbol = held[token, TOKEN_SLOT], held[token, TOKEN_SYMBOL]
        if slot == PRIVATE and bag.occurrences[symbol] > 1:
            place = best_place(entries_of(bag, symbol).priors, bag.starts[symbol], bag.lengths[symbol])
            slot = slot_of_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
        elif slot < NOWHERE:
            topic = np.int64(plan.shared_topics[NOWHERE - 1 - slot])
            slot = slot_of_topic(likeness, dense, plan, shifts, state, topic)
        held[token, TOKEN_SLOT] = slot
        if slot >= 0:
            enter(state, slot, np.int64(1), False, rules)


@bare
def _best_start(plan: Plan, state: State, alpha: Real, symbol: Whole) -> Whole:
    """A slot, PRIVATE, or below NOWHERE the shared entry with the best topic a priori."""
    effective, matrix, priors, end = state.effective, state.matrix, plan.shared_priors, plan.shared_offsets[symbol + 1]
    best: Whole = np.int64(NOWHERE)
    most = 0.0
    for at in range(plan.shared_offsets[symbol], end):
        if alpha * np.float64(priors[at]) > most:
            best, most = NOWHERE - 1 - at, alpha * np.float64(priors[at])
    if plan.masses[symbol, BEST] > most:  # then the best of all is not shared
        best, most = np.int64(PRIVATE), plan.masses[symbol, BEST]
    for slot in range(state.numbers[HIGH]):
        mass = np.float64(effective[slot]) * np.float64(matrix[symbol, slot])
        if mass > most:
            best, most = np.int64(slot), mass
    return best


@bare
def best_place(priors: NDArray[np.float32], start: Whole, length: Whole) -> Whole:
    """The place in a row of the topic with the highest prior."""
    best = np.int64(0)
    for place in range(1, length):
        if priors[start + place] > priors[start + best]:
            best = np.int64(place)
    return best


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
) -> tuple[Whole, Counts]:
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
    if state.numbers[STATUS] == FINE:
        for token in range(tokens):
            _note_last(plan, state, token, rules.sweeps, rules.burn_in)
    if state.numbers[STATUS] != FINE:
        return state.numbers[STATUS], by_symbol(room_for(np.int64(0)), np.int64(0))
    return state.numbers[STATUS], _collect(bag, rules, stream, plan, shifts, state)


@bare
def _sweep(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    rules: Rules,
    stream: Stream,
    plan: Plan,
    shifts: Shifts,
    state: State,
    tokens: Whole,
    sweep: Whole,
) -> None:
    """Lines 7–20 of Algorithm 1, the hot loop. Most tokens keep their topics, and are then soon done.

    Arrays are taken out of tuples before the loop, and its frequent parts get arrays: a tuple is passed array by array
    and field by field, which takes longer than most parts do. Only what happens seldom gets tuples.
    """
    numbers, counts, unit, effective, without = state.numbers, state.counts, state.unit, state.effective, state.without
    matrix, factors, known, held = state.matrix, state.factors, state.known, plan.tokens
    masses, smoothings, occurrences, alpha = plan.masses, bag.smoothing, bag.occurrences, rules.alpha
    offsets, topics, priors = plan.shared_offsets, plan.shared_topics, plan.shared_priors
    first_counted = rules.burn_in + 1
    for token in range(tokens):
        symbol, old = held[token, TOKEN_SYMBOL], held[token, TOKEN_SLOT]
        mention, smoothing, high = symbol >= bag.first_mention, smoothings[symbol], numbers[HIGH]
        kind, total = (MENTION, dense.mention_total) if mention else (WORD, dense.word_total)
        # Weigh the buckets without this token, lines 8–14.
        weighed, judged = effective, rules.coherent and mention
        if judged and old >= 0 and stands_alone(state, old):
            judge_without(state, old, rules.noncandidate_coherence)
            weighed = without
        in_slots, here = slots_mass(counts, unit, weighed, matrix, factors, symbol, kind, smoothing, high, old)
        private, shared = masses[symbol, PRIVATE_MASS], masses[symbol, SHARED_MASS]
        everywhere = alpha * smoothing * total
        x = uniform(stream) * (private + shared + in_slots + everywhere)
        where, x = hit(x, private, shared, in_slots, everywhere)
        # Draw, line 15.
        new = old
        if where == HIT_SLOTS:
            if x >= here:
                new = walk_slots(weighed, matrix, factors, symbol, kind, smoothing, high, old, x - here)
        elif where == HIT_PRIVATE and occurrences[symbol] == 1:
            new = np.int64(PRIVATE)
        elif where == HIT_SHARED:
            topic = np.int64(topics[walk_shared(offsets, priors, symbol, x / alpha)])
            number = find_known(state, topic)
            new = known[number, SLOT] if number >= 0 else np.int64(NOWHERE)
            if new < 0:
                new = slot_of_topic(likeness, dense, plan, shifts, state, topic)
        else:
            new = _find_slot(bag, likeness, dense, rules, stream, plan, shifts, state, symbol, where, x)
        if new == old:
            continue
        if numbers[STATUS] != FINE:
            return
        # Move the token, lines 16–18.
        lasted = sweep - max(held[token, SINCE], first_counted)
        if old >= 0:
            if lasted > 0 and not credit(state, symbol, old, lasted):
                credit_extra(state, symbol, old, lasted)
            counts[old] -= np.float32(1)
            if judged:
                leave(state, old, rules.noncandidate_coherence)
            effective[old] = counts[old] * unit[old]
            if counts[old] == np.float32(0):
                unseat(state, old)
        elif lasted > 0 and old == PRIVATE:
            plan.idle[symbol] += lasted
        if new >= 0:
            enter(state, new, np.int64(1), mention, rules)
        held[token, TOKEN_SLOT], held[token, SINCE] = new, sweep


@bare
def _find_slot(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    rules: Rules,
    stream: Stream,
    plan: Plan,
    shifts: Shifts,
    state: State,
    symbol: Whole,
    where: Whole,
    x: Real,
) -> Whole:
    """The slot of a private topic of a symbol that occurs more than once, or of any topic at all."""
    if where == HIT_PRIVATE:
        priors, start, length = entries_of(bag, symbol).priors, bag.starts[symbol], bag.lengths[symbol]
        offsets, places = plan.shared_offsets, plan.shared_places
        place = walk_private(priors, start, length, places, offsets[symbol], offsets[symbol + 1], x / rules.alpha)
        return slot_of_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
    if symbol >= bag.first_mention:
        topic = draw_alias(dense.mention_shares, dense.mention_others, uniform(stream))
    else:
        topic = draw_alias(dense.word_shares, dense.word_others, uniform(stream))
    return slot_of_topic(likeness, dense, plan, shifts, state, topic)


@bare
def _note_last(plan: Plan, state: State, token: Whole, sweeps: Whole, burn_in: Whole) -> None:
    """Credit the topic that a token has in the end, not counting sweeps of the burn-in."""
    lasted = sweeps + 1 - max(plan.tokens[token, SINCE], burn_in + 1)
    slot, symbol = plan.tokens[token, TOKEN_SLOT], plan.tokens[token, TOKEN_SYMBOL]
    if slot >= 0:
        if not credit(state, symbol, slot, lasted):
            credit_extra(state, symbol, slot, lasted)
    elif slot == PRIVATE:
        plan.idle[symbol] += lasted


@inner
def _collect(bag: Bag, rules: Rules, stream: Stream, plan: Plan, shifts: Shifts, state: State) -> Counts:
    """Line 21 of Algorithm 1, not divided by S − B."""
    room = state.numbers[EXTRA] + state.numbers[HOLDERS] + len(bag.symbols)
    for symbol in range(len(bag.symbols)):
        room += min(_idle_draws(bag, rules, plan, symbol), bag.lengths[symbol])
    items = room_for(room)
    _gather(bag, rules, stream, plan, shifts, state, items)
    return by_symbol(items, len(bag.symbols))


@bare
def _gather(bag: Bag, rules: Rules, stream: Stream, plan: Plan, shifts: Shifts, state: State, items: Items) -> None:
    add_noted(items, state)
    for symbol in range(len(bag.symbols)):
        if plan.roles[symbol] == FIXED:
            topic = entries_of(bag, symbol).topics[bag.starts[symbol]]
            add(items, symbol, topic, np.int64(0), (rules.sweeps - rules.burn_in) * bag.occurrences[symbol])
        elif plan.idle[symbol] > 0:
            sweeps, mass = plan.idle[symbol], plan.masses[symbol, PRIVATE_MASS] / rules.alpha
            draws = _idle_draws(bag, rules, plan, symbol)
            add_idle(items, bag, plan.shared_offsets, plan.shared_places, symbol, mass, sweeps, draws, stream)


@bare
def _idle_draws(bag: Bag, rules: Rules, plan: Plan, symbol: Whole) -> Whole:
    """Among how many draws the sweeps of a symbol on private topics are shared out."""
    return plan.idle[symbol] if symbol >= bag.first_mention else min(plan.idle[symbol], rules.idle_draws)
