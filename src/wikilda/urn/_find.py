"""The first pass over the mentions of a document: what each may mean, and how well the document's words go with it.

It runs without the interpreter's lock from the mentions' strings to the evidence; `wikilda.urn._draw` is the second.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import inner, njit
from wikilda.knowledge.graph import Graph
from wikilda.knowledge.name_index import NameIndex
from wikilda.model.model import Parameters
from wikilda.text.characters import Characters
from wikilda.text.folding import Folds
from wikilda.text.tokens import Strings
from wikilda.urn._backoff import back_off
from wikilda.urn._candidates import Candidates, gather, leave_out, merged, numbered, order_of, with_new_senses
from wikilda.urn._coreference import Parents, names_of, parents_of
from wikilda.urn._names import LinkCounts, inherited, new_meaning, strings_of, unlinked_ratios
from wikilda.urn._relatedness import Neighbours, neighbours_of
from wikilda.urn._word_evidence import Scratch, WordTable, word_evidence

Numbers = NDArray[np.int64]

_MULTIPLIER, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(40)


class Tables(NamedTuple):
    """The model and the knowledge, as far as the first pass reads them."""

    base: Parameters
    links: LinkCounts
    names: NameIndex
    titles: Strings
    graph: Graph
    words: WordTable
    characters: Characters
    folds: Folds


class Limits(NamedTuple):
    """Settings, as the first pass takes them."""

    candidates: int
    backoff: int  # candidates by the words of titles; 0: none
    share: float  # of P(k|v) that these have
    new_sense: float
    neighbours: int
    overlap: float
    words: float


class Own(NamedTuple):
    """What a document has added to λ̂ itself: counts of topics, those of mention i from offsets[i] on; or nothing."""

    offsets: Numbers
    topics: NDArray[np.uint32]
    counts: NDArray[np.float64]


NOTHING = Own(np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0, np.float64))


class Found(NamedTuple):
    """What some mentions of a document may mean, by distinct string, and what speaks for it."""

    symbols: Numbers  # of distinct strings, in the order of the text
    strings: Strings
    rows: Numbers  # by mention: its string
    parents: Parents
    candidates: Candidates
    neighbours: Neighbours  # of candidate topics
    evidence: NDArray[np.float64]  # of the words for them
    new_meanings: NDArray[np.float64]  # by string: the chance of a meaning that it never had
    unlinked: NDArray[np.float64]  # by string: how often articles have it for each link of it
    words: Numbers  # distinct words of the document
    counts: Numbers


@njit
def find(
    tables: Tables, limits: Limits, mentions: Numbers, strings: Strings, places: Numbers, chosen: Numbers,
    words: Numbers, own: Own, scratch: Scratch,
) -> Found:  # fmt: skip
    """What chosen mentions of a document may mean; `mentions`, `strings` and `places` are those of all."""
    firsts, rows = _distinct(mentions, chosen)
    symbols, spots = np.empty(len(firsts), np.int64), np.empty(len(chosen), np.int64)
    for row in range(len(firsts)):
        symbols[row] = mentions[firsts[row]]
    for at in range(len(chosen)):
        spots[at] = places[chosen[at]]
    names = strings_of(strings, firsts)
    folded = names_of(names, tables.characters, tables.folds)
    parents = parents_of(folded, rows, spots)
    found, totals = gather(symbols, tables.base, limits.candidates)
    if len(own.topics):
        leave_out(found, totals, _rows_of(mentions, symbols, own), own.offsets, own.topics, own.counts)
    if limits.backoff > 0:
        known = np.empty(len(symbols), np.bool_)
        for row in range(len(symbols)):
            known[row] = symbols[row] >= 0
        by_words = back_off(
            folded, names, known, limits.backoff, tables.names, tables.titles, tables.base, tables.characters,
            tables.folds,
        )  # fmt: skip
        found = merged(found, inherited(found, by_words, parents, rows), limits.share)
    candidates = numbered(found, totals)
    if limits.new_sense > 0.0:
        candidates = with_new_senses(candidates, rows, limits.new_sense)
    near = neighbours_of(tables.graph, candidates.topics, limits.neighbours)
    distinct, counts = _counted(words)
    evidence = np.zeros(len(candidates.topics), np.float64)
    if limits.words > 0.0:
        evidence = word_evidence(distinct, counts, tables.words, candidates.topics, near, limits.overlap, scratch)
    new = new_meaning(symbols, tables.links.offsets, tables.links.counts)
    ratios = unlinked_ratios(symbols, tables.links, tables.characters)
    return Found(symbols, names, rows, parents, candidates, near, evidence, new, ratios, distinct, counts)


@inner
def _distinct(values: Numbers, chosen: Numbers) -> tuple[Numbers, Numbers]:
    """Where each distinct one of chosen values is first, and the number of the value of each chosen one."""
    bits = np.int64(4)
    while (np.int64(1) << bits) < 2 * len(chosen):
        bits += 1
    table, mask = np.full(np.int64(1) << bits, np.int32(-1)), (np.int64(1) << bits) - 1
    firsts, rows = np.empty(len(chosen), np.int64), np.empty(len(chosen), np.int64)
    count = np.int64(0)
    for at in range(len(chosen)):
        value = values[chosen[at]]
        slot = np.int64((np.uint64(value) * _MULTIPLIER) >> _SHIFT) & mask
        while table[slot] >= 0 and values[firsts[table[slot]]] != value:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = count
            firsts[count] = chosen[at]
            count += 1
        rows[at] = table[slot]
    return firsts[:count], rows


@inner
def _counted(words: Numbers) -> tuple[Numbers, Numbers]:
    """The distinct words that the knowledge has, sorted, and how often each occurs."""
    known, size = np.empty(len(words), np.uint32), np.int64(0)
    for word in words:
        if word >= 0:
            known[size] = word
            size += 1
    distinct, counts, count = np.empty(size, np.int64), np.zeros(size, np.int64), np.int64(0)
    for at in order_of(known[:size]):
        if count == 0 or distinct[count - 1] != known[at]:
            distinct[count] = known[at]
            count += 1
        counts[count - 1] += 1
    return distinct[:count], counts[:count]


@inner
def _rows_of(mentions: Numbers, symbols: Numbers, own: Own) -> Numbers:
    """The distinct string of each mention that has added something to λ̂, or −1."""
    rows = np.full(len(mentions), np.int64(-1))
    for mention in range(len(mentions)):
        for row in range(len(symbols)) if own.offsets[mention + 1] > own.offsets[mention] else range(0):
            if symbols[row] == mentions[mention]:
                rows[mention] = row
    return rows
