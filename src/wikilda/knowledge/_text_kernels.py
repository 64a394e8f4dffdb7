"""Kernels that turn scanned text into symbols: tokens and words, mentions, link targets."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.jit import bare, inner, int64, njit
from wikilda.mediawiki.titles import hash_title, normalize_title
from wikilda.mediawiki.wikitext.dialect import Dialect
from wikilda.text.capitals import CAPITAL, FIRST, LOWER, SHAPE, SHOUTED, Shapes, shape_sentences
from wikilda.text.characters import Characters, characters
from wikilda.text.tokens import (
    AFTER_SPACE,
    BREAK,
    FLAGS,
    Bytes,
    Hashes,
    Offsets,
    byte_array,
    chain,
    normalize,
    tokenize,
)

Numbers = NDArray[np.uint32]


class Tokenized(NamedTuple):
    """The tokens of pages as numbers, and the words and punctuation marks of the numbers.

    A token is twice the number of its word, and 1 more after a space; PARAGRAPH_END and PAGE_END are none.
    """

    tokens: Numbers
    counts: Numbers  # of each word
    spelling: Offsets  # where in the text each word was first seen
    cases: Numbers  # rows of CASES, by word
    shapes: Shapes  # of each token


PARAGRAPH_END, PAGE_END = 0, 1  # tokens begin with 2
# Counts of a word within sentences: in lower case, with a capital, with a capital directly before another word
# with a capital, and directly after one.
CASES = ("lower", "capital", "before", "after")


def tokenized(text: Bytes, bounds: Offsets) -> Tokenized:
    """Number the tokens of the pages `text[bounds[i]:bounds[i + 1]]` in the order in which they are first seen."""
    longest = int(np.diff(bounds).max(initial=0)) + 1
    hashes = np.empty(longest, np.uint64)
    places = np.empty((2, longest), np.int64)
    tokens = np.empty(len(text) + 2 * len(bounds), np.uint32)  # an upper bound; unwritten pages take no memory
    shapes = np.empty(len(tokens), np.uint8)
    size, counts, spelling = _tokenized(text, bounds, characters(), hashes, places, tokens, shapes)
    cases = count_cases(tokens[:size], shapes, len(counts))
    return Tokenized(tokens[:size], counts, spelling, cases, shapes[:size])


_WORD_BITS = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@njit
def _tokenized(
    text: Bytes, bounds: Offsets, table: Characters, hashes: Hashes, places: Offsets, tokens: Numbers, shapes: Shapes
) -> tuple[int, Numbers, Offsets]:
    slots, spelling = np.zeros((1 << 15, 2), np.uint64), np.empty((2, 1 << 14), np.int64)
    words = written = 0
    for page in range(len(bounds) - 1):
        size = tokenize(text, bounds[page], bounds[page + 1], table, hashes, places[0], places[1])
        own = np.zeros(size, np.uint8)
        shape_sentences(text, hashes, places[0], places[1], size, table, own)
        for at in range(size):
            shapes[written] = own[at]
            if hashes[at] == BREAK:
                tokens[written] = PARAGRAPH_END
                written += 1
                continue
            key = hashes[at] & ~FLAGS
            slot = _slot(slots, key)
            if slots[slot, 1] == 0:
                if words == spelling.shape[1]:
                    slots, spelling = _doubled(slots, spelling)
                    slot = _slot(slots, key)
                spelling[0, words], spelling[1, words] = places[0, at], places[1, at]
                words += 1
                slots[slot, 0], slots[slot, 1] = key, words
            slots[slot, 1] += np.uint64(1) << _WORD_BITS
            tokens[written] = np.uint64(2) * (slots[slot, 1] & _LOW) + (hashes[at] & AFTER_SPACE)
            written += 1
        tokens[written], shapes[written] = PAGE_END, 0
        written += 1
    counts = np.zeros(words, np.uint32)
    for slot in range(len(slots)):
        if slots[slot, 1]:
            counts[(slots[slot, 1] & _LOW) - np.uint64(1)] = slots[slot, 1] >> _WORD_BITS
    return written, counts, spelling[:, :words].copy()


@njit
def count_cases(tokens: Numbers, shapes: Shapes, words: int) -> Numbers:
    """Count the capitals of words where they are informative: not at sentence starts or in lines of capitals."""
    cases = np.zeros((4, words), np.uint32)
    for at in range(len(tokens)):
        if tokens[at] <= PAGE_END or shapes[at] & (FIRST | SHOUTED) or shapes[at] & SHAPE < LOWER:
            continue
        word = (int64(tokens[at]) >> 1) - 1
        if shapes[at] & SHAPE == LOWER:
            cases[0, word] += 1
            continue
        cases[1, word] += 1
        cases[2, word] += at + 1 < len(tokens) and tokens[at + 1] > PAGE_END and shapes[at + 1] & SHAPE >= CAPITAL
        cases[3, word] += tokens[at - 1] > PAGE_END and shapes[at - 1] & SHAPE >= CAPITAL if at > 0 else False
    return cases


@bare
def _slot(slots: Hashes, key: np.uint64) -> int:
    """Return the slot of a key in an open-addressed table, whose rows are a key and its number from 1 on.

    Key and number are adjacent, because most time is spent on memory; a word's count is in the upper bits.
    """
    at = int64(((key >> np.uint64(32)) * np.uint64(len(slots))) >> np.uint64(32))  # type: ignore[arg-type]
    while slots[at, 1] != 0 and slots[at, 0] != key:
        at += 1
        if at == len(slots):
            at = 0
    return at


@inner
def _doubled(slots: Hashes, spelling: Offsets) -> tuple[Hashes, Offsets]:
    size = spelling.shape[1]
    new_slots, new_spelling = np.zeros((2 * len(slots), 2), np.uint64), np.empty((2, 2 * size), np.int64)
    for at in range(len(slots)):
        if slots[at, 1]:
            slot = _slot(new_slots, slots[at, 0])
            new_slots[slot, 0], new_slots[slot, 1] = slots[at, 0], slots[at, 1]
    new_spelling[:, :size] = spelling
    return new_slots, new_spelling


@njit
def numbered(hashes: Hashes) -> tuple[Offsets, Numbers]:
    """Number distinct hashes in order of first occurrence: return first places, and the number at each place."""
    slots = np.zeros((2 * len(hashes) + 1, 2), np.uint64)
    first, numbers = np.empty(len(hashes), np.int64), np.empty(len(hashes), np.uint32)
    count = 0
    for at in range(len(hashes)):
        slot = _slot(slots, hashes[at])
        if slots[slot, 1] == 0:
            first[count] = at
            count += 1
            slots[slot, 0], slots[slot, 1] = hashes[at], count
        numbers[at] = slots[slot, 1] - np.uint64(1)
    return first[:count].copy(), numbers


@njit
def pack_tokens(tokens: Numbers, rank: Numbers) -> Bytes:
    """Pack tokens with new word numbers, seven bits per byte, the lowest first."""
    packed = np.empty(5 * len(tokens), np.uint8)
    size = 0
    for at in range(len(tokens)):
        value = int64(tokens[at])
        if value > PAGE_END:
            value = 2 * (int64(rank[(value >> 1) - 1]) + 1) + (value & 1)
        while value >= 128:
            packed[size] = value & 127 | 128
            value >>= 7
            size += 1
        packed[size] = value
        size += 1
    return packed[:size].copy()


@njit
def unpack_tokens(packed: Bytes) -> Numbers:
    """Undo `pack_tokens`."""
    tokens = np.empty(len(packed), np.uint32)
    count = at = 0
    while at < len(packed):
        value = shift = 0
        while packed[at] >= 128:
            value |= (int64(packed[at]) & 127) << shift
            shift += 7
            at += 1
        tokens[count] = value | int64(packed[at]) << shift
        count += 1
        at += 1
    return tokens[:count].copy()


@njit
def tokens_of_pages(tokens: Numbers, living: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which tokens belong to pages that count."""
    kept = np.empty(len(tokens), np.bool_)
    page = 0
    for at in range(len(tokens)):
        kept[at] = living[page]
        page += tokens[at] == PAGE_END
    return kept


