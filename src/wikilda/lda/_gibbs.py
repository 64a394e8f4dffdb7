"""Algorithm 1: Gibbs sweeps over one document."""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, inlined, inner, njit
from wikilda._core.random import Stream, draw_alias, uniform
from wikilda._core.seen_twice_filter import seen_again
from wikilda.lda._bucket_draw import (
    HIT_LIVE,
    HIT_PRESENT,
    HIT_PRIVATE,
    HIT_SHARED,
    Rules,
    coherence_of,
    coherent_shared_mass,
    hit,
    join,
    leave,
    live_mass,
    present_mass,
    walk_coherent_shared,
    walk_live,
    walk_present,
    walk_private,
    walk_shared,
    worth,
)
from wikilda.lda._document_plan import FIXED, SINCE, TOKEN_SYMBOL, TOKEN_TOPIC, Plan, Shifts, arrange, shared_of
from wikilda.lda._sampler_state import (
    CANDIDATE,
    COHERENT,
    END,
    EXTRA,
    FINE,
    FIRST,
    HOLDERS,
    MENTION,
    NOWHERE,
    PRIVATE,
    STATUS,
    TOPIC,
    WORD,
    State,
    count,
    credit,
    find_known,
    know_private,
    know_shared,
    vanish,
)
from wikilda.lda._shared_rows import BEST, PRIVATE_MASS, SHARED_MASS
from wikilda.lda.counts import Counts, Items, add, add_idle, add_noted, by_symbol, room_for
from wikilda.lda.expected_phi import Dense
from wikilda.lda.packet import Bag, entries_of, number_of
from wikilda.lda.similarity import Likeness

_TRIES = 10_000  # draws from a bound before coherence is left aside


@bare
def know_entry(
    bag: Bag, likeness: Likeness, dense: Dense, plan: Plan, shifts: Shifts, state: State, symbol: Whole, place: Whole
) -> Whole:
    """The number of the topic at a place in a symbol's row; PRIVATE where it does not matter which it is."""
    entries, at = entries_of(bag, symbol), bag.starts[symbol] + place
    topic, weight = np.int64(entries.topics[at]), entries.weights[at]
    if weight > np.float32(0) and seen_again(plan.marks, shifts.marks, np.uint64(topic)) != np.uint64(0):
        return know_topic(likeness, dense, plan, shifts, state, topic)
    if bag.occurrences[symbol] == 1:
        return np.int64(PRIVATE)
    number = know_private(state, likeness, dense, topic, symbol, place, weight)
    return number if state.numbers[STATUS] == FINE else np.int64(NOWHERE)


@bare
def know_topic(likeness: Likeness, dense: Dense, plan: Plan, shifts: Shifts, state: State, topic: Whole) -> Whole:
    """The number of a topic that is not private to any symbol."""
    number = know_shared(state, likeness, dense, shared_of(plan), shifts.buckets, topic)
    return number if state.numbers[STATUS] == FINE else np.int64(NOWHERE)


@bare
def enter(state: State, likeness: Likeness, number: Whole, tokens: Whole, mention: bool, rules: Rules) -> None:
    """Give a topic to some tokens of a symbol."""
    count(state, number, tokens)
    if rules.coherent and mention:
        join(state, likeness, number, tokens)


@bare
def start_fixed(
    bag: Bag, likeness: Likeness, dense: Dense, rules: Rules, plan: Plan, shifts: Shifts, state: State
) -> None:
    """Count the tokens of symbols with one topic only, where others have it, too."""
    for symbol in range(len(bag.symbols)):
        shared = plan.shared_offsets[symbol] < plan.shared_offsets[symbol + 1]
        if plan.roles[symbol] == FIXED and shared and state.numbers[STATUS] == FINE:
            number = know_entry(bag, likeness, dense, plan, shifts, state, symbol, np.int64(0))
            if number >= 0:
                enter(state, likeness, number, bag.occurrences[symbol], symbol >= bag.first_mention, rules)


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
            number = know_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
            plan.tokens[token, TOKEN_TOPIC] = number
            if number >= 0:
                enter(state, likeness, number, np.int64(1), True, rules)


@bare
def start_words(
    bag: Bag, likeness: Likeness, dense: Dense, rules: Rules, plan: Plan, shifts: Shifts, state: State, tokens: Whole
) -> None:
    """Give words their best topics given those of the mentions: argmax (α_k + N_k) κ_kv/κ'_k, to within α_k."""
    words, held = np.int64(0), plan.tokens
    while words < tokens and held[words, TOKEN_SYMBOL] < bag.first_mention:
        if words > 0 and held[words - 1, TOKEN_SYMBOL] == held[words, TOKEN_SYMBOL]:
            held[words, TOKEN_TOPIC] = held[words - 1, TOKEN_TOPIC]
        else:
            held[words, TOKEN_TOPIC] = _best_start(plan, state, rules, held[words, TOKEN_SYMBOL])
        words += 1
    # They are counted only now, so that every word is judged by the mentions only.
    for token in range(words):
        number, symbol = held[token, TOKEN_TOPIC], held[token, TOKEN_SYMBOL]
        if number == PRIVATE and bag.occurrences[symbol] > 1:
            place = best_place(entries_of(bag, symbol).priors, bag.starts[symbol], bag.lengths[symbol])
            number = know_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
        elif number < NOWHERE:
            topic = np.int64(plan.shared_topics[NOWHERE - 1 - number])
            number = know_topic(likeness, dense, plan, shifts, state, topic)
        held[token, TOKEN_TOPIC] = number
        if number >= 0:
            enter(state, likeness, number, np.int64(1), False, rules)


