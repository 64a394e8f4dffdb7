"""Offsets are exact in every unit, for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikilda._core.errors import InputError
from wikilda.text.offsets import BYTES, CODE_POINTS, UNITS, UTF16, from_code_points, to_code_points

ENCODINGS = {BYTES: ("utf-8", 1), UTF16: ("utf-16-le", 2), CODE_POINTS: ("utf-32-le", 4)}
PIECES = st.one_of(
    st.sampled_from(
        ["😀", "👩‍👩‍👧‍👦", "e\u0301", "각", "東京", "שלום", "مرحبا", "\r\n", "\u200f", "𝔘", "\ud800", "ß", "a"]
    ),
    st.text(max_size=4),
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@given(TEXTS, st.data())
def test_a_span_cuts_the_same_string_out_of_the_encoded_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for unit in UNITS:
        encoding, size = ENCODINGS[unit]
        encoded = text.encode(encoding, "surrogatepass")
        [(first, last)] = from_code_points(text, [(start, end)], unit)
        assert encoded[first * size : last * size] == text[start:end].encode(encoding, "surrogatepass")
        assert to_code_points(text, [(first, last)], unit) == [(start, end)]


@pytest.mark.parametrize("unit", [BYTES, UTF16])
def test_offsets_inside_a_character_or_outside_the_text_are_refused(unit: str) -> None:
    with pytest.raises(InputError, match="offset 1 cuts a character"):
        to_code_points("😀a", [(1, 2)], unit)
    for wrong in (-1, 99, 1 << 80, -(1 << 80)):
        with pytest.raises(InputError, match="is not inside the text"):
            to_code_points("😀a", [(0, wrong)], unit)