@njit
def chained_tokens(tokens: Numbers, vocabulary: Hashes) -> Hashes:
    """Return the hashes of tokens in the form of mentions, with BREAK after every paragraph and page."""
    hashes = np.empty(len(tokens), np.uint64)
    for at in range(len(tokens)):
        value = int64(tokens[at])
        hashes[at] = vocabulary[(value >> 1) - 1] | np.uint64(value & 1) if value > PAGE_END else BREAK
    return hashes


def word_rows(tokens: Numbers, numbers: NDArray[np.int32], topics: NDArray[np.int32]) -> Numbers:
    """Return rows of (word, topic, count) by page, for words with a number and pages with a topic."""
    rows = np.empty((3, len(tokens)), np.uint32)
    return rows[:, : _word_rows(tokens, numbers, topics, rows)]


@njit
def _word_rows(tokens: Numbers, numbers: NDArray[np.int32], topics: NDArray[np.int32], rows: Numbers) -> int:
    latest = np.full(len(numbers), -1, np.int64)  # by word: the row where it was last counted
    first = count = page = 0  # rows from `first` on are of this page
    for at in range(len(tokens)):
        value = int64(tokens[at])
        if value == PAGE_END:
            page += 1
            first = count
        if value <= PAGE_END or topics[page] < 0:
            continue
        word = (value >> 1) - 1
        if numbers[word] < 0:
            continue
        if latest[word] < first:
            latest[word] = count
            rows[0, count], rows[1, count], rows[2, count] = numbers[word], topics[page], 0
            count += 1
        rows[2, latest[word]] += 1
    return count


