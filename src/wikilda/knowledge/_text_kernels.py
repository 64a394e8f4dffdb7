"""Kernels that turn scanned text into symbols: words with their counts, mentions, link targets."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.jit import inner, int64, njit
from wikilda.mediawiki.titles import hash_title, normalize_title
from wikilda.mediawiki.wikitext.dialect import Dialect
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import (
    AFTER_SPACE,
    BREAK,
    FLAGS,
    WORD,
    Bytes,
    Hashes,
    Offsets,
    byte_array,
    normalize,
    sequence_hash,
    tokenize,
)

Numbers = NDArray[np.uint32]


class Words(NamedTuple):
    """Words counted by page: rows of (which word of the vocabulary, page, count), and all tokens in order."""

    row_word: Numbers
    row_page: Numbers
    row_count: Numbers
    vocabulary: Hashes  # of words and punctuation, in the order in which they are first seen
    spelling: Offsets  # where in the text each was first seen
    tokens: Bytes  # see `unpack_tokens`


def count_words(text: Bytes, bounds: Offsets) -> Words:
    """Count the words of pages `text[bounds[i]:bounds[i + 1]]`."""
    longest = int(np.diff(bounds).max(initial=0)) + 1
    hashes = np.empty(longest, np.uint64)
    places = np.empty((2, longest), np.int64)
    rows = np.empty((3, len(text) + 1), np.uint32)
    tokens = np.empty(5 * len(text) + len(bounds), np.uint8)  # at most; what is not written takes no memory
    found = _count_words(text, bounds, characters(), hashes, places, rows, tokens)
    row_count, token_count, keys, spelling = found
    word, page, count = _by_word(rows[:, :row_count], len(keys))
    return Words(word, page, count, keys, spelling, tokens[:token_count])


@njit
def _by_word(rows: Numbers, words: int) -> Numbers:
    """Rows in the order of their words, and of pages within a word: so they compress best."""
    place = np.zeros(words + 1, np.int64)
    for at in range(rows.shape[1]):
        place[rows[0, at] + 1] += 1
    for word in range(words):
        place[word + 1] += place[word]
    ordered = np.empty(rows.shape, np.uint32)
    for at in range(rows.shape[1]):
        to = place[rows[0, at]]
        place[rows[0, at]] = to + 1
        for part in range(3):
            ordered[part, to] = rows[part, at]
    return ordered


@njit
def _count_words(
    text: Bytes, bounds: Offsets, table: Characters, hashes: Hashes, places: Offsets, rows: Numbers, tokens: Bytes
) -> tuple[int, int, Hashes, Offsets]:
    slots = np.full(1 << 14, -1, np.int32)
    keys = np.empty(1 << 13, np.uint64)
    spelling = np.empty((2, 1 << 13), np.int64)
    latest = np.empty((1 << 13, 2), np.int64)  # by word: the page where it was last seen, and its row there
    words = row_count = written = 0
    for page in range(len(bounds) - 1):
        count = tokenize(text, bounds[page], bounds[page + 1], table, hashes, places[0], places[1])
        for at in range(count):
            if hashes[at] == BREAK:
                tokens[written] = 0
                written += 1
                continue
            key = hashes[at] & ~FLAGS
            slot = _slot(slots, keys, key)
            word = slots[slot]
            if word < 0:
                word = words
                slots[slot] = word
                keys[word], spelling[0, word], spelling[1, word] = key, places[0, at], places[1, at]
                latest[word, 0] = -1
                words += 1
                if words == len(keys):
                    slots, keys, spelling, latest = _grow(keys, spelling, latest)
            written = _pack((int64(word) + 1) * 2 + int64(hashes[at] & AFTER_SPACE), tokens, written)
            if not hashes[at] & WORD:
                continue
            if latest[word, 0] != page:
                latest[word, 0], latest[word, 1] = page, row_count
                rows[0, row_count], rows[1, row_count], rows[2, row_count] = word, page, 0
                row_count += 1
            rows[2, latest[word, 1]] += 1
        tokens[written] = 0
        written += 1
    return row_count, written, keys[:words].copy(), spelling[:, :words].copy()


@inner
def _pack(value: int, out: Bytes, at: int) -> int:
    """Write a number seven bits a byte, the lowest first."""
    while value >= 128:
        out[at] = value & 127 | 128
        value >>= 7
        at += 1
    out[at] = value
    return at + 1


@njit
def unpack_tokens(packed: Bytes, vocabulary: Hashes) -> Hashes:
    """The hashes of tokens in order, as mentions chain them, with BREAK after every paragraph and page.

    A packed token is the number of its word in the vocabulary from 1 on, twice, and 1 more after a space; 0 is a break.
    """
    hashes = np.empty(len(packed), np.uint64)
    count = at = 0
    while at < len(packed):
        value = shift = 0
        while packed[at] >= 128:
            value |= (int64(packed[at]) & 127) << shift
            shift += 7
            at += 1
        value |= int64(packed[at]) << shift
        at += 1
        hashes[count] = BREAK if value == 0 else vocabulary[(value >> 1) - 1] | np.uint64(value & 1)
        count += 1
    return hashes[:count].copy()


@inner
def _slot(slots: NDArray[np.int32], keys: Hashes, key: np.uint64) -> int:
    """Where a key is, or would be, in an open-addressed table of indices into `keys`."""
    mask = np.uint64(len(slots) - 1)
    at = (key >> np.uint64(2)) & mask
    while slots[at] >= 0 and keys[slots[at]] != key:
        at = (at + np.uint64(1)) & mask
    return int64(at)  # type: ignore[arg-type]


@inner
def _grow(keys: Hashes, spelling: Offsets, latest: Offsets) -> tuple[NDArray[np.int32], Hashes, Offsets, Offsets]:
    size = len(keys)
    new_keys = np.empty(2 * size, np.uint64)
    new_spelling = np.empty((2, 2 * size), np.int64)
    new_latest = np.empty((2 * size, 2), np.int64)
    slots = np.full(4 * size, -1, np.int32)
    for word in range(size):
        new_keys[word] = keys[word]
        for part in range(2):
            new_spelling[part, word], new_latest[word, part] = spelling[part, word], latest[word, part]
        slots[_slot(slots, new_keys, keys[word])] = word
    return slots, new_keys, new_spelling, new_latest


def normalized(text: Bytes, starts: Offsets, ends: Offsets) -> tuple[pa.StringArray, Hashes, Numbers]:
    """Spans of text as mention strings, with their hashes and lengths in characters."""
    out = np.empty(2 * int((ends - starts).sum()) + 8, np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int64)
    hashes = np.empty(len(starts), np.uint64)
    lengths = np.empty(len(starts), np.uint32)
    _normalized(text, starts, ends, characters(), out, offsets, hashes, lengths)
    return as_strings(out, offsets), hashes, lengths


@njit
def _normalized(
    text: Bytes,
    starts: Offsets,
    ends: Offsets,
    table: Characters,
    out: Bytes,
    offsets: Offsets,
    hashes: Hashes,
    lengths: Numbers,
) -> None:
    for span in range(len(starts)):
        begin = offsets[span]
        end = normalize(text, starts[span], ends[span], table, out, begin)
        offsets[span + 1] = end
        hashes[span], _ = sequence_hash(out, begin, end, table)
        lengths[span] = count_characters(out, begin, end)


@inner
def count_characters(text: Bytes, start: int, end: int) -> int:
    """How many characters UTF-8 bytes hold."""
    count = 0
    for at in range(start, end):
        count += (text[at] & 0xC0) != 0x80
    return count


@njit
def text_lengths(text: Bytes, bounds: Offsets) -> Numbers:
    """Characters of each page's text, runs of white space counted as one."""
    lengths = np.zeros(len(bounds) - 1, np.uint32)
    for page in range(len(bounds) - 1):
        space = True
        for at in range(bounds[page], bounds[page + 1]):
            if text[at] <= 32:
                lengths[page] += not space
                space = True
            else:
                lengths[page] += (text[at] & 0xC0) != 0x80
                space = False
        if space and lengths[page] > 0:
            lengths[page] -= 1
    return lengths


