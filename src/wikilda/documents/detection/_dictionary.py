"""The dictionary detector: strings that the wiki links, where they are likely to be links."""

from functools import cached_property

import numpy as np

from wikilda.documents.detection._spans import (
    ALL_PARTS,
    NO_PARTS,
    PARTS_OF_UNCERTAIN,
    Dictionary,
    Limits,
    Words,
    find_spans,
)
from wikilda.documents.detection.base import Detector, DetectorSettings
from wikilda.documents.detection.framing import CAPITAL_NOUNS, frames, handles, language_of, words_of_handle
from wikilda.knowledge import Knowledge
from wikilda.text.characters import characters
from wikilda.text.offsets import Spans
from wikilda.text.tokens import Tokens, tokens_of

_DEFAULT = DetectorSettings()
_NEVER = float("inf")
# Least odds of being a link, to those of an average string: of a capitalised string; where a capital says little; next
# to another name, of which it may be a part; in lower case, if recall is more than that; in scripts without cases.
_CAPITALISED, _UNCLEAR, _PART, _LOWER, _UNCASED = 0.1, 0.5, 20.0, 500.0, 5.0
# In scripts without cases these odds are enough, however many of its names the wiki links: of the mentions that come in
# down to them, about half are links of the article; below, a third (docs/experiments/languages.md).
_ENOUGH = 0.1
_LOWER_FROM = 0.75
_AT, _HASH = ord("@"), ord("#")
_UNKNOWN = 0.5  # odds that names count with which the dictionary lacks
# Least share of capitals of a word that is a name of its own, within a sentence and at its start: and how much that
# falls from precision to recall.
_NAME, _FIRST = (0.2, 1.6), (0.5, 1.0)
_EVERY = 2.0  # instead of recall
_MOST = 10.0  # occurrences of one string, to those of all others
_DECADES = 4.0  # of odds, from precision to recall


class DictionaryDetector:
    """Finds the mention strings of the knowledge in raw text."""

    def __init__(self, knowledge: Knowledge, settings: DetectorSettings = _DEFAULT) -> None:
        trie = knowledge.mention_trie
        self.knowledge, self.settings = knowledge, settings
        self._known = Dictionary(
            keys=trie.keys,
            values=trie.values,
            linked=knowledge.linked,
            occurrences=knowledge.occurrences,
            lower=knowledge.lower_names,
        )

    @cached_property
    def _words(self) -> Words:
        language = language_of(self.knowledge)
        known = self.knowledge
        return Words(frames(language), known.word_table, known.word_cases, language in CAPITAL_NOUNS)

    @cached_property
    def _limits(self) -> Limits:
        """The limits, computed for the first text: the odds are a sum over all mention strings."""
        return limits_of(self.settings.recall, average_odds(self.knowledge))

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
        spans = find_spans(tokens, characters(), self._known, self._words, self._limits, parts)
        found = [(int(start), int(end)) for start, end in spans[:, 2:].tolist()]
        return self._with_handles(tokens, found) if _has_signs(tokens) else found

    def _with_handles(self, tokens: Tokens, found: Spans) -> Spans:
        """Names after `@`, and those after `#` that the knowledge has."""
        text = tokens.text.tobytes().decode()
        signs = [
            (start, end) for start, end in handles(text)
            if text[start - 1] == "@" or self.knowledge.find_mention(words_of_handle(text[start:end])) >= 0
        ]  # fmt: skip
        kept = [each for each in found if not any(each[0] < end and start < each[1] for start, end in signs)]
        return sorted([*kept, *signs], key=lambda span: (span[0], -span[1]))


class EveryName(DictionaryDetector):
    """Finds every mention string that the wiki has, however rarely it is a link; the caller judges them."""

    @cached_property
    def _limits(self) -> Limits:
        return limits_of(_EVERY, average_odds(self.knowledge))


def _has_signs(tokens: Tokens) -> bool:
    return bool(((tokens.text == _AT) | (tokens.text == _HASH)).any())


