"""What a document teaches, given how its mentions were drawn: whole numbers, so that sums have no order.

For each mention and each topic that it may mean: its share of the posterior, by which contexts are counted (n_ck), and
the part of the conditional that came from the base measure, by which P(k|v) is re-estimated (n_vk). A topic that other
mentions have put into the urn says nothing of the string: only the base's part does.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.csr import find, offsets_of
from wikilda._core.jit import njit
from wikilda.model.model import Parameters

if TYPE_CHECKING:
    from wikilda.urn.urn import Drawn

UNIT = 1 << 12  # one mention
_LEAST_SHARE = 0.01  # of the posterior
_LEAST_BASE = 0.001
_CLEAR = 0.5  # posterior of a new sense that counts


@njit
def new_senses(
    offsets: NDArray[np.int64], topics: NDArray[np.uint32], symbols: NDArray[np.int64], table: Parameters
) -> NDArray[np.bool_]:
    """Which topics of mentions a table does not have for their strings."""
    new = np.zeros(len(topics), np.bool_)
    for mention in range(len(offsets) - 1):
        start, end = table.offsets[symbols[mention]], table.offsets[symbols[mention] + 1]
        for at in range(offsets[mention], offsets[mention + 1]):
            new[at] = find(table.topics, start, end, topics[at]) < 0
    return new


class Taught(NamedTuple):
    """What the mentions of a document teach: topics of mention i from offsets[i] on, in parts of UNIT."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    shares: NDArray[np.uint32]  # of the posterior
    base: NDArray[np.uint32]  # of the base measure

    @property
    def mentions(self) -> NDArray[np.int64]:
        """The mention of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


def taught_by(drawn: "Drawn", new: NDArray[np.bool_] | None = None) -> Taught:
    """What a document teaches; a mention that is NIL teaches nothing.

    New senses come from other mentions: they count by the posterior, where it is clear.
    """
    known = drawn.posterior * np.repeat(1.0 - drawn.nil, np.diff(drawn.offsets))
    shares = np.where(known >= _LEAST_SHARE, np.rint(known * UNIT), 0).astype(np.uint32)
    from_base = drawn.from_base
    if new is not None:
        from_base = np.where(new, np.where(known >= _CLEAR, known, 0.0), from_base)
    base = np.where(from_base >= _LEAST_BASE, np.rint(from_base * UNIT), 0).astype(np.uint32)
    kept = (shares > 0) | (base > 0)
    before = offsets_of(kept.astype(np.int64))
    return Taught(before[drawn.offsets], drawn.topics[kept], shares[kept], base[kept])
