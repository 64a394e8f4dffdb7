"""Candidates of the mentions of a document: the topics of their rows, and P(k|v)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.jit import Whole, inner, njit
from wikilda.model.model import Parameters

PSEUDO_LINKS = 0.1  # the weight of candidates by words of titles; 0.02 to 0.5 give the same accuracy
_BITS = 11  # by which topics are sorted at a time
_DIGITS = (1 << _BITS) - 1


class Rows(NamedTuple):
    """Topics of distinct strings, those of string i from offsets[i] on, sorted, and P(k|v) of each."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    priors: NDArray[np.float64]


def chosen_rows(rows: Rows, symbols: NDArray[np.int64]) -> Rows:
    """The rows of some strings, in their order."""
    lengths = rows.offsets[symbols + 1] - rows.offsets[symbols]
    offsets = offsets_of(lengths)
    source = np.arange(offsets[-1]) + np.repeat(rows.offsets[symbols] - offsets[:-1], lengths)
    return Rows(offsets, rows.topics[source], rows.priors[source])


class Candidates(NamedTuple):
    """By distinct string: indices in `topics` (sorted, distinct), P(k|v), and the sum of the string's λ̂."""

    topics: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    numbers: NDArray[np.int32]
    priors: NDArray[np.float64]
    totals: NDArray[np.float64]


@njit
def leave_out(
    found: Rows, totals: NDArray[np.float64], symbols: NDArray[np.int64], mentions: NDArray[np.int64],
    own: NDArray[np.int64], topics: NDArray[np.uint32], counts: NDArray[np.float64],
) -> None:  # fmt: skip
    """Remove from P(k|v) the document's own counts: `counts` of `topics`, of mention i from own[i] on.

    `symbols` and `totals` are those of the rows of `found`, `mentions` the symbols of all mentions of the document.
    What texts have added is at most half of a value (`wikilda.training.learn`).
    """
    offsets, values = found.offsets, found.priors
    left, least = totals.copy(), np.empty(len(values), np.float64)
    for row in range(len(totals)):
        for at in range(offsets[row], offsets[row + 1]):
            values[at] *= totals[row]
            least[at] = 0.5 * values[at]
    for mention in range(len(mentions)):
        for row in range(len(symbols)) if own[mention + 1] > own[mention] else range(0):
            for at in range(offsets[row], offsets[row + 1]) if symbols[row] == mentions[mention] else range(0):
                for entry in range(own[mention], own[mention + 1]):
                    if found.topics[at] == topics[entry]:
                        taken = min(counts[entry], values[at] - least[at])
                        values[at] -= taken
                        left[row] -= taken
    for row in range(len(totals)):
        for at in range(offsets[row], offsets[row + 1]):
            values[at] /= max(left[row], 1e-300)


@inner
def merged(first: Rows, second: Rows, links: NDArray[np.float64]) -> Rows:
    """Merge two sorted lists per row.

    Where both have topics, the second counts like PSEUDO_LINKS links beside the `links` that the first was counted
    from.
    """
    most = len(first.topics) + len(second.topics)
    found, priors, ends = np.empty(most, np.uint32), np.empty(most, np.float64), np.zeros(len(first.offsets), np.int64)
    size = np.int64(0)
    for row in range(len(ends) - 1):
        i, i_end, j, j_end = first.offsets[row], first.offsets[row + 1], second.offsets[row], second.offsets[row + 1]
        part = PSEUDO_LINKS / (PSEUDO_LINKS + max(links[row], 1.0)) if i < i_end else 1.0
        rest = 1.0 - part if j < j_end and i < i_end else 1.0
        while i < i_end or j < j_end:
            old = i < i_end and (j >= j_end or first.topics[i] <= second.topics[j])
            new = j < j_end and (i >= i_end or second.topics[j] <= first.topics[i])
            found[size] = first.topics[i] if old else second.topics[j]
            priors[size] = (rest * first.priors[i] if old else 0.0) + (part * second.priors[j] if new else 0.0)
            size += 1
            i += old
            j += new
        ends[row + 1] = size
    return Rows(ends, found[:size], priors[:size])


