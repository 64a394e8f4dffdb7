"""Stochastic variational inference within a shard: the inner loop of Algorithm 2, lines 6–11.

A shard has its own copy of the parameters of its symbols, which changes after every minibatch of documents:

    λ̂_kv ← (1 − ρ) λ̂_kv + ρ · (documents / minibatch) · Σ_d λ̂^d_kv                  line 10, Eq. 3

*All* parameters shrink at no cost: they are stored as multiples of one scale. Weights κ_kv/κ'_k cannot be
computed beforehand, so they are made for the rows of a minibatch when it begins, with an exp(Ψ(x)) that needs one
exponential at most. κ'_k is computed again for topics that have gained, and for the rest when they have shrunk by half
a percent since it was. New pairs of symbol and topic, which are rare, are kept beside the table.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import find
from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.lda.counts import Counts
from wikilda.lda.expected_phi import TINY, Rows, digamma, row_weights
from wikilda.model.model import Parameters

_SMALLEST_SCALE = 1e-4
_FAINT = 1e-25  # a row whose weights are all below this is weighed in logarithms
_TINY_NORM = -50.0  # log κ'_min below which 1/κ' is out of range for single-precision factors
_DRIFT = 5e-3  # largest relative error of κ'


class Table(NamedTuple):
    """A shard's rows of one kind of symbol: λ̂ = scale · values."""

    symbols: NDArray[np.int64]  # sorted
    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    values: NDArray[np.float32]


class Beside(NamedTuple):
    """Pairs that a table did not have, sorted by row and topic."""

    rows: NDArray[np.int64]
    topics: NDArray[np.uint32]
    values: NDArray[np.float32]


class Prior(NamedTuple):
    """Priors of one kind of symbol: β, Vβ, and log κ'_min of the model."""

    beta: float
    mass: float
    least: float


class Weighed(NamedTuple):
    """The rows of a minibatch: what the sampler takes, and λ̂ (up to a factor), from which P(k|v) comes."""

    rows: Rows
    parameters: Parameters


class Step(NamedTuple):
    """The step of a minibatch: ρ, and the weight of one counted sweep."""

    rho: float
    worth: float


class Copy:
    """A shard's copy of the parameters of one kind of symbol."""

    def __init__(
        self,
        table: Table,
        sums: NDArray[np.float64],
        prior: Prior,
        popularity: NDArray[np.float32],
        *,
        shrink_sums: bool = True,
        factors: NDArray[np.float32] | None = None,
    ) -> None:
        self.table, self.prior = table, prior
        self.sums = np.array(sums, np.float64)
        self.asymmetric = len(popularity) > 0
        self.shrink_sums = shrink_sums
        self.scale = self._norm_scale = 1.0
        # By topic: 1/κ'_k and α_k/α, side by side since they are used together.
        self.topics = np.empty((len(sums), 2 if self.asymmetric else 1), np.float32)
        if self.asymmetric:
            self.topics[:, 1] = popularity
        if factors is not None and prior.least > _TINY_NORM:
            np.multiply(factors, np.float32(np.exp(-prior.least)), out=self.topics[:, 0])  # κ'_min/κ'_k is known
        else:
            _norms(self.topics, self.sums, 1.0, prior.mass)
        self.beside = Beside(np.empty(0, np.int64), np.empty(0, np.uint32), np.empty(0, np.float32))
        self._found: list[NDArray[np.int64]] = []
        self._new: list[NDArray[np.int64]] = []
        self._seen: list[tuple[NDArray[np.uint32], NDArray[np.int64]]] = []

    @property
    def _sum_scale(self) -> float:
        return self.scale if self.shrink_sums else 1.0

    def weigh(self, rows: NDArray[np.int64]) -> Weighed:
        """Return the weights of some rows for the present λ̂. They do not change with λ̂."""
        if self._sum_scale < self._norm_scale * (1.0 - _DRIFT):
            self._norm_scale = self._sum_scale
            _norms(self.topics, self.sums, self._sum_scale, self.prior.mass)
        offsets, topics, values = _gather(self.table, self.beside, rows)
        made = _weigh(offsets, topics, values, self.scale, self.sums, self._sum_scale, self.prior, self.topics)
        return Weighed(Rows(offsets, topics, *made), Parameters(offsets, topics, values))

    def begin(self, step: Step) -> None:
        """Shrink all parameters by 1 − ρ, before the counts of a minibatch are added."""
        self.scale *= 1.0 - step.rho
        if self.scale < _SMALLEST_SCALE:
            self.table.values[:] *= np.float32(self.scale)
            self.beside.values[:] *= np.float32(self.scale)
            if self.shrink_sums:
                self.sums *= self.scale
                self._norm_scale /= self.scale
            self.scale = 1.0

    def add(self, counts: Counts, first: int, rows: NDArray[np.int64], step: Step) -> None:
        """Add the counts of a document: those from symbol `first` on are of the given rows."""
        gain = step.worth / self.scale
        found, new = _add(
            counts, first, rows, self.table, gain, self.sums, self.shrink_sums, self.scale, self.prior.mass, self.topics
        )
        self._found.append(found)
        if len(new):
            self._new.append(new)
            self._found.append(new)
        if not self.shrink_sums:
            span = slice(counts.offsets[first], counts.offsets[first + len(rows)])
            self._seen.append((counts.topics[span], counts.sweeps[span]))

    def end(self, step: Step) -> None:
        """Finish a minibatch: add new pairs and, if sums do not shrink, the sums of the topics seen."""
        if self._new:
            gain = step.worth / self.scale
            self.beside = _merged(self.beside, np.concatenate(self._new), gain)
            self._new.clear()
        if self._seen:
            topics, where = np.unique(np.concatenate([each for each, _ in self._seen]), return_inverse=True)
            found = np.bincount(where, np.concatenate([each for _, each in self._seen]), minlength=len(topics))
            self.sums[topics] = (1.0 - step.rho) * self.sums[topics] + step.worth * found
            _norms_of(topics, self.topics, self.sums, 1.0, self.prior.mass)
            self._seen.clear()

    def counted(self) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
        """Return all counts so far: symbols, topics and sweeps, sorted, each pair once."""
        every = np.concatenate([np.empty((0, 2), np.int64), *self._found])
        pairs, where = np.unique(every[:, 0], return_inverse=True)
        sweeps = np.zeros(len(pairs), np.int64)
        np.add.at(sweeps, where, every[:, 1])
        return self.table.symbols[pairs >> 32], (pairs & 0xFFFFFFFF).astype(np.uint32), sweeps


