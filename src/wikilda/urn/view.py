"""The tables that inference reads: memory-mapped arrays, or a packet's rows.

A packet has topics, mention strings and words of its own numbers, in the order of the model's: kernels compare numbers
and use them as indices only, so that they give the same bits.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import StringTable
from wikilda.documents.detection.framing import language_of
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import ContextCounts
from wikilda.knowledge.graph import Graph
from wikilda.knowledge.knowledge import WordCases
from wikilda.knowledge.name_index import NameIndex, name_index
from wikilda.knowledge.types import TYPES
from wikilda.model import Model
from wikilda.model.model import NilCounts, Parameters
from wikilda.model.weights import Weights, pooled
from wikilda.text.tokens import Strings
from wikilda.urn._candidates import Rows
from wikilda.urn._names import LinkCounts
from wikilda.urn._word_evidence import WordTable

_NO_SHARES = np.empty(0, np.uint8)


@dataclass(frozen=True)
class View:
    """The tables that inference reads, by mention string, by word, by topic, and by context symbol."""

    weights: Weights
    language: str
    strings: StringTable  # of mentions
    base: Parameters
    links: LinkCounts
    nil: NilCounts | None
    nil_share: float  # over all strings
    words: WordTable
    titles: Strings
    cases: WordCases
    capitals: NDArray[np.uint8]  # by topic: how often it is written with a capital, in 255ths; 0 if not read yet
    popularity: NDArray[np.float32]
    persons: NDArray[np.uint8]
    organisations: NDArray[np.uint8]
    described: NDArray[np.uint32] | None
    graph: Graph  # the links of topics that may be candidates
    degrees: Graph  # by its offsets: the number of links of all topics that occur
    contexts: ContextCounts | None
    counted: float  # all context counts together
    of_links: bool  # whether these are counts of the wiki's links, which training does not change
    names: NameIndex | None
    by_words: Rows | None = None  # candidates of mention strings by words of titles, where there is no index

    @property
    def topics(self) -> int:
        """The number of topics."""
        return len(self.popularity)

    @classmethod
    def of(cls, model: Model, knowledge: Knowledge, *, indexed: bool = True) -> "View":
        """The memory-mapped arrays; without the index of names unless it is `indexed`."""
        types = dict(zip(TYPES, knowledge.types.shares, strict=False))
        words = WordTable(model.words, np.zeros(len(model.words.offsets) - 1, np.float64), model.word_norms)
        learned = model.contexts
        return cls(
            weights=model.weights or pooled(),
            language=language_of(knowledge),
            strings=knowledge.mention_strings,
            base=model.base,
            links=LinkCounts.of(knowledge),
            nil=model.nil,
            nil_share=model.nil.share if model.nil else 0.5,
            words=words,
            titles=Strings(knowledge.titles.data, knowledge.titles.offsets),
            cases=knowledge.word_cases,
            capitals=np.zeros(len(knowledge.titles), np.uint8),
            popularity=model.popularity,
            persons=types.get("person", _NO_SHARES),
            organisations=types.get("organisation", _NO_SHARES),
            described=knowledge.described,
            graph=knowledge.graph,
            degrees=knowledge.graph,
            contexts=learned,
            counted=learned.total if learned else 0.0,
            of_links=knowledge.context_counts is not None,
            names=name_index(knowledge) if indexed else None,
        )
