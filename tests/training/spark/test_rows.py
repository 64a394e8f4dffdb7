"""Lists in batches and back, and the outer join however it is cut into batches. Needs PySpark, but starts no Java."""

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'wikilda[spark]'")

from wikilda._core.arrays import Run
from wikilda.model import Parameters
from wikilda.training.engines.spark import _merging as merging
from wikilda.training.engines.spark import rows
from wikilda.training.engines.spark.rows import MENTIONS, WORDS, list_array, lists, model_batch, segments
from wikilda.training.engines.spark.tables import signed, unsigned
from wikilda.training.interpolate import Blend, blend_rows

STRETCH = 10  # topics whose counts are in one list
BLEND = Blend(0.5, 0.01, 0.2)


def test_long_lists_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "SEGMENT", 3)
    which, numbers, offsets = segments(np.array([2, 0, 7, 3]))
    assert which.tolist() == [0, 2, 2, 2, 3]
    assert numbers.tolist() == [0, 0, 1, 2, 0]
    assert offsets.tolist() == [0, 2, 5, 8, 9, 12]


def test_keys_keep_their_order() -> None:
    keys = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    assert np.all(np.diff(signed(keys)) > 0)
    assert unsigned(signed(keys)).tolist() == keys.tolist()


def test_missing_lists_are_empty() -> None:
    found = lists([pa.array([[1, 2], None, [3]]), pa.array([[], [4]], pa.list_(pa.int64()))], np.uint32)
    assert found.lengths.tolist() == [2, 0, 1, 0, 1]
    assert found.values.tolist() == [1, 2, 3, 4]


def some_rows(generator: np.random.Generator, symbols: int, most: int) -> list[np.ndarray]:
    return [
        np.sort(generator.choice(50, generator.integers(0, most), replace=False)).astype(np.uint32)
        for _ in range(symbols)
    ]


def flat(found: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, found)]), np.concatenate(found)


def batches_of(
    kind: int, offsets: np.ndarray, topics: np.ndarray, values: np.ndarray, update: Run
) -> list[pa.RecordBatch]:
    """Old rows and sums in the order in which a worker gets them."""
    old = model_batch(kind, np.arange(len(offsets) - 1), np.diff(offsets), topics, values)
    old = old.drop_columns(["gained", "dropped"]).append_column("sweeps", pa.nulls(len(old), pa.list_(pa.int64())))
    which = np.repeat(update.symbols, np.diff(update.offsets))
    stretch = (update.topics // STRETCH).astype(np.int32)
    first = np.flatnonzero(np.diff(which, prepend=-1) | np.diff(stretch, prepend=-1))
    offsets = np.append(first, len(which))
    new = pa.record_batch({
        "kind": np.full(len(first), kind, np.int8), "symbol": which[first], "segment": stretch[first],
        "topics": list_array(offsets, update.topics, np.int32),
        "values": pa.nulls(len(first), pa.list_(pa.float32())),
        "sweeps": list_array(offsets, update.sweeps, np.int64),
    })  # fmt: skip
    table = pa.Table.from_batches([old, new]).sort_by([(name, "ascending") for name in ("kind", "symbol", "segment")])
    return table.to_batches(max_chunksize=3)


@pytest.mark.parametrize("at_once", [1, 30, 1 << 20])
@pytest.mark.parametrize("segment", [2, 1 << 14])
def test_the_outer_join_does_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch, at_once: int, segment: int) -> None:
    monkeypatch.setattr(rows, "SEGMENT", segment)
    monkeypatch.setattr(merging, "_AT_ONCE", at_once)
    generator = np.random.default_rng(1)
    batches, wanted = [], {}
    for kind in (WORDS, MENTIONS):
        offsets, topics = flat(some_rows(generator, 40, 9))
        values = generator.random(len(topics)).astype(np.float32)
        more_offsets, more_topics = flat([each for each in some_rows(generator, 60, 9) if len(each)][:20])
        symbols = np.sort(generator.choice(40, 20, replace=False)).astype(np.int64)
        update = Run(symbols, more_offsets, more_topics, generator.integers(1, 99, len(more_topics)))
        wanted[kind] = blend_rows(Parameters(offsets, topics, values), update, 0, BLEND)
        batches += batches_of(kind, offsets, topics, values, update)
    made = pa.Table.from_batches(list(merging.blend_partition(iter(batches), BLEND)))
    for kind, (lengths, topics, values, gained, dropped) in wanted.items():
        mine = made.filter(pa.compute.field("kind") == kind)
        found = lists(mine.column("topics").chunks, np.uint32)
        assert np.bincount(mine.column("symbol").to_numpy(), found.lengths, 40).tolist() == lengths.tolist()
        assert np.array_equal(found.values, topics)
        assert np.array_equal(lists(mine.column("values").chunks, np.float32).values, values)
        assert sum(mine.column("gained").to_pylist()) == gained > 0
        assert sum(mine.column("dropped").to_pylist()) == dropped > 0
