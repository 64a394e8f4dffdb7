"""`wikilda evaluate`, as a person runs it; and AIDA's real documents where they are."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands import run
from wikilda._core.errors import InputError
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import NO_ANSWER
from wikilda.evaluation.methods import Answer, Given, Method
from wikilda.evaluation.methods.base import spans_of
from wikilda.evaluation.methods.tagme import Prior
from wikilda.evaluation.run import Gold, end_to_end, on_threads
from wikilda.evaluation.run import run as run_method
from wikilda.knowledge import Knowledge
from wikilda.linking import Document
from wikilda.model import PRESETS, Model, create_model


def test_evaluate(model: Model, gold_file: Path, tmp_path: Path) -> None:
    out_json, out_html = tmp_path / "out.json", tmp_path / "out.html"
    code, out, err = run(
        "evaluate", model.path, gold_file, "-o", out_json, "--report", out_html, "--breakdown",
        "--method", "prior", "--method", "urn",
    )  # fmt: skip
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("gold.jsonl: 10 documents, ")
    assert any(line.startswith("urn − prior: micro +") for line in lines)
    assert "by prior rank of gold" in out
    found = json.loads(out_json.read_text("utf-8"))
    assert found["model"]["identity"] == model.identity
    dataset = found["datasets"][0]
    assert [each["method"] for each in dataset["methods"]] == ["prior", "urn"]
    documents = dataset["documents_by_method"]["urn"]
    right = sum(each["right"] for each in documents)
    assert dataset["methods"][1]["accuracy"]["micro"] == pytest.approx(100 * right / dataset["in_knowledge"])
    mention = documents[0]["mentions"][0]
    assert mention["text"] == "England"
    assert mention["gold"] == "England cricket team"
    assert mention["candidates"][mention["gold_rank"] - 1]["title"] == mention["gold"]
    assert out_html.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.html", "out.json"]


def test_compared_with_an_earlier_run(model: Model, gold_file: Path, tmp_path: Path) -> None:
    then = tmp_path / "then.json"
    assert run("evaluate", model.path, gold_file, "-o", then, "--method", "urn", "--set", "weights=words=0")[0] == 0
    code, out, err = run("evaluate", model.path, gold_file, "--baseline", then, "--method", "prior", "--method", "urn")
    assert (code, err) == (0, "")
    found = [line for line in out.splitlines() if "in then.json" in line]
    assert len(found) == 1
    assert found[0].startswith("urn − urn in then.json: micro ")
    code, out, _ = run(
        "evaluate", model.path, gold_file, "--baseline", then, "--method", "urn", "--set", "weights=words=0"
    )
    assert "micro +0.00 [+0.00, +0.00] p=1.000" in out
    fewer = tmp_path / "gold.jsonl"
    fewer.write_text("\n".join(gold_file.read_text("utf-8").split("\n")[:5]), "utf-8")
    code, _, err = run("evaluate", model.path, fewer, "--baseline", then, "--method", "urn")
    assert code == 1
    assert "other gold. Compare" in err
    then.write_text("{}")
    code, _, err = run("evaluate", model.path, gold_file, "--baseline", then)
    assert code == 1
    assert "evaluate --output" in err


def test_errors_are_reported(model: Model, tmp_path: Path) -> None:
    file = tmp_path / "x.tsv"
    file.write_text("hello")
    code, _, err = run("evaluate", model.path, file)
    assert code == 1
    assert "in no known format" in err
    assert run("evaluate", model.path, tmp_path / "nothing.tsv")[0] == 2
    code, _, err = run("evaluate", model.path, file, "-o", tmp_path / "no" / "out.json")
    assert code == 1
    assert "there is no directory" in err


def test_what_fails_stops_the_rest(gold: Gold) -> None:
    begun: list[str] = []

    def fail(document: Document) -> None:
        begun.append(document.id)
        raise InputError("no")

    with pytest.raises(InputError):
        list(on_threads(fail, gold.documents * 100, "x", 1))
    assert len(begun) < 100 * len(gold.documents)


class Fragile(Method):
    """Fails in one document, and answers too little in another."""

    name = "fragile"

    def link(self, document: Document) -> list[Answer]:
        found = self.candidates(document)
        if document.id == "1":
            raise ZeroDivisionError("of a wicket")
        return found.answers(found.priors)[: -1 if document.id == "2" else None]


def test_a_method_that_fails_in_a_document_goes_on(gold: Gold, model: Model, sample: Knowledge) -> None:
    first, second = (replace(each, id=name) for each, name in zip(gold.documents, "12", strict=False))
    changed = copy.copy(gold)
    changed.documents = [first, second, *gold.documents[2:]]
    fragile, prior = (run_method(kind(Given(model, sample)), changed, 2) for kind in (Fragile, Prior))
    assert [each.document for each in fragile.failures] == ["1", "2"]
    assert fragile.failures[0].error == "ZeroDivisionError: of a wicket"
    assert "answers to" in fragile.failures[1].error
    lost = gold.document_of < 2
    assert not fragile.right[lost].any()
    assert (fragile.answers[lost] == NO_ANSWER).all()
    assert (fragile.answers[~lost] == prior.answers[~lost]).all()


def test_failures_are_shown(model: Model, gold_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "from wikilda.evaluation.methods import Method\n"
        "class Broken(Method):\n    def link(self, document):\n        raise KeyError(document.id)\n"
    )
    monkeypatch.chdir(tmp_path)
    out_json, page = tmp_path / "out.json", tmp_path / "out.html"
    code, out, err = run(
        "evaluate", model.path, gold_file, "--method", "mine:Broken", "--method", "prior", "-o", out_json, "--report", page
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "mine:Broken: failed in 10 of 10 documents" in " ".join(out.split())
    broken, _ = json.loads(out_json.read_text("utf-8"))["datasets"][0]["methods"]
    assert broken["accuracy"]["micro"] == 0
    assert len(broken["failures"]) == 10
    assert broken["nil"]["recall"] == 0


def test_gold_of_another_knowledge(model: Model, tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    rows = [
        {"text": "Croft", "mentions": [{"start": 0, "end": 5, "title": title}]} for title in ("Berlin", "Bonn", "Köln")
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    code, _, err = run("evaluate", model.path, file, "--method", "prior")
    assert code == 1
    assert "none of its 3 entities is in the knowledge" in err
    file.write_text(file.read_text("utf-8").replace("Berlin", "Robert Croft"), "utf-8")
    code, out, _ = run("evaluate", model.path, file, "--method", "prior")
    assert code == 0
    assert "1 of its 3 distinct entities (33.3 %) are in the knowledge; is it gold of another wiki?" in out


def test_rows_for_several_models(model: Model, gold_file: Path, tmp_path: Path) -> None:
    other = create_model(model.knowledge(), tmp_path / "other.model", PRESETS["paper"])
    code, _, err = run(
        "evaluate", model.path, gold_file, "--also", other.path, "--method", "prior", "--method", "lda", "-o", tmp_path / "o.json"
    )  # fmt: skip
    assert (code, err) == (0, "")
    rows = json.loads((tmp_path / "o.json").read_text("utf-8"))["datasets"][0]
    assert [each["method"] for each in rows["methods"]] == ["prior", "lda", "lda @other.model"]
    pairs = [(each["method"], each["than"]) for each in rows["comparisons"]]
    assert pairs == [("lda", "prior"), ("lda @other.model", "prior"), ("lda @other.model", "lda")]


def test_end_to_end_with_a_detector_that_knows(gold: Gold, model: Model, sample: Knowledge) -> None:
    spans = {document.text: spans_of(document) for document in gold.documents}

    class Known(Prior):
        """The mentions of gold, or some of them."""

        def __init__(self, step: slice) -> None:
            super().__init__(Given(model, sample))
            self.step = step

        def link_text(self, text: Document) -> list[tuple[tuple[int, int], Answer]]:
            found = Document(text.text, spans[text.text][self.step], text.id)
            return list(zip(spans_of(found), self.link(found), strict=True))

    micro, _ = end_to_end(Known(slice(None)), gold)
    assert micro.precision == micro.recall > 0
    assert end_to_end(Known(slice(None, None, 2)), gold)[0].recall < micro.recall
    assert end_to_end(Known(slice(0)), gold)[0].f1 == 0


def test_aida_as_it_is_given(data: Path) -> None:
    [train], [dev] = (read_dataset(data / "aida" / f"aida-{name}.tsv") for name in ("train", "testa"))
    for dataset, documents, linked in ((train, 946, 18541), (dev, 216, 4791)):
        assert len(dataset.documents) == documents
        assert sum(bool(names) for document in dataset.documents for names in document.gold) == linked
    # The third column of the file has the mention as it should be, but for spaces around dots and apostrophes.
    rows = [line.split("\t") for line in (data / "aida" / "aida-testa.tsv").read_text("utf-8").split("\n")]
    surfaces = [row[2].replace(" ", "") for row in rows if len(row) > 2 and row[1] == "B"]
    spans = [(document.text, span) for document in dev.documents for span in spans_of(document)]
    assert [text[start:end].replace(" ", "") for text, (start, end) in spans] == surfaces
    assert {document.split for document in dev.documents} == {"testa"}
    assert {document.split for document in train.documents} == {"train"}
