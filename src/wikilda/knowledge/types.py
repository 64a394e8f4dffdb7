"""Coarse types of topics (person, place, …) with probabilities, from the wiki itself.

Most first sentences name the type: `Perth is a *city* in central Scotland`. Their nouns are looked up in a list. The
topics where that succeeds are counted, and naive Bayes extends their features (words of titles, first sentences,
parentheses and categories) to all others.

A person may be a fictional one; a team or a band is an organisation; a building, a road or a constituency is a place;
a season is an event; a ship, a drug or a program is a product, but a game is a work; a class of things has the type of
the things; lists, languages, awards, peoples, substances and all the rest are concepts.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, StringTable, lookup, table_of
from wikilda._core.artifact import Writer
from wikilda._core.errors import InputError
from wikilda._core.jit import Whole, inner, njit
from wikilda._core.settings import suggestion
from wikilda.knowledge._type_words import LANGUAGES, TYPES, TypeWords
from wikilda.knowledge.categories import Lists
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import AFTER_SPACE, BREAK, FLAGS, WORD, Bytes, Hashes, Offsets, mix, tokenize, word_hash

__all__ = ["TYPES", "Types", "check_types", "write_types"]

_SCALE = 255
_SHOWN = 0.2  # less probable types are omitted
_BITS = 22  # bits of the hashes of features; fewer in a small wiki
_SHIFT = np.uint64(64 - _BITS)
_BEGINNING = 20  # words of the first sentence
_LEAST = 4  # least topics of a feature
_SMOOTHING = 0.5
_TEMPER = 0.6  # features are correlated: naive Bayes is overconfident
_NOUN_WEIGHT = 4.0  # log odds that a noun in the first sentence adds to its type
_CLASS_WEIGHT = 8.0  # and that Wikidata's class adds
_ODD = np.uint32(2654435761)  # multiplier that spreads the numbers of classes
_TITLE, _ASIDE, _LAST = np.uint64(0x9E3779B97F4A7C14), np.uint64(0xC2B2AE3D27D4EB4C), np.uint64(0x27D4EB2F165667C4)
_CATEGORY = np.uint64(0xD1B54A32D192ED00)
_OPEN, _CLOSE = ord("("), ord(")")
_COPULA, _STOP, _JOINT, _LIGHT = -2, -3, -4, -5  # roles of words that are not nouns; −1: none

_NO_WORDS = TypeWords(
    copulas="", stops="", joints="", light="", suffixes=(), nouns=dict.fromkeys(TYPES, ""), compounds={}
)  # of a language without a list

Features = NDArray[np.uint32]
Shares = NDArray[np.uint8]


class Types(NamedTuple):
    """The probability of each type by topic, in 255ths; empty if the knowledge has no types."""

    shares: tuple[Shares, ...] = ()

    def of(self, topic: int) -> dict[str, float]:
        """The probable types of a topic, best first."""
        row = [int(each[topic]) for each in self.shares]
        order = sorted(range(len(row)), key=lambda at: (-row[at], at))
        return {TYPES[at]: round(row[at] / _SCALE, 3) for at in order if row[at] >= _SHOWN * _SCALE}

    def best(self, topic: int) -> str | None:
        """Return the most probable type of a topic; None if it is unknown."""
        row = [int(each[topic]) for each in self.shares]
        most = max(row, default=0)
        return TYPES[row.index(most)] if row and most >= _SHOWN * _SCALE else None

    def topics(self, types: Iterable[str]) -> NDArray[np.bool_]:
        """Return the topics whose most probable type is one of some types."""
        wanted = [TYPES.index(each) for each in check_types(types)]
        if not self.shares:
            raise InputError("this knowledge has no types: build it from a wiki in English, or with --instances.")
        return np.isin(np.argmax(np.stack(self.shares), axis=0), wanted)


def check_types(types: Iterable[str]) -> list[str]:
    """Check types, and raise an error that names unknown ones."""
    found = list(types)
    for each in found:
        if each not in TYPES:
            raise InputError(f"there is no type {each!r}{suggestion(each, list(TYPES))}")
    return found


def write_types(
    out: Writer[Any],
    language: str,
    instances: Lists | None = None,
    *,
    given: NDArray[np.int64] | None = None,
    kept: tuple[tuple[Shares, ...], NDArray[np.int64]] | None = None,
) -> None:
    """Write the types of knowledge whose topics and categories are written.

    There are none if the language has no list of nouns and `instances` are unknown. `given` has the numbers of known
    types, −1 for others. `kept` has earlier shares with their topics.
    """
    words = LANGUAGES.get(language.split("-")[0]) if language else LANGUAGES["en"]  # tables may lack a language
    titles, sentences = out.read_strings("topics/titles"), out.read_strings("topics/sentences")
    if (words is None and instances is None) or not len(titles):
        return
    names, lists = StringTable.of([]), Lists(np.empty(0, np.int64), np.empty(0, np.uint32))
    if (out.path / "categories").is_dir():
        names = out.read_strings("categories/names")
        lists = Lists(*(out.read(f"categories/topics/{each}") for each in Lists._fields))
    found = find_types(titles, sentences, names, lists, words or _NO_WORDS, instances, given)
    for number, (name, share) in enumerate(zip(TYPES, found, strict=True)):
        if kept is not None:
            share[kept[1]] = kept[0][number]
        out.array(f"types/{name}", share)
    for field, numbers in instances._asdict().items() if instances else ():
        out.array(f"instances/{field}", numbers)


def find_types(
    titles: StringTable, sentences: StringTable, names: StringTable, categories: Lists, words: TypeWords,
    instances: Lists | None = None, given: NDArray[np.int64] | None = None,
) -> tuple[Shares, ...]:  # fmt: skip
    """Return the types of topics by titles, first sentences, categories and classes."""
    table, roles = _roles(words)
    suffixes = StringTable.of(list(words.suffixes))
    nouns, trusted, offsets, features = _read(
        titles.data, titles.offsets, sentences.data, sentences.offsets, characters(), table, roles,
        suffixes.data, suffixes.offsets,
    )  # fmt: skip
    said = np.full(len(nouns), -1, np.int64)
    if instances:
        from wikilda.knowledge._instances import taught_types  # imports Arrow, which linking does not need

        said = taught_types(instances)
    if given is not None:
        said = np.where(given >= 0, given, said)
    nouns, trusted = np.where(said >= 0, said, nouns), trusted | (said >= 0)
    taught = np.where(trusted, nouns, -1)
    logits = np.repeat(np.log(_sizes(taught) / _sizes(taught).sum())[None], len(nouns), axis=0)
    logits += _scores(taught, offsets, features)
    if len(names):
        spread = _spread(categories.offsets, categories.numbers, *_words_of(names.data, names.offsets, characters()))
        logits += _scores(taught, *spread)
    if instances:
        logits += _scores(taught, instances.offsets, instances.numbers * _ODD) / _TEMPER
    known = np.flatnonzero(nouns >= 0)
    logits[known, nouns[known]] += np.where(trusted[known], _NOUN_WEIGHT, _NOUN_WEIGHT / 4)
    logits[said >= 0, said[said >= 0]] += _CLASS_WEIGHT
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return tuple(np.rint((shares / shares.sum(axis=1, keepdims=True)).T * _SCALE).astype(np.uint8))


def _roles(words: TypeWords) -> tuple[HashTable, NDArray[np.int64]]:
    """Return the role of each known word: a type's number for a noun, else its part of the phrase."""
    roles = {noun: number for number, kind in enumerate(TYPES) for each in words.nouns[kind].split()
             for noun in (each, *_plurals(each))}  # fmt: skip
    for part, given in ((_COPULA, words.copulas), (_STOP, words.stops), (_JOINT, words.joints), (_LIGHT, words.light)):
        roles |= dict.fromkeys(given.split(), part)
    hashes = {word_hash(word): role for word, role in roles.items()}
    for kind, pairs in words.compounds.items():
        both = (map(word_hash, each.split("_")) for each in pairs.split())
        hashes |= {int(_compound(np.uint64(first), np.uint64(second))): TYPES.index(kind) for first, second in both}
    return table_of(np.array([*hashes], np.uint64)), np.array([*hashes.values()], np.int64)


