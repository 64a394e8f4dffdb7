"""The component in a real spaCy pipeline."""

import pickle
import shutil
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

import wikilda.integrations.spacy  # registers the factory where the package is not installed
from wikilda._core.errors import ArtifactError, InputError, SettingsError
from wikilda.linking import Linker
from wikilda.sample import texts

TEXTS = [each["text"] for each in texts()]


def pipeline(model: Path, **config: object) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("wikilda", config={"model": str(model), **config})
    return nlp


def answers(doc: Doc) -> list[tuple[str, str]]:
    return [(each.text, each.kb_id_) for each in doc.ents]


def test_a_blank_pipeline_finds_and_links(model: Path, linker: Linker) -> None:
    doc = pipeline(model, candidates=3)(TEXTS[0])
    assert ("Croft", "Robert Croft") in answers(doc)
    linked = linker.link(TEXTS[0], candidates=3)
    assert [each._.wikilda for each in doc.ents] == [each.to_dict() for each in linked.mentions]
    assert doc._.wikilda["knowledge"]["wiki"] == "samplewiki"
    assert doc._.wikilda["topics"][0]["share"] > 0
    assert {token.ent_kb_id_ for token in doc if token.text == "Croft"} == {"Robert Croft"}
    assert {each.label_ for each in doc.ents} == {"ENTITY"}


def test_entities_of_the_pipeline_are_linked_where_there_are_some(model: Path) -> None:
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    patterns = {"Croft": "PERSON", "Xyzzy": "ORG", "three": "CARDINAL", "England": "GPE"}
    ruler.add_patterns([{"label": label, "pattern": pattern} for pattern, label in patterns.items()])  # type: ignore[attr-defined]
    nlp.add_pipe("wikilda", config={"model": str(model)})
    doc = nlp("Croft of Xyzzy took three wickets for England against Pakistan.")
    assert answers(doc)[1:] == [("Xyzzy", "NIL"), ("three", "NIL"), ("England", "England cricket team")]
    assert doc.ents[0].kb_id_ != "NIL"
    assert [each.label_ for each in doc.ents] == ["PERSON", "ORG", "CARDINAL", "GPE"]
    assert doc.ents[1]._.wikilda["candidates"] == []
    assert doc.ents[2]._.wikilda is None
    assert answers(nlp("nothing here")) == []


def test_restrictions_keep_the_entities_that_they_do_not_link(model: Path) -> None:
    nlp = spacy.blank("en")
    patterns = [{"label": "X", "pattern": each} for each in ("Croft", "England")]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)  # type: ignore[attr-defined]
    nlp.add_pipe("wikilda", config={"model": str(model), "types": ["person"]})
    assert answers(nlp("Croft took wickets for England.")) == [("Croft", "Robert Croft"), ("England", "NIL")]
    only = pipeline(model, only=["England cricket team"])
    assert answers(only("Croft took wickets for England.")) == [("England", "England cricket team")]
    assert pickle.loads(pickle.dumps(only.get_pipe("wikilda"))).wanted == only.get_pipe("wikilda").wanted  # type: ignore[attr-defined]
    for wrong in ({"types": ["persn"]}, {"exclude": ["No such title"]}, {"category": "No such category"}):
        with pytest.raises(InputError, match="there is no"):
            pipeline(model, **wrong)


def test_unknown_names_are_clustered(model: Path) -> None:
    doc = pipeline(model)("We met Zebulon Quux. So did Robert Croft. Zebulon Quux left.")
    assert [(each["name"], each["count"]) for each in doc._.wikilda["unknown"]] == [("Zebulon Quux", 2)]


def test_an_article_before_a_name_is_looked_over(model: Path) -> None:
    nlp = spacy.blank("en")
    patterns = [{"label": "GPE", "pattern": each} for each in ("the Glamorgan", "The Oval")]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)  # type: ignore[attr-defined]
    nlp.add_pipe("wikilda", config={"model": str(model)})
    assert answers(nlp("It was the Glamorgan of The Oval.")) == [
        ("the Glamorgan", "Glamorgan County Cricket Club"),
        ("The Oval", "The Oval"),
    ]


