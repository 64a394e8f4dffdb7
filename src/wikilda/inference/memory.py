"""Memory that a thread works in: allocated for the largest document so far, and used again for the next."""

import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikilda.inference.marks import marks_for
from wikilda.inference.packet import Packet
from wikilda.inference.plan import Plan
from wikilda.inference.state import EXTRA, KEY, MORE_EXTRA, MORE_SLOTS, MORE_TOPICS, State

_SLOTS, _TOPICS, _EXTRA = 64, 4096, 64  # what a document begins with
_BUCKETS = (1 << 16) + 2


class Memory(threading.local):
    """The memory of each thread."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}
        self._slots, self._topics, self._extra = _SLOTS, _TOPICS, _EXTRA

    def for_document(self, packet: Packet) -> tuple[Plan, State]:
        """Enough for a document, as far as can be said before."""
        self._slots = _SLOTS
        return self._plan(packet), self._state(packet)

    def more(self, packet: Packet, status: int) -> tuple[Plan, State]:
        """More of what there was too little of."""
        self._slots *= 2 if status == MORE_SLOTS else 1
        self._topics *= 4 if status == MORE_TOPICS else 1
        self._extra *= 4 if status == MORE_EXTRA else 1
        return self._plan(packet), self._state(packet)

    def _plan(self, packet: Packet) -> Plan:
        bag = packet.bag
        symbols, entries, tokens = len(bag.symbols), int(bag.lengths.sum()), int(bag.occurrences.sum())
        room = entries + 1  # one more is written to than is kept
        return Plan(
            self._array("marks", np.uint64, marks_for(entries)),
            self._array("shared_offsets", np.int64, symbols + 1),
            *self._entries("shared", room),
            self._array("bucket_starts", np.int64, _BUCKETS),
            *self._entries("bucket", room),
            self._array("bucket_symbols", np.int32, room),
            self._array("masses", np.float64, 2, symbols),
            self._array("roles", np.int64, symbols),
            self._array("idle", np.int64, symbols),
            self._array("tokens", np.int64, tokens, 3),
        )

    def _entries(self, name: str, room: int) -> list[NDArray[Any]]:
        parts: list[tuple[str, DTypeLike]] = [("topics", np.uint32), ("weights", np.float32)]
        parts += [("priors", np.float32)] if name == "shared" else []
        return [self._array(f"{name}_{part}", dtype, room) for part, dtype in [*parts, ("places", np.int32)]]

    def _state(self, packet: Packet) -> State:
        slots, symbols, entries = self._slots, len(packet.bag.symbols), int(packet.bag.lengths.sum())
        numbers = self._array("numbers", np.int64, 9)
        extra = self._array("extra", np.int64, 4 * self._extra, 2)
        if "clean" not in self._arrays or len(self._arrays["clean"]) < self._extra:
            self._arrays["clean"] = np.empty(self._extra)
            extra[:, KEY] = -1
            numbers[EXTRA] = 0
        return State(
            numbers,
            self._array("hashed", np.int32, 2 * self._topics),
            self._array("known", np.int64, self._topics, 5),
            self._array("holders", np.int64, entries + 1, 3),
            self._array("holder_weights", np.float32, entries + 1),
            self._array("seats", np.int64, slots, 3),
            self._array("counts", np.float32, slots),
            self._array("unit", np.float32, slots),
            self._array("effective", np.float32, slots),
            self._array("matrix", np.float32, symbols, slots),
            self._array("factors", np.float32, 2, slots),
            self._array("company", np.float64, 2, slots),
            self._array("alike", np.float32, slots, slots),
            self._array("candidate_slots", np.int32, len(packet.likeness.topics)),
            extra,
            self._array("extra_order", np.int64, self._extra),
        )

    def _array(self, name: str, dtype: DTypeLike, *shape: int) -> NDArray[Any]:
        """An array of some shape, in memory that is there already if it is large enough."""
        size = int(np.prod(shape))
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays[name] = np.zeros(1 << max(size, 1).bit_length(), dtype)
        return self._arrays[name][:size].reshape(shape)
