from pathlib import Path

import numpy as np
import pytest

from tests.knowledge.conftest import ONE, build
from tests.wikis import FILLER, page
from wikilda.knowledge import BuildSettings, Knowledge, build_from_tables
from wikilda.training.update._changes import read_changes
from wikilda.training.update._knowledge import update_knowledge

PAGES = [
    page(
        "Lara",
        f"'''Lara''' bats. {FILLER}\n[[Category:west_Indian cricketers|Lara, Brian]]\n[[Category:Cricket stubs]]",
    ),
    page("Croft", f"'''Croft''' bowls. {FILLER} {{{{Box|[[category: Cricketers ]]}}}} See [[:Category:Sport]]."),
    page("Rock", f"A rock is hard. {FILLER} [[Category:Stones]][[Category:Lost and found]][[Category:]]"),
    page("Category:West Indian cricketers", "[[Category:Cricketers]] [[Category:West Indies]]", namespace=14),
    page("Category:Cricketers", "Players. [[Category:Sport]]", namespace=14),
    page("Category:Sport", "[[Category:Cricketers]] [[Category:Contents]]", namespace=14),  # a loop
    page("Category:Lost and found", "{{Track}}", namespace=14),
    page("Category:Empty", "[[Category:Sport]]", namespace=14),
    page("Template:Track", "<includeonly>__HIDDENCAT__</includeonly>", namespace=10),
]


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    return build(tmp_path_factory.mktemp("categories"), PAGES)


def names(knowledge: Knowledge, numbers: object) -> list[str]:
    return [knowledge.categories.names[int(each)] for each in np.asarray(numbers)]


def test_topics_have_the_categories_that_their_pages_name(knowledge: Knowledge) -> None:
    categories = knowledge.categories
    assert names(knowledge, categories.of(knowledge.find_topic("Lara"))) == ["West Indian cricketers"]
    assert names(knowledge, categories.of(knowledge.find_topic("Croft"))) == ["Cricketers"]  # a link is no membership


def test_hidden_and_maintenance_categories_are_told_apart(knowledge: Knowledge) -> None:
    categories = knowledge.categories
    rock, lara = knowledge.find_topic("Rock"), knowledge.find_topic("Lara")
    assert names(knowledge, categories.of(rock)) == ["Stones"]
    assert names(knowledge, categories.of(rock, hidden=True)) == ["Lost and found", "Stones"]
    assert "Cricket stubs" in names(knowledge, categories.of(lara, hidden=True))


def test_parents_lead_upward_and_loops_end(knowledge: Knowledge) -> None:
    categories = knowledge.categories
    assert names(knowledge, categories.parents_of(categories.find("west_Indian cricketers"))) == [
        "Cricketers", "West Indies",
    ]  # fmt: skip
    above = categories.ancestors(knowledge.find_topic("Lara"), depth=9)
    assert {categories.names[each]: distance for each, distance in above.items()} == {
        "West Indian cricketers": 1, "Cricketers": 2, "West Indies": 2, "Sport": 3, "Contents": 4,
    }  # fmt: skip
    assert len(categories.ancestors(knowledge.find_topic("Lara"), depth=1)) == 1


def test_members_are_found_downward(knowledge: Knowledge) -> None:
    categories = knowledge.categories
    cricketers = categories.find("Cricketers")
    lara, croft = knowledge.find_topic("Lara"), knowledge.find_topic("Croft")
    assert categories.members_of(cricketers).tolist() == [croft]
    assert categories.members_of(cricketers, depth=1).tolist() == sorted([croft, lara])
    assert categories.find("Empty") < 0  # leads to no topic


def test_lists_of_entities_add_categories(knowledge: Knowledge, tmp_path: Path) -> None:
    entities = tmp_path / "new.jsonl"
    entities.write_text('{"id": "1", "name": "Anvil", "categories": ["Stones"]}\n', "utf-8")
    updated, _ = update_knowledge(knowledge, read_changes([entities], knowledge), tmp_path / "new.kb", ["new"])
    categories = updated.categories
    assert names(updated, categories.of(updated.find_topic("Anvil"))) == ["Stones"]
    assert names(updated, categories.of(updated.find_topic("Lara"))) == ["West Indian cricketers"]
    assert len(categories.ancestors(updated.find_topic("Lara"), depth=9)) == 5
    assert names(updated, categories.of(updated.find_topic("Rock"), hidden=True)) == ["Lost and found", "Stones"]
    assert categories.members_of(categories.find("Stones")).tolist() == sorted(
        updated.find_topic(each) for each in ("Anvil", "Rock")
    )


def test_tables_may_have_categories(tmp_path: Path) -> None:
    tables = {
        "topics": "title\nLara\nRock\n", "categories": "title\tcategory\nLara\tCricketers\n",
        "parents": "category\tparent\nCricketers\tSport\n",
    }  # fmt: skip
    for name, rows in tables.items():
        (tmp_path / f"{name}.tsv").write_text(rows, "utf-8")
    known = build_from_tables(tmp_path, tmp_path / "kb", BuildSettings(), resources=ONE)
    above = known.categories.ancestors(known.find_topic("Lara"), depth=3)
    assert [known.categories.names[each] for each in above] == ["Cricketers", "Sport"]
    assert not len(known.categories.of(known.find_topic("Rock")))


def test_knowledge_without_categories_has_none(tmp_path: Path) -> None:
    known = build(tmp_path, [page("Lara", f"Lara bats. {FILLER}")])
    assert len(known.categories) == 0
    assert len(known.categories.of(0)) == 0
    assert known.categories.ancestors(0, depth=3) == {}
