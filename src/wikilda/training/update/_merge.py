"""Insert into sorted tables: strings, columns and sparse rows. Old numbers keep their order."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wikilda._core.arrays import StringTable, offsets_of
from wikilda._core.artifact import Writer
from wikilda._core.jit import Whole, njit
from wikilda.knowledge import Knowledge


class Numbering(NamedTuple):
    """Old and new numbers of the strings of a table."""

    new_of_old: NDArray[np.int64]
    old_of_new: NDArray[np.int64]  # −1 for those inserted
    strings: list[str]  # the inserted ones, sorted
    places: NDArray[np.int64]  # their new numbers
    by_string: dict[str, int]

    @property
    def size(self) -> int:
        """The new number of strings."""
        return len(self.old_of_new)


class Delta(NamedTuple):
    """What is added to rows, by row and topic (new numbers)."""

    rows: NDArray[np.int64]
    topics: NDArray[np.uint32]
    changes: NDArray[np.float64]


def insert(table: StringTable, strings: set[str]) -> Numbering:
    """Renumber a sorted table with inserted strings. Existing strings are not changed."""
    new = sorted((each for each in strings if table.find(each) < 0), key=str.encode)
    before = np.array([table.place(each) for each in new], np.int64)
    old = np.arange(len(table), dtype=np.int64)
    new_of_old = old + np.searchsorted(before, old, "right")
    places = before + np.arange(len(new))
    old_of_new = np.full(len(table) + len(new), -1, np.int64)
    old_of_new[new_of_old] = old
    return Numbering(
        new_of_old=new_of_old,
        old_of_new=old_of_new,
        strings=new,
        places=places,
        by_string=dict(zip(new, places.tolist(), strict=True)),
    )


def number_of(string: str, table: StringTable, numbering: Numbering) -> int:
    """The new number of a string; −1 if it is in neither."""
    found = numbering.by_string.get(string)
    if found is not None:
        return found
    old = table.find(string)
    return int(numbering.new_of_old[old]) if old >= 0 else -1


def write_strings(
    writer: Writer[Knowledge], name: str, table: StringTable, inserted: list[str], places: NDArray[np.int64]
) -> None:
    """A table of strings with some inserted at their new numbers."""
    encoded = [each.encode() for each in inserted]
    lengths = np.empty(len(table) + len(encoded), np.int64)
    is_new = np.zeros(len(lengths), np.bool_)
    is_new[places] = True
    lengths[~is_new] = np.diff(table.offsets)
    lengths[is_new] = [len(each) for each in encoded]
    offsets = offsets_of(lengths)
    data, done = writer.create(f"{name}.bytes", np.uint8, int(offsets[-1])), 0
    for number, (place, each) in enumerate(zip(places.tolist(), encoded, strict=True)):
        old = int(place) - number  # number of old strings before it
        data[offsets[place] - (table.offsets[old] - table.offsets[done]) : offsets[place]] = table.data[
            table.offsets[done] : table.offsets[old]
        ]
        data[offsets[place] : offsets[place + 1]] = np.frombuffer(each, np.uint8)
        done = old
    rest = table.data[table.offsets[done] :]
    if len(rest):
        data[int(offsets[-1]) - len(rest) :] = rest
    writer.array(f"{name}.offsets", offsets)


def replaced(table: StringTable, changed: dict[int, str]) -> StringTable:
    """A table with some of its strings replaced."""
    if not changed:
        return table
    lengths, parts, done = np.diff(table.offsets), list[NDArray[np.uint8]](), 0
    for number in sorted(changed):
        data = np.frombuffer(changed[number].encode(), np.uint8)
        parts += [table.data[table.offsets[done] : table.offsets[number]], data]
        lengths[number], done = len(data), number + 1
    return StringTable(np.concatenate([*parts, table.data[table.offsets[done] :]]), offsets_of(lengths))


def write_column(
    writer: Writer[Knowledge], name: str, old: NDArray[Any], numbering: Numbering, values: NDArray[Any]
) -> NDArray[Any]:
    """A column with a value for every inserted string."""
    column = writer.create(name, old.dtype, numbering.size)
    column[numbering.new_of_old] = old
    column[numbering.places] = values
    return column


def delta_of(changes: dict[tuple[int, int], float]) -> Delta:
    """Changes by (row, topic), sorted."""
    pairs = sorted(changes)
    return Delta(
        np.array([row for row, _ in pairs], np.int64),
        np.array([topic for _, topic in pairs], np.uint32),
        np.array([changes[pair] for pair in pairs], np.float64),
    )


class Rows(NamedTuple):
    """Sparse rows: numbers, sorted, and their values, from offsets[row] on."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    values: NDArray[Any]


def merge_rows(
    old: Rows, rows: NDArray[np.int64], topics: NDArray[np.int64], delta: Delta, kind: DTypeLike
) -> "tuple[NDArray[np.int64], Filler]":
    """The offsets of the new rows, and what fills their arrays."""
    fill = Filler(old=old, rows=rows, topics=topics, delta=delta, kind=np.dtype(kind))
    lengths = _merge(*old, rows, topics, *delta, np.empty(0, np.uint32), np.empty(0, kind), False)
    return offsets_of(lengths), fill


class Filler(NamedTuple):
    """Writes merged rows into arrays."""

    old: Rows
    rows: NDArray[np.int64]  # old numbers of the new rows, −1 for inserted ones
    topics: NDArray[np.int64]  # new numbers of the old topics
    delta: Delta
    kind: "np.dtype[Any]"

    def into(self, topics: NDArray[np.uint32], values: NDArray[Any]) -> None:
        """Fill arrays of the right length."""
        _merge(*self.old, self.rows, self.topics, *self.delta, np.asarray(topics), np.asarray(values), True)


@njit
def _merge(
    offsets: NDArray[np.int64], topics: NDArray[np.uint32], values: NDArray[Any], rows: NDArray[np.int64],
    topic_map: NDArray[np.int64], delta_rows: NDArray[np.int64], delta_topics: NDArray[np.uint32],
    changes: NDArray[np.float64], to_topics: NDArray[np.uint32], to_values: NDArray[Any], fill: bool,
) -> NDArray[np.int64]:  # fmt: skip
    """New rows: old values plus changes, without those that fall to 0; returns their lengths."""
    lengths = np.zeros(len(rows), np.int64)
    b: Whole = np.int64(0)
    to = np.int64(0)
    for row in range(len(rows)):
        a: Whole = offsets[rows[row]] if rows[row] >= 0 else np.int64(0)
        a_end: Whole = offsets[rows[row] + 1] if rows[row] >= 0 else np.int64(0)
        start = to
        while a < a_end or (b < len(delta_rows) and delta_rows[b] == row):
            more = b < len(delta_rows) and delta_rows[b] == row
            topic = topic_map[topics[a]] if a < a_end else np.int64(-1)
            in_old = a < a_end and (not more or topic <= delta_topics[b])
            in_new = more and (a == a_end or delta_topics[b] <= topic)
            value = (np.float64(values[a]) if in_old else 0.0) + (changes[b] if in_new else 0.0)
            if value > 0.0:
                if fill:
                    to_topics[to] = topic if in_old else np.int64(delta_topics[b])
                    to_values[to] = value
                to += 1
            a += in_old
            b += in_new
        lengths[row] = to - start
    return lengths
