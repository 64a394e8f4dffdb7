"""The tables by code point, held to Python's own knowledge of Unicode."""

import sys
import unicodedata

import numpy as np
import pytest

from wikilda.text import lower
from wikilda.text.characters import LONE, MARK, PUNCTUATION, SPACE, TABLE_SIZE, WORD_PART, characters

EVERY = [chr(point) for point in range(sys.maxunicode + 1)]


def test_lower_case_is_one_character_for_one() -> None:
    assert [character for character in EVERY if len(lower(character)) != 1] == []


def test_lower_case_does_not_depend_on_neighbours() -> None:
    assert lower("".join(EVERY)) == "".join(map(lower, EVERY))
    assert lower("ΟΔΟΣ ΣΑΣ") == "οδοσ σασ"


def test_lower_case_is_pythons_but_for_two_letters() -> None:
    assert {c for c in EVERY if lower(c) != c.lower()} == {"İ"}
    assert lower("İstanbul") == "istanbul"


def test_lower_case_is_stable() -> None:
    assert [c for c in EVERY if lower(lower(c)) != lower(c)] == []


def test_the_table_agrees_with_lower() -> None:
    assert characters().lower.tolist() == [ord(lower(c)) for c in EVERY[:TABLE_SIZE]]
    # What lies past the table has no case.
    assert [c for c in EVERY[TABLE_SIZE:] if c.lower() != c or c.upper() != c] == []


def test_the_table_of_upper_case_leaves_what_becomes_two_characters() -> None:
    upper = characters().upper
    assert upper[ord("ß")] == ord("ß")
    assert upper[ord("ﬁ")] == ord("ﬁ")
    assert [chr(upper[ord(c)]) for c in "aéжÿ"] == ["A", "É", "Ж", "Ÿ"]
    assert upper[ord("ა")] == ord("ა")  # Georgian has capitals for headlines only
    single = np.array([len(c.upper()) == 1 and not "ა" <= c <= "ჿ" for c in EVERY[:TABLE_SIZE]])
    assert upper[single].tolist() == [ord(c.upper()) for c, one in zip(EVERY, single, strict=False) if one]


@pytest.mark.parametrize(
    ("some", "kind"),
    [
        ("aZéßжЖאबا٣５ªⅣ²ǅ", WORD_PART),
        ("東アあ㐀𠀀々กລကក한", LONE),
        (".,'’\"-_&@$+=|~€©😀🏽।。", PUNCTUATION),
        (" \t\n\r\x00\x1f\x7f\u00a0\u00ad\u2003\u2028\u200b\u200e\ufeff", SPACE),
        ("\u0301\u093e\u0e31\ufe0f\u200c\u200d\u20dd", MARK),
    ],
)
def test_kinds(some: str, kind: int) -> None:
    assert {c: characters().kind[ord(c)] for c in some} == dict.fromkeys(some, kind)


def test_kinds_follow_the_categories() -> None:
    expected = {
        "L": {WORD_PART, LONE},
        "N": {WORD_PART, LONE},
        "M": {MARK},
        "P": {PUNCTUATION},
        "S": {PUNCTUATION},
        "Z": {SPACE},
    }
    kinds = characters().kind
    for point, character in enumerate(EVERY[:TABLE_SIZE]):
        assert kinds[point] in expected.get(unicodedata.category(character)[0], {SPACE, MARK}), hex(point)
