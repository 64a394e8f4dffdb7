"""Linking by joins without a cluster: the steps of `wikilda.linking.spark` one after the other, in this process."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'wikilda[spark]'")

from wikilda import __version__
from wikilda._core.errors import WikildaError
from wikilda.documents.reading.rows import from_row
from wikilda.documents.writing.parquet import schema_of
from wikilda.joins import blocks
from wikilda.joins.blocks import Buckets, Value
from wikilda.joins.dictionary import DictionaryRows
from wikilda.joins.packets import ModelRows, ask_for_candidates
from wikilda.knowledge import Knowledge
from wikilda.knowledge.context_counts import topic_types
from wikilda.linking import Linker
from wikilda.linking._packets import Everywhere
from wikilda.linking._requests import (
    Linking,
    ask_for_names,
    ask_for_titled,
    ask_for_tokens,
    document_value,
    link_partition,
)
from wikilda.linking.files import Job
from wikilda.linking.restriction import Restriction
from wikilda.linking.spark import allowed_rows, answers_schema
from wikilda.model import Model
from wikilda.sample import texts
from wikilda.training.corpus import make_corpus
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import TrainingPlan, UrnTraining
from wikilda.urn import UrnSettings
from wikilda.urn.method import UrnMethod

STEPS = (blocks.PREFIXES, blocks.SPELLINGS)


@dataclass(frozen=True)
class Sent:
    """What is sent to workers, here."""

    sent: Everywhere

    def value(self) -> Everywhere:
        return self.sent


class Joins:
    """All steps for one model."""

    def __init__(self, job: Job, ranges: int = 3) -> None:
        self.job, self.linker = job, job.open()
        assert isinstance(self.linker.method, UrnMethod)
        model, known, urn = self.linker.model, self.linker.knowledge, self.linker.method.urn
        self.buckets = Buckets(ranges, (model.base.symbols, model.words.symbols, model.topics, *[blocks.HALVES] * 5))
        types = model.contexts.types if model.contexts else topic_types(known.titles, known.sentences)
        rows, words = ModelRows(urn, types, self.buckets), DictionaryRows(model, known, self.buckets)
        self.model = [
            each for bucket in range(ranges) for part in (rows.static, rows.learned, words.values)
            for each in part(bucket)
        ]  # fmt: skip
        if job.restriction:
            allowed = job.restriction.allowed(known)
            self.model += [each for bucket in range(ranges) for each in allowed_rows(allowed, bucket, self.buckets)]
        everywhere: Any = Sent(Everywhere.of(urn, known, job.detection))
        self.linking = Linking(job, everywhere, self.buckets, __version__, clusters=False)

    def served(self, requests: Iterable[Value], *sides: int) -> list[Value]:
        """The rows that shards have asked for."""
        return self._joined(requests, sides, lambda batches: blocks.serve(batches))

    def _joined(self, requests: Iterable[Value], sides: tuple[int, ...], work: Any) -> list[Value]:
        rows = [
            *(each for each in self.model if each.side in sides),
            *(each for each in requests if each.side in sides),
        ]
        rows.sort(key=lambda each: (each.side, each.bucket, each.kind))
        return list(_copied(work(blocks.batches_of(rows))))

    def answers(self, rows: list[dict[str, Any]], size: int = 4) -> list[dict[str, Any]]:
        """The answers for documents, in shards of a number of them."""
        documents = [document_value(row, at // size, at % size, self.job) for at, row in enumerate(rows)]
        asked = list(_copied(ask_for_tokens(blocks.batches_of(documents), self.linking)))
        tokens = self.served(asked, *STEPS)
        asked = _by_shard([*documents, *tokens], lambda batches: ask_for_names(batches, self.linking))
        names = self.served(asked, blocks.NAMES, blocks.VARIANTS)
        unknown = [each for each in asked if each.kind == blocks.STRING_LIST]
        more = _by_shard([*unknown, *names], lambda batches: ask_for_titled(batches, self.linking))
        requests = [
            each
            for each in (*asked, *more)
            if each.kind == blocks.REQUEST and each.side not in (blocks.NAMES, blocks.VARIANTS)
        ]
        most = self.linking.values().settings.max_candidates
        meant = self._joined(
            requests, (blocks.STRINGS,), lambda batches: ask_for_candidates(batches, self.buckets, most)
        )
        whole = [
            *documents,
            *tokens,
            *names,
            *self.served([*requests, *meant], blocks.STRINGS, blocks.WORDS, blocks.TOPICS, blocks.WORDS + 2),
        ]
        schema = answers_schema(self.job)
        found = []
        for _, values in _shards(whole):
            for batch in link_partition(blocks.batches_of(values), self.linking, schema):
                found += batch.to_pylist()
        return found


def _copied(batches: Iterator[pa.RecordBatch]) -> Iterator[Value]:
    return (each._replace(data=bytes(each.data)) for each in blocks.values_of(batches))


def _by_shard(values: list[Value], work: Any) -> list[Value]:
    return [each for _, some in _shards(values) for each in _copied(work(blocks.batches_of(some)))]


def _shards(values: list[Value]) -> Iterator[tuple[int, list[Value]]]:
    for shard in sorted({each.shard for each in values}):
        own = [each for each in values if each.shard == shard]
        yield shard, sorted(own, key=lambda each: (each.kind, each.bucket))


def local(job: Job, rows: list[dict[str, Any]], linker: Linker) -> list[dict[str, Any]]:
    """The answers of this machine."""
    documents = [from_row(row, "", job.reading) for row in rows]
    names = ["id", "text", "mentions", "topics", "knowledge"]
    found = [job.row(linker.link(each, candidates=job.candidates, topics=0, nested=job.nested,
                                 restriction=job.restriction)) for each in documents]  # fmt: skip
    table = pa.Table.from_pylist(found, schema_of([each for each in names if each in found[0]]))
    return [dict(each) for each in table.to_pylist()]


def same(joins: Joins, rows: list[dict[str, Any]], size: int = 4) -> None:
    """Check that joins give the answers of this machine."""
    found = joins.answers(rows, size)
    for each in found:
        assert each.pop("error") is None
        each.pop("unknown")
    assert found == local(joins.job, rows, joins.linker)
    assert any(each["mentions"] for each in found) or len(rows) < 10


ODD = [
    "Croft bowled to Lara. Crofts and Láras of Glamorgan met @BrianLara and #RobertCroft, said the I.C.C. and the ICC.",
    "<p>Robert <b>Croft</b> took five wickets for Eng-\nland.</p> Mr Croft, Sir Brian Lara & Co.",
    "robert croft and brian lara played for england and the west indies",
    "ROBERT CROFT AND BRIAN LARA PLAYED FOR ENGLAND. Zebulon Quux Lara met Welsh Robert Croft Junior.",
    "President Robert Croft of Glamorgan County Cricket Club's board; the Bank of Wales; O'Croft, J. Lara, A.B.C.D.",
    "", " \n\n ", "😀 Croft\n\nRobert\n\nCroft 1996 in December, naïve Crofté.", "Test. The Test. Croft's England's.",
]  # fmt: skip


def rows_of(more: Iterable[str] = ()) -> list[dict[str, Any]]:
    given = [{"id": each["id"], "text": each["text"], "mentions": each["mentions"]} for each in texts()]
    raw = [{"id": f"raw {each['id']}", "text": each["text"]} for each in given]
    return [*given, *raw, *({"id": f"odd {at}", "text": text} for at, text in enumerate((*ODD, *more)))]


@pytest.fixture(scope="module")
def trained(model: Path, sample: Knowledge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("trained")
    lines = "".join(json.dumps({"id": each["id"], "text": each["text"]}) + "\n" for each in texts()[:6])
    (place / "texts.jsonl").write_text(lines, "utf-8")
    make_corpus([place / "texts.jsonl"], sample.path, place / "corpus", workers=1)
    plan = TrainingPlan(iterations=2, shards=2)
    return train(model, place / "corpus", place / "model", UrnTraining(held_out=0), plan, engine=LocalEngine(1)).path


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"candidates": 2, "nested": True, "with_text": True},
        {"restriction": Restriction(types=("person", "organisation"), exclude=("Robert Croft", '"England"'))},
        {"restriction": Restriction(only=("England cricket team", '"Lara"'))},
    ],
)
def test_the_answers_of_one_machine(model: Path, options: dict[str, Any]) -> None:
    joins = Joins(Job(model, topics=0, **options))
    same(joins, rows_of(), 4)
    same(joins, rows_of(), 1000)


@pytest.mark.parametrize("backoff", [0, 8])
def test_a_trained_model_and_the_texts_that_it_has_learned_from(trained: Path, backoff: int) -> None:
    assert Model.open(trained).contexts is not None
    same(Joins(Job(trained, settings=UrnSettings(backoff_candidates=backoff), topics=0), ranges=5), rows_of())


WORDS_OF = st.sampled_from(
    [
        "Robert",
        "Croft",
        "Lara",
        "Brian",
        "England",
        "West",
        "Indies",
        "the",
        "of",
        "Mr",
        "@",
        "#",
        "'",
        "s",
        "-",
        ".",
        ",",
        "&",
        "\n",
        "1996",
        "Crofts",
        "Zyx",
        "é",
    ]
)
TEXT = st.lists(WORDS_OF, max_size=25).map(" ".join)


@given(st.lists(TEXT, min_size=1, max_size=3), st.data())
def test_any_texts_and_spans(model: Path, given_texts: list[str], data: st.DataObject) -> None:
    joins = _cached(model)
    rows: list[dict[str, Any]] = []
    for at, text in enumerate(given_texts):
        rows.append({"id": f"raw {at}", "text": text})
        places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
        spans = [{"start": a, "end": b} for a, b in zip(places[::2], places[1::2], strict=False)]
        rows.append({"id": f"given {at}", "text": text, "mentions": spans})
    same(joins, rows)


_JOINS: dict[Path, Joins] = {}


def _cached(model: Path) -> Joins:
    if model not in _JOINS:
        _JOINS[model] = Joins(Job(model, topics=0))
    return _JOINS[model]


def test_bad_documents_have_errors(model: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "text": "Croft bowled."},
        {"id": None, "text": None},
        {"id": 7, "text": "x", "mentions": "?"},
    ]
    found = _cached(model).answers(rows)
    assert [each["id"] for each in found] == ["a", "", "7"]
    assert found[0]["error"] is None
    assert found[1]["error"].startswith('needs "text", a string.')
    assert "not a list" in found[2]["error"]


def test_a_table_that_is_cut_short_is_refused(model: Path) -> None:
    joins = Joins(Job(model, topics=0))
    joins.model = [each for each in joins.model if not (each.side == blocks.TOPICS and each.bucket == 1)]
    with pytest.raises(WikildaError, match="cut short"):
        joins.answers(rows_of())


def test_another_version_is_refused(model: Path) -> None:
    joins = _cached(model)
    other = replace(joins.linking, version="0.0")
    with pytest.raises(WikildaError, match=r"but the driver has 0\.0"):
        list(ask_for_tokens(blocks.batches_of([document_value({"id": "a", "text": "x"}, 0, 0, joins.job)]), other))
