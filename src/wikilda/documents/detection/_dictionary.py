"""The dictionary detector: strings that the wiki links, where they are likely to be links. It needs nothing else."""

from dataclasses import astuple
from functools import cached_property

import numpy as np

from wikilda.documents.detection._spans import ALL_PARTS, NO_PARTS, PARTS_OF_UNCERTAIN, Dictionary, Limits, find_spans
from wikilda.documents.detection.base import NEVER, DetectorSettings
from wikilda.knowledge import Knowledge
from wikilda.text.characters import characters
from wikilda.text.offsets import Spans
from wikilda.text.tokens import Tokens, tokens_of

_DEFAULT = DetectorSettings()


class DictionaryDetector:
    """Finds the mention strings of the knowledge in raw text."""

    def __init__(self, knowledge: Knowledge, settings: DetectorSettings = _DEFAULT) -> None:
        trie = knowledge.mention_trie
        self.knowledge, self.settings = knowledge, settings
        self._known = Dictionary(trie.keys, trie.values, knowledge.linked, knowledge.occurrences)

    @cached_property
    def _limits(self) -> Limits:
        """Made when the first text is read: the odds are a sum over all mention strings."""
        odds = _average_odds(self.knowledge)
        return Limits(*(_probability(ratio * odds) for ratio in astuple(self.settings)))

    def detect(self, text: str) -> Spans:
        """The spans of the mentions in characters, sorted, none overlapping another."""
        return self.detect_tokens(tokens_of(text))

    def detect_tokens(self, tokens: Tokens) -> Spans:
        """The same, for a text that is tokenised."""
        return self._find(tokens, NO_PARTS)

    def propose_tokens(self, tokens: Tokens, *, nested: bool) -> Spans:
        """The same with the known names inside of names that may be none; with `nested` of all names."""
        return self._find(tokens, ALL_PARTS if nested else PARTS_OF_UNCERTAIN)

    def _find(self, tokens: Tokens, parts: int) -> Spans:
        spans = find_spans(tokens, characters(), self._known, self._limits, parts)
        return [(int(start), int(end)) for start, end in spans[:, 2:].tolist()]


def _average_odds(knowledge: Knowledge) -> float:
    """The odds that an occurrence of any mention string is a link."""
    linked, occurs = int(knowledge.linked.sum(dtype=np.int64)), int(knowledge.occurrences.sum(dtype=np.int64))
    return (linked + 0.5) / (occurs - linked + 0.5)


def _probability(odds: float) -> float:
    return odds / (1 + odds) if odds < NEVER else 2.0
