"""What titles say of strings."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.urn import reference
from wikilda._core.arrays import lookup
from wikilda.knowledge import Knowledge
from wikilda.text.characters import characters
from wikilda.text.tokens import FLAGS, Strings, token_hashes
from wikilda.urn._title_match import INITIALS, NOTED, PART, SAME, UNLIKE, capital_chances, name_kinds

ALIKE = 0
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
# What kinds turn on: capitals, notes, points, spaces of several kinds, marks, scripts without case or spaces.
PIECES = st.lists(
    st.sampled_from([*"aBcDeİΣßé.() \n\u00a0\u200b\u0301東ก😀ǅ٣\U000e0100\U0010fffd", " (", "abcd", "of "]), max_size=14
).map("".join)
ANY = TEXTS | PIECES
MATCH = SAME | INITIALS | UNLIKE


def kinds_of(string: str, titles: list[str]) -> NDArray[np.uint8]:
    """Those of the second of two strings: they do not see each other."""
    offsets, topics = np.array([0, 1 if titles else 0, len(titles) + bool(titles)]), np.arange(len(titles))
    whole = np.concatenate((topics[:1], topics)).astype(np.uint32)
    return name_kinds(Strings.of(["Other", string]), offsets, whole, Strings.of(titles), characters())[offsets[1] :]


def kind(string: str, title: str) -> int:
    return int(kinds_of(string, [title])[0])


@pytest.mark.parametrize(
    ("string", "title", "expected"),
    [
        ("Wednesday", "Sheffield Wednesday F.C.", 0),
        ("Sheffield", "Sheffield Wednesday F.C.", PART),
        ("Croft", "Robert Croft", PART),
        ("Robert", "Robert Croft (cricketer)", PART | NOTED),
        ("Robert Croft", "Robert Croft", SAME),
        ("Robert Croft", "Robert Croft (cricketer)", SAME | NOTED),
        ("J. F. Kennedy", "John F. Kennedy", SAME),
        ("JF Kennedy", "John F. Kennedy", 0),
        ("J. Kennedy", "John F. Kennedy", 0),
        ("R Croft", "Robert Croft (cricketer)", SAME | NOTED),
        ("Robert C.", "Robert Croft", 0),
        ("Robert Croft Jones", "Robert Croft", 0),
    ],
)
def test_a_string_that_is_part_of_a_title(string: str, title: str, expected: int) -> None:
    assert kind(string, title) == expected


def test_articles_show_how_often_a_topic_has_a_capital(sample: Knowledge) -> None:
    """Names always have one; titles without a capital after the first are written as their first word is."""
    titles, cases = sample.titles, sample.word_cases
    words = {each for title in titles for each in re.findall(r"\w+", title.lower())}
    numbers = {each: lookup(cases.table, token_hashes(each)[0] & ~FLAGS) for each in words}
    shares = {each: int(cases.capital[number]) for each, number in numbers.items() if number >= 0}
    topics, known = np.arange(len(titles)), np.zeros(len(titles), np.uint8)
    strings = Strings(titles.data, titles.offsets)
    found = capital_chances(topics, known, strings, cases, characters())
    assert (found / 255).tolist() == pytest.approx([reference.capital_chance(each, shares) for each in titles])
    assert found.min() < 255
    assert (known == found).all()


@pytest.mark.parametrize(
    ("string", "title", "expected"),
    [
        ("United States", "United States", SAME),
        ("united  states", "United States", SAME),
        ("U.S.", "United States", INITIALS),
        ("US", "United States", INITIALS),
        ("U. S.", "United States", UNLIKE),
        ("U.S. Army", "United States", UNLIKE),
        ("IRA", "Irish Republican Army", INITIALS),
        ("IRA", "Provisional Irish Republican Army", UNLIKE),
        ("IRA", "Individual retirement account", INITIALS),
        ("IRA", "Ira (mythology)", SAME),
        ("UAE", "United Arab Emirates", INITIALS),
        ("DRC", "Democratic Republic of the Congo", INITIALS),  # without the words in lower case
        ("DROTC", "Democratic Republic of the Congo", INITIALS),  # and with them
        ("DROC", "Democratic Republic of the Congo", UNLIKE),
        ("A", "Arsenal", UNLIKE),  # one letter is no acronym
        ("Mercury", "Mercury", SAME),
        ("Mercury", "Mercury (planet)", SAME),
        ("Mercury (planet)", "Mercury (planet)", SAME),
        ("Mercury (planet)", "Mercury", ALIKE),
        ("planet", "Mercury (planet)", ALIKE),
        ("Mercury", "Mercury (", ALIKE),
        ("Mercury", "Mercury(planet)", ALIKE),
        ("MP", "Mercury (planet)", UNLIKE),  # the note has no initials
        ("Russian", "Russia", ALIKE),
        ("Rus", "Russia", UNLIKE),
        ("Moscow", "Russia", UNLIKE),
        ("Kansas City", "Kansas", ALIKE),
        ("東京", "東京", SAME),
        ("東京都", "東京", ALIKE),
        ("Москва", "Москва (река)", SAME),
        ("СССР", "Союз Советских Социалистических Республик", INITIALS),
        ("московский", "Москва", ALIKE),
        ("दिल्ली", "मुम्बई", UNLIKE),
        ("Ελλάς", "ΕΛΛΆΣ", ALIKE),  # ς and σ are two letters to us
        ("planet", "(planet)", ALIKE),
        ("(planet)", "(planet)", SAME),
        ("Mercury", "(planet)", UNLIKE),
        ("RP", "(Red Planet)", INITIALS),  # a title that is nothing but a note
        ("RP", " (Red Planet)", INITIALS),
        ("Mercury", "Mercury ()", SAME),
        ("", "Mercury", UNLIKE),
        ("", "", UNLIKE),
        ("Mercury", "", UNLIKE),
        ("😀", "😀", SAME),
        ("😀", "😀 (emoji)", SAME),
        ("😀", "😁", UNLIKE),
        ("😀 Mercury", "Mercury", ALIKE),
        ("...", "...", SAME),
        ("ab", "\U0010fffd b", UNLIKE),
    ],
)
def test_examples(string: str, title: str, expected: int) -> None:
    assert kind(string, title) & MATCH == expected
    assert reference.names(string, title) == kind(string, title)


@given(ANY, ANY)
@example("ab", "\U000e0100a b")
@example("a\n", "a\nb (\n)")
@example("\ud800", "?")
def test_the_reference_says_the_same(string: str, title: str) -> None:
    assert kind(string, title) == reference.names(string, title)


@given(ANY, st.lists(ANY, max_size=4))
def test_each_title_is_judged_by_itself(string: str, titles: list[str]) -> None:
    found = kinds_of(string, titles)
    assert found.tolist() == [kind(string, title) for title in titles]


@given(ANY)
def test_a_string_is_its_own_title(title: str) -> None:
    found = kind(title, title)
    assert found & SAME or found & MATCH == UNLIKE
    assert bool(found & SAME) == any(reference._kind(each) != 0 for each in title)


@given(ANY, ANY)
def test_a_title_cannot_be_both_the_string_and_unlike_it(string: str, title: str) -> None:
    found = kind(string, title)
    assert found & MATCH in (ALIKE, SAME, INITIALS, SAME | INITIALS, UNLIKE)


@given(st.text(st.characters()))
def test_lone_surrogates_do_no_harm(string: str) -> None:
    kind(string, "Mercury (planet)")
