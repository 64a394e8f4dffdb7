"""Tables of strings in two plain arrays: no Python object a string, and nothing to load."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wikilda._core.csr import offsets_of
from wikilda._core.jit import inner, njit


class StringTable(Sequence[str]):
    """Strings by number; in a sorted table (by UTF-8 bytes) also numbers by string."""

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.data, self.offsets = data, offsets

    @classmethod
    def of(cls, strings: Iterable[str]) -> "StringTable":
        """Make a table of strings in the given order."""
        encoded = [string.encode() for string in strings]
        data = np.frombuffer(b"".join(encoded), np.uint8).copy()
        return cls(data, offsets_of([len(each) for each in encoded]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> str:  # type: ignore[override]
        if not 0 <= number < len(self):
            raise IndexError(number)
        return self.data[self.offsets[number] : self.offsets[number + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return (self[number] for number in range(len(self)))

    def find(self, string: str) -> int:
        """The number of a string in a sorted table, or -1."""
        at = self.place(string)
        return at if at < len(self) and self[at] == string else -1

    def place(self, string: str) -> int:
        """Where a string is in a sorted table, or would be."""
        return int(_bisect(self.data, self.offsets, _bytes(string)))

    def beginning_with(self, prefix: str, most: int) -> list[int]:
        """The numbers of strings of a sorted table that begin with a prefix."""
        at = _bisect(self.data, self.offsets, _bytes(prefix))
        found: list[int] = []
        while at < len(self) and len(found) < most and self[at].startswith(prefix):
            found.append(at)
            at += 1
        return found


def _bytes(string: str) -> NDArray[np.uint8]:
    return np.frombuffer(string.encode("utf-8", "replace"), np.uint8).copy()


@njit
def _bisect(data: NDArray[np.uint8], offsets: NDArray[np.int64], wanted: NDArray[np.uint8]) -> int:
    low, high = 0, len(offsets) - 1
    while low < high:
        middle = (low + high) // 2
        if _less(data, offsets[middle], offsets[middle + 1], wanted):
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _less(data: NDArray[np.uint8], start: int, end: int, wanted: NDArray[np.uint8]) -> bool:
    for at in range(min(end - start, len(wanted))):
        if data[start + at] != wanted[at]:
            return bool(data[start + at] < wanted[at])
    return end - start < len(wanted)
