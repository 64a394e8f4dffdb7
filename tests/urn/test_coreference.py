"""Names of one document that belong together, and candidates by the words of titles."""

from pathlib import Path

import numpy as np
import pytest

from tests.knowledge.conftest import build
from tests.wikis import FILLER, page
from wikilda.documents.document import marked
from wikilda.linking import Linker
from wikilda.model import Model, create_model
from wikilda.text.tokens import Strings
from wikilda.urn import UrnSettings
from wikilda.urn._coreference import Name, parents_of
from wikilda.urn._names import NameCandidates


def parents(*strings: str) -> list[list[tuple[str, float, bool]]]:
    distinct = sorted(set(strings))
    found = parents_of([Name.of(each) for each in distinct], [distinct.index(each) for each in strings])
    lists = []
    for token in range(len(strings)):
        span = slice(found.offsets[token], found.offsets[token + 1])
        columns = (found.tokens[span], found.weights[span], found.surnames[span])
        lists.append(
            [(strings[at], round(float(weight), 3), bool(last)) for at, weight, last in zip(*columns, strict=True)]
        )
    return lists


def test_surnames_first_names_and_initials_have_parents() -> None:
    assert parents("Boris Yeltsin", "Yeltsin", "Boris", "BY", "Moscow") == [
        [],
        [("Boris Yeltsin", 1.0, True)],
        [("Boris Yeltsin", 1.0, False)],
        [("Boris Yeltsin", 1.0, True)],
        [],
    ]


def test_two_people_of_one_surname_stay_two() -> None:
    found = parents("Steve Waugh", "Mark Waugh", "Waugh", "Steve Waugh", "Waugh")
    assert found[2] == [("Mark Waugh", 0.667, True), ("Steve Waugh", 0.333, True)]
    assert found[4] == [("Steve Waugh", 0.667, True), ("Mark Waugh", 0.333, True)]


def test_a_name_that_comes_later_counts_if_none_came_before() -> None:
    assert parents("YELTSIN", "Boris Yeltsin")[0] == [("Boris Yeltsin", 1.0, True)]
    assert parents("Waugh", "Mark Waugh", "Steve Waugh")[0] == [("Mark Waugh", 1.0, True)]


def test_what_an_unknown_name_only_begins_with_is_not_unknown() -> None:
    assert parents("Sydney Newsroom", "Sydney")[1] == [("Sydney Newsroom", 1.0, False)]
    assert parents("Bank of Taiwan", "Taiwan")[1] == [("Bank of Taiwan", 1.0, False)]


def test_many_names_take_linear_time() -> None:
    strings = [f"John Smith{number}" for number in range(20_000)] + ["John"] * 20_000
    found = parents_of([Name.of(each) for each in strings], list(range(len(strings))))
    assert np.diff(found.offsets).max() == 3


TITLES = ["Boris Yeltsin", "Boris Becker", "International Monetary Fund", "Gdańsk", "Chechnya", "Franklin D. Roosevelt"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    path = tmp_path_factory.mktemp("backoff")
    knowledge = build(path, [page(title, f"{FILLER} [[Boris Yeltsin]] [[Chechnya]]") for title in TITLES])
    return create_model(knowledge, path / "model")


@pytest.mark.parametrize(
    ("string", "title"),
    [
        ("Yeltsin", "Boris Yeltsin"),
        ("IMF", "International Monetary Fund"),
        ("Chechens", "Chechnya"),
        ("President Boris Yeltsin", "Boris Yeltsin"),
        ("Franklin Roosevelt", "Franklin D. Roosevelt"),
        ("imf", None),
        ("Xyzzy", None),
    ],
)
def test_candidates_by_the_words_of_titles(model: Model, string: str, title: str | None) -> None:
    knowledge = model.knowledge()
    found = NameCandidates(knowledge, model.mentions, 8).by_words(Strings.of(["x", string]), np.zeros(2, np.bool_))
    topics, priors = found.topics[found.offsets[1] :], found.priors[found.offsets[1] :]
    assert ([knowledge.titles[int(topics[np.argmax(priors)])]] if len(topics) else []) == ([title] if title else [])
    assert priors.sum() <= 1 + 1e-9
    assert topics.tolist() == sorted(set(topics.tolist()))


def test_a_variant_is_the_mention_itself(model: Model) -> None:
    found = NameCandidates(model.knowledge(), model.mentions, 8).resolve(
        np.array([-1, -1, -1, 0]), ["GDANSK", "X", "x", "y"]
    )
    assert found.tolist() == [model.knowledge().find_mention("gdańsk"), -4, -4, 0]


def test_strings_that_the_wiki_never_linked_are_linked(model: Model) -> None:
    document = marked("[[Yeltsin]] spoke of [[Chechens]] in [[GDANSK]].")
    linked = Linker(model).link(document, topics=0)
    assert [each.entity and each.entity.title for each in linked.mentions] == ["Boris Yeltsin", "Chechnya", "Gdańsk"]
    without = Linker(model, settings=UrnSettings(backoff_share=0.0)).link(document, topics=0)
    assert [each.entity for each in without.mentions] == [None] * 3
    assert [each.nil for each in without.mentions] == [1.0] * 3


def test_surnames_of_unknown_people_are_unknown(tmp_path: Path) -> None:
    """`Becker` may be Boris Becker; after Gary Becker, whom nobody knows, it is not."""
    links = "[[Boris Becker|Becker]] [[Boris Yeltsin|Becker]]"
    pages = [page(title, f"{FILLER} {links if title == 'Chechnya' else ''}") for title in TITLES]
    linker = Linker(create_model(build(tmp_path, pages), tmp_path / "model"))
    alone, after = (
        linker.link(marked(text), topics=0).mentions[-1]
        for text in ("It rained, and [[Becker]] won.", "[[Gary Xavier Becker]] came, and [[Becker]] won.")
    )
    odds, before = (each.nil / (1 - each.nil) for each in (after, alone))
    assert odds > 2 * before
