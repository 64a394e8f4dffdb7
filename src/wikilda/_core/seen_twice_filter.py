"""A filter that tells items seen once from items seen again. It errs only towards "again"."""

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Whole, bare

Marks = NDArray[np.uint64]  # in each, 32 bits for "seen" and above them 32 for "seen again"

_MULTIPLIER = np.uint64(0x9E3779B1)
_LOW = np.uint64(0xFFFFFFFF)
_1, _5, _31, _32 = np.uint64(1), np.uint64(5), np.uint64(31), np.uint64(32)
_BITS_PER_ENTRY = 16
_LEAST, _MOST = 12, 27  # log₂ of the number of bits


def marks_for(entries: int) -> int:
    """Return the length of the array for a number of entries."""
    bits = (_BITS_PER_ENTRY * entries - 1).bit_length() if entries else 0
    return 1 << (min(max(bits, _LEAST), _MOST) - 5)  # as in `log_size`, which Python cannot call


@bare
def log_size(entries: Whole) -> Whole:
    """Return the log₂ of the number of bits for a number of entries."""
    size = np.int64(_LEAST)
    while size < _MOST and (np.int64(1) << size) < _BITS_PER_ENTRY * entries:
        size += 1
    return size


@bare
def clear(marks: Marks, log: Whole) -> Whole:
    """Clear the filter, and return the shift that the other functions take."""
    for at in range(np.int64(1) << (log - 5)):
        marks[at] = np.uint64(0)
    return np.uint64(32 - log)


@bare
def mark(marks: Marks, shift: Whole, topic: Whole) -> None:
    """Mark a topic as seen."""
    place = ((topic * _MULTIPLIER) & _LOW) >> shift
    bit = _1 << (place & _31)
    word = marks[place >> _5]
    marks[place >> _5] = word | bit | ((word & bit) << _32)


@bare
def seen_again(marks: Marks, shift: Whole, topic: Whole) -> Whole:
    """1 if a topic was seen more than once (or another with the same mark), else 0."""
    place = ((topic * _MULTIPLIER) & _LOW) >> shift
    return (marks[place >> _5] >> (_32 + (place & _31))) & _1