def test_a_wikidata_id_goes_before_a_title(model: Path) -> None:
    nlp = pipeline(model)
    linker = nlp.get_pipe("wikilda").linker  # type: ignore[attr-defined]
    england = linker.knowledge.find_topic("England cricket team")
    items = linker.knowledge.wikidata.copy()
    items[england] = 21
    linker.knowledge.__dict__["wikidata"] = items
    linker._entity.cache_clear()
    assert ("England", "Q21") in answers(nlp(TEXTS[0]))


def test_offsets_are_exact_after_emoji_and_line_breaks(model: Path) -> None:
    doc = pipeline(model)("😀 👩‍👩‍👧 e\u0301\r\nWhen Croft bowled, England won.")
    assert [each.text for each in doc.ents] == ["Croft", "England"]
    assert [doc.text[each.start_char : each.end_char] for each in doc.ents] == ["Croft", "England"]


@pytest.mark.parametrize("options", [{}, {"batch_size": 3}, {"n_process": 2, "batch_size": 4}])
def test_many_documents_give_what_each_gives(model: Path, options: dict[str, int]) -> None:
    nlp = pipeline(model, workers=2)
    several = [
        (doc.text, answers(doc), [each._.wikilda for each in doc.ents]) for doc in nlp.pipe(TEXTS[:8], **options)
    ]
    alone = [(doc.text, answers(doc), [each._.wikilda for each in doc.ents]) for doc in map(nlp, TEXTS[:8])]
    assert several == alone


def test_errors_go_to_the_error_handler(model: Path) -> None:
    nlp = pipeline(model)
    seen: list[str] = []
    nlp.set_error_handler(lambda name, component, docs, error: seen.append(f"{name}: {error}"))

    class Picky:
        def detect(self, text: str) -> list[tuple[int, int]]:
            if "1" in text:
                raise ValueError("no numbers")
            return []

    nlp.get_pipe("wikilda").linker.detector = Picky()  # type: ignore[attr-defined]
    assert [doc.text for doc in nlp.pipe(["text", "text 1", "more"])] == ["text", "more"]
    assert seen == ["wikilda: no numbers"]


def test_it_serialises(model: Path, tmp_path: Path) -> None:
    nlp = pipeline(model, candidates=2)
    expected = answers(nlp(TEXTS[0]))
    nlp.to_disk(tmp_path / "nlp")
    assert answers(spacy.load(tmp_path / "nlp")(TEXTS[0])) == expected
    assert answers(pipeline(model).from_bytes(nlp.to_bytes())(TEXTS[0])) == expected
    assert answers(pickle.loads(pickle.dumps(nlp))(TEXTS[0])) == expected
    doc = nlp(TEXTS[0])
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [each._.wikilda for each in again.ents] == [each._.wikilda for each in doc.ents]


def test_a_saved_pipeline_refuses_another_model(model: Path, tmp_path: Path) -> None:
    from wikilda.knowledge import Knowledge
    from wikilda.model import Model, ModelSettings, create_model

    nlp = pipeline(model)
    nlp.to_disk(tmp_path / "nlp")
    known: Knowledge = Model.open(model).knowledge()
    other = create_model(known, tmp_path / "other", ModelSettings(mass_words=3.0)).path
    with pytest.raises(ArtifactError, match="not the model that the pipeline was saved with"):
        spacy.load(tmp_path / "nlp", config={"components.wikilda.model": str(other)})
    moved = tmp_path / "moved"
    shutil.copytree(model, moved)
    loaded = spacy.load(
        tmp_path / "nlp", config={"components.wikilda": {"model": str(moved), "knowledge": str(known.path)}}
    )
    assert answers(loaded(TEXTS[0])) == answers(nlp(TEXTS[0]))


def test_it_says_what_it_needs() -> None:
    with pytest.raises(SettingsError, match="needs a model"):
        spacy.blank("en").add_pipe("wikilda")
    with pytest.raises(ArtifactError, match="no such directory"):
        pipeline(Path("nowhere"))


def test_spacy_finds_the_factory_of_the_installed_package() -> None:
    found = [each for each in entry_points(group="spacy_factories") if each.name == "wikilda"]
    if not found:
        pytest.skip("the package is not installed, only on the path")
    assert found[0].load() is wikilda.integrations.spacy.make_linker
