"""An index over the words of names: candidates of strings that the wiki never linked.

Keys are the folded words (`wikilda.text.folding`) of titles and redirects, the initials of their capitalised words, and
the first letters of titles of one word. Each key has its most popular topics. Folded strings map to mentions that
differ only in accents, points and endings.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, capacity_for, find_slot, insert_all
from wikilda._core.artifact import Writer
from wikilda._core.jit import Whole, inner, njit
from wikilda.knowledge.knowledge import Knowledge
from wikilda.text.characters import Characters, characters
from wikilda.text.folding import Folds, fold_word, fold_words, folds, sequence_of
from wikilda.text.tokens import WORD, Bytes, Hashes, Offsets, decode, lower_of, mix, tokenize

MOST = 64  # topics per word
STEM = 4  # letters
_COLUMNS = ("offsets", "topics", "sizes", "popularity")
_PART = 1 << 22  # entries sorted at a time
_LONGEST = 512  # bytes of a name
_WORD, _INITIALS, _STEM = np.uint64(0), np.uint64(0x9E3779B97F4A7C14), np.uint64(0xC2B2AE3D27D4EB4E)
_SEED = np.uint64(0x84222325CBF29CE4)
_OPEN, _CLOSE, _SPACE = ord("("), ord(")"), ord(" ")


class Names(NamedTuple):
    """A table of names: bytes, offsets, and topics."""

    data: Bytes
    offsets: Offsets
    topics: NDArray[np.uint32]


class NameIndex(NamedTuple):
    """The index: topics by key, most popular first, with the number of words of the name; and variants of mentions."""

    table: HashTable  # key → row
    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    sizes: NDArray[np.uint8]
    popularity: NDArray[np.float32]  # by topic: the number of its links
    variants: HashTable  # folded string → mention


_NO_TABLE = HashTable(np.zeros(1, np.uint64), np.full(1, -1, np.int32))
NO_NAMES = NameIndex(
    table=_NO_TABLE,
    offsets=np.zeros(1, np.int64),
    topics=np.empty(0, np.uint32),
    sizes=np.empty(0, np.uint8),
    popularity=np.empty(0, np.float32),
    variants=_NO_TABLE,
)


def name_index(knowledge: Knowledge) -> NameIndex | None:
    """The index of knowledge; none if it was built without."""
    if not knowledge.has("names/offsets"):
        return None
    offsets, topics, sizes, known = (knowledge.array(f"names/{name}") for name in _COLUMNS)
    words, variants = (
        HashTable(*(knowledge.array(f"names/{name}_{part}") for part in ("keys", "values")))
        for name in ("words", "variants")
    )
    return NameIndex(table=words, offsets=offsets, topics=topics, sizes=sizes, popularity=known, variants=variants)


class Entries(NamedTuple):
    """Key, topic, and the number of words of the name."""

    keys: Hashes
    topics: NDArray[np.uint32]
    sizes: NDArray[np.uint8]


def write_name_index(out: Writer[Knowledge]) -> None:
    """Write the index of knowledge whose topics, redirects and mentions are written."""
    titles, redirects, mentions = (
        out.read_strings(name) for name in ("topics/titles", "redirects/titles", "mentions/strings")
    )
    offsets, topics, counts = (out.read(f"mentions/{name}") for name in ("offsets", "topics", "counts"))
    popularity = np.bincount(topics, counts, len(titles)).astype(np.float32)
    out.array("names/popularity", popularity)
    own = np.arange(len(titles), dtype=np.uint32)
    leading = out.read("redirects/topics")
    tables = [Names(titles.data, titles.offsets, own), Names(redirects.data, redirects.offsets, leading)]
    kept = _best_entries(tables, popularity)
    keys, starts = np.unique(kept.keys, return_index=True)
    _write_table(out, "names/words_", keys)
    out.array("names/offsets", np.append(starts, len(kept.keys)).astype(np.int64))
    out.array("names/topics", kept.topics)
    out.array("names/sizes", kept.sizes)
    weights = np.add.reduceat(counts, offsets[:-1]) if len(mentions) else np.empty(0, np.uint32)
    table = HashTable(
        out.create("names/variants_keys", np.uint64, capacity_for(len(mentions))),
        out.create("names/variants_values", np.int32, capacity_for(len(mentions))),
    )
    _fill_variants(mentions.data, mentions.offsets, weights.astype(np.int64), characters(), folds(), table)


def _write_table(out: Writer[Knowledge], name: str, keys: Hashes) -> None:
    capacity = capacity_for(len(keys))
    table = HashTable(out.create(f"{name}keys", np.uint64, capacity), out.create(f"{name}values", np.int32, capacity))
    insert_all(table, keys)


def _best_entries(tables: list[Names], popularity: NDArray[np.float32]) -> Entries:
    """Return the most popular topics of each key. Sorts a part at a time, with bounded memory."""
    size = sum(int(_count(*names, characters(), folds())) for names in tables)
    parts = size // _PART + 1
    found = []
    for part in range(parts):
        some = [_entries(*names, characters(), folds(), part, parts) for names in tables]
        found.append(_best_of(_joined(some), popularity))
    return _taken(whole := _joined(found), np.argsort(whole.keys, kind="stable"))


def _joined(some: "list[Entries]") -> Entries:
    keys, topics, sizes = zip(*some, strict=True)
    return Entries(np.concatenate(keys), np.concatenate(topics), np.concatenate(sizes))


def _taken(entries: Entries, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Entries:
    return Entries(entries.keys[chosen], entries.topics[chosen], entries.sizes[chosen])


def _best_of(entries: Entries, popularity: NDArray[np.float32]) -> Entries:
    """Return each topic once per key, by its shortest name, then the most popular of each key."""
    entries = _taken(entries, np.lexsort((entries.sizes, entries.topics, entries.keys)))
    keys, topics = entries.keys, entries.topics
    entries = _taken(entries, np.append(True, (keys[1:] != keys[:-1]) | (topics[1:] != topics[:-1]))[: len(keys)])
    entries = _taken(entries, np.lexsort((entries.topics, -popularity[entries.topics], entries.keys)))
    keys = entries.keys
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    rank = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    return _taken(entries, rank < MOST)


@njit
def _count(data: Bytes, offsets: Offsets, topics: NDArray[np.uint32], table: Characters, fold: Folds) -> Whole:
    total = np.int64(0)
    keys = np.empty(2 * _LONGEST + 4, np.uint64)
    for name in range(len(topics)):
        total += keys_of(data, offsets[name], offsets[name + 1], table, fold, keys)[0]
    return total


@njit
def _entries(
    data: Bytes, offsets: Offsets, topics: NDArray[np.uint32], table: Characters, fold: Folds, part: Whole, parts: Whole
) -> Entries:
    """The entries of names whose keys belong to a part."""
    keys = np.empty(2 * _LONGEST + 4, np.uint64)
    size = np.int64(0)
    for write in range(2):
        if write:
            found, owners, sizes = np.empty(size, np.uint64), np.empty(size, np.uint32), np.empty(size, np.uint8)
            size = np.int64(0)
        for name in range(len(topics)):
            count, words = keys_of(data, offsets[name], offsets[name + 1], table, fold, keys)
            for at in range(count):
                if np.int64(keys[at] >> np.uint64(40)) % parts != part:
                    continue
                if write:
                    found[size], owners[size], sizes[size] = keys[at], topics[name], min(words, 255)
                size += 1
    return Entries(found, owners, sizes)


@njit
def keys_of(data: Bytes, start: Whole, end: Whole, table: Characters, fold: Folds, keys: Hashes) -> tuple[Whole, Whole]:
    """Return the keys of a name (words, initials, first letters), and its number of words."""
    end = cut(data, start, name_end(data, start, end))
    words = fold_words(data, start, end, table, fold, keys)
    count = words
    initials = _initials(data, start, end, table, fold)
    if words > 1 and initials != 0:
        keys[count] = initials
        count += 1
    if words == 1:
        stem = stem_key(data, start, end, table, fold)
        if stem != 0:
            keys[count] = stem
            count += 1
    return count, words


@inner
def name_end(title: Bytes, start: Whole, end: Whole) -> Whole:
    """Return the end of a title without a parenthesis: `Mercury (planet)`."""
    if end == start or title[end - 1] != _CLOSE:
        return end
    at = end - 1
    while at > start and title[at] != _OPEN:
        at -= 1
    return at - 1 if at > start + 1 and title[at - 1] == _SPACE else end


@inner
def cut(data: Bytes, start: Whole, end: Whole) -> Whole:
    """Return the end of a name limited in length, at a character."""
    if end - start <= _LONGEST:
        return end
    end = start + _LONGEST
    while (data[end] & 0xC0) == 0x80:
        end -= 1
    return end


@inner
def _initials(data: Bytes, start: Whole, end: Whole, table: Characters, fold: Folds) -> np.uint64:
    """The key of the first letters of a name's capitalised words; 0 of fewer than two."""
    hashes, places = np.empty(end - start + 1, np.uint64), np.empty((2, end - start + 1), np.int64)
    letters = np.empty(4 * (end - start + 1), np.uint8)
    size = count = np.int64(0)
    for token in range(tokenize(data, start, end, table, hashes, places[0], places[1])):
        point, length = decode(data, places[0, token])
        if hashes[token] & WORD and lower_of(point, table) != point:
            for byte in range(length):
                letters[size] = data[places[0, token] + byte]
                size += 1
            count += 1
    return initials_key(letters[:size], table, fold) if count > 1 else np.uint64(0)


