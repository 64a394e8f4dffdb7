"""Names as they are compared."""

import numpy as np
import pytest

from wikilda.text.characters import characters
from wikilda.text.folding import fold_words, folds
from wikilda.text.tokens import as_bytes


def folded(text: str) -> list[int]:
    data = as_bytes(text)
    words = np.empty(len(data) + 1, np.uint64)
    count = fold_words(data, 0, len(data), characters(), folds(), words)
    return [int(each) for each in words[:count]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Gdańsk", "GDANSK"),
        ("München", "Muenchen"),
        ("Giants'", "giant"),
        ("Giant's", "Giants"),
        ("Giant’s", "Giants"),
        ("U.S.", "US"),
        ("F.A. Cup", "FA Cup"),
        ("Saint-Étienne", "saint etienne"),
        ("Hermann Göring", "Hermann Goering"),
        ("Łódź", "Lodz"),
        ("e\u0301tat", "état"),  # a combining accent
    ],
)
def test_variants_fold_to_the_same_words(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Bush", "Buch"), ("U. S.", "US"), ("us", "u"), ("New York", "York New"), ("gas", "ga"), ("A B", "AB")],
)
def test_what_differs_stays_different(one: str, other: str) -> None:
    assert folded(one) != folded(other)


def test_how_many_words() -> None:
    assert [len(folded(text)) for text in ("", " - ", "Ab", "a.b.c.", "Boston-based", "R. Croft", "北京")] == [
        0, 0, 1, 1, 2, 2, 2,
    ]  # fmt: skip


def test_signs_at_the_end_of_a_word_are_part_of_a_name() -> None:
    assert folded("C++") != folded("C") != folded("C#") != folded("C++")
    assert folded("C++") == folded("c++")
    assert folded("#Acme") == folded("Acme")
