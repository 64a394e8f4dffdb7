"""The report of a training: its figures are those of a naive comparison, and what has flipped is flagged."""

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from tests.commands import run
from tests.training.conftest import write_lines
from tests.wikis import FILLER, page, write_dump
from wikilda import TrainingReport, build
from wikilda._core.errors import ArtifactError
from wikilda.knowledge import BuildSettings
from wikilda.linking import Linker
from wikilda.model import Model, Parameters
from wikilda.model.model import NilCounts
from wikilda.sample import texts
from wikilda.training.checkpoints import read_metrics
from wikilda.training.corpus import Corpus, make_corpus
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.report import HTML_FILE, NIL, NOTHING, Flip, _folded, flips_of
from wikilda.training.settings import TrainingPlan, UrnTraining

# Another prior, with which answers change.
HOW = UrnTraining(held_out=0.3, evaluated=50, particles=2, prior_shift=False, naming_shift=3.0, popularity_shift=0.0)
# In the sample wiki "Amazon" mostly means the river; in these texts it never does.
REPORTS = [
    "Jeff Bezos said that Amazon sold {} books on the Internet, and {} more from its store.",
    "Shares in Amazon rose by {} per cent after sales of {} millions.",
    "On day {} shares in Amazon fell by {} per cent after its sales.",
]
TEXTS = [*(each["text"] for each in texts()), *(REPORTS[at % 3].format(at + 2, at + 3) for at in range(60))]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lines(tmp_path_factory.mktemp("texts") / "texts.jsonl", [{"text": each} for each in TEXTS])


