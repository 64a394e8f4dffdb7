"""Entities that a caller brings along for one document."""

from pathlib import Path

import numpy as np
import pytest

from wikilda import InputError, OwnEntity, SettingsError, train
from wikilda.documents.encoding import encode
from wikilda.knowledge import Knowledge
from wikilda.linking import Document, Linked, Linker
from wikilda.linking.restriction import Restriction
from wikilda.model.model import NilCounts
from wikilda.urn import Urn
from wikilda.urn.own_entities import OwnEntities

ACME = {"title": "Acme Corporation", "names": ["Acme", "ACME Corp"], "description": "A maker of anvils and rockets."}
GIN = OwnEntity("Croft (gin)", ("Croft",), "A gin that is distilled in London, and drunk with tonic water in a bar.")


def answers(linked: Linked) -> dict[str, str | None]:
    return {each.text: each.entity and each.entity.title for each in linked.mentions}


def test_names_that_the_wiki_does_not_have_are_found_and_linked(linker: Linker) -> None:
    linked = linker.link("Acme sold anvils to England. ACME Corp. is in London; acme is a word.", entities=[ACME])
    assert answers(linked) == {
        "Acme": "Acme Corporation", "ACME Corp": "Acme Corporation", "England": "England", "London": "London"
    }  # fmt: skip
    entity = linked.mentions[0].candidates[0].entity
    assert (entity.page_id, entity.wikidata, entity.url, entity.topic) == (0, None, "", -1)


def test_a_name_means_what_the_context_says(linker: Linker) -> None:
    cricket = linker.link("Croft took five wickets for England against Pakistan.", entities=[GIN])
    bar = linker.link("They drank Croft with tonic water in a bar, a gin distilled in London.", entities=[GIN])
    assert answers(cricket)["Croft"] == "Robert Croft"
    assert answers(bar)["Croft"] == "Croft (gin)"


def test_short_forms_mean_what_the_full_name_does(linker: Linker) -> None:
    own = [OwnEntity("Zed Smithers (painter)", ("Zed Smithers",))]
    linked = linker.link("Zed Smithers spoke in London. Later Smithers left.", entities=own)
    assert answers(linked) == {
        "Zed Smithers": "Zed Smithers (painter)", "Smithers": "Zed Smithers (painter)", "London": "London"
    }  # fmt: skip


def test_given_mentions_stay_as_they_are(linker: Linker) -> None:
    document = Document("Acme and Croft met.", [(9, 14)])
    assert list(answers(linker.link(document, entities=[ACME]))) == ["Croft"]


def test_nil_competes(linker: Linker) -> None:
    """A string that is only short for a name, with nothing to support it, may be somebody else."""
    own = [OwnEntity("Zed Smithers", description="A painter of anvils.")]
    mention = linker.link(Document("Smithers bowled to Lara at Lords.", [(0, 8)]), entities=own).mentions[0]
    assert 0.05 < mention.nil < 1


def test_without_them_nothing_changes(linker: Linker) -> None:
    text = "Croft took five wickets for England."
    assert linker.link(text, entities=[]) == linker.link(text)
    assert linker.link(text, entities=[ACME]).mentions == linker.link(text).mentions
    assert linker.link(text, entities=[GIN]).topics


def test_restrictions_hold_for_them(linker: Linker) -> None:
    text = "Acme sold anvils to England."
    for wanted, found in (
        (Restriction(types=("organisation",)), ["England"]),  # its cricket team
        (Restriction(types=("place",)), ["England"]),
        (Restriction(only=("London",)), ["Acme"]),
        (Restriction(exclude=('"acme"',)), ["England"]),
    ):
        assert list(answers(linker.link(text, entities=[ACME], restriction=wanted))) == found
    typed = [{**ACME, "type": "organisation"}]
    linked = linker.link(text, entities=typed, restriction=Restriction(types=("organisation",)))
    assert answers(linked)["Acme"] == "Acme Corporation"


@pytest.mark.parametrize(
    "wrong",
    [
        {"names": ["Acme"]}, {"title": ""}, {"title": "…"}, {"title": "Acme", "names": "Acme"},
        {"title": "Acme", "aliases": ["A"]}, {"title": "Acme", "type": "anvil"}, {"title": "Acme", "names": [""]},
    ],
)  # fmt: skip
def test_what_is_no_entity_is_refused(linker: Linker, wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match="entities: "):
        linker.link("Acme", entities=[wrong])


def test_a_title_is_there_once(linker: Linker) -> None:
    with pytest.raises(InputError, match="occurs twice"):
        linker.link("Acme", entities=[ACME, ACME])


def test_the_papers_sampler_has_none(linker: Linker) -> None:
    other = Linker.open(linker.model.path, method="lda")
    with pytest.raises(SettingsError, match="method urn"):
        other.link("Acme", entities=[ACME])


def test_names_are_found_in_linear_time(linker: Linker) -> None:
    own = [OwnEntity(f"Name {number}", (f"Alias {number} of it",)) for number in range(1000)]
    linked = linker.link("Name 1 met Alias 7 of it. " * 200, entities=own, topics=0)
    assert {each.text for each in linked.mentions if each.entity} == {"Name 1", "Alias 7 of it"}


def test_a_trained_model_takes_them_too(model: Path, tmp_path: Path) -> None:
    """It has learned of contexts, but nothing of these."""
    texts = tmp_path / "texts.txt"
    texts.write_text("Croft took five wickets for England. They sell anvils in London.")
    trained = Linker(train(model, [texts], tmp_path / "trained"))
    text = "Acme and Croft sold anvils to England."
    assert answers(trained.link(text, entities=[ACME]))["Acme"] == "Acme Corporation"
    assert answers(trained.link(texts.read_text(), entities=[ACME, GIN])) == answers(trained.link(texts.read_text()))


def test_what_texts_have_as_nil_may_be_one_of_them(linker: Linker, sample: Knowledge) -> None:
    """Strings that texts have as NIL are NIL in linking, unless the caller says what they are."""
    always = NilCounts(np.array([sample.find_mention("croft")]), *np.full((2, 1), 90, np.float32))
    model = linker.model.with_learned(linker.model.learned._replace(nil=always), 1)
    own, document = OwnEntities([GIN], sample), encode(Document("Croft met Lara in England.", [(0, 5)]), sample)
    plain, taught = (Urn(each, sample) for each in (linker.model.with_learned(linker.model.learned, 1), model))
    before, after = (float(each.draw(document).nil[0]) for each in (plain, taught))
    assert after / (1 - after) > 1.5 * before / (1 - before)
    assert taught.draw_without(document, None, own).nil[0] == plain.draw_without(document, None, own).nil[0]
