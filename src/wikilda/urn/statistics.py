"""Statistics of a document in training, in parts of UNIT, and the evidence of texts for NIL.

With N_v the expected number of texts in which string v is NIL, n_v the number that has it, and q = Σ N_v / Σ n_v, the
log odds of NIL gain

    log((N_v + a · q) / (n_v − N_v + a · (1 − q))) − log(q / (1 − q))

A text counts once, however often it has the string, by the mean of its posteriors.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import find, offsets_of
from wikilda._core.jit import Real, Whole, bare, njit
from wikilda.knowledge.context_counts import UNIT
from wikilda.model.model import NilCounts

if TYPE_CHECKING:
    from wikilda.urn.urn import Drawn

_LEAST_SHARE = 0.01  # of the posterior
_LEAST_BASE = 0.001
_TEXTS = 10.0  # a: prior number of texts of a string, with the usual share of NIL
_MOST = 3.0  # largest change of the log odds of NIL
_NO_COUNTS = NilCounts(np.empty(0, np.int64), np.empty(0, np.float32), np.empty(0, np.float32))


class Taught(NamedTuple):
    """Statistics of the mentions of a document: topics of mention i from offsets[i] on, in parts of UNIT."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    shares: NDArray[np.uint32]  # of the posterior
    base: NDArray[np.uint32]  # of the base measure
    prior: NDArray[np.uint32]  # P(k|v)
    nil: NDArray[np.uint32]  # by mention: the posterior of NIL

    @property
    def mentions(self) -> NDArray[np.int64]:
        """The mention of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def taught_by(drawn: "Drawn") -> Taught:
    """Return the statistics of a document. Mentions that are NIL do not count."""
    known = drawn.posterior * np.repeat(1.0 - drawn.nil, np.diff(drawn.offsets))
    shares = np.where(known >= _LEAST_SHARE, np.rint(known * UNIT), 0).astype(np.uint32)
    base = np.where(drawn.from_base >= _LEAST_BASE, np.rint(drawn.from_base * UNIT), 0).astype(np.uint32)
    expected = drawn.priors() * np.repeat(1.0 - drawn.nil, np.diff(drawn.offsets))
    prior = np.where(expected >= _LEAST_SHARE, np.rint(expected * UNIT), 0).astype(np.uint32)
    kept = (shares > 0) | (base > 0) | (prior > 0)
    before = offsets_of(kept.astype(np.int64))
    nil = np.rint(drawn.nil * UNIT).astype(np.uint32)
    return Taught(
        offsets=before[drawn.offsets],
        topics=drawn.topics[kept],
        shares=shares[kept],
        base=base[kept],
        prior=prior[kept],
        nil=nil,
    )


def only(taught: Taught, counted: NDArray[np.bool_]) -> Taught:
    """Return the statistics of some mentions."""
    if counted.all():
        return taught
    kept = np.repeat(counted, np.diff(taught.offsets))
    lengths = np.where(counted, np.diff(taught.offsets), 0)
    topics, shares, base, prior = (column[kept] for column in taught[1:5])
    return Taught(offsets=offsets_of(lengths), topics=topics, shares=shares, base=base, prior=prior, nil=taught.nil)


def nil_counts(symbols: NDArray[np.int64], nil: NDArray[np.uint32]) -> NilCounts:
    """Return the mean posterior of NIL of each string of a text, in parts of UNIT."""
    distinct, places = np.unique(symbols, return_inverse=True)
    parts = np.bincount(places.ravel(), nil) // np.maximum(np.bincount(places.ravel()), 1)
    return NilCounts(distinct, (parts / UNIT).astype(np.float32), np.ones(len(distinct), np.float32))


def nil_evidence(
    symbols: NDArray[np.int64], known: NilCounts, share: float, own: NilCounts | None
) -> NDArray[np.float64]:
    """Return the change of the log odds of NIL by other texts than `own`; `share` is q."""
    return _nil_evidence(symbols, known, share, own or _NO_COUNTS)


@njit
def _nil_evidence(symbols: NDArray[np.int64], known: NilCounts, share: Real, own: NilCounts) -> NDArray[np.float64]:
    gained = np.empty(len(symbols), np.float64)
    usual = np.log(share / (1.0 - share))
    for at in range(len(symbols)):
        nil, texts = _counts(known, symbols[at])
        own_nil, once = _counts(own, symbols[at])
        nil, texts = max(nil - own_nil, 0.0), max(texts - once, 0.0)
        odds = np.log((nil + _TEXTS * share) / (max(texts - nil, 0.0) + _TEXTS * (1.0 - share)))
        gained[at] = min(max(odds - usual, -_MOST), _MOST)
    return gained


@bare
def _counts(counts: NilCounts, symbol: Whole) -> tuple[Real, Real]:
    at = find(counts.symbols, 0, len(counts.symbols), symbol)
    return (np.float64(counts.nil[at]), np.float64(counts.texts[at])) if at >= 0 else (0.0, 0.0)
