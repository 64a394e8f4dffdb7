"""Clusters of nodes that the wiki lacks.

Two nodes are compared by their names, the texts that they share, their types and the words around them. The log odds
begin with how often two links of the wiki with the same string mean the same article, for names of one word and of
several. A telling word of one context recurs in the context of the same thing with some probability, and in any other
as often as in the wiki's articles.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from wikilda.knowledge import Knowledge
from wikilda.knowledge.entities import type_of
from wikilda.linking.match import name_words

_RECURS = 0.05  # probability that a telling word is in another context of the same thing, too
_SAME_TEXT = 4.0  # log odds gained by the same name, or a part of it, in one text
_TYPO = 1.5  # lost by one letter that differs
_OTHER_TYPE = 4.0  # lost by types that exclude each other
_INITIALS = 6  # letters, at most
_LETTERS = 8  # of names that may differ by one
_RARE = 0.05  # share of topics that a telling word may be in
_WORD = re.compile(r"[^\W\d_]{3,}")


NameWords = tuple[str, ...]


class Described(NamedTuple):
    """The compared properties of a node."""

    name: str
    type: str
    sources: tuple[str, ...]
    words: tuple[str, ...]


@dataclass
class _Cluster:
    identity: str
    title: str | None
    names: set[NameWords] = field(default_factory=set)  # its full names
    initials: set[str] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    types: set[int] = field(default_factory=set)

    def add(self, given: Described) -> None:
        self.sources.update(given.sources)
        self.words.update(given.words)
        self.types |= {type_of(given.type)} - {-1} if given.type else set()


class Clusters:
    """Identities and the nodes that have them."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._clusters: dict[str, _Cluster] = {}
        self._having: dict[str, dict[str, None]] = defaultdict(dict)  # identities by the words of their names
        self._initials: dict[str, dict[str, None]] = defaultdict(dict)
        self._odds = _same_string(knowledge)

    def add(self, given: Described, identity: str, title: str | None) -> None:
        """Add a node whose identity is known."""
        cluster = self._clusters.setdefault(identity, _Cluster(identity, title))
        cluster.add(given)
        names = [given.name, *([title.partition(" (")[0]] if title else [])]
        for name, words in zip(names, name_words(names), strict=True):
            if any(_is_part(words, each) for each in cluster.names):
                continue  # a short form
            cluster.names.add(words)
            if letters := initials(name):
                cluster.initials.add(letters)
                self._initials[letters][identity] = None
            for word in words:
                self._having[_stem(word)][identity] = None

    def place(self, given: Described, identity: str | None, title: str | None, key: str) -> tuple[str, str | None]:
        """Return the identity of a node and its title: that of its article, of a cluster, or a new one."""
        if identity is None:
            best = self._best(given)
            identity, title = (best.identity, best.title) if best else (self._new(key), None)
        elif identity in self._clusters:
            title = self._clusters[identity].title
        self.add(given, identity, title)
        return identity, title

    def _new(self, key: str) -> str:
        identity = f"new:{blake2b(key.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"
        while identity in self._clusters:
            identity += "*"
        return identity

    def _best(self, given: Described) -> _Cluster | None:
        """The cluster that a node most probably belongs to; None where it more probably belongs to none."""
        [name] = name_words([given.name])
        near = {identity: None for word in name for identity in self._having[_stem(word)]}
        if short := _as_initials(given.name):
            near |= self._initials.get(short, {})
        scored = [(self._score(given, name, self._clusters[each]), each) for each in near]
        score, identity = max(scored, key=lambda each: (each[0], each[1]), default=(-np.inf, ""))
        if score <= 0:
            return None
        ties = [each for value, each in scored if value == score]
        return self._clusters[identity] if len(ties) == 1 else None

    def _score(self, given: Described, name: NameWords, cluster: _Cluster) -> float:
        """The log odds that a node belongs to a cluster."""
        together = bool(cluster.sources & set(given.sources))
        relation = max((_relation(name, each) for each in cluster.names), default=_NONE)
        if relation == _NONE and _as_initials(given.name) in cluster.initials:
            relation = _PART
        if relation == _NONE or (relation == _PART and not together):
            return float("-inf")
        if cluster.title is not None and not together:
            return float("-inf")  # the linker has read the text: it is not an article
        score = self._odds[len(name) > 1] + (_SAME_TEXT if together else 0.0)
        score -= _TYPO if relation == _NEAR else 0.0
        kind = type_of(given.type) if given.type else -1
        score -= _OTHER_TYPE if kind >= 0 and cluster.types and kind not in cluster.types else 0.0
        return score + (0.0 if together else self._context(given.words, cluster.words))

    def _context(self, words: Iterable[str], others: set[str]) -> float:
        """The log likelihood ratio of the words of a context, given those of other contexts."""
        score = 0.0
        for word in words if others else ():
            base = _frequency(self.knowledge, word)
            score += np.log((_RECURS + (1 - _RECURS) * base) / base) if word in others else np.log(1 - _RECURS)
        return float(score)


