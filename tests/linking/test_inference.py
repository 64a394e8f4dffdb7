"""Answers, explanations, topics and evaluation are views of one inference: they are the same."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from wikilda import train
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import Given, make_method
from wikilda.evaluation.run import Gold, end_to_end, micro_and_macro, run
from wikilda.knowledge import BuildSettings, Resources, build_from_dump
from wikilda.linking import Document, Linker, read_documents
from wikilda.model import Model, create_model
from wikilda.sample import texts
from wikilda.training.engines.local import LocalEngine
from wikilda.training.settings import UrnTraining

TEXTS = [Document(each["text"], None, each["id"]) for each in texts()]


@pytest.fixture(scope="module")
def trained(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    place = tmp_path_factory.mktemp("inference")
    lines = place / "texts.jsonl"
    lines.write_text("".join(json.dumps({"id": each.id, "text": each.text}) + "\n" for each in TEXTS), "utf-8")
    return train(model, lines, place / "model", UrnTraining(held_out=0.0, evaluated=0), engine=LocalEngine(1))


def agree(linker: Linker, document: Document) -> int:
    """Compare the views of a document; return the number of its mentions."""
    inference = linker.infer(document)
    linked, why = linker.link(document, candidates=6), linker.explain(document, candidates=6)
    assert linked == inference.linked(6)
    assert linker.link(document, candidates=2).to_dict()["mentions"] == [
        each.to_dict() | {"candidates": each.to_dict()["candidates"][:2]} for each in linked.mentions
    ]
    assert [(each.start, each.end, each.entity, each.nil) for each in linked.mentions] == [
        (each.start, each.end, each.entity, each.nil) for each in why.mentions
    ]
    for mention, reasons in zip(linked.mentions, why.mentions, strict=True):
        assert [(each.entity, each.probability, each.prior) for each in mention.candidates] == [
            (each.entity, each.probability, each.prior) for each in reasons.candidates
        ]
    topics, shares = linker.topics(document)
    assert [(each.entity.topic, each.share) for each in linked.topics] == list(
        zip(topics[:10].tolist(), shares[:10].tolist(), strict=True)
    )
    assert why.topics == linked.topics
    return len(linked.mentions)


def evaluation_agrees(linker: Linker, model: Model, gold: Gold) -> None:
    """What is measured is what `link` answers: with given mentions, and from the bare texts."""
    method = make_method("urn", Given(model, linker.knowledge))
    answers = [
        each.entity.topic if each.entity else (-1 if each.candidates else None)
        for document in gold.documents
        for each in linker.link(Document(document.text, document.mentions, document.id)).mentions
    ]
    given = run(method, gold, threads=1)
    assert [None if not each.topics else each.topic for each in given.verdicts] == answers
    found = [
        [(each.start, each.end, each.entity.topic if each.entity else -1) for each in linked.mentions]
        for linked in (linker.link(Document(each.text, None, each.id)) for each in gold.documents)
    ]
    bounds = np.cumsum([0, *(len(each.spans) for each in gold.documents)])
    wanted = [
        [(*span, int(topic)) for span, topic in zip(each.spans, gold.topics[bounds[at] :], strict=False)]
        for at, each in enumerate(gold.documents)
    ]
    assert end_to_end(method, gold, threads=1) == micro_and_macro(wanted, found)


def test_views_of_the_sample_texts_agree(linker: Linker, trained: Model) -> None:
    assert sum(agree(linker, each) for each in TEXTS) > 30
    after = Linker.open(trained.path)
    assert sum(agree(after, each) for each in TEXTS) > 30
    assert sum(agree(after, Document(each.text + " Croft.", None, "new")) for each in TEXTS) > 30


def test_the_prior_that_is_shown_is_the_one_that_was_used(linker: Linker, trained: Model) -> None:
    for each in (linker, Linker.open(trained.path)):
        for document in TEXTS:
            inference = each.infer(document)
            rows, used = inference.rows, inference.inferred.priors()
            assert rows.priors.tolist() == used.tolist()
            for number, mention in zip(np.flatnonzero(inference.possible), inference.linked(64).mentions, strict=True):
                span = slice(*rows.offsets[number : number + 2])
                shown = {one.entity.topic: one.prior for one in mention.candidates}
                assert shown == dict(zip(rows.topics[span].tolist(), used[span].tolist(), strict=True))


def test_evaluation_measures_the_answers_of_link(linker: Linker, trained: Model, tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in texts()), "utf-8")
    [dataset] = read_dataset(file)
    gold = Gold(dataset, Resolver(linker.knowledge))
    evaluation_agrees(linker, linker.model, gold)
    evaluation_agrees(Linker.open(trained.path), trained, gold)


def test_parts_of_names_are_explained_as_they_are_linked(linker: Linker) -> None:
    """`Captain Robert Croft` is unknown, and falls apart: its known part is what is linked, and what is explained."""
    text = "Glamorgan Captain Robert Croft took five wickets for England."
    linked = linker.link(text)
    assert "Robert Croft" in [each.text for each in linked.mentions]
    assert [each.text for each in linker.explain(text).mentions] == [each.text for each in linked.mentions]
    nested = linker.link("President of Robert Croft House met Croft.", nested=True)
    assert [each.text for each in linker.explain(nested).mentions] == [each.text for each in nested.mentions]


def test_views_of_news_agree_with_real_knowledge(data: Path, tmp_path: Path) -> None:
    dump = data / "mini-enwiki" / "minienwiki-20201231-pages-articles-multistream.xml.bz2"
    knowledge = build_from_dump([dump], tmp_path / "kb", BuildSettings(), resources=Resources(workers=2))
    linker = Linker(create_model(knowledge, tmp_path / "model"))
    stories = islice(read_documents([data / "news" / "bbc.jsonl.xz"]), 50)
    assert sum(agree(linker, each) for each in stories if isinstance(each, Document)) > 500
