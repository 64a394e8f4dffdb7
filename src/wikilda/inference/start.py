"""Where sampling starts: mentions from what TagMe* has guessed, words from their best topics given those."""

import numpy as np
from numpy.typing import NDArray

from wikilda.inference.compiled import inlined
from wikilda.inference.draw import Rules
from wikilda.inference.packet import Bag, entries_of
from wikilda.inference.plan import FIXED, TOKEN_SLOT, TOKEN_SYMBOL, Plan, Shifts
from wikilda.inference.similarity import Likeness
from wikilda.inference.state import FINE, HIGH, NOWHERE, STATUS, State
from wikilda.inference.topics import enter, slot_of_entry
from wikilda.inference.weights import Dense
from wikilda.jit import inner


@inner
def start_fixed(bag: Bag, likeness: Likeness, dense: Dense, rules: Rules, plan: Plan, shifts: Shifts, state: State) -> None:
    """Count the tokens of symbols with one topic only, where others have it, too."""
    for symbol in range(len(bag.symbols)):
        shared = plan.shared_offsets[symbol] < plan.shared_offsets[symbol + 1]
        if plan.roles[symbol] == FIXED and shared and state.numbers[STATUS] == FINE:
            slot = slot_of_entry(bag, likeness, dense, plan, shifts, state, symbol, np.int64(0))
            if slot >= 0:
                enter(state, slot, bag.occurrences[symbol], symbol >= bag.first_mention, rules)


@inner
def start_mentions(
    bag: Bag,
    likeness: Likeness,
    dense: Dense,
    guesses: NDArray[np.int64],
    rules: Rules,
    plan: Plan,
    shifts: Shifts,
    state: State,
    tokens: int,
) -> None:
    """Give mentions the topics that were guessed; those without a guess have none before they are drawn."""
    for token in range(tokens):
        symbol = plan.tokens[token, TOKEN_SYMBOL]
        if symbol < bag.first_mention or state.numbers[STATUS] != FINE:
            continue
        place = guesses[symbol - bag.first_mention]
        if place >= 0:
            if entries_of(bag, symbol).weights[bag.starts[symbol] + place] == np.float32(0):
                place = best_place(bag, symbol)  # the guess is so unlikely that it would never be drawn
            slot = slot_of_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
            plan.tokens[token, TOKEN_SLOT] = slot
            if slot >= 0:
                enter(state, slot, np.int64(1), True, rules)


@inner
def start_words(
    bag: Bag, likeness: Likeness, dense: Dense, rules: Rules, plan: Plan, shifts: Shifts, state: State, tokens: int
) -> None:
    """Give words their best topics given those of the mentions: argmax (α_k + N_k) κ_kv/κ'_k, to within α_k."""
    words = np.int64(0)
    while words < tokens and plan.tokens[words, TOKEN_SYMBOL] < bag.first_mention:
        symbol = plan.tokens[words, TOKEN_SYMBOL]
        if words > 0 and plan.tokens[words - 1, TOKEN_SYMBOL] == symbol:
            plan.tokens[words, TOKEN_SLOT] = plan.tokens[words - 1, TOKEN_SLOT]
        elif bag.lengths[symbol] > 0:
            plan.tokens[words, TOKEN_SLOT] = _best_start(bag, state, rules.alpha, symbol)
        words += 1
    # They are counted only now: every word was judged by the mentions alone.
    for token in range(words):
        slot = plan.tokens[token, TOKEN_SLOT]
        if slot < NOWHERE:
            symbol, place = plan.tokens[token, TOKEN_SYMBOL], NOWHERE - 1 - slot
            slot = slot_of_entry(bag, likeness, dense, plan, shifts, state, symbol, place)
            plan.tokens[token, TOKEN_SLOT] = slot
        if slot >= 0:
            enter(state, slot, np.int64(1), False, rules)


@inlined
def _best_start(bag: Bag, state: State, alpha: float, symbol: int) -> int:
    """A slot, or below NOWHERE the place in the symbol's row of its best topic a priori."""
    place = best_place(bag, symbol)
    most = alpha * np.float64(entries_of(bag, symbol).priors[bag.starts[symbol] + place])
    if most == 0.0:
        return np.int64(NOWHERE)
    best, effective, matrix = NOWHERE - 1 - place, state.effective, state.matrix
    for slot in range(state.numbers[HIGH]):
        mass = np.float64(effective[slot]) * np.float64(matrix[symbol, slot])
        if mass > most:
            best, most = np.int64(slot), mass
    return best


@inlined
def best_place(bag: Bag, symbol: int) -> int:
    """The place in a symbol's row of its topic with the highest prior."""
    priors, start = entries_of(bag, symbol).priors, bag.starts[symbol]
    best = np.int64(0)
    for place in range(1, bag.lengths[symbol]):
        if priors[start + place] > priors[start + best]:
            best = np.int64(place)
    return best
