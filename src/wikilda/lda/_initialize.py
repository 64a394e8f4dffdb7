"""Where sampling starts: mentions from what TagMe* has guessed, words from their best topics given those."""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare
from wikilda.lda._bucket_draw import Rules
from wikilda.lda._document_plan import FIXED, TOKEN_SLOT, TOKEN_SYMBOL, Plan, Shifts
from wikilda.lda._sampler_state import FINE, HIGH, NOWHERE, PRIVATE, STATUS, State
from wikilda.lda._shared_rows import BEST
from wikilda.lda._topic_slots import enter, slot_of_entry, slot_of_topic
from wikilda.lda.expected_phi import Dense
from wikilda.lda.packet import Bag, entries_of
from wikilda.lda.similarity import Likeness


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
