"""Count the occurrences of mention strings: a trie of token sequences in a hash table."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, StringTable, capacity_for, find_slot
from wikilda._core.jit import njit
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import BREAK, Bytes, Hashes, Offsets, chain, tokenize

PREFIX = -1  # a sequence that begins a mention but is not one
LONGEST = 4096  # bytes of a string that are read


def fill_trie(strings: StringTable, trie: HashTable) -> None:
    """Insert all mention strings and their prefixes into an empty table."""
    _fill_trie(strings.data, strings.offsets, characters(), *_scratch(), trie)


def trie_capacity(strings: StringTable) -> int:
    """Return the table size for `fill_trie`: the number of tokens bounds the size of the trie."""
    return capacity_for(int(_count_tokens(strings.data, strings.offsets, characters(), *_scratch())))


def count_occurrences(
    chunks: list[Path], read: Callable[[Path], Hashes], trie: HashTable, mentions: int, workers: int
) -> NDArray[np.uint32]:
    """Count all mention strings in the tokens of all pieces, including overlapping ones."""

    def count(share: list[Path]) -> NDArray[np.uint32]:
        counts = np.zeros(mentions, np.uint32)
        for chunk in share:
            _count(read(chunk), trie, counts)
        return counts

    with ThreadPoolExecutor(workers) as pool:
        shares = [chunks[first::workers] for first in range(workers)]
        return np.asarray(sum(pool.map(count, shares)), np.uint32)


def _scratch() -> tuple[Hashes, Offsets]:
    return np.empty(LONGEST, np.uint64), np.empty((2, LONGEST), np.int64)


@njit
def _count_tokens(data: Bytes, offsets: Offsets, table: Characters, hashes: Hashes, places: Offsets) -> int:
    total = 0
    for mention in range(len(offsets) - 1):
        end = min(offsets[mention + 1], offsets[mention] + LONGEST)
        total += tokenize(data, offsets[mention], end, table, hashes, places[0], places[1])
    return total


@njit
def _fill_trie(
    data: Bytes, offsets: Offsets, table: Characters, hashes: Hashes, places: Offsets, trie: HashTable
) -> None:
    for mention in range(len(offsets) - 1):
        end = min(offsets[mention + 1], offsets[mention] + LONGEST)
        count = tokenize(data, offsets[mention], end, table, hashes, places[0], places[1])
        sequence = BREAK
        for at in range(count):
            sequence = chain(sequence, hashes[at])
            slot = find_slot(trie.keys, sequence)
            if trie.keys[slot] != sequence:
                trie.keys[slot] = sequence
                trie.values[slot] = PREFIX
            if at == count - 1:
                trie.values[slot] = mention


@njit
def _count(tokens: Hashes, trie: HashTable, counts: NDArray[np.uint32]) -> None:
    for start in range(len(tokens)):
        sequence = BREAK
        at = start
        while at < len(tokens) and tokens[at] != BREAK:
            sequence = chain(sequence, tokens[at])
            slot = find_slot(trie.keys, sequence)
            if trie.keys[slot] != sequence:
                break
            if trie.values[slot] >= 0:
                counts[trie.values[slot]] += 1
            at += 1