@inner
def initials_key(letters: Bytes, table: Characters, fold: Folds) -> np.uint64:
    """The key of letters as initials."""
    return mix(fold_word(letters, np.int64(0), np.int64(len(letters)), table, fold, _SEED) ^ _INITIALS) | np.uint64(1)


@inner
def stem_key(data: Bytes, start: Whole, end: Whole, table: Characters, fold: Folds) -> np.uint64:
    """Return the key of a word's first letters; 0 if it has no more letters."""
    at, count = start, 0
    while at < end and count < STEM:
        _, size = decode(data, at)
        at += size
        count += 1
    if count < STEM:
        return np.uint64(0)
    return mix(fold_word(data, start, at, table, fold, _SEED) ^ _STEM) | np.uint64(1)


@njit
def _fill_variants(
    data: Bytes, offsets: Offsets, weights: NDArray[np.int64], table: Characters, fold: Folds, variants: HashTable
) -> None:
    """Insert mentions under their folded words; the one with the most links stays."""
    words = np.empty(4 * _LONGEST, np.uint64)
    for mention in range(len(offsets) - 1):
        end = cut(data, offsets[mention], offsets[mention + 1])
        count = fold_words(data, offsets[mention], end, table, fold, words)
        if count == 0:
            continue
        key = sequence_of(words, count)
        slot = find_slot(variants.keys, key)
        if variants.keys[slot] != key or weights[mention] > weights[variants.values[slot]]:
            variants.keys[slot] = key
            variants.values[slot] = mention