@njit
def target_hashes(source: Bytes, starts: Offsets, ends: Offsets, dialect: Dialect) -> Hashes:
    """The titles that links lead to, as hashes; BREAK where a target is no title."""
    scratch = np.empty(2 * max(1, (ends - starts).max()) + 8 if len(starts) else 8, np.uint8)
    hashes = np.empty(len(starts), np.uint64)
    for link in range(len(starts)):
        size = normalize_title(source, starts[link], ends[link], dialect, scratch, int64(0))
        hashes[link] = hash_title(scratch, int64(0), size)
    return hashes


def title_strings(source: Bytes, spans: Offsets, dialect: Dialect) -> tuple[pa.StringArray, Hashes]:
    """Titles as they are normalised, and their hashes; `spans` has two rows, where they start and end."""
    out = np.empty(2 * int((spans[1] - spans[0]).sum()) + 8, np.uint8)
    offsets = np.zeros(spans.shape[1] + 1, np.int64)
    _title_strings(source, spans[0], spans[1], dialect, out, offsets)
    return as_strings(out, offsets), _title_hashes(out, offsets)


@njit
def _title_strings(
    source: Bytes, starts: Offsets, ends: Offsets, dialect: Dialect, out: Bytes, offsets: Offsets
) -> None:
    for title in range(len(starts)):
        offsets[title + 1] = normalize_title(source, starts[title], ends[title], dialect, out, offsets[title])


