"""What comes out of sampling a document: in how many sweeps tokens of each symbol had each topic. Whole numbers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, bare, inner
from wikilda._core.random import Stream, uniform
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
    """An empty list for so many items."""
    return Items(
        np.zeros(1, np.int64),
        np.empty(items, np.int32),
        np.empty(items, np.uint32),
        np.empty(items, np.int32),
        np.empty(items, np.int64),
    )


@bare
def add(items: Items, symbol: Whole, topic: Whole, place: Whole, sweeps: Whole) -> None:
    """Add an item."""
    to = items.length[0]
    items.symbols[to], items.topics[to], items.places[to], items.sweeps[to] = symbol, topic, place, sweeps
    items.length[0] = to + 1


@bare
def add_noted(items: Items, state: State) -> None:
    """Add what was noted while sampling."""
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
    shared_offsets: NDArray[np.int64],
    shared_places: NDArray[np.int32],
    symbol: Whole,
    mass: Real,
    sweeps: Whole,
    draws: Whole,
    stream: Stream,
) -> None:
    """Share sweeps on private topics out by evenly spaced draws: on average, each gets its due.

    `mass` is the sum of the private priors. With fewer draws than sweeps, each draw stands for several.
    """
    step = mass / draws
    x, turn = uniform(stream) * step, np.int64(uniform(stream) * draws)
    entries, start = entries_of(bag, symbol), bag.starts[symbol]
    topics, priors = entries.topics, entries.priors
    shared, end = shared_offsets[symbol], shared_offsets[symbol + 1]
    reached, done, last = 0.0, np.int64(0), np.int64(0)
    for place in range(bag.lengths[symbol]):
        prior = np.float64(priors[start + place])
        if shared < end and shared_places[shared] == place:
            shared += 1
            continue
        if prior == 0.0:
            continue
        reached += prior
        last = np.int64(place)
        if x < reached:
            first = done
            while done < draws and x < reached:
                done += 1
                x += step
            add(items, symbol, topics[start + place], place, _share(first, done, turn, sweeps, draws))
            if done == draws:
                return
    # Only rounding leads here.
    add(items, symbol, topics[start + last], last, _share(done, draws, turn, sweeps, draws))


@bare
def _share(first: Whole, end: Whole, turn: Whole, sweeps: Whole, draws: Whole) -> Whole:
    """How many sweeps some of the draws stand for; which of them stand for one more is left to chance (`turn`)."""
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
