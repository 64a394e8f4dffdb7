"""Sorted arrays, hash tables, string tables and concatenated rows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, bare, int64, njit


@bare
def lower_bound(values: NDArray[Any], low: Whole, high: Whole, wanted: Any) -> Whole:
    """Return the first index from `low` on whose value is at least the given one; `high` if there is none."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@bare
def find(values: NDArray[Any], low: Whole, high: Whole, wanted: Any) -> Whole:
    """Return the index of a value in a sorted array between `low` and `high`, or −1."""
    at = lower_bound(values, low, high, wanted)
    return at if at < high and values[at] == wanted else np.int64(-1)


def offsets_of(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of concatenated rows with the given lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


EMPTY = np.uint64(0)
_HALF = np.uint64(32)
_LOAD = 0.65


class HashTable(NamedTuple):
    """Open addressing; a key of 0 is an empty slot."""

    keys: NDArray[np.uint64]
    values: NDArray[np.int32]


def capacity_for(entries: int) -> int:
    """Return the number of slots for a number of entries."""
    return int(entries / _LOAD) + 8


@bare
def find_slot(keys: NDArray[np.uint64], key: np.uint64) -> int:
    """Return the slot that holds a key, or the empty slot for it."""
    at = ((key >> _HALF) * np.uint64(len(keys))) >> _HALF
    slot = int64(at)  # type: ignore[arg-type]
    while keys[slot] != key and keys[slot] != EMPTY:
        slot += 1
        if slot == len(keys):
            slot = 0
    return slot


@njit
def lookup(table: HashTable, key: np.uint64) -> int:
    """The number of a key, or -1."""
    slot = find_slot(table.keys, key)
    return int64(table.values[slot]) if table.keys[slot] == key else -1


def table_of(keys: NDArray[np.uint64]) -> HashTable:
    """A table in memory that numbers keys by their place in an array."""
    size = capacity_for(len(keys))
    table = HashTable(np.full(size, EMPTY, np.uint64), np.full(size, -1, np.int32))
    insert_all(table, keys)
    return table


@njit
def insert_all(table: HashTable, keys: NDArray[np.uint64]) -> None:
    """Number keys by their place in the array."""
    for number in range(len(keys)):
        slot = find_slot(table.keys, keys[number])
        table.keys[slot] = keys[number]
        table.values[slot] = number


class StringTable(Sequence[str]):
    """Strings by number, and numbers by string if the table is sorted by UTF-8 bytes."""

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, strings: Iterable[str]) -> "StringTable":
        """Make a table of strings in the given order."""
        encoded = [string.encode() for string in strings]
        data = np.frombuffer(b"".join(encoded), np.uint8).copy()
        return cls(data, offsets_of([len(each) for each in encoded]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:  # type: ignore[override]
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self.data[self.offsets[number] : self.offsets[number + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return (self[number] for number in range(len(self)))

    def find(self, string: str) -> int:
        """The number of a string in a sorted table, or -1."""
        at = self.place(string)
        return at if at < len(self) and self[at] == string else -1

    def place(self, string: str) -> int:
        """Return the index of a string in a sorted table, or the index where it would be inserted."""
        return int(_bisect(self.data, self.offsets, _bytes(string)))

    def beginning_with(self, prefix: str, most: int) -> list[int]:
        """The numbers of strings of a sorted table that begin with a prefix."""
        at = _bisect(self.data, self.offsets, _bytes(prefix))
        found: list[int] = []
        while at < len(self) and len(found) < most and self[at].startswith(prefix):
            found.append(at)
            at += 1
        return found


def _bytes(string: str) -> NDArray[np.uint8]:
    return np.frombuffer(string.encode("utf-8", "replace"), np.uint8).copy()


@njit
def _bisect(data: NDArray[np.uint8], offsets: NDArray[np.int64], wanted: NDArray[np.uint8]) -> int:
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high) // 2
        if _less(data, offsets[middle], offsets[middle + 1], wanted):
            low = middle + 1
        else:
            high = middle
    return low


@bare
def _less(data: NDArray[np.uint8], start: int, end: int, wanted: NDArray[np.uint8]) -> bool:
    for at in range(min(end - start, len(wanted))):
        if data[start + at] != wanted[at]:
            return bool(data[start + at] < wanted[at])
    return end - start < len(wanted)


class Run(NamedTuple):
    """Counted sweeps: topics of symbols[i] (both sorted) from offsets[i] on."""

    symbols: NDArray[np.int64]
    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    sweeps: NDArray[np.int64]

    @property
    def total(self) -> int:
        """The sum of all sweeps."""
        return int(self.sweeps.sum())

    def between(self, first: int, last: int) -> "Run":
        """The part of symbols from `first` to below `last`."""
        start, end = np.searchsorted(self.symbols, (first, last))
        span = slice(self.offsets[start], self.offsets[end])
        return Run(
            np.asarray(self.symbols[start:end]),
            np.asarray(self.offsets[start : end + 1]) - self.offsets[start],
            np.asarray(self.topics[span]),
            np.asarray(self.sweeps[span]),
        )


EMPTY_RUN = Run(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0, np.int64))


def run_of_pairs(symbols: NDArray[np.int64], topics: NDArray[np.uint32], counts: NDArray[np.int64]) -> Run:
    """Return pairs in any order as a run. Equal ones are added up."""
    order = np.lexsort((topics, symbols))
    symbols, topics, counts = symbols[order], topics[order], counts[order]
    new = np.ones(len(symbols), np.bool_)
    new[1:] = (symbols[1:] != symbols[:-1]) | (topics[1:] != topics[:-1])
    starts = np.flatnonzero(new)
    distinct, first = np.unique(symbols[starts], return_index=True)
    sums = np.add.reduceat(counts, starts) if len(starts) else counts
    return Run(distinct, np.append(first, len(starts)).astype(np.int64), topics[starts], sums)