class JoinedDetector:
    """Proposes the names of the dictionary and those of another detector. Inference decides which are mentions.

    If the method does not decide, the longest of overlapping names are mentions.
    """

    def __init__(self, dictionary: DictionaryDetector, other: Detector) -> None:
        self.dictionary, self.other = dictionary, other

    def detect(self, text: str) -> Spans:
        """The spans of the mentions in characters, sorted, none overlapping another."""
        return self.detect_tokens(tokens_of(text))

    def detect_tokens(self, tokens: Tokens) -> Spans:
        """The same, for a text that is tokenised."""
        found: Spans = []
        for span in join(self.dictionary.detect_tokens(tokens), self._others(tokens)):
            if not found or span[0] >= found[-1][1]:
                found.append(span)
        return found

    def propose_tokens(self, tokens: Tokens, *, nested: bool) -> Spans:
        """The same with parts of mentions, each after the mention that it is in."""
        return join(self.dictionary.propose_tokens(tokens, nested=nested), self._others(tokens))

    def _others(self, tokens: Tokens) -> Spans:
        return self.other.detect(tokens.text.tobytes().decode())


def join(spans: Spans, others: Spans) -> Spans:
    """Join two sets of spans: names that do not overlap, each followed by its parts, which do not overlap.

    Of spans that cross, the longer stays.
    """
    found: Spans = []
    cluster: Spans = []
    end = 0
    for span in sorted({*spans, *others}):
        if cluster and span[0] >= end:
            found += _arranged(cluster)
            cluster = []
        cluster.append(span)
        end = max(end, span[1]) if len(cluster) > 1 else span[1]
    return found + _arranged(cluster)


def _arranged(cluster: Spans) -> Spans:
    """Names and parts of a run of spans that overlap."""
    names: Spans = []
    parts: Spans = []
    for start, end in sorted(cluster, key=lambda span: (span[0] - span[1], span)):
        over = [each for each in names if each[0] < end and start < each[1]]
        inside = len(over) == 1 and over[0][0] <= start and end <= over[0][1]
        if not over:
            names.append((start, end))
        elif inside and not any(each[0] < end and start < each[1] for each in parts):
            parts.append((start, end))
    return sorted([*names, *parts], key=lambda span: (span[0], -span[1]))


def average_odds(knowledge: Knowledge) -> float:
    """Return the odds that an occurrence of any mention string is a link.

    No string counts more than ten times what all others do together: a page may repeat one link a million times.
    """
    if knowledge.link_odds is not None:
        return knowledge.link_odds
    linked, occurs = float(knowledge.linked.sum(dtype=np.int64)), float(knowledge.occurrences.sum(dtype=np.int64))
    if occurs > 0:
        most = int(np.argmax(knowledge.occurrences))
        own = float(knowledge.occurrences[most])
        excess = max(own - _MOST * (occurs - own), 0.0) / own
        linked, occurs = linked - excess * float(knowledge.linked[most]), occurs - excess * own
    return (linked + 0.5) / (occurs - linked + 0.5)


def limits_of(recall: float, odds: float) -> Limits:
    """Return the limits at a point between precision (0) and recall (1).

    Link probabilities are compared with the average odds of the wiki's strings, so that limits hold for wikis that link
    every name and for those that link it once.
    """
    strictness = 10.0 ** (_DECADES * (0.5 - recall))
    lowest = _LOWER if recall > _LOWER_FROM else _NEVER
    capitalised, unclear, part, lower, uncased = (
        _probability(ratio * strictness)
        for ratio in (*(each * odds for each in (_CAPITALISED, _UNCLEAR, _PART, lowest)), min(_UNCASED * odds, _ENOUGH))
    )
    name, first = (round(255 * min(max(share + slope * (0.5 - recall), 0.0), 1.0)) for share, slope in (_NAME, _FIRST))
    return Limits(
        capitalised=capitalised,
        unclear=unclear,
        part=part,
        lower=lower,
        uncased=uncased,
        unknown=_probability(_UNKNOWN * odds),
        name=name,
        first=first,
    )


def _probability(odds: float) -> float:
    return odds / (1 + odds) if odds < _NEVER else 2.0