@njit
def _compound(first: np.uint64, second: np.uint64) -> np.uint64:
    return mix(first ^ _LAST) ^ second


def _plurals(noun: str) -> tuple[str, ...]:
    if noun.endswith("man"):
        return (noun[:-3] + "men",)
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return (noun[:-1] + "ies",)
    return (noun + "es",) if noun.endswith(("s", "x", "ch", "sh")) else (noun + "s",)


def _sizes(taught: NDArray[np.int64]) -> NDArray[np.float64]:
    """Count the training topics of each type, plus one."""
    return np.bincount(taught[taught >= 0], minlength=len(TYPES)).astype(np.float64) + 1


def _scores(taught: NDArray[np.int64], offsets: Offsets, features: Features) -> NDArray[np.float64]:
    """Return the log odds of types that the features of each topic add (naive Bayes)."""
    chance = _sizes(taught) / _sizes(taught).sum()
    size = 1 << min(_BITS, len(features).bit_length() + 1)
    features = features & np.uint32(size - 1)
    counts, totals = _counts(taught, offsets, features, size)
    # The share of each type among a feature's topics against chance; 0 for unknown features.
    share = counts + (_SMOOTHING * len(TYPES) * chance).astype(np.float32)
    weights = np.log(share / share.sum(axis=1, keepdims=True)) - np.log(chance).astype(np.float32)
    weights[totals < _LEAST] = 0
    return _TEMPER * _sums(weights, offsets, features)


