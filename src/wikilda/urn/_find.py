"""The first passes over the mentions of a document: candidates, and the evidence of the document's words.

They run without the interpreter's lock: from the mentions' strings to their names (`read_names`), to candidates by the
words of titles (`wikilda.urn._backoff`), to the evidence of words (`find`). `wikilda.urn._draw` is the last pass. They
are separate so that two processes can compile them.
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
from wikilda.urn._candidates import Candidates, Rows, gather, merged, numbered, order_of
from wikilda.urn._coreference import Names, Parents, Senses, antecedents, names_of, parents_of
from wikilda.urn._names import LinkCounts, inherited, read_links, strings_of
from wikilda.urn._relatedness import Neighbours, neighbours_of
from wikilda.urn._title_match import is_title
from wikilda.urn._word_evidence import OVERLAP, Scratch, WordTable, word_evidence

Numbers = NDArray[np.int64]
Vector = NDArray[np.float64]

_MULTIPLIER, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(40)


class NameTables(NamedTuple):
    """The tables of model and knowledge that names are resolved with."""

    base: Parameters
    links: LinkCounts
    index_of_names: NameIndex
    titles: Strings
    characters: Characters
    folds: Folds
    persons: NDArray[np.uint8]  # by topic, in 255ths; or nothing
    organisations: NDArray[np.uint8]


class Limits(NamedTuple):
    """Settings, as these passes take them."""

    candidates: int
    backoff: int  # candidates by the words of titles; 0: none
    neighbours: int


class Named(NamedTuple):
    """Some mentions of a document by their distinct strings."""

    symbols: Numbers  # of the strings, in the order of the text
    strings: Strings
    names: Names
    rows: Numbers  # by mention: the string that it is read as: its own, or that of its full name
    resolved: NDArray[np.bool_]  # by mention: whether it is read as another string
    places: Numbers  # by mention, in tokens
    capitals: NDArray[np.bool_]  # by mention: whether its first letter is an informative capital
    parents: Parents
    meanings: Rows  # of the strings
    totals: Vector  # by string: the sum of its λ̂
    links: Vector  # by string: how often the wiki links it
    new_meanings: Vector  # by string: the probability of a new meaning


class Found(NamedTuple):
    """Candidates of the mentions of a document, by distinct string, with the evidence of words."""

    candidates: Candidates
    neighbours: Neighbours  # of candidate topics
    evidence: Vector  # of the words for them
    words: Numbers  # distinct words of the document
    counts: Numbers


@njit
def read_names(
    tables: NameTables, most: int, mentions: Numbers, strings: Strings, places: Numbers, titled: NDArray[np.bool_],
    capitals: NDArray[np.bool_], chosen: Numbers,
) -> Named:  # fmt: skip
    """Read chosen mentions of a document; `mentions`, `strings` and what follows are those of all.

    `titled` marks those after an honorific, `capitals` those with an informative capital.
    """
    firsts, rows = _distinct(mentions, chosen)
    symbols, spots = np.empty(len(firsts), np.int64), np.empty(len(chosen), np.int64)
    for row in range(len(firsts)):
        symbols[row] = mentions[firsts[row]]
    for at in range(len(chosen)):
        spots[at] = places[chosen[at]]
    own = strings_of(strings, firsts)
    names = names_of(own, tables.characters, tables.folds)
    meanings, totals = gather(symbols, tables.base, most)
    links, new = read_links(symbols, tables.links)
    parents = parents_of(names, rows, spots)
    senses = _senses(meanings, totals, own, tables.titles, tables.characters)
    some = titled[chosen]
    drawn_as = antecedents(names, rows, parents, some, senses, tables.persons, tables.organisations)
    shown = capitals[chosen]
    return Named(
        symbols=symbols,
        strings=own,
        names=names,
        rows=drawn_as,
        resolved=drawn_as != rows,
        places=spots,
        capitals=shown,
        parents=parents,
        meanings=meanings,
        totals=totals,
        links=links,
        new_meanings=new,
    )


@inner
def _senses(meanings: Rows, totals: Vector, strings: Strings, titles: Strings, table: Characters) -> Senses:
    """Return the most frequent meaning of strings."""
    size = len(totals)
    senses = Senses(np.full(size, np.int64(-1)), np.zeros(size), totals, np.zeros(size, np.bool_))
    for row in range(size):
        for at in range(meanings.offsets[row], meanings.offsets[row + 1]):
            if meanings.priors[at] > senses.shares[row]:
                senses.shares[row], senses.topics[row] = meanings.priors[at], meanings.topics[at]
        topic = senses.topics[row]
        if topic >= 0:
            string = strings.data[strings.offsets[row] : strings.offsets[row + 1]]
            title = titles.data[titles.offsets[topic] : titles.offsets[topic + 1]]
            senses.is_title[row] = is_title(string, title, table)
    return senses


@njit
def find(
    named: Named, by_words: Rows, limits: Limits, graph: Graph, table: WordTable, words: Numbers, scratch: Scratch,
    without: int,
) -> Found:  # fmt: skip
    """Find the candidates of mentions; `by_words` are candidates by the words of titles, which parents pass on.

    The topic `without` is excluded from neighbours (−1: none): the document is its article.
    """
    found = merged(named.meanings, inherited(named.meanings, by_words, named.parents, named.rows), named.links)
    candidates = numbered(found, named.totals)
    near = neighbours_of(graph, candidates.topics, limits.neighbours, without)
    distinct, counts = _counted(words)
    evidence = word_evidence(distinct, counts, table, candidates.topics, near, OVERLAP, scratch)
    return Found(candidates=candidates, neighbours=near, evidence=evidence, words=distinct, counts=counts)


@inner
def _distinct(values: Numbers, chosen: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first index of each distinct chosen value, and the number of each chosen one's value."""
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
    """Return the distinct known words, sorted, with their counts."""
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