def as_strings(data: Bytes, offsets: Offsets) -> pa.StringArray:
    """Strings that lie one after the other in a buffer, as an Arrow array, without a copy."""
    if offsets[-1] >= 1 << 31:
        return pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data))


def column_buffer(strings: pa.ChunkedArray | pa.Array) -> tuple[Bytes, Offsets]:
    """A column of strings as one buffer and offsets."""
    whole = strings.combine_chunks() if isinstance(strings, pa.ChunkedArray) else strings
    whole = whole.cast(pa.large_string())
    if not len(whole):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(whole.buffers()[1], np.int64, len(whole) + 1, whole.offset * 8).copy()
    data = whole.buffers()[2]
    return byte_array(data) if data is not None else np.empty(0, np.uint8), offsets


def title_hashes(titles: pa.ChunkedArray | pa.Array) -> Hashes:
    """The hashes of titles that need no normalising."""
    return _title_hashes(*column_buffer(titles))


@njit
def _title_hashes(data: Bytes, offsets: Offsets) -> Hashes:
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for title in range(len(hashes)):
        hashes[title] = hash_title(data, offsets[title], offsets[title + 1])
    return hashes


def word_hashes(words: pa.ChunkedArray | pa.Array) -> Hashes:
    """The hashes of words; BREAK where a string is not one word."""
    data, offsets = column_buffer(words)
    longest = int(np.diff(offsets).max(initial=0)) + 1
    return _word_hashes(data, offsets, characters(), np.empty(longest, np.uint64), np.empty((2, longest), np.int64))


@njit
def _word_hashes(data: Bytes, offsets: Offsets, table: Characters, hashes: Hashes, places: Offsets) -> Hashes:
    found = np.zeros(len(offsets) - 1, np.uint64)
    for word in range(len(found)):
        count = tokenize(data, offsets[word], offsets[word + 1], table, hashes, places[0], places[1])
        if count == 1 and hashes[0] & WORD:
            found[word] = hashes[0] & ~FLAGS
    return found
