"""Convert offsets between code points (Python), UTF-16 units (JavaScript, Java) and UTF-8 bytes."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import InputError

CODE_POINTS, UTF16, BYTES = "code-points", "utf-16", "bytes"

Spans = list[tuple[int, int]]
Points = NDArray[np.uint32]

# The number of units of a code point. A lone surrogate takes one unit in UTF-16, and three bytes.
_SIZES: dict[str, Callable[[Points], NDArray[np.int64]]] = {
    UTF16: lambda points: 1 + (points > 0xFFFF).astype(np.int64),
    BYTES: lambda points: 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF),
}
UNITS = (CODE_POINTS, *_SIZES)


def from_code_points(text: str, spans: Spans, unit: str) -> Spans:
    """Convert spans from code points to another unit."""
    if unit == CODE_POINTS or not spans:
        return spans
    return [(start, end) for start, end in _positions(text, unit)[np.array(spans)].tolist()]


def to_code_points(text: str, spans: Spans, unit: str) -> Spans:
    """Convert spans to code points. Spans that split a character or exceed the text are refused."""
    if unit == CODE_POINTS or not spans:
        return spans
    positions = _positions(text, unit)
    wanted = np.array([min(max(offset, -1), 1 << 62) for span in spans for offset in span], np.int64)
    found = np.minimum(np.searchsorted(positions, wanted), len(text))
    for offset in wanted[positions[found] != wanted].tolist():
        where = f"is not inside the text of {positions[-1]}" if not 0 <= offset <= positions[-1] else "cuts a character"
        raise InputError(f"the offset {offset} {where} (in {unit}). Check the unit of the offsets.")
    return [(start, end) for start, end in found.reshape(-1, 2).tolist()]


def _positions(text: str, unit: str) -> NDArray[np.int64]:
    """Return the position of each code point, and of the end of the text."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    positions = np.zeros(len(points) + 1, np.int64)
    np.cumsum(_SIZES[unit](points), out=positions[1:])
    return positions
