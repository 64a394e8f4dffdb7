"""A packet is all that the urn needs of a model: drawing with it gives the bits that memory-mapped arrays give."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.training.conftest import write_lines
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import topic_types
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.training.corpus import Corpus, Documents, make_corpus
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining, of_shard
from wikilda.training.shard import Found
from wikilda.training.urn_shard import asked_by, sample_packet, sample_urn_shard
from wikilda.urn import Urn, UrnSettings
from wikilda.urn.packet import BASE, CONTEXT, NEAR, TOPIC, Keyed, Packet, Shared, Tables, view_of

ALL = UrnTraining(held_out=0.0, evaluated=0)
SHORT = UrnSettings(max_candidates=2, max_neighbours=3)


@pytest.fixture(scope="module", autouse=True)
def contexts_of_texts() -> Iterator[None]:
    """Training counts the contexts of texts, as if those of the wiki's links had not been counted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Knowledge, "context_counts", property(lambda _: None))
        yield


@pytest.fixture(scope="module")
def corpus(sample: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = write_lines(tmp_path_factory.mktemp("packets") / "texts.jsonl", list(texts()))
    make_corpus([lines], sample.path, lines.with_name("corpus"), workers=1)
    return lines.with_name("corpus")


@pytest.fixture(scope="module")
def trained(model: Path, corpus: Path) -> Model:
    """The model after one iteration."""
    return train(model, corpus, corpus.with_name("trained"), ALL, TrainingPlan(1, 1), engine=LocalEngine(1))


def shard_of(corpus: Path, number: int = 0, shards: int = 1) -> Documents:
    return of_shard(Corpus.open(corpus), number, shards, 0.0)


def tables_of(model: Model, settings: UrnSettings, sample: Knowledge) -> Tables:
    return Tables(Urn(model, sample, settings), topic_types(sample.titles, sample.sentences))


def assert_same(one: Found, other: Found) -> None:
    assert one.runs.keys() == other.runs.keys()
    for kind, run in one.runs.items():
        for mine, its in zip(run, other.runs[kind], strict=True):
            assert mine.dtype == its.dtype
            assert np.array_equal(mine, its), kind
    assert np.array_equal(one.notes, other.notes)
    assert one.report["changed"] == other.report["changed"]


@pytest.mark.parametrize("settings", [ALL.urn(), SHORT, UrnSettings(backoff_candidates=0)])
@pytest.mark.parametrize("shards", [1, 3])
def test_a_packet_gives_the_same_bits(
    sample: Knowledge, model: Path, trained: Model, corpus: Path, settings: UrnSettings, shards: int
) -> None:
    """The first iteration, the second with notes of it, and one whose notes were made with other settings."""
    first, notes = Model.open(model), None
    documents = shard_of(corpus, 0, shards)
    assert len(documents.keys) > 2
    for now in (first, trained):
        tables = tables_of(now, settings, sample)
        direct = sample_urn_shard(documents, tables.urn, notes)
        packet = tables.packet(asked_by(documents, notes))
        assert_same(sample_packet(packet, Shared.of(tables.view), documents, settings, notes), direct)
        notes = sample_urn_shard(documents, Urn(first, sample, ALL.urn())).notes
    assert direct.runs["contexts"].total > 0


def test_a_packet_has_nothing_that_is_not_asked_for(sample: Knowledge, trained: Model, corpus: Path) -> None:
    documents = shard_of(corpus, 0, 3)
    tables = tables_of(trained, ALL.urn(), sample)
    packet = tables.packet(asked_by(documents))
    view, topics = view_of(packet, Shared.of(tables.view))
    assert len(packet[TOPIC].keys) < len(topics) == view.topics < trained.topics
    assert packet[BASE].keys.tolist() == sorted(set(documents.mentions.tolist()))
    assert len(packet[CONTEXT].entries) > 0


@pytest.mark.parametrize("kind", [BASE, NEAR, CONTEXT])
def test_every_kind_of_rows_matters(sample: Knowledge, trained: Model, corpus: Path, kind: int) -> None:
    """What is taken from a packet is missing in the result: nothing else is read behind its back."""
    documents = shard_of(corpus)
    tables = tables_of(trained, ALL.urn(), sample)
    packet, shared = tables.packet(asked_by(documents)), Shared.of(tables.view)
    whole = sample_packet(packet, shared, documents, ALL.urn())
    rows = packet[kind]
    without: Packet = {**packet, kind: Keyed(rows.keys[:0], rows.offsets[:1], rows.entries[:0])}
    assert not np.array_equal(sample_packet(without, shared, documents, ALL.urn()).notes, whole.notes)