def _merged(beside: Beside, new: NDArray[np.int64], gain: float) -> Beside:
    """Old and new pairs, each once."""
    pairs, where = np.unique(np.concatenate((beside.rows << 32 | beside.topics, new[:, 0])), return_inverse=True)
    values = np.bincount(where, np.concatenate((beside.values.astype(np.float64), gain * new[:, 1])))
    return Beside(pairs >> 32, (pairs & 0xFFFFFFFF).astype(np.uint32), values.astype(np.float32))


@inner
def exp_digamma(x: Real) -> Real:
    """exp(Ψ(x)) for x > 0, right to about 2e-7: a series for large x, carried over to small ones."""
    factor = 1.0
    if x < 4.0:
        # Ψ(x) = Ψ(x+4) − Σ 1/(x+i), and with p = x(x+3) the sum of the four is one fraction.
        p = x * (x + 3.0)
        factor = np.exp(-(2.0 * x + 3.0) * (2.0 * p + 2.0) / (p * (p + 2.0)))
        x += 4.0
    z = x - 0.5
    r = 1.0 / z
    y = r * r
    return factor * (z + r * (1 / 24 - y * (37 / 5760 - y * (10313 / 2903040 - y * (5509121 / 1393459200)))))


@njit
def _norms(state: NDArray[np.float32], sums: NDArray[np.float64], scale: Real, mass: Real) -> None:
    """Compute 1/κ'_k of all topics."""
    for topic in range(len(sums)):
        state[topic, 0] = _inverse(mass + scale * sums[topic])


@njit
def _norms_of(
    topics: NDArray[np.uint32], state: NDArray[np.float32], sums: NDArray[np.float64], scale: Real, mass: Real
) -> None:
    """The same for some topics."""
    for at in range(len(topics)):
        state[topics[at], 0] = _inverse(mass + scale * sums[topics[at]])


@inner
def _inverse(x: Real) -> Real:
    """1/exp(Ψ(x)), or 0 where that is too large: rows with such topics are weighed in logarithms."""
    value = exp_digamma(x)
    return np.float32(1.0 / value) if value > _FAINT else np.float32(0)


@njit
def _gather(
    table: Table, beside: Beside, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32]]:
    """Rows one after the other, with the pairs beside the table in their places."""
    starts = np.searchsorted(beside.rows, rows)
    offsets = np.zeros(len(rows) + 1, np.int64)
    for at in range(len(rows)):
        end = starts[at]
        while end < len(beside.rows) and beside.rows[end] == rows[at]:
            end += 1
        length = table.offsets[rows[at] + 1] - table.offsets[rows[at]]
        offsets[at + 1] = offsets[at] + length + end - starts[at]
    topics, values = np.empty(offsets[-1], np.uint32), np.empty(offsets[-1], np.float32)
    for at in range(len(rows)):
        source, extra = table.offsets[rows[at]], starts[at]
        last = table.offsets[rows[at] + 1]
        if offsets[at + 1] - offsets[at] == last - source:
            for to in range(offsets[at], offsets[at + 1]):
                topics[to], values[to] = table.topics[source], table.values[source]
                source += 1
            continue
        for to in range(offsets[at], offsets[at + 1]):
            more = extra < len(beside.rows) and beside.rows[extra] == rows[at]
            if more and (source == last or beside.topics[extra] < table.topics[source]):
                topics[to], values[to] = beside.topics[extra], beside.values[extra]
                extra += 1
            else:
                topics[to], values[to] = table.topics[source], table.values[source]
                source += 1
    return offsets, topics, values


