"""What a document is about, given what its mentions mean: θ of the model, with the mentions held fixed.

The words are sampled as the paper samples them (Eq. 4); a mention is a symbol that has one topic. So a document's
topics never contradict its links.
"""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.random import stream_of
from wikilda.lda.expected_phi import Rows
from wikilda.lda.packet import Packet, form, numbers
from wikilda.lda.sampler import Ranking, Sampled, Sampler
from wikilda.lda.tagme import tagme
from wikilda.model.model import Parameters


def mixture(sampler: Sampler, words: NDArray[np.int64], meant: NDArray[np.uint32], name: str) -> Ranking:
    """The topics of a document and their shares, largest first; `meant` has a topic for each mention that has one."""
    packet = _packet(sampler, numbers(words), meant)
    guess = tagme(packet)
    settings, model = sampler.settings, sampler.model
    counts = sampler.sample_packet(packet, guess, stream_of(settings.seed, model.iteration, name))
    return Sampled(packet, counts, settings.sweeps - settings.burn_in, guess, np.empty(0, np.int64)).mixture


def _packet(sampler: Sampler, words: NDArray[np.int64], meant: NDArray[np.uint32]) -> Packet:
    topics, mention_counts = np.unique(meant, return_counts=True)
    offsets, ones = np.arange(len(topics) + 1), np.ones(len(topics), np.float32)
    rows = Rows(offsets, topics, ones, ones, np.zeros(len(topics), np.float32))
    symbols, word_counts = np.unique(words[words >= 0], return_counts=True)
    return form(
        symbols, word_counts, offsets[:-1], mention_counts,
        sampler.weights.words, rows, Parameters(offsets, topics, ones), sampler.graph,
    )  # fmt: skip