_NONE, _PART, _NEAR, _SAME = 0, 1, 2, 3


def _relation(name: NameWords, full: NameWords) -> int:
    """Return the relation of a name to a full name: the same words, one letter off, its beginning or end, or none."""
    own, other = frozenset(name), frozenset(full)
    if own == other:
        return _SAME
    if len(own) == len(other) and _differ_by_a_letter("".join(sorted(own - other)), "".join(sorted(other - own))):
        return _NEAR if sum(map(len, own)) >= _LETTERS else _NONE
    return _PART if _is_part(name, full) else _NONE


def _is_part(name: NameWords, full: NameWords) -> bool:
    """Whether a name is short for a full one: its first or its last words."""
    size = len(name)
    return 0 < size < len(full) and (full[:size] == name or full[-size:] == name)


def _differ_by_a_letter(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1 or not short:
        return False
    at = next((at for at, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[at:] == long[at + 1 :] or (len(short) == len(long) and short[at + 1 :] == long[at + 1 :])


def initials(name: str) -> str:
    """The first letters of a name's capitalised words, in lower case; nothing of a single word."""
    letters = "".join(each[0] for each in name.split() if each[0].isupper()).lower()
    return letters if len(letters) > 1 else ""


def _as_initials(name: str) -> str:
    """A name as initials: `AIG`, `E&Y`; nothing if it does not look so."""
    letters = "".join(each for each in name if each.isalpha())
    return letters.lower() if 1 < len(letters) <= _INITIALS and letters.isupper() and " " not in name else ""


def _stem(word: str) -> str:
    return word[:4]  # names that differ by one letter later are found, too


@lru_cache(maxsize=8)
def _same_string(knowledge: Knowledge) -> tuple[float, float]:
    """The log odds that two links with the same string mean the same article: of one word, and of several."""
    table, strings = knowledge.mentions, knowledge.mention_strings
    totals = np.add.reduceat(table.counts, table.offsets[:-1]).astype(np.float64)
    squares = np.add.reduceat(table.counts.astype(np.float64) ** 2, table.offsets[:-1])
    data, offsets = np.asarray(strings.data), np.asarray(strings.offsets)
    spaces = np.concatenate(([0], np.cumsum(data == ord(" "))))
    several = spaces[offsets[1:]] > spaces[offsets[:-1]]
    pairs, same = totals * (totals - 1), squares - totals
    found = [(same[chosen].sum() + 1) / (pairs[chosen].sum() + 2) for chosen in (~several, several)]
    one, more = (float(np.log(min(each, 0.999) / (1 - min(each, 0.999)))) for each in found)
    return one, more


@lru_cache(maxsize=1 << 16)
def _frequency(knowledge: Knowledge, word: str) -> float:
    """The share of articles that have a word; that of the rarest for one that the wiki lacks."""
    at = knowledge.word_strings.find(word)
    count = int(knowledge.word_frequencies[at]) if at >= 0 else 0
    return (count + 1) / (len(knowledge.titles) + 2)


def telling_words(knowledge: Knowledge, text: str, name: str, most: int) -> tuple[str, ...]:
    """The rarest words of a context that the wiki has, without those of the name."""
    own = {each.lower() for each in _WORD.findall(name)}
    words = dict.fromkeys(each.lower() for each in _WORD.findall(text))
    kept = [each for each in words if each not in own and knowledge.word_strings.find(each) >= 0]
    telling = [each for each in kept if _frequency(knowledge, each) <= _RARE]
    return tuple(sorted(telling, key=lambda each: (_frequency(knowledge, each), each))[:most])
