"""Blocks of rows, requests for them, and what a task of a shard refuses. Needs PySpark, but starts no Java."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'wikilda[spark]'")

from wikilda import __version__
from wikilda._core.errors import InputError, WikildaError
from wikilda.joins import blocks
from wikilda.joins.blocks import Buckets, Value
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import topic_types
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.training.corpus import Corpus, make_corpus
from wikilda.training.engines.spark._urn import Drawing, document_values, draw_partition
from wikilda.training.engines.spark._urn_training import _figures
from wikilda.training.settings import UrnTraining, of_shard
from wikilda.training.shard import Task
from wikilda.training.urn_shard import asked_by, sample_urn_shard
from wikilda.urn import Urn
from wikilda.urn import packet as packets
from wikilda.urn.packet import ENTRIES, Keyed, Shared, Tables

BUCKETS = Buckets(4, (1000, 10, 10, 1 << 63))


def some_rows(keys: list[int]) -> Keyed:
    lengths = np.arange(len(keys)) % 3
    entries = np.arange(lengths.sum(), dtype=np.uint32)
    return Keyed(np.array(keys, np.int64), np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), entries)


def test_rows_are_cut_at_the_same_keys_on_all_sides() -> None:
    keys = np.array([0, 249, 250, 999], np.int64)
    assert [(bucket, keys[part].tolist()) for bucket, part in BUCKETS.cut(blocks.STRINGS, keys)] == [
        (0, [0, 249]), (1, [250]), (3, [999]),
    ]  # fmt: skip
    ends = np.array([0, (1 << 63) - 1], np.int64)
    assert [bucket for bucket, _ in BUCKETS.cut(blocks.CONTEXTS, ends)] == [0, 3]
    assert list(BUCKETS.cut(blocks.STRINGS, keys[:0])) == []


def test_bytes_and_back() -> None:
    rows = some_rows([3, 5, 600, 601, 990])
    parts = [
        blocks.unpacked(each.data, packets.LINKS)
        for each in blocks.blocks_of(packets.LINKS, rows, BUCKETS, blocks.STRINGS)
    ]
    again = blocks.together(parts[::-1], packets.LINKS)
    assert all(np.array_equal(mine, its) for mine, its in zip(again, rows, strict=True))
    assert blocks.unpacked(blocks.packed(some_rows([])), packets.LINKS).entries.dtype == np.uint32


def test_shards_get_what_they_ask_for() -> None:
    """A shard that asks twice for a key gets its row once; keys without rows are left out."""
    values = [*blocks.blocks_of(packets.LINKS, some_rows([3, 5, 7, 600]), BUCKETS, blocks.STRINGS)]
    for shard, keys in ((8, [3, 7, 600]), (8, [5, 7]), (9, [4, 600])):
        values += blocks.requests_of(blocks.STRINGS, np.array(keys, np.int64), BUCKETS, shard)
    values.sort(key=lambda value: value[:3])
    found: dict[int, list[Keyed]] = {}
    for value in blocks.values_of(blocks.serve(blocks.batches_of(values))):
        assert value.kind == packets.LINKS != blocks.REQUEST
        found.setdefault(value.shard, []).append(blocks.unpacked(value.data, value.kind))
    assert blocks.together(found[8], packets.LINKS).keys.tolist() == [3, 5, 7, 600]
    assert blocks.together(found[9], packets.LINKS).keys.tolist() == [600]
    assert blocks.together(found[8], packets.LINKS).entries.tolist() == [0, 1, 2]


class Here:
    """What is spread to nodes, in a test."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared

    def value(self) -> Shared:
        return self.shared


@pytest.fixture(scope="module")
def shard(
    sample: Knowledge, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Value], Drawing, Urn, Corpus]:
    """The values that joins bring to a shard, made without Spark."""
    lines = tmp_path_factory.mktemp("blocks") / "texts.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in texts()), "utf-8")
    corpus = make_corpus([lines], sample.path, lines.with_name("corpus"), workers=1)
    settings, first = UrnTraining(held_out=0.0), Model.open(model)
    urn = Urn(first, sample, settings.urn())
    documents = of_shard(corpus, 0, 1, 0.0)
    buckets = Buckets(4, (first.mentions.symbols, first.words.symbols, first.topics, 1 << 63))
    packet = Tables(urn, topic_types(sample.titles, sample.sentences)).packet(asked_by(documents))
    values = [each for each in document_values(documents, 0, buckets) if each.kind != blocks.REQUEST]
    for kind, rows in packet.items():
        values += blocks.blocks_of(kind, rows, buckets, blocks.SIDE_OF[kind], 0)
    task = Task(1, len(documents.keys), settings)
    return values, Drawing(task, Here(Shared.of(urn.view)), buckets, __version__), urn, corpus  # type: ignore[arg-type]


def test_a_task_finds_what_the_local_engine_finds(shard: tuple[list[Value], Drawing, Urn, Corpus]) -> None:
    values, drawing, urn, corpus = shard
    direct = sample_urn_shard(of_shard(corpus, 0, 1, 0.0), urn)
    found = list(blocks.values_of(draw_partition(blocks.batches_of(values), drawing)))
    [notes] = [each.data for each in found if each.side == blocks.NONE and each.kind == 40]
    assert np.array_equal(np.frombuffer(notes, np.uint32), direct.notes)


@pytest.mark.parametrize("kind", [packets.STRING, packets.BASE, packets.WORD, packets.TOPIC])
def test_a_table_that_is_cut_short_is_noticed(shard: tuple[list[Value], Drawing, Urn, Corpus], kind: int) -> None:
    values, drawing, _, _ = shard
    first = next(each for each in values if each.kind == kind)
    with pytest.raises(WikildaError, match="cut short"):
        list(draw_partition(blocks.batches_of(each for each in values if each is not first), drawing))


def test_a_node_with_another_version_is_refused(shard: tuple[list[Value], Drawing, Urn, Corpus]) -> None:
    values, drawing, _, _ = shard
    with pytest.raises(WikildaError, match=r"the driver has 0\.0\.1"):
        list(draw_partition(blocks.batches_of(values), drawing._replace(version="0.0.1")))


def test_every_kind_of_rows_has_a_side() -> None:
    assert blocks.SIDE_OF.keys() >= ENTRIES.keys()
    assert isinstance(next(blocks.batches_of([Value(0, 0, 0, 0, b"x")])), pa.RecordBatch)


@pytest.mark.parametrize("text", ["", '{"nil": 1', "[]", '{"nil": "a"}', "null"])
def test_damaged_figures_of_an_iteration_are_one_message(tmp_path: Path, text: str) -> None:
    (tmp_path / "urn.json").write_text(text)
    with pytest.raises(InputError, match=r"urn\.json: is damaged.*--restart"):
        _figures(tmp_path)
