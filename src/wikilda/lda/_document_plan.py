"""The plan for a document: its layout, and which of its tokens have to be drawn at all."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, bare
from wikilda._core.seen_twice_filter import Marks
from wikilda.lda._bucket_draw import Rules
from wikilda.lda._sampler_state import NOWHERE, State, reset
from wikilda.lda._shared_rows import Shared, fill_buckets, mark_rows, split_rows
from wikilda.lda.packet import Bag, number_of
from wikilda.lda.similarity import Likeness

# How a symbol's tokens are drawn: it has one topic; it has only private topics; sampled.
FIXED, IDLE, ACTIVE = range(3)
# Columns of `tokens`.
TOKEN_SYMBOL, TOKEN_TOPIC, SINCE = range(3)


class Plan(NamedTuple):
    """Memory for the layout and the tokens."""

    marks: Marks
    shared_offsets: NDArray[np.int64]
    shared_symbols: NDArray[np.int32]
    shared_topics: NDArray[np.uint32]
    shared_weights: NDArray[np.float32]
    shared_priors: NDArray[np.float32]
    shared_places: NDArray[np.int32]
    shared_candidates: NDArray[np.int32]  # numbers in Likeness, or −1; only where α is multiplied by coherence
    bucket_starts: NDArray[np.int32]
    buckets: NDArray[np.int32]
    masses: NDArray[np.float64]
    roles: NDArray[np.int64]
    idle: NDArray[np.int64]  # by symbol, sweeps on private topics
    tokens: NDArray[np.int64]  # tokens to draw: SYMBOL, number of the TOPIC, SINCE which sweep


class Shifts(NamedTuple):
    """Sizes of the tables of this document."""

    marks: np.uint64
    buckets: np.uint64


@bare
def shared_of(plan: Plan) -> Shared:
    """The shared entries."""
    return Shared(
        offsets=plan.shared_offsets,
        symbols=plan.shared_symbols,
        topics=plan.shared_topics,
        weights=plan.shared_weights,
        priors=plan.shared_priors,
        places=plan.shared_places,
        bucket_starts=plan.bucket_starts,
        buckets=plan.buckets,
    )


@bare
def arrange(bag: Bag, likeness: Likeness, rules: Rules, plan: Plan, state: State) -> tuple[Shifts, Whole]:
    """Prepare a document, and return the number of tokens to draw."""
    smooth = False
    for symbol in range(len(bag.symbols)):
        smooth |= bag.smoothing[symbol] > 0.0
    # A topic that smoothing makes likely for any symbol is private to none; nor is one that has similarities.
    marks_shift = mark_rows(bag, plan.marks, smooth, rules.coherent)
    split_rows(bag, plan.marks, marks_shift, rules.alpha, shared_of(plan), plan.masses)
    buckets_shift = fill_buckets(shared_of(plan), len(bag.symbols))
    tokens = _assign_roles(bag, rules, plan)
    reset(state, plan.shared_offsets, bag.occurrences, len(likeness.topics), tokens, smooth, rules.coherent)
    for at in range(plan.shared_offsets[len(bag.symbols)] if rules.coherent_prior else 0):
        plan.shared_candidates[at] = number_of(likeness.topics, np.int64(plan.shared_topics[at]))
    return Shifts(marks_shift, buckets_shift), tokens


@bare
def _assign_roles(bag: Bag, rules: Rules, plan: Plan) -> Whole:
    count = np.int64(0)
    for symbol in range(len(bag.symbols)):
        plan.idle[symbol] = 0
        plan.roles[symbol] = _role(bag, plan.shared_offsets, symbol)
        if plan.roles[symbol] == IDLE:
            plan.idle[symbol] = rules.sweeps - rules.burn_in
        if plan.roles[symbol] == ACTIVE:
            for _ in range(bag.occurrences[symbol]):
                plan.tokens[count, TOKEN_SYMBOL] = symbol
                plan.tokens[count, TOKEN_TOPIC] = NOWHERE
                plan.tokens[count, SINCE] = 0
                count += 1
    return count


@bare
def _role(bag: Bag, shared_offsets: NDArray[np.int64], symbol: Whole) -> Whole:
    if bag.smoothing[symbol] > 0.0:
        return ACTIVE
    if bag.lengths[symbol] == 1:
        return FIXED
    alone = shared_offsets[symbol] == shared_offsets[symbol + 1] and bag.occurrences[symbol] == 1
    return IDLE if alone else ACTIVE
