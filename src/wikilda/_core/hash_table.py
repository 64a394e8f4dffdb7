"""Hash tables in two plain arrays: 64-bit hash → number, memory-mapped like everything else."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import inner, int64, njit

EMPTY = np.uint64(0)
_HALF = np.uint64(32)
_LOAD = 0.65


class HashTable(NamedTuple):
    """Open addressing; a key of 0 is an empty slot."""

    keys: NDArray[np.uint64]
    values: NDArray[np.int32]


def capacity_for(entries: int) -> int:
    """How many slots a table of so many entries should have."""
    return int(entries / _LOAD) + 8


@inner
def find_slot(keys: NDArray[np.uint64], key: np.uint64) -> int:
    """The slot that holds a key, or the empty one where it belongs."""
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
