"""What the mentions of a document may mean: the topics of their rows, and P(k|v)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.lda.packet import number_of
from wikilda.model.model import Parameters

_CLEAR = 0.5  # prior from which on a string clearly means something
_MOST_NEW = 12  # topics of a document that its other strings may mean, too


class Candidates(NamedTuple):
    """By mention symbol: numbers in `topics` (sorted, each once), P(k|v) of each, and the sum of the symbol's λ̂."""

    topics: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    numbers: NDArray[np.int32]
    priors: NDArray[np.float64]
    totals: NDArray[np.float64]


def candidates_of(symbols: NDArray[np.int64], mentions: Parameters, most: int) -> Candidates:
    """The candidates of distinct mention symbols; none for a symbol that is unknown (−1)."""
    offsets, topics, priors, totals = _gather(symbols, mentions.offsets, mentions.topics, mentions.values, most)
    distinct = np.unique(topics)
    return Candidates(distinct, offsets, _numbers(distinct, topics), priors, totals)


@njit
def leave_out(
    found: Candidates, rows: NDArray[np.int64], own: NDArray[np.int64], topics: NDArray[np.uint32],
    counts: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """P(k|v) without what a document itself has added to λ̂: `counts` of `topics`, of mention i from own[i] on.

    `rows` has the symbol of each mention, as a row of `found`, or −1.
    """
    values, totals = found.priors.copy(), found.totals.copy()
    for row in range(len(totals)):
        values[found.offsets[row] : found.offsets[row + 1]] *= totals[row]
    for mention in range(len(rows)):
        row = rows[mention]
        for entry in range(own[mention], own[mention + 1]) if row >= 0 else range(0):
            for at in range(found.offsets[row], found.offsets[row + 1]):
                if found.topics[found.numbers[at]] == topics[entry]:
                    values[at] = max(values[at] - counts[entry], 0.0)
                    totals[row] -= counts[entry]
    for row in range(len(totals)):
        values[found.offsets[row] : found.offsets[row + 1]] /= max(totals[row], 1e-300)
    return values


class Extra(NamedTuple):
    """More candidates of each row, sorted: topics from offsets[row] on, and P(k|v)."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    priors: NDArray[np.float64]


def with_extra(found: Candidates, extra: Extra, share: float) -> Candidates:
    """Candidates with others that are none yet; where there are some, the others have a share of P(k|v)."""
    offsets, topics, priors = _merged(found.offsets, found.topics[found.numbers], found.priors, extra, share)
    distinct = np.unique(topics)
    return found._replace(topics=distinct, offsets=offsets, numbers=_numbers(distinct, topics), priors=priors)


@njit
def _merged(
    offsets: NDArray[np.int64], topics: NDArray[np.uint32], priors: NDArray[np.float64], extra: Extra, share: Real
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64]]:
    """Two sorted lists a row, as one."""
    most = len(topics) + len(extra.topics)
    found, shares, ends = np.empty(most, np.uint32), np.empty(most, np.float64), np.zeros(len(offsets), np.int64)
    size = np.int64(0)
    for row in range(len(offsets) - 1):
        i, i_end, j, j_end = offsets[row], offsets[row + 1], extra.offsets[row], extra.offsets[row + 1]
        part = share if i < i_end else 1.0
        rest = 1.0 - part if j < j_end and i < i_end else 1.0
        while i < i_end or j < j_end:
            old = i < i_end and (j >= j_end or topics[i] <= extra.topics[j])
            new = j < j_end and (i >= i_end or extra.topics[j] <= topics[i])
            found[size] = topics[i] if old else extra.topics[j]
            shares[size] = (rest * priors[i] if old else 0.0) + (part * extra.priors[j] if new else 0.0)
            size += 1
            i += old
            j += new
        ends[row + 1] = size
    return ends, found[:size].copy(), shares[:size].copy()


@njit
def with_new_senses(found: Candidates, rows: NDArray[np.int64], prior: Real) -> Candidates:
    """Strings may also mean what others of the document clearly mean, with a small prior; `rows` are the mentions'."""
    times = np.zeros(len(found.topics), np.int64)
    best = np.full(len(found.offsets) - 1, np.int32(-1))
    for row in range(len(best)):
        for at in range(found.offsets[row], found.offsets[row + 1]):
            if found.priors[at] > _CLEAR:
                best[row] = found.numbers[at]
    for row in rows:
        if best[row] >= 0:
            times[best[row]] += 1
    pool = np.argsort(-times, kind="mergesort")[:_MOST_NEW]
    offsets = np.zeros(len(found.offsets), np.int64)
    numbers = np.empty(len(found.numbers) + len(pool) * len(best), np.int32)
    priors, to = np.empty(len(numbers), np.float64), np.int64(0)
    for row in range(len(best)):
        for at in range(found.offsets[row], found.offsets[row + 1]):
            numbers[to], priors[to] = found.numbers[at], found.priors[at]
            to += 1
        for number in pool:
            known = times[number] == 0
            for at in range(found.offsets[row], found.offsets[row + 1]):
                known |= found.numbers[at] == number
            if not known:
                numbers[to], priors[to] = number, prior
                to += 1
        offsets[row + 1] = to
    return Candidates(found.topics, offsets, numbers[:to].copy(), priors[:to].copy(), found.totals)


@njit
def _gather(
    symbols: NDArray[np.int64],
    starts: NDArray[np.int64],
    topics: NDArray[np.uint32],
    values: NDArray[np.float32],
    most: Whole,
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]:
    """The `most` topics with the largest λ̂ of each symbol, in the order of the row; shares are those of all of it."""
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
        least, spare = _cut(values[start:end], most)
        total = 0.0
        to = offsets[at]
        for source in range(start, end):
            value = values[source]
            total += np.float64(value)
            if value > least or (value == least and spare > 0):
                spare -= value == least
                found[to], priors[to] = topics[source], value
                to += 1
        for to in range(offsets[at], offsets[at + 1]):
            priors[to] /= max(total, 1e-300)
        totals[at] = total
    return offsets, found, priors, totals


@inner
def _cut(values: NDArray[np.float32], most: Whole) -> tuple[float, Whole]:
    """The smallest value that is among the `most` largest, and how many entries that equal it are."""
    if len(values) <= most:
        return -1.0, np.int64(0)
    largest = np.empty(most, np.float64)  # in order; by hand, for a sort is long to compile
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
def _numbers(distinct: NDArray[np.uint32], topics: NDArray[np.uint32]) -> NDArray[np.int32]:
    numbers = np.empty(len(topics), np.int32)
    for at in range(len(topics)):
        numbers[at] = number_of(distinct, topics[at])
    return numbers
