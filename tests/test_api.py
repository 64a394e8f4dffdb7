"""The public API: what there is, that it is light to import, that its examples are true, and how it refuses nonsense."""

import doctest
import inspect
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wikilda
from wikilda import Document, Knowledge, LdaSettings, Linker, UrnSettings
from wikilda._core.errors import InputError, SettingsError
from wikilda.sample import texts

API = [
    "ArtifactError",
    "Bad",
    "BuildSettings",
    "BusyError",
    "Candidate",
    "Corpus",
    "CorpusSettings",
    "Detector",
    "DetectorSettings",
    "DictionaryDetector",
    "Diff",
    "Document",
    "Entity",
    "Estimate",
    "Evaluation",
    "Explained",
    "Explanation",
    "Inference",
    "InputError",
    "Knowledge",
    "LdaSettings",
    "LdaTraining",
    "Linked",
    "LinkedFiles",
    "LinkedMention",
    "Linker",
    "Matched",
    "Model",
    "ModelSettings",
    "OwnEntity",
    "ReadSettings",
    "Restriction",
    "ServerSettings",
    "SettingsError",
    "Source",
    "SpacyDetector",
    "Suggestion",
    "Suggestions",
    "TopicShare",
    "TrainingPlan",
    "TrainingReport",
    "Unknown",
    "UrnSettings",
    "UrnTraining",
    "WikildaError",
    "__version__",
    "build",
    "create_model",
    "diff",
    "download",
    "estimate",
    "evaluate",
    "evaluate_own_links",
    "get",
    "is_nil",
    "link_files",
    "make_corpus",
    "marked",
    "match_file",
    "pack",
    "plot_training",
    "read_documents",
    "serve",
    "suggest",
    "topic_changes",
    "train",
    "unknown_names",
    "update",
]


