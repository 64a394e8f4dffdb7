"""A wiki's categories: those of each topic, and their parents."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import StringTable, offsets_of

Numbers = NDArray[np.uint32]


class Lists(NamedTuple):
    """Sorted lists of numbers, one per row, from offsets[row] on."""

    offsets: NDArray[np.int64]
    numbers: Numbers

    def row(self, number: int) -> Numbers:
        """Return the list of a row."""
        return self.numbers[self.offsets[number] : self.offsets[number + 1]]

    @classmethod
    def of(cls, rows: NDArray[np.int64], numbers: NDArray[np.int64], length: int) -> "Lists":
        """Lists of pairs (row, number); a pair that is given twice counts once."""
        pairs = np.unique(np.stack([rows, numbers], axis=1), axis=0)
        return cls(offsets_of(np.bincount(pairs[:, 0], minlength=length)), pairs[:, 1].astype(np.uint32))

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows and numbers of all entries."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets)), self.numbers.astype(np.int64)


@dataclass(frozen=True)
class Categories:
    """Categories are numbers, in the order of their names.

    A hidden category is one that the wiki hides from readers, or whose name marks maintenance (stubs, cleanup). It is
    returned only on request.
    """

    names: StringTable
    hidden: NDArray[np.bool_]
    topics: Lists  # by topic: its categories
    members: Lists  # by category: its topics
    parents: Lists  # by category: the categories that it is in
    children: Lists  # by category: the categories that are in it

    def __len__(self) -> int:
        return len(self.names)

    def find(self, name: str) -> int:
        """The category of a name, without its namespace; −1 if there is none."""
        name = " ".join(name.replace("_", " ").split())
        return self.names.find(name[:1].upper() + name[1:])

    def of(self, topic: int, *, hidden: bool = False) -> Numbers:
        """The categories of a topic."""
        return self._seen(self.topics.row(topic), hidden)

    def parents_of(self, category: int, *, hidden: bool = False) -> Numbers:
        """The categories that a category is in."""
        return self._seen(self.parents.row(category), hidden)

    def ancestors(self, topic: int, depth: int) -> dict[int, int]:
        """The categories of a topic, their parents and so on, each with its distance: 1 for the topic's own."""
        return self._walk(self.of(topic), self.parents, depth)

    def members_of(self, category: int, depth: int = 0) -> NDArray[np.int64]:
        """The topics in a category, and in categories up to `depth` steps below it."""
        within = self._walk(np.array([category], np.uint32), self.children, depth + 1)
        return np.unique(np.concatenate([self.members.row(each) for each in within])).astype(np.int64)

    def _seen(self, numbers: Numbers, hidden: bool) -> Numbers:
        return numbers if hidden else numbers[~self.hidden[numbers]]

    def _walk(self, first: Numbers, step: Lists, depth: int) -> dict[int, int]:
        """Walk breadth first. Cycles, which wikis have, are visited once."""
        distances: dict[int, int] = {}
        level = first
        for distance in range(1, depth + 1):
            fresh = [int(each) for each in level if int(each) not in distances]
            if not fresh:
                break
            distances |= dict.fromkeys(fresh, distance)
            level = np.unique(np.concatenate([self._seen(step.row(each), False) for each in fresh]))
        return distances
