"""The paper's sampler as a method of linking."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import SettingsError
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge import Knowledge
from wikilda.lda.packet import numbers
from wikilda.lda.sampler import Ranking, Sampled, Sampler
from wikilda.lda.settings import LdaSettings
from wikilda.model import Model

_TOPICS = np.int64(1) << 32


@dataclass(frozen=True)
class SampledMentions:
    """The candidates of each mention: those of mention i from offsets[i] on.

    A mention without candidates is NIL.
    """

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    posterior: NDArray[np.float64]
    nil: NDArray[np.float64]
    sampled: Sampled
    _priors: NDArray[np.float64]

    @classmethod
    def of(cls, sampled: Sampled, symbols: NDArray[np.int64]) -> "SampledMentions":
        """Join what was sampled with the candidates of the strings: both have rows by distinct string."""
        packet, counts = sampled.packet, sampled.counts
        first, choices = packet.bag.first_mention, packet.choices
        strings = len(packet.bag.symbols) - first
        start = counts.offsets[first]
        drawn_rows = np.repeat(np.arange(strings), np.diff(counts.offsets[first:]))
        known_rows = np.repeat(np.arange(strings), np.diff(choices.offsets))
        drawn = drawn_rows * _TOPICS + counts.topics[start:].astype(np.int64)
        known = known_rows * _TOPICS + packet.likeness.topics[choices.candidates].astype(np.int64)
        keys, places = np.unique(np.concatenate((drawn, known)), return_inverse=True)
        sweeps, priors = np.zeros(len(keys)), np.zeros(len(keys))
        sweeps[places.ravel()[: len(drawn)]] = counts.sweeps[start:]
        priors[places.ravel()[len(drawn) :]] = choices.priors
        rows = keys // _TOPICS
        totals = np.bincount(rows, sweeps, minlength=strings)
        bounds = np.searchsorted(rows, np.arange(strings + 1))
        known_mentions = symbols >= 0
        mine = sampled.rows - first
        lengths = np.where(known_mentions, np.diff(bounds)[mine], 0) if strings else np.zeros(len(symbols), np.int64)
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        source = np.arange(offsets[-1]) + np.repeat(bounds[mine] - offsets[:-1], lengths)
        posterior = sweeps[source] / np.maximum(totals[rows[source]], 1.0)
        topics = (keys[source] % _TOPICS).astype(np.uint32)
        return cls(offsets, topics, posterior, (~known_mentions).astype(np.float64), sampled, priors[source])

    def priors(self) -> NDArray[np.float64]:
        """P(k|v) of the candidates of mentions."""
        return self._priors


class LdaMethod:
    """Links by the paper's sampler (see `wikilda.linking.methods.Method`)."""

    proposes_parts = False
    needs_contexts = False

    def __init__(self, model: Model, knowledge: Knowledge, settings: LdaSettings) -> None:
        self.settings, self.sampler = settings, Sampler(model, settings, knowledge.graph)

    def infer(self, document: EncodedDocument, entities: Any = None) -> SampledMentions:
        """Sample the mentions and words of a document."""
        if entities:
            raise SettingsError("entities of your own need the method urn. Use --method urn.")
        return SampledMentions.of(self.sampler.sample(document), numbers(document.mentions))

    def topics(
        self, document: EncodedDocument, inferred: SampledMentions, unknown: NDArray[np.bool_], by_words: int = 0
    ) -> Ranking:
        """Return the topics of a document and their shares, largest first: those of its words among them."""
        return inferred.sampled.mixture

    def evidence(self, document: EncodedDocument, inferred: SampledMentions) -> Any:
        """Refuse: the sampler's posterior is a count of draws, which has no terms."""
        raise SettingsError("the method lda cannot explain its answers. Use the method urn.")