@njit
def _counts(
    taught: NDArray[np.int64], offsets: Offsets, features: Features, size: Whole
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:  # fmt: skip
    """Count the topics of each type by feature, and all topics by feature."""
    counts, totals = np.zeros((size, len(TYPES)), np.float32), np.zeros(size, np.int64)
    for topic in range(len(taught)):
        for at in range(offsets[topic], offsets[topic + 1]):
            totals[features[at]] += 1
            if taught[topic] >= 0:
                counts[features[at], taught[topic]] += np.float32(1)
    return counts, totals


@njit
def _sums(weights: NDArray[np.float32], offsets: Offsets, features: Features) -> NDArray[np.float64]:
    found = np.zeros((len(offsets) - 1, weights.shape[1]))
    for topic in range(len(found)):
        for at in range(offsets[topic], offsets[topic + 1]):
            for kind in range(weights.shape[1]):
                found[topic, kind] += np.float64(weights[features[at], kind])
    return found


@njit
def _read(
    titles: Bytes, title_offsets: Offsets, sentences: Bytes, sentence_offsets: Offsets, letters: Characters,
    table: HashTable, roles: NDArray[np.int64], suffixes: Bytes, suffix_offsets: Offsets,
) -> tuple[NDArray[np.int64], NDArray[np.bool_], Offsets, Features]:  # fmt: skip
    """Return by topic the type of its noun, or −1, whether to learn from it, and the features.

    A first sentence is trusted if it is about the title: `Honduras is a country` is no evidence for *Geography of
    Honduras*. Otherwise a noun of the title counts: *geography*, or the *band* of *Kashmir (band)*.
    """
    count = len(title_offsets) - 1
    nouns, trusted, offsets = np.full(count, -1, np.int64), np.zeros(count, np.bool_), np.zeros(count + 1, np.int64)
    longest = max(np.diff(title_offsets).max(), np.diff(sentence_offsets).max()) + 1
    hashes, starts, ends = np.empty(longest, np.uint64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    own, features = np.empty(2 * longest + _BEGINNING, np.uint64), np.empty(16 * count, np.uint32)
    for topic in range(count):
        tokens = tokenize(titles, title_offsets[topic], title_offsets[topic + 1], letters, hashes, starts, ends)
        found = _add(own, np.int64(0), titles, hashes[:tokens], starts, np.int64(longest), _TITLE)
        first, last = (hashes[0] | FLAGS, hashes[tokens - 1] | FLAGS) if tokens else (BREAK, BREAK)
        named, stopped, _ = _noun(
            titles, hashes[:tokens], starts, ends, table, roles, suffixes, suffix_offsets, BREAK, BREAK, True
        )  # fmt: skip
        if tokens > 3 and titles[starts[tokens - 1]] == _CLOSE:
            known = lookup(table, hashes[tokens - 2] & ~FLAGS)
            if known >= 0 and roles[known] >= 0:
                named, stopped = roles[known], True
        own[found] = last ^ _LAST
        tokens = tokenize(
            sentences, sentence_offsets[topic], sentence_offsets[topic + 1], letters, hashes, starts, ends
        )  # fmt: skip
        found = _add(own, found + 1, sentences, hashes[:tokens], starts, np.int64(_BEGINNING), BREAK)
        nouns[topic], _, trusted[topic] = _noun(
            sentences, hashes[:tokens], starts, ends, table, roles, suffixes, suffix_offsets, first,
            BREAK if stopped else last, False,
        )  # fmt: skip
        if stopped and named >= 0 and not (trusted[topic] and nouns[topic] >= 0):
            nouns[topic], trusted[topic] = named, True
        features = _store(features, offsets, topic, own[:found])
    return nouns, trusted, offsets, features[: offsets[-1]].copy()


@inner
def _store(features: Features, offsets: Offsets, topic: Whole, own: Hashes) -> Features:
    for at in range(len(own)):
        own[at] = mix(own[at] | FLAGS) >> _SHIFT
    distinct = np.unique(own)
    offsets[topic + 1] = offsets[topic] + len(distinct)
    if offsets[topic + 1] > len(features):
        features = np.concatenate((features, np.empty(len(features) + len(distinct), np.uint32)))
    features[offsets[topic] : offsets[topic + 1]] = distinct.astype(np.uint32)
    return features


@inner
def _add(
    own: Hashes, found: Whole, text: Bytes, tokens: Hashes, starts: Offsets, most: Whole, salt: np.uint64
) -> Whole:  # fmt: skip
    """Add words; those in parentheses (`born`, `film`) are separate features."""
    depth = seen = np.int64(0)
    for at in range(len(tokens)):
        if tokens[at] == BREAK:
            continue
        depth += text[starts[at]] == _OPEN
        depth -= text[starts[at]] == _CLOSE and depth > 0
        if tokens[at] & WORD and seen < most:
            own[found] = (tokens[at] & ~FLAGS) ^ salt ^ (_ASIDE if depth > 0 else BREAK)
            found += 1
            seen += depth == 0
    return found


@inner
def _noun(
    text: Bytes, tokens: Hashes, starts: Offsets, ends: Offsets, table: HashTable, roles: NDArray[np.int64],
    suffixes: Bytes, suffix_offsets: Offsets, first: np.uint64, last: np.uint64, begun: bool,
) -> tuple[Whole, bool, bool]:  # fmt: skip
    """The type of the noun that ends the phrase after the first `is`, or from the beginning if it has `begun`.

    It is −1 for an unknown noun. Also returns whether a preposition ended the phrase, and whether one of two words
    came before.
    """
    depth, noun, met = np.int64(0), np.int64(-1), False
    for at in range(len(tokens)):
        if tokens[at] == BREAK:
            continue
        depth += text[starts[at]] == _OPEN
        depth -= text[starts[at]] == _CLOSE and depth > 0
        known = lookup(table, tokens[at] & ~FLAGS)
        together = lookup(table, _compound(tokens[at - 1] & ~FLAGS, tokens[at] & ~FLAGS)) if at > 0 else -1
        known = together if together >= 0 else known
        role = roles[known] if known >= 0 else np.int64(-1)
        if not begun:
            met = met or tokens[at] | FLAGS == first or tokens[at] | FLAGS == last
            begun = depth == 0 and role == _COPULA
        elif depth > 0:
            continue
        elif role >= 0 or role == _LIGHT:
            noun = role
        elif role == _STOP and tokens[at] & AFTER_SPACE:
            if noun != _LIGHT:
                return max(noun, np.int64(-1)), True, met
            noun = np.int64(-1)
        elif noun >= 0 and (role == _JOINT or _has_suffix(text, starts[at], ends[at], suffixes, suffix_offsets)):
            break
        elif tokens[at] & WORD:
            noun = np.int64(-1)
    return max(noun, np.int64(-1)), False, met


@inner
def _has_suffix(text: Bytes, start: Whole, end: Whole, suffixes: Bytes, offsets: Offsets) -> bool:
    for number in range(len(offsets) - 1):
        length = offsets[number + 1] - offsets[number]
        same = end - length > start
        for at in range(length):
            same = same and text[end - length + at] == suffixes[offsets[number] + at]
        if same:
            return True
    return False


@njit
def _words_of(data: Bytes, offsets: Offsets, letters: Characters) -> tuple[Offsets, Features]:
    """The words of each category's name."""
    longest = np.diff(offsets).max() + 1
    hashes, starts, ends = np.empty(longest, np.uint64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    own, places, words = np.empty(longest, np.uint64), np.zeros_like(offsets), np.empty(8 * len(offsets), np.uint32)
    for name in range(len(offsets) - 1):
        tokens = tokenize(data, offsets[name], offsets[name + 1], letters, hashes, starts, ends)
        found = _add(own, np.int64(0), data, hashes[:tokens], starts, np.int64(longest), _CATEGORY)
        words = _store(words, places, name, own[:found])
    return places, words[: places[-1]].copy()


@njit
def _spread(
    offsets: Offsets, numbers: NDArray[np.uint32], places: Offsets, words: Features
) -> tuple[Offsets, Features]:
    """Flatten lists of lists to lists of distinct elements."""
    ends, total = np.zeros_like(offsets), np.int64(0)
    for each in numbers:
        total += places[each + 1] - places[each]
    found = np.empty(total, np.uint32)
    for row in range(len(offsets) - 1):
        end = ends[row]
        for each in numbers[offsets[row] : offsets[row + 1]]:
            found[end : end + places[each + 1] - places[each]] = words[places[each] : places[each + 1]]
            end += places[each + 1] - places[each]
        distinct = np.unique(found[ends[row] : end])
        found[ends[row] : ends[row] + len(distinct)] = distinct
        ends[row + 1] = ends[row] + len(distinct)
    return ends, found[: ends[-1]].copy()