@pytest.fixture(scope="module")
def trained(model: Path, lines: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("trained") / "model"
    return train(model, lines, target, HOW, TrainingPlan(1, 2), engine=LocalEngine(1)).path


def answers(model: Path, text: str) -> dict[tuple[int, int], str]:
    found = Linker.open(model).link(text).mentions
    return {(each.start, each.end): each.entity.title if each.entity else NIL for each in found}


def test_changes_are_those_of_a_naive_comparison(model: Path, trained: Path, lines: Path, tmp_path: Path) -> None:
    corpus = make_corpus([lines], Model.open(model).knowledge().path, tmp_path / "corpus", workers=1).path
    report = TrainingReport.read(trained)
    groups, total = Counter[tuple[str, str, str]](), 0
    meant: dict[str, tuple[Counter[str], Counter[str]]] = {}
    sample = Corpus.open(corpus).sample()[:50]
    for each in sample:
        before, after = answers(model, each.text), answers(trained, each.text)
        for span in before.keys() | after.keys():
            total += 1
            change = before.get(span, NOTHING), after.get(span, NOTHING)
            for counts, answer in zip(
                meant.setdefault(_folded(each.text[slice(*span)]), (Counter(), Counter())), change, strict=True
            ):
                counts[answer] += 1
            if change[0] != change[1]:
                groups[" ".join(each.text[slice(*span)].split()), *change] += 1
    assert report.documents == len(sample) == 50
    assert 0 < report.held_out < report.documents
    assert (report.answers, report.changed) == (total, groups.total())
    assert report.changed > 0
    found = {(each.text, each.before, each.after): each.count for each in report.groups}
    assert found == dict(sorted(groups.items(), key=lambda each: (-each[1], each[0]))[:20])
    for each in report.groups:
        assert f"[[{each.text}]]" in each.example
        old, new = (min(counts, key=lambda answer: (-counts[answer], answer)) for counts in meant[_folded(each.text)])
        assert each.flipped == (old != new)


def test_flips_are_those_of_a_naive_comparison() -> None:
    generator = np.random.default_rng(3)
    offsets = np.append(0, np.cumsum(generator.integers(0, 5, 200)))
    topics = np.concatenate([np.sort(generator.choice(9, size, replace=False)) for size in np.diff(offsets)])
    symbols = np.flatnonzero(generator.random(200) < 0.8)
    models, sides = [], []
    for factor in (1.0, 2.0):
        values = generator.integers(1, 6, len(topics)).astype(np.float32) * np.float32(factor)
        texts_ = (factor * generator.integers(1, 9, len(symbols))).astype(np.float32)
        nil = NilCounts(symbols, np.zeros(len(symbols), np.float32), texts_)
        models.append(SimpleNamespace(mentions=Parameters(offsets, topics.astype(np.uint32), values), nil=nil))
        sides.append(values.tolist())
    known: Any = SimpleNamespace(mention_strings=[f"s{at}" for at in range(200)], titles=[f"T{at}" for at in range(9)])
    wanted: dict[str, tuple[str, str]] = {}
    for symbol in range(200):
        span = range(offsets[symbol], offsets[symbol + 1])
        if not span:
            continue
        old, new = (max(span, key=lambda at: (side[at], -at)) for side in sides)
        shares = [side[new] / sum(side[at] for at in span) for side in sides]
        if old != new and shares[1] - shares[0] >= 0.05:
            wanted[f"s{symbol}"] = f"T{topics[old]}", f"T{topics[new]}"
    first, made = cast(Any, models)
    found = flips_of(first, made, known)
    assert {each.text: (each.before, each.after) for each in found} == wanted
    assert len(wanted) > 50
    learned_from = [each.texts or 0.0 for each in found]
    assert learned_from == sorted(learned_from, reverse=True)
    assert all(each.share_before < each.share_after <= 1 for each in found)
    assert flips_of(first, first, known) == []


def test_files_and_warnings(trained: Path) -> None:
    report = TrainingReport.read(trained)
    data = json.loads((trained / "training-report.json").read_text("utf-8"))
    assert data["changed"] == report.changed
    html = (trained / HTML_FILE).read_text("utf-8")
    assert report.summary in html
    assert "<script" not in html
    for each in report.flips:
        assert each.text in html
    flips = {each.text for each in report.flips}
    assert "amazon" in flips
    assert f"'{report.flips[0].text}': " in report.warnings[0].lower()


def test_html_of_foreign_texts_is_escaped(tmp_path: Path) -> None:
    flip = Flip("<b>x</b>", "a", "b", 0.1, 0.9, 3.0, "<script>alert(1)</script>")
    TrainingReport(1, 0, 1, 0, (), 1, (flip,)).save(tmp_path)
    assert "<script" not in (tmp_path / HTML_FILE).read_text("utf-8")
    assert TrainingReport.read(tmp_path).flips == (flip,)


def test_a_report_that_is_missing_or_damaged(model: Path, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="has no training report"):
        TrainingReport.read(model)
    for bad in ("{", "[]", '{"groups": []}', '{"groups": 1, "flips": 2}'):
        (tmp_path / "training-report.json").write_text(bad, "utf-8")
        with pytest.raises(ArtifactError, match="is not a training report"):
            TrainingReport.read(tmp_path)


def test_the_same_report_from_a_corpus_and_with_workers(
    model: Path, lines: Path, trained: Path, tmp_path: Path
) -> None:
    assert run("corpus", model, lines, "-o", tmp_path / "corpus", "--workers", "2")[0] == 0
    engine = LocalEngine(2)
    try:
        made = train(model, tmp_path / "corpus", tmp_path / "model", HOW, TrainingPlan(1, 3), engine=engine)
    finally:
        engine.close()
    assert TrainingReport.read(made.path) == TrainingReport.read(trained)


def test_without_evaluation_only_flips_are_reported(model: Path, lines: Path, tmp_path: Path) -> None:
    how = UrnTraining(held_out=0.0, evaluated=0)
    made = train(model, lines, tmp_path / "model", how, TrainingPlan(1, 2), engine=LocalEngine(1))
    report = TrainingReport.read(made.path)
    assert (report.documents, report.answers, report.groups) == (0, 0, ())
    assert report.summary == "No document was compared."


def test_the_lda_is_reported_too(model: Path, lines: Path, tmp_path: Path) -> None:
    how = {"sweeps": 8, "burn_in": 2, "evaluated": 3, "particles": 2}
    made = train(model, lines, tmp_path / "model", how, TrainingPlan(1, 2), method="lda", engine=LocalEngine(1))
    report = TrainingReport.read(made.path)
    assert report.documents == 3
    assert all(each.texts is None for each in report.flips)


# What exact titles must survive: "BP" is linked with the oil company, and with "Before Present" where a date is.
WIKI = [
    page("BP", f"'''BP''' is an oil company that drills for petroleum and sells fuel from stations. {FILLER}"),
    page("Before Present", f"'''Before Present''' years ([[BP]] in dates) is a scale of archaeology. {FILLER}"),
    page("Petroleum", f"'''Petroleum''' is oil that [[BP]] and others drill for. {FILLER}"),
    page("Gulf of Mexico", f"The '''Gulf of Mexico''' is a sea where [[BP]] drills for [[petroleum]]. {FILLER}"),
    page("Archaeology", f"'''Archaeology''' dates finds in years [[Before Present]]. {FILLER}"),
    page("Radiocarbon dating", f"'''Radiocarbon dating''' gives [[Archaeology|archaeologists]] years "
         f"[[Before Present|BP]] and [[Before Present]]. {FILLER}"),
]  # fmt: skip
NEWS = [
    "BP said that profits rose by {} million as the price of petroleum fell in May.",
    "Shares in BP lost {} pence after the company shut a field in the Gulf of Mexico.",
    "The court fined BP {} million over the spill; the company will appeal, a spokesman said on Monday.",
    "Analysts at the bank raised BP to buy and expect {} per cent growth.",
]


def test_training_does_not_take_an_exact_title_from_its_article(tmp_path: Path) -> None:
    dump = write_dump(tmp_path / "wiki.xml", WIKI)
    model = build(dump, tmp_path / "wiki", settings=BuildSettings(min_text=1, min_word_topics=1), workers=1).path
    rows: list[object] = [{"text": NEWS[at % 4].format(at * 7), "id": str(at)} for at in range(40)]
    lines = write_lines(tmp_path / "news.jsonl", rows)
    how = UrnTraining(held_out=0.0, evaluated=20)
    trained = train(model, lines, tmp_path / "trained", how, TrainingPlan(2, 2), engine=LocalEngine(1))
    text = "BP will sell its stations, the company said."
    for each in (model, trained.path):
        mention = Linker.open(each).link(text).mentions[0]
        assert (mention.text, mention.candidates[0].entity.title) == ("BP", "BP")
    report = TrainingReport.read(trained.path)
    assert [each.text for each in report.flips if each.text == "bp"] == []
    assert [each for each in report.groups if each.text == "BP" and each.after == "Before Present"] == []


def test_other_texts_under_the_same_names_are_read_again(model: Path, tmp_path: Path) -> None:
    how = UrnTraining(held_out=0.0, evaluated=0)
    for count in (4, 9):
        lines = write_lines(tmp_path / "texts.jsonl", [{"text": each["text"]} for each in texts()[:count]])
        made = train(model, lines, tmp_path / "model", how, engine=LocalEngine(1), overwrite=True, restart=True)
        assert read_metrics(made.path)[-1].documents == count
