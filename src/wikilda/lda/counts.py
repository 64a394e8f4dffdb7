"""Counts of a sampled document: the number of sweeps in which tokens of a symbol had a topic."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, inner
from wikilda._core.random import Stream, uniform
from wikilda.lda._bucket_draw import walk_private
from wikilda.lda._document_plan import Plan
from wikilda.lda._ordered_sums import LANES, total
from wikilda.lda._sampler_state import (
    EXTRA,
    KEY,
    KEY_SWEEPS,
    KNOWN,
    LENGTH,
    PLACE,
    START,
    SWEEPS,
    SYMBOL,
    TOPIC,
    State,
    extra_symbol,
    extra_topic,
)
from wikilda.lda._shared_rows import PRIVATE_MASS, SHARED_MASS, TOO_CLOSE
from wikilda.lda.packet import Bag, entries_of


class Counts(NamedTuple):
    """By symbol of the packet, from offsets[symbol] on: topics, places in the row (−1: new), and sweeps."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    places: NDArray[np.int32]
    sweeps: NDArray[np.int64]


class Items(NamedTuple):
    """Counts in no particular order; `length` has one number."""

    length: NDArray[np.int64]
    symbols: NDArray[np.int32]
    topics: NDArray[np.uint32]
    places: NDArray[np.int32]
    sweeps: NDArray[np.int64]


@inner
def room_for(items: Whole) -> Items:
    """Return an empty list with room for a number of items."""
    return Items(
        length=np.zeros(1, np.int64),
        symbols=np.empty(items, np.int32),
        topics=np.empty(items, np.uint32),
        places=np.empty(items, np.int32),
        sweeps=np.empty(items, np.int64),
    )


@bare
def add(items: Items, symbol: Whole, topic: Whole, place: Whole, sweeps: Whole) -> None:
    """Add an item."""
    to = items.length[0]
    items.symbols[to], items.topics[to], items.places[to], items.sweeps[to] = symbol, topic, place, sweeps
    items.length[0] = to + 1


@bare
def add_noted(items: Items, state: State) -> None:
    """Add the notes of sampling."""
    known, holders = state.known, state.holders
    for number in range(state.numbers[KNOWN]):
        start, topic = known[number, START], np.uint32(known[number, TOPIC])
        for at in range(start, start + known[number, LENGTH]):
            if holders[at, SWEEPS] > 0:
                add(items, holders[at, SYMBOL], topic, holders[at, PLACE], holders[at, SWEEPS])
    for at in range(state.numbers[EXTRA]):
        key, sweeps = state.extra[state.extra_order[at], KEY], state.extra[state.extra_order[at], KEY_SWEEPS]
        add(items, extra_symbol(key), np.uint32(extra_topic(key)), np.int64(-1), sweeps)


@bare
def add_idle(
    items: Items,
    bag: Bag,
    plan: Plan,
    symbol: Whole,
    alpha: Real,
    draws: Whole,
    stream: Stream,
) -> None:
    """Share sweeps on private topics by evenly spaced draws, which keeps expectations.

    With fewer draws than sweeps, each draw represents several. Blocks of the row in which no draw falls are skipped.
    """
    mass, sweeps = plan.masses[symbol, PRIVATE_MASS] / alpha, plan.idle[symbol]
    step = mass / draws
    x, turn = uniform(stream) * step, np.int64(uniform(stream) * draws)
    entries, start, length = entries_of(bag, symbol), bag.starts[symbol], bag.lengths[symbol]
    topics, priors, places = entries.topics, entries.priors, plan.shared_places
    skips = mass * alpha > TOO_CLOSE * plan.masses[symbol, SHARED_MASS]
    shared, end = plan.shared_offsets[symbol], plan.shared_offsets[symbol + 1]
    reached, done, place = 0.0, np.int64(0), np.int64(0)
    while place < length and done < draws:
        if skips and place % LANES == 0 and place + LANES <= length:
            block, later = _private_block(priors, start, place, plan, shared, end)
            if x >= reached + block:
                reached, shared, place = reached + block, later, place + LANES
                continue
        if shared < end and places[shared] == place:
            shared += 1
        else:
            reached += np.float64(priors[start + place])
            first = done
            while done < draws and x < reached:
                done += 1
                x += step
            if done > first:
                add(items, symbol, topics[start + place], place, _share(first, done, turn, sweeps, draws))
        place += 1
    if done < draws:  # reached by rounding only
        place = walk_private(priors, start, length, places, plan.shared_offsets[symbol], end, np.inf)
        add(items, symbol, topics[start + place], place, _share(done, draws, turn, sweeps, draws))


@bare
def _private_block(
    priors: NDArray[np.float32], start: Whole, place: Whole, plan: Plan, shared: Whole, end: Whole
) -> tuple[Real, Whole]:
    """The sum of the private priors in a block of a row, and the first shared entry behind it."""
    mass, places, shared_priors = (
        total(priors, np.uint64(start + place), np.uint64(LANES)),
        plan.shared_places,
        plan.shared_priors,
    )
    while shared < end and places[shared] < place + LANES:
        mass -= np.float64(shared_priors[shared])
        shared += 1
    return mass, shared


@bare
def _share(first: Whole, end: Whole, turn: Whole, sweeps: Whole, draws: Whole) -> Whole:
    """Return the number of sweeps per draw; which draws get one more is random (`turn`)."""
    share = np.int64(0)
    for draw in range(first, end):
        share += sweeps // draws + ((draw + turn) % draws < sweeps % draws)
    return share


@inner
def by_symbol(items: Items, symbols: Whole) -> Counts:
    """Sort items by symbol."""
    offsets, count = np.zeros(symbols + 2, np.int64), items.length[0]
    for at in range(count):
        offsets[np.int64(items.symbols[at]) + 2] += 1
    for symbol in range(symbols):
        offsets[symbol + 2] += offsets[symbol + 1]
    counts = Counts(
        offsets[: symbols + 1], np.empty(count, np.uint32), np.empty(count, np.int32), np.empty(count, np.int64)
    )
    symbols_of, topics, places, sweeps = items.symbols, counts.topics, counts.places, counts.sweeps
    for at in range(count):
        row = np.int64(symbols_of[at]) + 1
        to = offsets[row]
        topics[to], places[to], sweeps[to] = items.topics[at], items.places[at], items.sweeps[at]
        offsets[row] = to + 1
    return counts