@njit
def gather(symbols: NDArray[np.int64], mentions: Parameters, most: Whole) -> tuple[Rows, NDArray[np.float64]]:
    """The `most` topics with the largest λ̂ of each symbol, and the sums of λ̂; none for a symbol below 0.

    P(k|v) is that of the whole row.
    """
    starts = mentions.offsets
    offsets = np.zeros(len(symbols) + 1, np.int64)
    for at in range(len(symbols)):
        length = starts[symbols[at] + 1] - starts[symbols[at]] if symbols[at] >= 0 else np.int64(0)
        offsets[at + 1] = offsets[at] + min(length, most)
    found, priors = np.empty(offsets[-1], np.uint32), np.empty(offsets[-1], np.float64)
    totals = np.zeros(len(symbols), np.float64)
    for at in range(len(symbols)):
        if symbols[at] < 0:
            continue
        start, end = starts[symbols[at]], starts[symbols[at] + 1]
        least, spare = _cut(mentions.values[start:end], most)
        total = 0.0
        to = offsets[at]
        for source in range(start, end):
            value = mentions.values[source]
            total += np.float64(value)
            if value > least or (value == least and spare > 0):
                spare -= value == least
                found[to], priors[to] = mentions.topics[source], value
                to += 1
        for to in range(offsets[at], offsets[at + 1]):
            priors[to] /= max(total, 1e-300)
        totals[at] = total
    return Rows(offsets, found, priors), totals


@inner
def _cut(values: NDArray[np.float32], most: Whole) -> tuple[float, Whole]:
    """The smallest value that is among the `most` largest, and how many entries that equal it are."""
    if len(values) <= most:
        return -1.0, np.int64(0)
    largest = np.empty(most, np.float64)  # sorted by hand, because a sort takes long to compile
    size = np.int64(0)
    for value in values:
        if size == most and value <= largest[0]:
            continue
        at = np.int64(0)
        if size < most:
            at = size
            size += 1
            while at > 0 and largest[at - 1] > value:
                largest[at] = largest[at - 1]
                at -= 1
        else:
            while at + 1 < size and largest[at + 1] < value:
                largest[at] = largest[at + 1]
                at += 1
        largest[at] = value
    least, spare = largest[0], np.int64(0)
    for value in largest:
        spare += value == least
    return least, spare


@njit
def numbered(found: Rows, totals: NDArray[np.float64]) -> Candidates:
    """Number the topics of all rows."""
    order = order_of(found.topics)
    topics, numbers = np.empty(len(order), np.uint32), np.empty(len(order), np.int32)
    count = np.int64(0)
    for at in order:
        if count == 0 or topics[count - 1] != found.topics[at]:
            topics[count] = found.topics[at]
            count += 1
        numbers[at] = count - 1
    return Candidates(
        topics=topics[:count].copy(), offsets=found.offsets, numbers=numbers, priors=found.priors, totals=totals
    )


@inner
def order_of(topics: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the order of topics or words by number: a radix sort, which compiles fast."""
    order, other = np.empty(len(topics), np.int32), np.empty(len(topics), np.int32)
    largest, shift = np.int64(0), np.int64(0)
    for place in range(len(topics)):
        order[place] = place
        largest = max(largest, np.int64(topics[place]))
    ends = np.empty(_DIGITS + 2, np.int64)
    while (largest >> shift) > 0:
        for digit in range(len(ends)):
            ends[digit] = 0
        for at in order:
            ends[((np.int64(topics[at]) >> shift) & _DIGITS) + 1] += 1
        for digit in range(_DIGITS):
            ends[digit + 1] += ends[digit]
        for at in order:
            digits = (np.int64(topics[at]) >> shift) & _DIGITS
            other[ends[digits]] = at
            ends[digits] += 1
        order, other = other, order
        shift += _BITS
    return order
