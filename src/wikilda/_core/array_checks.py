"""Declarations of an artifact's arrays, checked when it is opened.

Kernels do not check bounds: a wrong offset, number or hash table would access memory outside an array. So
every class of artifacts declares each of its arrays:

    class Knowledge(Artifact):
        arrays = {
            **strings("topics/titles", "topics"),
            "topics/wikidata": Array(np.int64, "topics", minimum=0),
            **rows("mentions/", "mentions", topics=Array(np.uint32, below="topics", increasing=True)),
            **hash_table("mentions/trie_", below="mentions"),
        }

A size is a name ("topics"): all arrays of that size have the same length, and `below="topics"` holds for numbers that
point into them. To add an array, add a line; an array that is not declared is refused, when written and when opened.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikilda._core.arrays import EMPTY

_CHUNK = 1 << 22  # values that are checked at a time
_LONGEST_RUN = 4096  # slots that a lookup may probe; tables written by wikilda need about 200
ANY = "*/"  # prefix of declarations for all folders, each with its own sizes


@dataclass(frozen=True)
class Array:
    """Declaration of one array.

    Parameters
    ----------
    dtype
        The type of its values, exactly.
    size
        The name of its length. Arrays with the same name have the same length. Empty: any length.
    below
        Exclusive upper bound: a number, or the name of a size.
    minimum
        The least value. Floating-point values are finite and, unless this says otherwise, not negative.
    increasing
        In `rows`: whether values increase strictly within each row.
    optional
        Whether it may be missing. Optional arrays of one folder are all present or all missing.
    """

    dtype: DTypeLike
    size: str = ""
    below: str | int = ""
    minimum: float | None = None
    increasing: bool = False
    optional: bool = False
    # Set by `rows`, `strings` and `hash_table`.
    extra: int = 0
    into: str = ""
    offsets: str = ""
    filled: bool = False
    text: bool = False
    room: bool = False
    keys: str = ""  # of a hash table's values


Arrays = Mapping[str, Array]


def rows(prefix: str, size: str, *, filled: bool = False, optional: bool = False, **columns: Array) -> Arrays:
    """Concatenated rows: offsets, and columns with one value per entry. With `filled`, no row is empty.

    `rows("mentions/", "mentions", topics=…)` declares `mentions/offsets` and `mentions/topics`.
    """
    entries = f"entries of {prefix}"
    offsets = Array(np.int64, size, extra=1, into=entries, filled=filled, optional=optional)
    made = {f"{prefix}offsets": offsets}
    for name, each in columns.items():
        own = replace(each, size=entries, offsets=f"{prefix}offsets", optional=optional or each.optional)
        made[f"{prefix}{name}"] = own
    return made


def strings(name: str, size: str, *, optional: bool = False) -> Arrays:
    """A table of strings: `NAME.bytes`, which is UTF-8 between any two of `NAME.offsets`."""
    return rows(f"{name}.", size, optional=optional, bytes=Array(np.uint8, text=True))


def hash_table(prefix: str, below: str, *, optional: bool = False) -> Arrays:
    """A hash table with room: `PREFIXkeys`, and `PREFIXvalues` from −1 to below a size."""
    slots = f"slots of {prefix}"
    return {
        f"{prefix}keys": Array(np.uint64, slots, room=True, optional=optional),
        f"{prefix}values": Array(np.int32, slots, below=below, minimum=-1, optional=optional, keys=f"{prefix}keys"),
    }


class Wrong(Exception):  # noqa: N818
    """An array differs from its declaration: its name, and the problem."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"{name}: {what}")
        self.name, self.what = name, what


def declared_for(arrays: Arrays, present: set[str]) -> dict[str, Array]:
    """Return the declarations of the present arrays. Missing and undeclared arrays are errors."""
    spread = _spread(arrays, present)
    for name in sorted(present - spread.keys()):
        raise Wrong(name, "is not declared among the arrays of this kind of artifact")
    begun = {_folder(name) for name in present if spread[name].optional}
    for name, each in spread.items():
        if name not in present and (not each.optional or _folder(name) in begun):
            raise Wrong(name, "is missing")
    return {name: each for name, each in spread.items() if name in present}


