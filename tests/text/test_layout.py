"""What a reader sees of HTML and of divided words, and where it is in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikilda.text.layout import is_html, shown

PIECES = st.lists(
    st.sampled_from(
        ["Bill", " ", "Gates", "<b>", "</b>", "<p>", "</p>", "&amp;", "&", "<", "-\n", "\u00ad", "é", "\n"]
    ),
    max_size=20,
).map("".join)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<p>Bill <b>Gates</b></p>", "\nBill Gates\n"),
        ("<p>AT&amp;T&nbsp;Inc.</p>", "\nAT&T Inc.\n"),
        ("<div><script>var Apple</script><!-- Bill -->Hi</div>", "\nHi\n"),
        ("He lives in Wash-\nington.", "He lives in Washington."),
        ("He lives in Wash\u00adington.", "He lives in Washington."),
        ("the Anglo-\nSaxon king", None),  # a hyphen of its own
        ("1 < 2 and 3 > 2 -\n- or so", None),
        ("if a<b and b>c then AT&amp;T", None),
        ("", None),
    ],
)
def test_what_a_reader_sees(text: str, seen: str | None) -> None:
    found = shown(text)
    assert (found.text if found else None) == seen


def test_several_tags_are_html() -> None:
    assert is_html("<p>Hi</p>")
    assert not is_html("a <b> c")


@given(PIECES, st.data())
def test_spans_come_from_where_they_are_in_the_text(text: str, data: st.DataObject) -> None:
    found = shown(text)
    if found is None or not found.text:
        return
    start = data.draw(st.integers(0, len(found.text) - 1))
    end = data.draw(st.integers(start + 1, len(found.text)))
    [(first, last)] = found.original([(start, end)])
    assert 0 <= first < last <= len(text)
    inside = shown(text[first:last])
    words = found.text[start:end].split()
    assert all(word in (inside.text if inside else text[first:last]).replace("<b>", "") for word in words[1:-1])
    if found.text[start].isalpha():
        assert text[first] == found.text[start]
    if found.text[end - 1].isalpha():
        assert text[last - 1] == found.text[end - 1]