@njit
def _weigh(
    offsets: NDArray[np.int64],
    topics: NDArray[np.uint32],
    values: NDArray[np.float32],
    scale: Real,
    sums: NDArray[np.float64],
    sum_scale: Real,
    prior: Prior,
    state: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Weights, priors and smoothing of rows."""
    weights, smoothing = np.empty(len(topics), np.float32), np.empty(len(offsets) - 1, np.float32)
    asymmetric = state.shape[1] == 2
    priors = np.empty(len(topics), np.float32) if asymmetric else weights
    beta, bare = prior.beta, np.float32(exp_digamma(prior.beta))
    bare_smooth = bare * np.exp(-prior.least) if bare > 0.0 else 0.0
    for row in range(len(smoothing)):
        start, end = offsets[row], offsets[row + 1]
        top, least = np.float32(bare_smooth), np.float32(1)
        for at in range(start, end):  # apart from the following loop, which waits for memory
            weights[at] = exp_digamma(beta + scale * np.float64(values[at]))
        for at in range(start, end):
            norm = state[topics[at], 0]
            least = min(least, norm)
            top = max(top, weights[at] * norm)
            weights[at] = (weights[at] - bare) * norm
        if top > np.float32(_FAINT) and least > np.float32(0):
            by = np.float32(1) / top
            for at in range(start, end):
                weight = weights[at] * by
                weights[at] = weight if weight >= np.float32(TINY) else np.float32(0)
            smooth = bare_smooth / np.float64(top)
            smoothing[row] = smooth if smooth >= TINY else 0.0
        else:
            smoothing[row] = _weigh_faint(start, end, topics, values, scale, sums, sum_scale, prior, weights)
        if asymmetric:
            for at in range(start, end):
                priors[at] = weights[at] * state[topics[at], 1]
    return weights, priors, smoothing


@inner
def _weigh_faint(
    start: Whole,
    end: Whole,
    topics: NDArray[np.uint32],
    values: NDArray[np.float32],
    scale: Real,
    sums: NDArray[np.float64],
    sum_scale: Real,
    prior: Prior,
    weights: NDArray[np.float32],
) -> Real:
    """A row whose exp(Ψ(·)) underflows; returns its smoothing."""
    norms, numbers = np.empty(end - start, np.float64), np.arange(end - start).astype(np.uint32)
    lambdas = np.empty(end - start, np.float32)
    for at in range(end - start):
        norms[at] = digamma(prior.mass + sum_scale * sums[topics[start + at]])
        lambdas[at] = scale * np.float64(values[start + at])
    bounds = np.array([0, end - start], np.int64)
    made, smooth = row_weights(Parameters(bounds, numbers, lambdas), norms, prior.least, prior.beta)
    for at in range(end - start):
        weights[start + at] = made[at]
    return smooth[0]


@njit
def _add(
    counts: Counts, first: Whole, rows: NDArray[np.int64], table: Table, gain: Real, sums: NDArray[np.float64],
    sums_too: bool, scale: Real, mass: Real, state: NDArray[np.float32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """Add counts to values and sums, and renew κ'.

    Returns (row and topic in one number, sweeps) of pairs that the table has, and of those that it does not have.
    """
    size = counts.offsets[first + len(rows)] - counts.offsets[first]
    found, new = np.empty((size, 2), np.int64), np.empty((size, 2), np.int64)
    here, beside = np.int64(0), np.int64(0)
    for number in range(len(rows)):
        row = rows[number]
        for at in range(counts.offsets[first + number], counts.offsets[first + number + 1]):
            topic, sweeps = np.int64(counts.topics[at]), counts.sweeps[at]
            if sums_too:
                sums[topic] += gain * sweeps
                state[topic, 0] = _inverse(mass + scale * sums[topic])
            place = find(table.topics, table.offsets[row], table.offsets[row + 1], topic)
            if place < 0:
                new[beside, 0], new[beside, 1] = row << 32 | topic, sweeps
                beside += 1
            else:
                table.values[place] += np.float32(gain * sweeps)
                found[here, 0], found[here, 1] = row << 32 | topic, sweeps
                here += 1
    return found[:here].copy(), new[:beside].copy()
