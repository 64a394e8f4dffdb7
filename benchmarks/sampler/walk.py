"""The plain exact sampler that ours is compared with: walk the symbol's row against a dense N[K]."""

import numpy as np
from numba import njit

from wikilda._core.random import uniform


@njit(cache=True, nogil=True)
def walk(
    starts, lengths, kinds, word_topics, word_weights, mention_topics, mention_weights, alpha, sweeps, stream, counts
):
    """Sample one document, given as the rows of its tokens; `counts` is N[K], all 0 before and after."""
    assigned = np.full(len(starts), -1, np.int64)
    for _ in range(sweeps):
        for token in range(len(starts)):
            topics = mention_topics if kinds[token] else word_topics
            weights = mention_weights if kinds[token] else word_weights
            first, last = starts[token], starts[token] + lengths[token]
            if assigned[token] >= 0:
                counts[assigned[token]] -= 1
            mass = 0.0
            for at in range(first, last):
                mass += (alpha + counts[topics[at]]) * weights[at]
            x, at = uniform(stream) * mass, first
            while at < last - 1:
                x -= (alpha + counts[topics[at]]) * weights[at]
                if x < 0.0:
                    break
                at += 1
            assigned[token] = topics[at]
            counts[topics[at]] += 1
    for token in range(len(starts)):
        counts[assigned[token]] = 0
