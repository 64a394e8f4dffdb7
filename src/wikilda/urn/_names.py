"""The distinct names of a document: how the knowledge numbers them, candidates by their words, and the odds of NIL."""

import math
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import lookup, offsets_of
from wikilda._core.jit import Real, Whole, inner, njit
from wikilda.knowledge import Knowledge
from wikilda.knowledge.name_index import name_index
from wikilda.knowledge.types import TYPES, Types
from wikilda.model.model import Parameters
from wikilda.text.characters import characters
from wikilda.text.folding import folds
from wikilda.text.tokens import Strings, as_bytes, word_hash
from wikilda.urn._backoff import Titles, back_off, variant_of
from wikilda.urn._candidates import Candidates, Extra
from wikilda.urn._coreference import Name, Parents, parents_of
from wikilda.urn._title_match import NOTED, PART, SAME, UNLIKE

Numbers = NDArray[np.int64]
Row = tuple[NDArray[np.uint32], NDArray[np.float64]]

# Log odds of NIL against a candidate, by what its title is to the string and by its type: a logistic regression on
# AIDA's train and `aida-kb` without a tenth of the gold topics, another tenth than the one that NIL is measured with.
_NIL_EXACT, _NIL_PART, _NIL_UNLIKE = -0.9, 0.8, 0.5
_NIL_FULL = -4.0  # in place of the first for a title of several words: chosen, on the same data
_NIL_TYPES = {"person": -1.7, "organisation": -0.75}
NEVER_LINKED = 4000.0  # the chance of a new meaning, to what is typical, of a string that the wiki never linked
_SAMPLED = 1 << 20  # strings by which the typical chance of a new meaning is judged
_SAMPLED_LINKS = 1024  # links by which it is judged how often articles have a word for each link
_REMEMBERED = 1 << 16  # strings of which that is remembered
_MOST_EXCESS = 1.2  # as a logarithm: counts that come from several sources have ratios that say nothing
_INHERITED = 4  # candidates that a name has from each of its parents
_NO_ROW: Row = (np.empty(0, np.uint32), np.empty(0, np.float64))


class Related(NamedTuple):
    """The parents of mentions, and by distinct string those of its mentions."""

    parents: Parents
    strings: dict[int, set[int]]


class NameCandidates:
    """What names may mean that the wiki never linked with what they mean."""

    def __init__(self, knowledge: Knowledge, mentions: Parameters, most: int) -> None:
        self.index = name_index(knowledge) if most > 0 else None
        self._titles = Titles(knowledge.titles.data, knowledge.titles.offsets)
        self._mentions, self._most = mentions, most

    def resolve(self, mentions: Numbers, strings: list[str]) -> Numbers:
        """The numbers of mentions; a string that is none is that of a variant, or has a number below −1 of its own."""
        resolved = mentions.copy()
        unknown: dict[str, int] = {}
        for at in np.flatnonzero(mentions < 0).tolist():
            string = strings[at].casefold()
            if string not in unknown:
                unknown[string] = self._variant(strings[at]) if self.index else -1
                if unknown[string] < 0:
                    unknown[string] = -2 - len(unknown)
            resolved[at] = unknown[string]
        return resolved

    def _variant(self, string: str) -> int:
        assert self.index is not None
        return int(variant_of(as_bytes(string), self.index.variants, characters(), folds()))

    def by_words(self, strings: Strings, known: NDArray[np.bool_]) -> Extra:
        """Candidates of strings by the words of titles."""
        if self.index is None:
            return Extra(np.zeros(len(known) + 1, np.int64), *_NO_ROW)
        return back_off(strings, known, self._most, self.index, self._titles, self._mentions, characters(), folds())


def related_names(strings: list[str], data: Strings, rows: Numbers, places: Numbers) -> Related:
    """Which names of a document are short for others; `strings` are distinct, `rows` has that of each mention."""
    names = Name.all_of(strings, data) if len(strings) > 1 else []  # one name is short for no other
    parents = parents_of(names, rows.tolist(), places.tolist())
    of_strings: dict[int, set[int]] = {}
    if not len(parents.tokens):
        return Related(parents, of_strings)
    children = np.repeat(rows, np.diff(parents.offsets))
    for child, parent in zip(children.tolist(), rows[parents.tokens].tolist(), strict=True):
        of_strings.setdefault(child, set()).add(parent)
    return Related(parents, of_strings)


def more_candidates(found: Candidates, by_words: Extra, parents: dict[int, set[int]]) -> Extra:
    """The candidates of strings by the words of titles, and those of their parents."""
    if not parents:
        return by_words
    rows = [_own(by_words, at) for at in range(len(by_words.offsets) - 1)]
    for at, others in parents.items():
        rows[at] = _sum_up([_own(by_words, at), *(_row(found, by_words, each) for each in sorted(others))])
    topics, priors = (np.concatenate(column) for column in zip(*rows, strict=True))
    return Extra(offsets_of([len(row[0]) for row in rows]), topics, priors)


