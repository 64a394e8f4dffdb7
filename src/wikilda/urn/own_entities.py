"""Entities of the caller for one document, which are inferred like other candidates.

An entity is a candidate of the strings that are a name of it, or short for a name that the document has in full. There
it has half of P(k|v), or all but the back-off's share where the wiki never linked the string. Of other short
forms it is a candidate with the back-off's share.

Its words are those of its description: with c_w of word w among n_w in the wiki, √(c_w / (n_w + c_w)) is its vector,
whose cosine with the document counts as that of an article without neighbours. Without a description it fits as well as
the document's candidates do, by their priors. It has no links: other mentions support it only by meaning it, too.

The topics of a caller's entities are numbered after those of the knowledge.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.errors import InputError
from wikilda.documents.document import Document
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.types import TYPES
from wikilda.text.offsets import Spans
from wikilda.text.tokens import tokens_of
from wikilda.urn._candidates import Candidates
from wikilda.urn._coreference import Name, Words, folded
from wikilda.urn._find import Found, Named
from wikilda.urn._relatedness import Neighbours
from wikilda.urn._word_evidence import OVERLAP

_SHARE = 0.5  # of P(k|v) where the wiki has other meanings of a name
_BACK_OFF = 0.001  # of P(k|v) for a short form of a name
_AS_LINKED = 1000.0  # links that a name counts as
_FIELDS = ("title", "names", "description", "type")


@dataclass(frozen=True)
class OwnEntity:
    """An entity that the wiki does not have, or that a caller describes better.

    Examples
    --------
    >>> acme = OwnEntity("Acme Corporation", names=("Acme",), description="A maker of anvils and rockets.")
    >>> [(each.text, each.entity.title) for each in linker.link("Acme sells anvils.", entities=[acme]).mentions]
    [('Acme', 'Acme Corporation')]
    """

    title: str
    names: tuple[str, ...] = ()
    description: str = ""
    type: str | None = None

    def __post_init__(self) -> None:
        for name in (self.title, *self.names):
            if not isinstance(name, str) or not folded(name):
                raise InputError(
                    f"entities: {str(name)[:100]!r} is not a name: it has no letters or digits. Correct it."
                )
        if self.type is not None and self.type not in TYPES:
            raise InputError(f"entities: there is no type {str(self.type)[:100]!r}; there are {', '.join(TYPES)}.")

    @classmethod
    def of(cls, given: "OwnEntity | Mapping[str, Any]") -> "OwnEntity":
        """An entity from plain values: `title`, and maybe `names`, `description` and `type`."""
        if isinstance(given, OwnEntity):
            return given
        unknown = sorted(given.keys() - set(_FIELDS))
        if unknown or "title" not in given:
            raise InputError(
                f"entities: an entity has {', '.join(_FIELDS)}, not {', '.join(unknown) or 'no title'}. "
                "Correct its fields."
            )
        names = given.get("names", ())
        if isinstance(names, str):
            raise InputError("entities: names must be a list of strings.")
        return cls(given["title"], tuple(names), given.get("description", ""), given.get("type"))


class _Match(NamedTuple):
    """The entities that a string may mean, and whether it is a name of theirs or short for one."""

    entities: tuple[int, ...]
    exact: bool


class Joined(NamedTuple):
    """Candidates with own entities, and which strings are names or short forms of them."""

    named: Named
    found: Found
    exact: NDArray[np.uint8]
    known: NDArray[np.bool_]


class OwnEntities:
    """The entities of one document as the urn takes them."""

    def __init__(self, given: "Iterable[OwnEntity | Mapping[str, Any]]", knowledge: Knowledge) -> None:
        self.entities = [OwnEntity.of(each) for each in given]
        self.first = len(knowledge.titles)  # the topic of the first
        self._knowledge = knowledge
        self._exact, self._short = defaultdict[Words, set[int]](set), defaultdict[Words | int, set[int]](set)
        self._small = set[Words]()  # names that may begin with a small letter
        titles = [each.title for each in self.entities]
        if len(set(titles)) < len(titles):
            raise InputError(f"entities: {max(titles, key=titles.count)[:100]!r} occurs twice. Remove one.")
        for number, entity in enumerate(self.entities):
            for name in (entity.title, *entity.names):
                self._add(number, Name.of(name))
                if not name[0].isupper():
                    self._small.add(folded(name))

    def _add(self, number: int, name: Name) -> None:
        self._exact[name.words].add(number)
        for size in range(1, len(name.words)):
            for part in (name.words[:size], name.words[-size:]):
                self._short[part].add(number)
        if name.initials:
            self._short[name.initials].add(number)

    def match(self, string: str) -> _Match:
        """The entities that a string may mean."""
        name = Name.of(string)
        exact = self._exact.get(name.words, ())
        short = self._short.get(name.words, set()) | (self._short.get(name.letters, set()) if name.letters else set())
        return _Match(tuple(sorted(exact or short)), bool(exact))

    def spans(self, text: str, found: Spans) -> Spans:
        """Detected spans, those of names, and those of the last words of names that the text has in full.

        Of two that overlap the longer stays, or else the name.
        """
        tokens = tokens_of(text)
        places = np.append(np.flatnonzero((tokens.text & 0xC0) != 0x80), len(tokens.text))
        starts, ends = (np.searchsorted(places, each).tolist() for each in (tokens.starts, tokens.ends))
        words = [folded(text[start:end]) for start, end in zip(starts, ends, strict=True)]
        full = {name for _, _, name in _occurrences(words, self._exact.keys())}
        last_words = {name[-1:] for name in full if len(name) > 1}
        named = [
            (starts[first], ends[last])
            for first, last, name in _occurrences(words, self._exact.keys() | last_words)
            if not text[starts[first]].islower() or name in self._small
        ]
        return _longest_first(named, found)

    def join(self, names: Named, found: Found) -> Joined:
        """Return the candidates of mentions with these entities, which follow the wiki's topics.

        A new meaning of these names is improbable.
        """
        candidates, near, evidence = found.candidates, found.neighbours, found.evidence
        named = [self.match(name) for name in names.strings.to_list()]
        matches = _with_short_forms(named)
        used = sorted({number for each in matches for number in each.entities})
        usual = float(evidence[candidates.numbers] @ candidates.priors / max(candidates.priors.sum(), 1e-300))
        fits = [self._fit(self.entities[number], found.words, found.counts, usual, OVERLAP)
                for number in used]  # fmt: skip
        place = {number: len(candidates.topics) + at for at, number in enumerate(used)}
        joined = _joined(candidates, matches, place, _BACK_OFF)
        topics = np.append(candidates.topics, np.array(used, np.uint32) + np.uint32(self.first))
        empty = np.full(len(used), near.offsets[-1])
        known = np.array([each.exact for each in matches], np.bool_)
        new = np.where(known, np.minimum(names.new_meanings, 1.0 / (0.5 + _AS_LINKED)), names.new_meanings)
        joined_found = found._replace(
            candidates=joined._replace(topics=topics),
            neighbours=Neighbours(np.append(near.offsets, empty), near.topics),
            evidence=np.append(evidence, fits),
        )
        exact = np.array([each.exact for each in named], np.uint8)
        return Joined(names._replace(new_meanings=new), joined_found, exact, known)

    def _fit(
        self, entity: OwnEntity, words: NDArray[np.int64], counts: NDArray[np.int64], usual: float, overlap: float
    ) -> float:
        """The cosine of a description with a document."""
        own, times = np.unique(np.asarray(self._described(entity)), return_counts=True)
        own, times = own[own >= 0], times[own >= 0]
        if not len(own) or not len(words):
            return usual
        known = self._knowledge
        total = np.maximum(known.word_totals[own], [int(known.words.row(int(word))[1].sum()) for word in own])
        vector = np.sqrt(times / (total + times))
        _, mine, theirs = np.intersect1d(own, words, return_indices=True)
        sent = 1.0 + np.log(counts)
        cosine = (vector[mine] * sent[theirs]).sum() / np.sqrt((vector**2).sum() * (sent**2).sum())
        return float(cosine / np.sqrt(1.0 + overlap))

    def _described(self, entity: OwnEntity) -> Any:
        return encode(Document(entity.description, []), self._knowledge).words


def _with_short_forms(found: list[_Match]) -> list[_Match]:
    """The matches of the strings of a document; one that is short for a name which is there is as good as that."""
    there = {number for each in found if each.exact for number in each.entities}
    meant = [tuple(number for number in each.entities if number in there) for each in found]
    return [_Match(known, exact=True) if known else each for each, known in zip(found, meant, strict=True)]


def _occurrences(words: list[Words], names: Set[Words]) -> Iterator[tuple[int, int, Words]]:
    """The first and last tokens of names, given the words of all tokens."""
    firsts, longest = {each[0] for each in names}, max(map(len, names))
    for first, begin in enumerate(words):
        sequence: Words = ()
        for last in range(first, len(words)) if begin and begin[0] in firsts else ():
            sequence += words[last]
            if len(sequence) > longest:
                break
            if words[last] and sequence in names:
                yield first, last, sequence


def _joined(found: Candidates, matches: list[_Match], place: dict[int, int], share: float) -> Candidates:
    """Candidates with more at the end of each row; P(k|v) still sums to what it did."""
    numbers, priors, lengths = list[NDArray[Any]](), list[NDArray[Any]](), list[int]()
    for row, match in enumerate(matches):
        span = slice(found.offsets[row], found.offsets[row + 1])
        own = np.array([place[each] for each in match.entities], np.int32)
        part = _part(match, share, others=span.stop > span.start, linked=found.totals[row] > 0)
        before = found.priors[span] * (1.0 - part if len(own) else 1.0)
        numbers += [found.numbers[span], own]
        priors += [before, np.full(len(own), part / max(len(own), 1))]
        lengths.append(len(before) + len(own))
    if not lengths:
        return found
    joined = np.concatenate(numbers).astype(np.int32)
    return found._replace(offsets=offsets_of(lengths), numbers=joined, priors=np.concatenate(priors))


def _part(match: _Match, backoff: float, *, others: bool, linked: bool) -> float:
    """Return the share of own entities in P(k|v)."""
    if not others:
        return 1.0
    if not match.exact:
        return backoff
    return _SHARE if linked else 1.0 - backoff


def _longest_first(named: Spans, found: Spans) -> Spans:
    kept: Spans = []
    order = sorted([(start - end, 0, start, end) for start, end in named] +
                   [(start - end, 1, start, end) for start, end in found])  # fmt: skip
    taken: set[int] = set()
    for _, _, start, end in order:
        inside = range(start, end)
        if taken.isdisjoint(inside):
            taken.update(inside)
            kept.append((start, end))
    return sorted(kept)
