"""Names of one document that belong together, and candidates by the words of titles."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.knowledge.conftest import build
from tests.urn import reference
from tests.wikis import FILLER, page
from wikilda.documents.document import marked
from wikilda.knowledge.name_index import name_index
from wikilda.linking import Linker
from wikilda.model import Model, create_model
from wikilda.text.characters import characters
from wikilda.text.folding import folds
from wikilda.text.tokens import Strings
from wikilda.urn import UrnSettings
from wikilda.urn._backoff import back_off
from wikilda.urn._coreference import Names, Parents, Senses, antecedents, folded, names_of, parents_of
from wikilda.urn._names import resolve

FAR = 1 << 20  # tokens from one mention to the next


def names(strings: list[str]) -> Names:
    return names_of(Strings.of(strings), characters(), folds())


def parents_among(strings: Sequence[str], places: list[int]) -> Parents:
    distinct = sorted(set(strings))
    return parents_of(names(distinct), np.array([distinct.index(each) for each in strings]), np.array(places))


def parents(*strings: str) -> list[list[tuple[str, float, bool]]]:
    found = parents_among(strings, [FAR * at for at in range(len(strings))])
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
    found = parents_of(names(strings), np.arange(len(strings)), FAR * np.arange(len(strings)))
    assert np.diff(found.offsets).max() == 3


WORDS = ["Ann", "Bo", "Cy", "of", "ABC", "A.B.", "B", "AB", "Ann Bo", "Bo Cy", "Ann Bo Cy", "Bo of Ann", "東"]


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(["", *WORDS]), st.integers(0, 3)), max_size=14))
def test_parents_are_those_of_the_reference(drawn: list[tuple[str, str, int]]) -> None:
    strings = [f"{one} {other}".strip() for one, other, _ in drawn]
    places = np.cumsum([step for _, _, step in drawn]).tolist()
    expected = reference.parents(strings, places, {each: list(folded(each)) for each in strings})
    found = parents_among(strings, places) if strings else None
    for token, wanted in enumerate(expected):
        assert found is not None
        span = slice(found.offsets[token], found.offsets[token + 1])
        own = list(zip(found.tokens[span].tolist(), found.surnames[span].tolist(), strict=True))
        assert own == wanted
        weights = np.array([0.5**rank for rank in range(len(wanted))])
        assert found.weights[span].tolist() == pytest.approx(weights / max(weights.sum(), 1))


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
    index, strings = name_index(knowledge), ["x", string]
    titles = Strings(knowledge.titles.data, knowledge.titles.offsets)
    assert index
    found = back_off(
        names(strings), Strings.of(strings), np.full(2, -1), 8, index, titles, model.mentions, characters(),
        folds(),
    )  # fmt: skip
    topics, priors = found.topics[found.offsets[1] :], found.priors[found.offsets[1] :]
    assert ([knowledge.titles[int(topics[np.argmax(priors)])]] if len(topics) else []) == ([title] if title else [])
    assert priors.sum() <= 1 + 1e-9
    assert topics.tolist() == sorted(set(topics.tolist()))


def test_a_variant_is_the_mention_itself(model: Model) -> None:
    index, strings = name_index(model.knowledge()), Strings.of(["GDANSK", "X", "x", "y"])
    assert index
    found = resolve(np.array([-1, -1, -1, 0]), strings, index.variants, characters(), folds(), True)
    assert found.tolist() == [model.knowledge().find_mention("gdańsk"), -4, -4, 0]


def test_strings_that_the_wiki_never_linked_are_linked(model: Model) -> None:
    document = marked("[[Yeltsin]] spoke of [[Chechens]] in [[GDANSK]].")
    linked = Linker(model).link(document, topics=0)
    best = [each.candidates[0].entity.title for each in linked.mentions]
    assert best == ["Boris Yeltsin", "Chechnya", "Gdańsk"]
    unknown = Linker(model).link(marked("[[Xyzzy]] spoke of [[Chechens]] in [[GDANSK]]."), topics=0).mentions[0]
    assert unknown.candidates == []
    assert max(each.nil for each in linked.mentions) < unknown.nil  # pooled weights: *Yeltsin* may still be NIL
    without = Linker(model, settings=UrnSettings(backoff_candidates=0)).link(document, topics=0)
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


POOL = [
    "Gordon Brown",
    "James Brown",
    "Brown",
    "Gordon",
    "US",
    "US Steel",
    "Steel",
    "UN",
    "United Nations",
    "Bank of Brown",
]
SENSES = st.tuples(st.integers(-1, 3), st.sampled_from([0.1, 0.4, 0.9]), st.sampled_from([3.0, 300.0]), st.booleans())


@given(
    st.lists(st.tuples(st.sampled_from(POOL), st.booleans()), min_size=1, max_size=9),
    st.lists(SENSES, min_size=len(POOL), max_size=len(POOL)),
    st.booleans(),
)
def test_antecedents_are_those_of_the_rules(
    drawn: list[tuple[str, bool]], given_senses: list[tuple[int, float, float, bool]], untyped: bool
) -> None:
    strings, is_titled = [each for each, _ in drawn], [each for _, each in drawn]
    distinct = sorted(set(strings))
    rows = np.array([distinct.index(each) for each in strings])
    found = parents_of(names(distinct), rows, FAR * np.arange(len(strings)))
    kinds = dict(zip(POOL, given_senses, strict=True))
    columns = zip(*(kinds[each] for each in distinct), strict=True)
    persons, bodies = np.array([255, 0, 255, 0], np.uint8), np.array([0, 255, 255, 0], np.uint8)
    if untyped:
        persons, bodies = persons[:0], bodies[:0]
    senses = Senses(*(np.array(column) for column in columns))
    got = antecedents(names(distinct), rows, found, np.array(is_titled), senses, persons, bodies)
    wanted = reference.antecedents(
        strings,
        [found.tokens[found.offsets[at] : found.offsets[at + 1]].tolist() for at in range(len(strings))],
        is_titled,
        {
            each: reference.Sense(*kinds[each], not untyped and kinds[each][0] in (0, 2),
                                  not untyped and kinds[each][0] in (1, 2))
            for each in POOL
        },
        {each: list(folded(each)) for each in POOL},
        untyped=untyped,
    )  # fmt: skip
    assert [distinct[row] for row in got] == wanted


def test_short_forms_are_their_nearest_full_name(tmp_path: Path) -> None:
    """Of two people with one surname the nearest counts; a short form of an unknown name is unknown."""
    pages = [
        page(each, f"{FILLER} [[Gordon Brown]] [[James Brown]]") for each in ("Gordon Brown", "James Brown", "Ode")
    ]
    linker = Linker(create_model(build(tmp_path, pages), tmp_path / "model"))
    text = "We met [[James Brown]]. Then [[Gordon Brown]] came. Mr [[Brown]] spoke. [[Amos Quibble]] left, and [[Quibble]]."
    answers = [each.entity.title if each.entity else None for each in linker.link(marked(text)).mentions]
    assert answers == ["James Brown", "Gordon Brown", "Gordon Brown", None, None]