def _own(by_words: Extra, at: int) -> Row:
    span = slice(by_words.offsets[at], by_words.offsets[at + 1])
    return by_words.topics[span], by_words.priors[span]


def _row(found: Candidates, by_words: Extra, at: int) -> Row:
    """The best candidates of a string."""
    span = slice(found.offsets[at], found.offsets[at + 1])
    topics, priors = found.topics[found.numbers[span]], found.priors[span]
    if not len(topics):
        topics, priors = _own(by_words, at)
    best = np.argsort(-priors, kind="stable")[:_INHERITED]
    return topics[best], priors[best]


def _sum_up(rows: list[Row]) -> Row:
    """Several rows as one: sorted, each topic once, with its largest prior."""
    if len(rows) == 1:
        return rows[0]
    topics, priors = (np.concatenate(column) for column in zip(*rows, strict=True))
    distinct, places = np.unique(topics, return_inverse=True)
    largest = np.zeros(len(distinct), np.float64)
    np.maximum.at(largest, places, priors)
    return distinct, largest


class UnlinkedWords:
    """How much more often than a typical string one of one word is in articles, for a link of it."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._log_ratio = lru_cache(_REMEMBERED)(self._compute)

    def excess(self, symbols: Numbers) -> NDArray[np.float64]:
        """By distinct string, as a logarithm; 0 for a string that is not one word, or that the wiki never linked."""
        found = [self._log_ratio(symbol) for symbol in symbols.tolist()]
        excess = np.array([each - self._typical if each is not None else 0.0 for each in found], np.float64)
        return np.clip(excess, -_MOST_EXCESS, _MOST_EXCESS)

    @cached_property
    def _typical(self) -> float:
        """The mean over the links of the wiki, or of an even sample of them."""
        ends = np.cumsum(self._knowledge.linked, dtype=np.int64)
        if not len(ends) or not ends[-1]:
            return 0.0
        links = (np.arange(_SAMPLED_LINKS) + 0.5) / _SAMPLED_LINKS * ends[-1]
        symbols, times = np.unique(np.searchsorted(ends, links), return_counts=True)
        ratios = [self._compute(symbol) for symbol in symbols.tolist()]
        some = np.array([ratio is not None for ratio in ratios], np.bool_)
        logs = np.array([ratio for ratio in ratios if ratio is not None], np.float64)
        return float(logs @ times[some] / max(times[some].sum(), 1))

    def _compute(self, symbol: int) -> float | None:
        if symbol < 0:
            return None
        known = self._knowledge
        key = word_hash(known.mention_strings[symbol])  # 0 if it is not one word
        word = int(lookup(known.word_table, np.uint64(key))) if key else -1
        return (
            math.log((1 + int(known.word_frequencies[word])) / (1 + int(known.linked[symbol]))) if word >= 0 else None
        )


def nil_titles(kinds: NDArray[np.uint8], several: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What the title of each candidate adds to the log odds of NIL against it, a string of one word or `several`."""
    exact = (kinds & SAME != 0) & (kinds & NOTED == 0)
    found: NDArray[np.float64] = (
        np.where(several, _NIL_FULL, _NIL_EXACT) * exact
        + _NIL_PART * (kinds & PART != 0)
        + _NIL_UNLIKE * (kinds & UNLIKE != 0)
    )
    return found


def nil_types(types: Types, topics: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The same by the types of topics: names of places, works and products are rather given to other things, too."""
    found = np.zeros(len(topics), np.float64)
    for name, share in zip(TYPES, types.shares, strict=False):
        if name in _NIL_TYPES:
            found += _NIL_TYPES[name] / 255 * share[topics]
    return found


@njit
def new_meaning(symbols: Numbers, offsets: Numbers, counts: NDArray[np.uint32]) -> NDArray[np.float64]:
    """The probability that a string's next mention has a meaning that it never had, by Pitman and Yor's process.

    With n links of the string to K topics it is (½ + ½K) / (½ + n): 1 for a string that the wiki never linked.
    """
    found = np.ones(len(symbols), np.float64)
    for at in range(len(symbols)):
        if symbols[at] >= 0:
            found[at] = _chance(symbols[at], offsets, counts)[0]
    return found


@njit
def typical_new_meaning(offsets: Numbers, counts: NDArray[np.uint32]) -> Real:
    """The geometric mean of that probability over the links of a wiki: how much its counts are worth.

    Of many strings, an even sample is taken.
    """
    logs = links = 0.0
    for symbol in range(0, len(offsets) - 1, (len(offsets) - 1) // _SAMPLED + 1):
        chance, total = _chance(symbol, offsets, counts)
        logs += total * np.log(chance)
        links += total
    return np.exp(logs / max(links, 1.0))


@inner
def _chance(symbol: Whole, offsets: Numbers, counts: NDArray[np.uint32]) -> tuple[Real, Real]:
    """The probability of a new meaning, and the links of the string."""
    start, end = offsets[symbol], offsets[symbol + 1]
    total = 0.0
    for place in range(start, end):
        total += np.float64(counts[place])
    return min((0.5 + 0.5 * np.float64(end - start)) / (0.5 + total), 1.0), total