def check_sizes(
    declared: Arrays, array: Callable[[str], NDArray[Any]], known: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Check types and lengths, and return the sizes. Only headers are read."""
    sizes = dict(known or {})
    for name, each in declared.items():
        found = array(name)
        if found.dtype != np.dtype(each.dtype):
            raise Wrong(name, f"has values of type {found.dtype}, not {np.dtype(each.dtype)}")
        length = len(found) - each.extra
        if length < 0 or (each.room and length == 0):
            raise Wrong(name, "is empty")
        if each.size and sizes.setdefault(each.size, length) != length:
            raise Wrong(name, f"has length {len(found):,}, not {sizes[each.size] + each.extra:,} ({each.size})")
    return sizes


def check_values(declared: Arrays, array: Callable[[str], NDArray[Any]], sizes: Mapping[str, int]) -> None:
    """Check all values; reads every array once, some twice."""
    for name, each in declared.items():
        if each.into:
            _check_offsets(name, each, array(name), sizes.get(each.into, 0))
    for name, each in declared.items():
        found = array(name)
        if each.text:
            _check_text(name, found, array(each.offsets))
        elif each.keys and sizes[str(each.below)] == 0:  # free slots have the value 0, which is below no size of 0
            if (array(each.keys) != EMPTY).any():
                raise Wrong(each.keys, f"has keys, and there are no {each.below}")
        elif not each.into:
            _check_range(name, each, found, sizes)
        if each.increasing and (at := _first_decrease(array(each.offsets), found)) >= 0:
            raise Wrong(name, f"does not increase within a row, at {at:,}")
        if each.room:
            _check_room(name, found)


def _check_offsets(name: str, each: Array, offsets: NDArray[np.int64], end: int) -> None:
    if offsets[0] != 0 or offsets[-1] != end:
        raise Wrong(name, f"goes from {offsets[0]:,} to {offsets[-1]:,}, not from 0 to {end:,}")
    for start in range(0, len(offsets) - 1, _CHUNK):
        part = offsets[start : start + _CHUNK + 1]
        wrong = part[1:] <= part[:-1] if each.filled else part[1:] < part[:-1]
        if wrong.any():
            what = "has an empty row" if each.filled else "decreases"
            raise Wrong(name, f"{what} at {start + int(wrong.argmax()):,}")


def _check_range(name: str, each: Array, values: NDArray[Any], sizes: Mapping[str, int]) -> None:
    if values.dtype == np.bool_:
        values, each = values.view(np.uint8), replace(each, below=2)
    floating = values.dtype.kind == "f"
    least = 0 if each.minimum is None and floating else each.minimum
    below: float | None = (sizes[each.below] if isinstance(each.below, str) else each.below) if each.below else None
    if len(values) == 0 or (least is None and below is None):
        return
    low, high = values.min(), values.max()
    if least is not None and not low >= least:  # true for NaN, too
        raise Wrong(name, f"has the value {low}, which is not at least {least}")
    if below is not None and not high < below:
        raise Wrong(name, f"has the value {high}, which is not below {below:,}")
    if floating and not np.isfinite(high):
        raise Wrong(name, f"has the value {high}, which is not finite")


def _check_text(name: str, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
    starts = offsets[: np.searchsorted(offsets, len(data))]
    for first in range(0, len(starts), _CHUNK):
        if ((data[starts[first : first + _CHUNK]] & 0xC0) == 0x80).any():
            raise Wrong(name, "has a string that ends within a character")
    for start, end in _stretches(offsets):
        try:
            data[start:end].tobytes().decode()
        except UnicodeDecodeError as error:
            raise Wrong(name, f"is not UTF-8 at {start + error.start:,}") from None


def _stretches(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole strings, a few megabytes each."""
    start, last = 0, int(offsets[-1])
    while start < last:
        end = int(offsets[np.searchsorted(offsets, min(start + _CHUNK, last))])
        yield start, end
        start = end


def _check_room(name: str, keys: NDArray[np.uint64]) -> None:
    run = min(_longest_run(keys), len(keys))
    if run >= len(keys) or run > _LONGEST_RUN:
        raise Wrong(name, f"is a hash table with {run:,} of {len(keys):,} slots taken in a row")


def _longest_run(keys: NDArray[np.uint64]) -> int:
    """Return the length of the longest run of occupied slots. Runs wrap around."""
    first, last, longest = -1, -1, 0  # the first and the last empty slot
    for start in range(0, len(keys), _CHUNK):
        empty = start + np.flatnonzero(keys[start : start + _CHUNK] == EMPTY)
        if len(empty):
            longest = max(longest, int(empty[0]) - last - 1 if last >= 0 else 0, int(np.diff(empty).max(initial=1)) - 1)
            first, last = first if first >= 0 else int(empty[0]), int(empty[-1])
    return max(longest, first + len(keys) - last - 1) if last >= 0 else len(keys)


def _first_decrease(offsets: NDArray[np.int64], values: NDArray[Any]) -> int:
    """Return the first index whose value is not larger than its predecessor in the row, or −1."""
    for start in range(int(offsets[0]) + 1, int(offsets[-1]), _CHUNK):
        part = values[start - 1 : min(start + _CHUNK, int(offsets[-1]))]
        places = start + np.flatnonzero(part[1:] <= part[:-1])
        inside = offsets[np.searchsorted(offsets, places)] != places
        if inside.any():
            return int(places[inside.argmax()])
    return -1


def _folder(name: str) -> str:
    return name.partition("/")[0]


def _spread(arrays: Arrays, present: set[str]) -> dict[str, Array]:
    """Expand declarations for all folders into one per folder."""
    folders = sorted({name.partition("/")[0] + "/" for name in present if "/" in name})
    spread: dict[str, Array] = {}
    for name, each in arrays.items():
        if name.startswith(ANY):
            spread |= {name.replace(ANY, folder, 1): _within(each, folder) for folder in folders}
        else:
            spread[name] = each
    return spread


def _within(each: Array, folder: str) -> Array:
    """Return a declaration for all folders as one for a single folder, with its own sizes."""
    own = {part: getattr(each, part).replace(ANY, folder, 1) for part in ("size", "into", "offsets", "keys")}
    return replace(each, **own)