@bare
def _best_start(plan: Plan, state: State, rules: Rules, symbol: Whole) -> Whole:
    """A topic's number, PRIVATE, or below NOWHERE the shared entry with the best topic a priori."""
    priors, end = plan.shared_priors, plan.shared_offsets[symbol + 1]
    best: Whole = np.int64(NOWHERE)
    most = 0.0
    for at in range(plan.shared_offsets[symbol], end):
        if rules.alpha * np.float64(priors[at]) > most:
            best, most = NOWHERE - 1 - at, rules.alpha * np.float64(priors[at])
    if plan.masses[symbol, BEST] > most:  # then the best of all is not shared
        best, most = np.int64(PRIVATE), plan.masses[symbol, BEST]
    for at in range(state.live[symbol, FIRST], state.live[symbol, END]):
        number = np.int64(state.live_topics[at])
        tokens = worth(state, number, np.int64(NOWHERE), rules.noncandidate_coherence)
        mass = tokens * np.float64(state.live_weights[at])
        if mass > most:
            best, most = number, mass
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

    Returns FINE and the counts, or the table that is too small: the caller enlarges it and starts over.
    """
    shifts, tokens = arrange(bag, likeness, rules, plan, state)
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
    """Lines 7–20 of Algorithm 1, the hot loop. Most tokens keep their topics, and are then soon done."""
    for token in range(tokens):
        symbol, old = plan.tokens[token, TOKEN_SYMBOL], plan.tokens[token, TOKEN_TOPIC]
        judged = rules.coherent and symbol >= bag.first_mention
        if judged and old >= 0:
            leave(state, likeness, old)
        if rules.coherent_prior:
            new = _draw_coherent(bag, likeness, dense, rules, stream, plan, shifts, state, symbol, old)
        else:
            new = _draw(bag, likeness, dense, rules, stream, plan, shifts, state, symbol, old)
        if judged and new >= 0:
            join(state, likeness, new, np.int64(1))
        if new != old:
            if state.numbers[STATUS] != FINE:
                return
            _move(rules, plan, state, token, symbol, old, new, sweep)


@inlined
def _draw(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    rules: Rules,
    stream: Stream,
    plan: Plan,
    shifts: Shifts,
    state: State,
    symbol: Whole,
    old: Whole,
) -> Whole:
    """Lines 8–15: the next topic of a token that has topic `old`."""
    row = np.uint64(symbol)  # an index that cannot be negative needs no check whether it is
    private, shared = plan.masses[row, PRIVATE_MASS], plan.masses[row, SHARED_MASS]
    smoothing, present, everywhere = np.float64(bag.smoothing[row]), 0.0, 0.0
    live = live_mass(state, row, old, rules.noncandidate_coherence)
    kind = MENTION if symbol >= bag.first_mention else WORD
    if smoothing > 0.0:
        present = smoothing * present_mass(state, kind, old, rules.noncandidate_coherence)
        everywhere = rules.alpha * smoothing * (dense.mention_total if kind == MENTION else dense.word_total)
    where, x = hit(uniform(stream), private, shared, live, present, everywhere)
    if where == HIT_LIVE:
        return walk_live(state, row, old, x, rules.noncandidate_coherence)
    if where == HIT_PRIVATE and bag.occurrences[row] == 1:
        return np.int64(PRIVATE)
    if where == HIT_SHARED:
        topic = np.int64(plan.shared_topics[walk_shared(plan.shared_offsets, plan.shared_priors, row, x / rules.alpha)])
        number = find_known(state, topic)
        return number if number >= 0 else know_topic(likeness, dense, plan, shifts, state, topic)
    if where == HIT_PRESENT:
        return walk_present(state, kind, old, x / smoothing, rules.noncandidate_coherence)
    return _draw_seldom(bag, likeness, dense, rules, stream, plan, shifts, state, symbol, where, x)


@bare
def _draw_coherent(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    rules: Rules,
    stream: Stream,
    plan: Plan,
    shifts: Shifts,
    state: State,
    symbol: Whole,
    old: Whole,
) -> Whole:
    """The same where α_k is multiplied by the topic's coherence, too. Nothing of it can be summed beforehand.

    Of the dense bucket only a bound is known: a topic that is drawn there is rejected in proportion to what its
    coherence lacks to the bound, and all is drawn again. Where nothing is coherent, coherence is left aside.
    """
    row, apart = np.uint64(symbol), rules.noncandidate_coherence
    start, end = plan.shared_offsets[row], plan.shared_offsets[row + np.uint64(1)]
    candidates, priors = plan.shared_candidates, plan.shared_priors
    private = apart * plan.masses[row, PRIVATE_MASS]  # no candidates are private
    shared = rules.alpha * coherent_shared_mass(candidates, priors, start, end, state, apart)
    live = live_mass(state, row, old, apart)
    smoothing, present, everywhere, bound = np.float64(bag.smoothing[row]), 0.0, 0.0, max(apart, 1.0)
    kind = MENTION if symbol >= bag.first_mention else WORD
    if smoothing > 0.0:
        present = smoothing * present_mass(state, kind, old, apart)
        everywhere = rules.alpha * smoothing * (dense.mention_total if kind == MENTION else dense.word_total) * bound
    tries = _TRIES if private + shared + live + present + everywhere > 0.0 else 0
    for _ in range(tries):
        where, x = hit(uniform(stream), private, shared, live, present, everywhere)
        if where == HIT_LIVE:
            return walk_live(state, row, old, x, apart)
        if where == HIT_PRIVATE:
            return (
                _draw_seldom(bag, likeness, dense, rules, stream, plan, shifts, state, symbol, where, x / apart)
                if bag.occurrences[row] > 1
                else np.int64(PRIVATE)
            )
        if where == HIT_PRESENT:
            return walk_present(state, kind, old, x / smoothing, apart)
        if where == HIT_SHARED:
            at = walk_coherent_shared(candidates, priors, start, end, state, x / rules.alpha, apart)
            return know_topic(likeness, dense, plan, shifts, state, np.int64(plan.shared_topics[at]))
        topic = _draw_dense(dense, kind, stream)
        if uniform(stream) * bound < coherence_of(state, number_of(likeness.topics, topic), apart):
            return know_topic(likeness, dense, plan, shifts, state, topic)
    state.numbers[COHERENT] = 0
    number = _draw(bag, likeness, dense, rules, stream, plan, shifts, state, symbol, old)
    state.numbers[COHERENT] = 1
    if number >= 0:  # it may be new
        state.known[number, CANDIDATE] = number_of(likeness.topics, state.known[number, TOPIC])
    return number


@bare
def _draw_dense(dense: Dense, kind: Whole, stream: Stream) -> Whole:
    """A topic in proportion to α_k/α · factor_k."""
    if kind == MENTION:
        return np.int64(draw_alias(dense.mention_shares, dense.mention_others, uniform(stream)))
    return np.int64(draw_alias(dense.word_shares, dense.word_others, uniform(stream)))


@bare
def _draw_seldom(
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
    """A private topic of a symbol that occurs more than once, or any topic at all."""
    if where == HIT_PRIVATE:
        priors, start, length = entries_of(bag, symbol).priors, bag.starts[symbol], bag.lengths[symbol]
        offsets, places = plan.shared_offsets, plan.shared_places
        place = walk_private(priors, start, length, places, offsets[symbol], offsets[symbol + 1], x / rules.alpha)
        return know_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
    kind = MENTION if symbol >= bag.first_mention else WORD
    return know_topic(likeness, dense, plan, shifts, state, _draw_dense(dense, kind, stream))


@inlined
def _move(
    rules: Rules, plan: Plan, state: State, token: Whole, symbol: Whole, old: Whole, new: Whole, sweep: Whole
) -> None:
    """Lines 16–18: change the topic of a token."""
    lasted = sweep - max(plan.tokens[token, SINCE], rules.burn_in + 1)
    if old >= 0:
        if lasted > 0:
            credit(state, symbol, old, lasted)
        state.counts[old] -= 1.0
        if state.counts[old] == 0.0:
            vanish(state, old)
    elif lasted > 0 and old == PRIVATE:
        plan.idle[symbol] += lasted
    if new >= 0:
        count(state, new, np.int64(1))
    plan.tokens[token, TOKEN_TOPIC], plan.tokens[token, SINCE] = new, sweep


@bare
def _note_last(plan: Plan, state: State, token: Whole, sweeps: Whole, burn_in: Whole) -> None:
    """Credit the last topic of a token, without sweeps of the burn-in."""
    lasted = sweeps + 1 - max(plan.tokens[token, SINCE], burn_in + 1)
    number, symbol = plan.tokens[token, TOKEN_TOPIC], plan.tokens[token, TOKEN_SYMBOL]
    if number >= 0:
        credit(state, symbol, number, lasted)
    elif number == PRIVATE:
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
            add_idle(items, bag, plan, symbol, rules.alpha, _idle_draws(bag, rules, plan, symbol), stream)


@bare
def _idle_draws(bag: Bag, rules: Rules, plan: Plan, symbol: Whole) -> Whole:
    """Return the number of draws that share the sweeps of a symbol on private topics."""
    return plan.idle[symbol] if symbol >= bag.first_mention else min(plan.idle[symbol], rules.idle_draws)