def test_the_api_is_this() -> None:
    assert wikilda.__all__ == API
    assert set(API) <= set(dir(wikilda))
    assert {name for names in wikilda._HOMES.values() for name in names} == set(API) - {"__version__"}
    for name in API:
        assert getattr(wikilda, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Linkr'"):
        _ = wikilda.Linkr


def test_types_are_those_at_run_time() -> None:
    """Imports for type checkers are those that are made at run time."""
    source = inspect.getsource(wikilda)
    for home, names in wikilda._HOMES.items():
        assert f"from wikilda.{home} import {', '.join(names)}\n" in source


def test_importing_is_light_and_lazy() -> None:
    check = (
        "import sys, wikilda; heavy = ('numba', 'numpy', 'rich', 'click', 'pyarrow', 'duckdb');"
        "print([name for name in heavy if name in sys.modules]); wikilda.WikildaError; wikilda.ReadSettings;"
        "print([name for name in ('numba', 'duckdb') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "[]"


@pytest.fixture(scope="module")
def names(model: Path, linker: Linker, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What examples may use."""
    scratch = tmp_path_factory.mktemp("doctest")
    rows = texts()[:2]
    gold = scratch / "gold.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return {"sample": model, "linker": linker, "scratch": scratch, "news": gold, "gold": gold}


def _examples() -> dict[str, doctest.DocTest]:
    finder, found = doctest.DocTestFinder(exclude_empty=True), {}
    for name in API:
        thing = getattr(wikilda, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            module = sys.modules[thing.__module__]
            found |= {each.name: each for each in finder.find(thing, name, module=module) if each.examples}
    return found


EXAMPLES = _examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_true(name: str, names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    example = EXAMPLES[name]
    example.globs |= names
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    failed = runner.run(example, clear_globs=False).failed
    assert not failed, capsys.readouterr().out


def test_there_are_examples_of_what_people_do() -> None:
    assert {
        "Linker.open",
        "Linker.link",
        "Linker.link_many",
        "Linker.explain",
        "build",
        "link_files",
        "evaluate",
        "evaluate_own_links",
    } <= set(EXAMPLES)


def test_wrong_arguments_get_a_helpful_error(linker: Linker, model: Path) -> None:
    with pytest.raises(TypeError, match=r"is a str or a Document, not list; use link_many"):
        linker.link(["a"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="link_many takes several texts"):
        linker.link_many("Croft")
    with pytest.raises(TypeError, match="not int"):
        list(linker.link_many([1]))  # type: ignore[list-item]
    with pytest.raises(SettingsError, match="there is no detector 'regex'"):
        Linker.open(model, detector="regex")
    with pytest.raises(TypeError, match=r"a name or an object with detect\(text\), not int"):
        Linker.open(model, detector=3)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="there is no method 'ldaa'; did you mean lda"):
        Linker.open(model, method="ldaa")
    with pytest.raises(SettingsError, match="LdaSettings are not settings of the method urn"):
        Linker.open(model, method="urn", settings=LdaSettings())
    with pytest.raises(SettingsError, match="unknown setting max_candidate; did you mean max_candidates"):
        Linker.open(model, settings={"max_candidate": 3})
    with pytest.raises(InputError, match="there is no title 'Croft, Robert'"):
        linker.entity("Croft, Robert")


def test_one_factory_of_settings(model: Path) -> None:
    assert Linker.open(model).settings == UrnSettings()
    assert Linker.open(model, method="lda").settings == Linker.open(model, settings=LdaSettings()).settings
    assert Linker.open(model, method="lda", settings={"sweeps": 7}).settings == LdaSettings(sweeps=7, burn_in=1)
    assert Linker.open(model, settings={"max_candidates": 9}).settings == UrnSettings(max_candidates=9)


def test_results_show_themselves(linker: Linker) -> None:
    linked = linker.link(Document("Robert Croft zigzag <b>.", [(0, 12), (13, 19)], "a"))
    assert repr(linked) == "Linked('a', 2 mentions: Robert Croft → Robert Croft, zigzag → NIL)"
    assert repr(linked.mentions[1]) == "LinkedMention('zigzag' [13:19] → NIL, nil=1.000)"
    page = linked._repr_html_()
    assert "Robert Croft" in page
    assert "&lt;b&gt;" in page
    assert repr(linker.model).startswith("Model('samplewiki', ")


@pytest.mark.parametrize("options", [{}, {"offsets": "utf-16", "with_text": True}, {"with_mentions": False}])
def test_json_is_that_of_the_plain_values(linker: Linker, options: dict[str, Any]) -> None:
    text = 'Robert Croft 𝄞 "zig\\zag"\n\t\x01 é England \ud800.'
    own = {"title": 'Z"g — \u2028', "names": ["zig\\zag"]}
    linked = linker.link(Document(text, [(0, 12), (16, 23), (29, 36), (37, 38)], 'a"\x7f'), entities=[own])
    assert any(each.entity is None for each in linked.mentions)
    linked.mentions[0] = replace(linked.mentions[0], nil=np.float64(0.25))
    plain = json.dumps(linked.to_dict(**options), ensure_ascii=False, separators=(",", ":"))
    assert linked.to_json(**options) == plain


@pytest.mark.parametrize("options", [{}, {"offsets": "utf-16", "with_text": True}, {"with_mentions": False}])
def test_results_are_the_same_before_and_after_they_are_looked_at(linker: Linker, options: dict[str, Any]) -> None:
    document = Document("𝄞 Robert Croft bowled for England with Zebulon Quux of Q.", None, "a")
    plain = linker.link(document)
    assert (plain.to_json(**options), "mentions" in plain.__dict__) == (linker.link(document).to_json(**options), False)
    looked = linker.link(document)
    assert plain.mention_count == len(looked.mentions) > 1
    assert looked.topics
    assert looked.to_json(**options) == plain.to_json(**options)
    assert looked.mention_count == plain.mention_count
    assert linker.link(document) == looked


def test_results_can_be_pickled(linker: Linker) -> None:
    linked = linker.link(Document(texts()[0]["text"], None, "croft"))
    again = pickle.loads(pickle.dumps(linked))
    assert again == linked
    assert again.mentions == linked.mentions
    assert again.topics == linked.topics
    assert again.mention_count == linked.mention_count


def test_explain_takes_what_link_gives(linker: Linker) -> None:
    linked = linker.link(Document(texts()[0]["text"], None, "croft"))
    whole = linker.explain(linked)
    assert [each.text for each in whole.mentions] == [each.text for each in linked.mentions]
    for mention, explanation in zip(linked.mentions[:3], whole.mentions, strict=False):
        assert linker.explain(mention) == explanation
    assert linker.explain(linked.text).mentions[0].text == linked.mentions[0].text


def test_many_texts_are_linked_in_order_by_any_number_of_workers(linker: Linker) -> None:
    documents = [Document(each["text"], None, each["id"]) for each in texts()[:4]] * 5
    alone = [linker.link(each) for each in documents]
    assert list(linker.link_many(documents, workers=3)) == alone
    assert list(linker.link_many(iter(documents[:3]))) == alone[:3]


def test_an_entity_knows_its_topic(linker: Linker, sample: Knowledge) -> None:
    mention = linker.link("Croft took five wickets for England.").mentions[0]
    for each in mention.candidates:
        assert sample.titles[each.entity.topic] == each.entity.title
