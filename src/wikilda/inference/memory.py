"""Memory that a thread works in: allocated for the largest document so far, and used again for the next."""

import threading

import numpy as np

from wikilda.inference.marks import marks_for
from wikilda.inference.packet import Packet
from wikilda.inference.plan import Plan
from wikilda.inference.state import MORE_EXTRA, MORE_SLOTS, MORE_TOPICS, State

_SLOTS = 64  # a document begins with so many
_BUCKETS = (1 << 16) + 2


class Memory(threading.local):
    """The memory of each thread."""

    def __init__(self) -> None:
        self._symbols = self._entries = self._tokens = self._candidates = 0
        self._slots, self._topics, self._extra = _SLOTS, 4096, 64
        self._plan: Plan | None = None
        self._states: dict[int, State] = {}  # by the number of slots

    def for_document(self, packet: Packet) -> tuple[Plan, State]:
        """Enough for a document, as far as can be said before."""
        bag = packet.bag
        needed = (len(bag.symbols), int(bag.lengths.sum()), int(bag.occurrences.sum()), len(packet.likeness.topics))
        there = (self._symbols, self._entries, self._tokens, self._candidates)
        if any(need > has for need, has in zip(needed, there, strict=True)):
            larger = [max(_rounded(need), has) for need, has in zip(needed, there, strict=True)]
            self._symbols, self._entries, self._tokens, self._candidates = larger
            self._forget()
        self._slots = _SLOTS
        return self._both()

    def more(self, status: int) -> tuple[Plan, State]:
        """More of what there was too little of."""
        if status == MORE_SLOTS:
            self._slots *= 2
        else:
            self._topics *= 4 if status == MORE_TOPICS else 1
            self._extra *= 4 if status == MORE_EXTRA else 1
            self._forget()
        return self._both()

    def _forget(self) -> None:
        self._plan = None
        self._states.clear()

    def _both(self) -> tuple[Plan, State]:
        if self._plan is None:
            self._plan = _new_plan(self._symbols, self._entries, self._tokens)
        if self._slots not in self._states:
            sizes = (self._symbols, self._entries, self._candidates, self._topics, self._extra)
            self._states[self._slots] = _new_state(self._slots, *sizes)
        return self._plan, self._states[self._slots]


def _rounded(size: int) -> int:
    return 1 << max(size, 1).bit_length()


def _new_plan(symbols: int, entries: int, tokens: int) -> Plan:
    room = entries + 1  # one more is written to than is kept
    return Plan(
        marks=np.empty(marks_for(entries), np.uint64),
        shared_offsets=np.empty(symbols + 1, np.int64),
        shared_topics=np.empty(room, np.uint32),
        shared_weights=np.empty(room, np.float32),
        shared_priors=np.empty(room, np.float32),
        shared_places=np.empty(room, np.int32),
        bucket_starts=np.empty(_BUCKETS, np.int64),
        bucket_topics=np.empty(room, np.uint32),
        bucket_weights=np.empty(room, np.float32),
        bucket_places=np.empty(room, np.int32),
        bucket_symbols=np.empty(room, np.int32),
        masses=np.empty((symbols, 3), np.float64),
        roles=np.empty(symbols, np.int64),
        idle=np.empty(symbols, np.int64),
        tokens=np.empty((tokens, 3), np.int64),
    )


def _new_state(slots: int, symbols: int, entries: int, candidates: int, topics: int, extra: int) -> State:
    return State(
        numbers=np.zeros(9, np.int64),
        hashed=np.empty(2 * topics, np.int32),
        known=np.empty((topics, 5), np.int64),
        holders=np.empty((entries + 1, 3), np.int64),
        holder_weights=np.empty(entries + 1, np.float32),
        seats=np.zeros((slots, 3), np.int64),
        counts=np.zeros(slots, np.float32),
        unit=np.zeros(slots, np.float32),
        effective=np.zeros(slots, np.float32),
        without=np.zeros(slots, np.float32),
        matrix=np.empty((symbols, slots), np.float32),
        factors=np.zeros((2, slots), np.float32),
        company=np.zeros((3, slots), np.float64),
        alike=np.zeros((slots, slots), np.float32),
        candidate_slots=np.empty(candidates, np.int32),
        extra=np.full((4 * extra, 2), -1, np.int64),
        extra_order=np.empty(extra, np.int64),
    )
