"""What stands around a mention, and which kinds of topics that goes with.

The kind of a topic is told by some words D_k, those of its title and of the beginning of its article. C_i is what
stands around a mention: the tokens on either side, each with its side, and whether it is next to the mention or
further off. With n_cd how often c stood around a mention of a topic that d tells of, what C_i says for a topic is

    S_ik = 1/|D_k| · Σ_{d ∈ D_k} Σ_{c ∈ C_i} log((n_cd + 1) / (n_c · n_d / n + 1))

the mean over its words of pointwise mutual information, shrunk: what was seen rarely says little. The counts are
learned from unlabelled texts (`wikilda.training.adaptation`).
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.csr import find, offsets_of
from wikilda._core.hash_table import HashTable, lookup, table_of
from wikilda._core.jit import Real, inner, njit
from wikilda.documents.encoding import Contexts
from wikilda.model.context_counts import Kinds, Surroundings

_SURE = 0.01  # posterior from which on a topic counts

Rows = tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64]]  # symbols, words, counts


@njit
def surroundings_evidence(
    around: Contexts,
    chosen: NDArray[np.int64],
    offsets: NDArray[np.int64],
    topics: NDArray[np.uint32],
    known: Surroundings,
    total: Real,
) -> NDArray[np.float64]:
    """S of every candidate of chosen mentions; the candidates of the i-th of them from offsets[i] on."""
    evidence = np.zeros(len(topics), np.float64)
    says = np.full(len(known.totals), np.nan)  # of words that were met at this mention
    for token in range(len(chosen)):
        rows = _rows(around, chosen[token], known.symbols)
        if len(rows) == 0:
            continue
        for at in range(offsets[token], offsets[token + 1]):
            start, end = known.kinds.offsets[topics[at]], known.kinds.offsets[topics[at] + 1]
            for word in known.kinds.words[start:end]:
                if np.isnan(says[word]):
                    says[word] = _information(rows, word, known, total)
                evidence[at] += says[word]
            evidence[at] /= max(end - start, 1)
        for at in range(offsets[token], offsets[token + 1]):
            for word in known.kinds.words[known.kinds.offsets[topics[at]] : known.kinds.offsets[topics[at] + 1]]:
                says[word] = np.nan
    return evidence


@inner
def _rows(around: Contexts, mention: int, symbols: HashTable) -> NDArray[np.int64]:
    """The numbers of what stands around a mention and was seen in learning."""
    rows = np.empty(around.offsets[mention + 1] - around.offsets[mention], np.int64)
    count = 0
    for at in range(around.offsets[mention], around.offsets[mention + 1]):
        row = lookup(symbols, around.symbols[at])
        if row >= 0:
            rows[count] = row
            count += 1
    return rows[:count]


@inner
def _information(rows: NDArray[np.int64], word: np.uint32, known: Surroundings, total: Real) -> Real:
    """What the surroundings together say for a word: one logarithm of a product, not many of its factors."""
    share = known.totals[word] / max(total, 1e-300)
    product = 1.0
    for row in rows:
        at = find(known.words, known.offsets[row], known.offsets[row + 1], word)
        count = np.float64(known.counts[at]) if at >= 0 else 0.0
        product *= (count + 1.0) / (known.sums[row] * share + 1.0)
    return np.log(product)


@njit
def spread(
    around: Contexts,
    offsets: NDArray[np.int64],
    topics: NDArray[np.uint32],
    posterior: NDArray[np.float64],
    kinds: Kinds,
) -> Rows:
    """For each mention, all pairs of what stands around it and of words of what it may mean; they share its weight."""
    size = np.int64(0)
    for write in range(2):
        if write:
            symbols, words = np.empty(size, np.uint64), np.empty(size, np.uint32)
            counts = np.empty(size, np.float64)
            size = np.int64(0)
        for mention in range(len(offsets) - 1):
            for at in range(offsets[mention], offsets[mention + 1]):
                start, end = kinds.offsets[topics[at]], kinds.offsets[topics[at] + 1]
                if posterior[at] < _SURE:
                    continue
                for symbol in range(around.offsets[mention], around.offsets[mention + 1]):
                    for word in range(start, end):
                        if write:
                            symbols[size], words[size] = around.symbols[symbol], kinds.words[word]
                            counts[size] = posterior[at] / (end - start)
                        size += 1
    return symbols, words, counts


def without(known: Surroundings, around: Contexts, own: Rows) -> Surroundings:
    """What was learned of what stands around a document's mentions, but for the counts of that document itself.

    n_d and n stay those of all: one document changes little there.
    """
    symbols = np.unique(around.symbols)
    numbers = _lookup_all(known.symbols, symbols)
    symbols, numbers = symbols[numbers >= 0], numbers[numbers >= 0]
    lengths = known.offsets[numbers + 1] - known.offsets[numbers]
    offsets = offsets_of(lengths)
    source = np.arange(offsets[-1]) + np.repeat(known.offsets[numbers] - offsets[:-1], lengths)
    words, counts, sums = known.words[source], known.counts[source], known.sums[numbers]
    table = table_of(symbols)
    _subtract(table, offsets, words, counts, sums, own)
    return known._replace(symbols=table, offsets=offsets, words=words, counts=counts, sums=sums)


@njit
def _lookup_all(table: HashTable, symbols: NDArray[np.uint64]) -> NDArray[np.int64]:
    numbers = np.empty(len(symbols), np.int64)
    for at in range(len(symbols)):
        numbers[at] = lookup(table, symbols[at])
    return numbers


@njit
def _subtract(
    table: HashTable,
    offsets: NDArray[np.int64],
    words: NDArray[np.uint32],
    counts: NDArray[np.float32],
    sums: NDArray[np.float64],
    own: Rows,
) -> None:
    symbols, own_words, own_counts = own
    for entry in range(len(symbols)):
        row = lookup(table, symbols[entry])
        if row < 0:
            continue
        at = find(words, offsets[row], offsets[row + 1], own_words[entry])
        if at >= 0:
            counts[at] = np.float32(max(np.float64(counts[at]) - own_counts[entry], 0.0))
            sums[row] = max(sums[row] - own_counts[entry], 0.0)
