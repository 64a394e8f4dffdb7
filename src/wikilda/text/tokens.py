"""Tokens and their 64-bit hashes, computed on UTF-8 bytes.

A token is a run of letters, digits and marks, or one character of a script without spaces, or one mark of
punctuation. Its hash is that of its lower-cased characters; the two lowest bits are flags. A mention is a
sequence of tokens: its hash is chained over them and tells `u.s.` from `u. s.`.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.jit import bare, int64, njit
from wikilda.text.characters import MARK, PUNCTUATION, SPACE, TABLE_SIZE, WORD_PART, Characters, characters

AFTER_SPACE = np.uint64(1)
WORD = np.uint64(2)
FLAGS = np.uint64(3)
BREAK = np.uint64(0)  # no token: the end of a paragraph, which no mention crosses

_SEED = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_MIX1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX2 = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)
_ONE = np.uint64(1)
_NEWLINE = 10

NAME_SPACE = 32
_PLAIN = np.zeros(256, np.uint8)  # ASCII letters and digits, in lower case
_PLAIN[48:58], _PLAIN[65:91], _PLAIN[97:123] = range(48, 58), range(97, 123), range(97, 123)

Bytes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]
Offsets = NDArray[np.int64]


@bare
def mix(value: np.uint64) -> np.uint64:
    """Scramble 64 bits so that each depends on all (the finaliser of MurmurHash3)."""
    value ^= value >> _SHIFT
    value *= _MIX1
    value ^= value >> _SHIFT
    value *= _MIX2
    value ^= value >> _SHIFT
    return value


@bare
def decode(text: Bytes, at: int) -> tuple[int, int]:
    """Return the code point at a position of valid UTF-8, and its length in bytes."""
    first = int64(text[at])
    if first < 0x80:
        return first, 1
    if first < 0xE0:
        return ((first & 0x1F) << 6) | (int64(text[at + 1]) & 0x3F), 2
    if first < 0xF0:
        return ((first & 0x0F) << 12) | ((int64(text[at + 1]) & 0x3F) << 6) | (int64(text[at + 2]) & 0x3F), 3
    point = ((first & 0x07) << 18) | ((int64(text[at + 1]) & 0x3F) << 12)
    return point | ((int64(text[at + 2]) & 0x3F) << 6) | (int64(text[at + 3]) & 0x3F), 4


@bare
def encode(point: int, out: Bytes, at: int) -> int:
    """Write a code point as UTF-8, and return the position after it."""
    if point < 0x80:
        out[at] = point
        return at + 1
    if point < 0x800:
        out[at] = 0xC0 | (point >> 6)
        out[at + 1] = 0x80 | (point & 0x3F)
        return at + 2
    if point < 0x10000:
        out[at] = 0xE0 | (point >> 12)
        out[at + 1] = 0x80 | ((point >> 6) & 0x3F)
        out[at + 2] = 0x80 | (point & 0x3F)
        return at + 3
    out[at] = 0xF0 | (point >> 18)
    out[at + 1] = 0x80 | ((point >> 12) & 0x3F)
    out[at + 2] = 0x80 | ((point >> 6) & 0x3F)
    out[at + 3] = 0x80 | (point & 0x3F)
    return at + 4


@bare
def add_point(value: np.uint64, point: int) -> np.uint64:
    """Add a character to a hash."""
    return (value ^ np.uint64(point)) * _PRIME


@bare
def kind_of(point: int, table: Characters) -> int:
    """Return the kind of a character. Beyond the table are variation selectors and private use."""
    return int64(table.kind[point]) if point < TABLE_SIZE else MARK


@bare
def lower_of(point: int, table: Characters) -> int:
    """The lower case of a character."""
    return int64(table.lower[point]) if point < TABLE_SIZE else point


@bare
def is_small(point: int, table: Characters) -> bool:
    """Whether a character is a small letter, which has a capital; those past the table have none."""
    low = lower_of(point, table)
    if low >= TABLE_SIZE:
        return False
    upper = int64(table.upper[low])
    return bool(upper != point and upper != low)


@njit
def tokenize(
    text: Bytes, start: int, end: int, table: Characters, hashes: Hashes, starts: Offsets, ends: Offsets
) -> int:
    """Tokenise `text[start:end]`, and return the number of tokens. The arrays must hold `end - start`.

    A line break that ends a paragraph is the token BREAK.
    """
    count = 0
    at = start
    after_space = False
    while at < end:
        point, size = decode(text, at)
        kind = kind_of(point, table)
        if kind == SPACE:
            after_space = True
            if point == _NEWLINE and count > 0 and hashes[count - 1] != BREAK:
                hashes[count] = BREAK
                starts[count] = ends[count] = at
                count += 1
            at += size
            continue
        starts[count] = at
        value = add_point(_SEED, lower_of(point, table))
        at += size
        joins = kind in (WORD_PART, MARK)
        while at < end:
            if joins and _PLAIN[text[at]]:  # most letters, without the tables
                value = add_point(value, int64(_PLAIN[text[at]]))
                at += 1
                continue
            point, size = decode(text, at)
            following = kind_of(point, table)
            if following != MARK and (following != WORD_PART or not joins):
                break
            value = add_point(value, lower_of(point, table))
            at += size
        hashes[count] = _flagged(value, kind, after_space)
        ends[count] = at
        count += 1
        after_space = False
    return count


@bare
def _flagged(value: np.uint64, kind: int, after_space: bool) -> np.uint64:
    value = mix(value) & ~FLAGS
    if value == BREAK:
        value = FLAGS + _ONE
    if after_space:
        value |= AFTER_SPACE
    return value if kind == PUNCTUATION else value | WORD


@bare
def chain(sequence: np.uint64, token: np.uint64) -> np.uint64:
    """Return the hash of a token sequence with one more token. A sequence begins with BREAK."""
    if sequence == BREAK:
        return mix(token | FLAGS)
    return mix((sequence * _PRIME) ^ (token | WORD))


@njit
def normalize(text: Bytes, start: int, end: int, table: Characters, out: Bytes, at: int) -> int:
    """Write text in lower case with single spaces and none at its ends, and return the position after it."""
    begin = at
    pending = False
    while start < end:
        point, size = decode(text, start)
        start += size
        if kind_of(point, table) == SPACE:
            pending = at > begin
            continue
        if pending:
            out[at] = NAME_SPACE
            at += 1
            pending = False
        at = encode(lower_of(point, table), out, at)
    return at


@njit
def sequence_hash(text: Bytes, start: int, end: int, table: Characters) -> tuple[np.uint64, int]:
    """The hash of a mention, and its number of tokens."""
    hashes, places = np.empty(end - start + 1, np.uint64), np.empty((2, end - start + 1), np.int64)
    sequence = BREAK
    length = 0
    for at in range(tokenize(text, start, end, table, hashes, places[0], places[1])):
        if hashes[at] != BREAK:
            sequence = chain(sequence, hashes[at])
            length += 1
    return sequence, length


def as_bytes(text: str) -> Bytes:
    """Return the UTF-8 bytes of a string for kernels. Lone surrogates become question marks."""
    return byte_array(text.encode("utf-8", "replace"))


def byte_array(data: bytes) -> Bytes:
    """Return bytes as a writable array: read-only ones would be a second type to compile for."""
    return np.frombuffer(data, np.uint8).copy()


def joined(parts: list[bytes]) -> tuple[bytes, Offsets]:
    """Concatenate parts, and return their bounds."""
    return b"".join(parts), offsets_of([len(part) for part in parts])


class Strings(NamedTuple):
    """Strings for kernels: concatenated UTF-8 bytes; string i begins at offsets[i]."""

    data: Bytes
    offsets: Offsets

    @classmethod
    def of(cls, strings: list[str]) -> "Strings":
        """Strings as bytes; lone surrogates become question marks."""
        data, offsets = joined([string.encode("utf-8", "replace") for string in strings])
        return cls(byte_array(data), offsets)

    def to_list(self) -> list[str]:
        """The strings."""
        return [self.data[start:end].tobytes().decode() for start, end in pairwise(self.offsets.tolist())]


def normalized(text: str) -> str:
    """Return a mention string in the dictionary's spelling."""
    source = as_bytes(text)
    out = np.empty(2 * len(source) + 4, np.uint8)
    return out[: normalize(source, 0, len(source), characters(), out, 0)].tobytes().decode()


def mention_key(text: str) -> tuple[str, int]:
    """Return a mention string in the dictionary's spelling, and its hash."""
    spelling = normalized(text)
    data = as_bytes(spelling)
    return spelling, int(sequence_hash(data, 0, len(data), characters())[0])


class Tokens(NamedTuple):
    """A tokenised text: its bytes, and the hashes of its tokens (with their flags) and where they start and end."""

    text: Bytes
    hashes: Hashes
    starts: Offsets
    ends: Offsets


def tokens_of(text: str) -> Tokens:
    """Tokenise a text."""
    data = as_bytes(text)
    hashes, bounds = np.empty(len(data) + 1, np.uint64), np.empty((2, len(data) + 1), np.int64)
    count = tokenize(data, 0, len(data), characters(), hashes, bounds[0], bounds[1])
    return Tokens(text=data, hashes=hashes[:count], starts=bounds[0][:count], ends=bounds[1][:count])


def token_hashes(text: str) -> Hashes:
    """The tokens of a text as hashes with their flags."""
    return tokens_of(text).hashes.copy()


def word_hash(word: str) -> int:
    """The hash under which a content word is counted."""
    hashes = token_hashes(word)
    return int(hashes[0] & ~FLAGS) if len(hashes) == 1 else 0