def normalized(text: Bytes, starts: Offsets, ends: Offsets) -> tuple[pa.StringArray, Hashes]:
    """Return spans of text as mention strings, with their hashes."""
    out = np.empty(2 * int((ends - starts).sum()) + 8, np.uint8)
    offsets = np.zeros(len(starts) + 1, np.int64)
    _normalized(text, starts, ends, characters(), out, offsets)
    return as_strings(out, offsets), _mention_hashes(out, offsets, characters())


@njit
def _normalized(text: Bytes, starts: Offsets, ends: Offsets, table: Characters, out: Bytes, offsets: Offsets) -> None:
    for span in range(len(starts)):
        offsets[span + 1] = normalize(text, starts[span], ends[span], table, out, offsets[span])


def mention_hashes(strings: pa.ChunkedArray | pa.Array) -> Hashes:
    """The hashes of mention strings."""
    return _mention_hashes(*column_buffer(strings), characters())


@njit
def _mention_hashes(data: Bytes, offsets: Offsets, table: Characters) -> Hashes:
    longest = np.diff(offsets).max() + 1 if len(offsets) > 1 else 1
    tokens, places = np.empty(longest, np.uint64), np.empty((2, longest), np.int64)
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for span in range(len(hashes)):
        sequence = BREAK
        for at in range(tokenize(data, offsets[span], offsets[span + 1], table, tokens, places[0], places[1])):
            if tokens[at] != BREAK:
                sequence = chain(sequence, tokens[at])
        hashes[span] = sequence
    return hashes


@njit
def text_lengths(text: Bytes, bounds: Offsets) -> Numbers:
    """Return the number of characters of each page's text, with runs of white space counted as one."""
    lengths = np.zeros(len(bounds) - 1, np.uint32)
    for page in range(len(bounds) - 1):
        start, end = bounds[page], bounds[page + 1]
        while start < end and text[start] <= 32:
            start += 1
        while start < end and text[end - 1] <= 32:
            end -= 1
        count = 0
        for at in range(start, end):  # without branches, so that it is vectorised
            count += ((text[at] > 32) & ((text[at] & 0xC0) != 0x80)) | ((text[at] <= 32) & (text[at - 1] > 32))
        lengths[page] = count
    return lengths


@njit
def target_hashes(source: Bytes, starts: Offsets, ends: Offsets, dialect: Dialect) -> Hashes:
    """Return the hashes of links' target titles; BREAK where a target is not a title."""
    scratch = np.empty(2 * max(1, (ends - starts).max()) + 8 if len(starts) else 8, np.uint8)
    hashes = np.empty(len(starts), np.uint64)
    for link in range(len(starts)):
        size = normalize_title(source, starts[link], ends[link], dialect, scratch, int64(0))
        hashes[link] = hash_title(scratch, int64(0), size)
    return hashes


def title_strings(source: Bytes, spans: Offsets, dialect: Dialect) -> tuple[pa.StringArray, Hashes]:
    """Return normalised titles and their hashes; `spans` has two rows, starts and ends."""
    out = np.empty(2 * int((spans[1] - spans[0]).sum()) + 8, np.uint8)
    offsets = np.zeros(spans.shape[1] + 1, np.int64)
    _title_strings(source, spans[0], spans[1], dialect, out, offsets)
    return as_strings(out, offsets), hashed_titles(out, offsets)


@njit
def _title_strings(
    source: Bytes, starts: Offsets, ends: Offsets, dialect: Dialect, out: Bytes, offsets: Offsets
) -> None:
    for title in range(len(starts)):
        offsets[title + 1] = normalize_title(source, starts[title], ends[title], dialect, out, offsets[title])


def as_strings(data: Bytes, offsets: Offsets) -> pa.StringArray:
    """Return concatenated strings as an Arrow array without a copy."""
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
    return hashed_titles(*column_buffer(titles))


@njit
def hashed_titles(data: Bytes, offsets: Offsets) -> Hashes:
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for title in range(len(hashes)):
        hashes[title] = hash_title(data, offsets[title], offsets[title + 1])
    return hashes


def word_hashes(words: pa.ChunkedArray | pa.Array) -> Hashes:
    """Return the hashes of words and punctuation marks with their flags; BREAK for other strings."""
    data, offsets = column_buffer(words)
    longest = int(np.diff(offsets).max(initial=0)) + 1
    return _word_hashes(data, offsets, characters(), np.empty(longest, np.uint64), np.empty((2, longest), np.int64))


@njit
def _word_hashes(data: Bytes, offsets: Offsets, table: Characters, hashes: Hashes, places: Offsets) -> Hashes:
    found = np.zeros(len(offsets) - 1, np.uint64)
    for word in range(len(found)):
        if tokenize(data, offsets[word], offsets[word + 1], table, hashes, places[0], places[1]) == 1:
            found[word] = hashes[0]
    return found
