"""The model's table back as arrays: the driver reads a few rows at a time, and appends them to files."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from wikilda._core.errors import WikildaError
from wikilda._core.npy import GrowingArray
from wikilda.model import Model
from wikilda.model import model as kinds
from wikilda.training.engines.spark.rows import MENTIONS, WORDS, lists
from wikilda.training.engines.spark.tables import Tables
from wikilda.training.interpolate import Change, Joined


def fetch_tables(tables: Tables, name: str, model: Model, scratch: Path) -> dict[str, Joined]:
    """The rows of words and of mentions that follow those of a model."""
    scratch.mkdir(parents=True, exist_ok=True)
    made = {
        WORDS: _Fetched(scratch / kinds.WORDS, model.words.symbols),
        MENTIONS: _Fetched(scratch / kinds.MENTIONS, model.mentions.symbols),
    }
    for batch in tables.batches(name):
        bounds = np.searchsorted(batch.column("kind").to_numpy(), (WORDS, MENTIONS, MENTIONS + 1))
        for kind, start, end in zip((WORDS, MENTIONS), bounds[:-1], bounds[1:], strict=True):
            made[kind].append(batch.slice(start, end - start))
    return {kinds.WORDS: made[WORDS].finish(), kinds.MENTIONS: made[MENTIONS].finish()}


class _Fetched:
    """One kind of symbols on its way to files."""

    def __init__(self, place: Path, symbols: int) -> None:
        self.topics = GrowingArray(place.with_suffix(".topics.npy"), np.uint32)
        self.values = GrowingArray(place.with_suffix(".values.npy"), np.float32)
        self.lengths = np.zeros(symbols + 1, np.int64)
        self.last, self.changes = -1, np.zeros(2, np.int64)

    def append(self, rows: pa.RecordBatch) -> None:
        """Add rows, which must come in the order of symbols."""
        symbols = rows.column("symbol").to_numpy()
        if len(symbols) == 0:
            return
        if symbols[0] < self.last or np.any(np.diff(symbols) < 0):
            raise WikildaError("the table of the model is not in the order of its symbols: files of it are missing.")
        self.last = int(symbols[-1])
        topics = lists([rows.column("topics")], np.uint32)
        np.add.at(self.lengths, symbols + 1, topics.lengths)
        self.topics.append(topics.values)
        self.values.append(lists([rows.column("values")], np.float32).values)
        self.changes += [_sum(rows, "gained"), _sum(rows, "dropped")]

    def finish(self) -> Joined:
        """The table as files."""
        offsets = np.cumsum(self.lengths)
        gained, dropped = self.changes.tolist()
        change = Change(int(offsets[-1]), gained, dropped)
        return Joined(offsets, self.topics.finish(), self.values.finish(), change)


def _sum(rows: pa.RecordBatch, name: str) -> Any:
    return rows.column(name).to_numpy().sum()
