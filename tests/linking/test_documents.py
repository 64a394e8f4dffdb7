"""Documents come in with exact spans, and bad ones with a message."""

import json

import pytest

from wikilda.errors import InputError
from wikilda.linking.documents import Text, marked, read_documents


def test_marked_text_gives_spans_of_the_plain_text() -> None:
    document = marked("[[Croft]] took 5 😀 for [[England]], not [x] or [[a [[b]].")
    assert document.text == "Croft took 5 😀 for England, not [x] or [[a b."
    assert [document.text[a:b] for a, b in document.mentions] == ["Croft", "England", "b"]


def test_json_lines_with_spans_or_marks() -> None:
    rows = [
        {"id": "a", "text": "Croft bowls", "mentions": [{"start": 0, "end": 5}]},
        {"text": "Moin Khan", "mentions": [[0, 9]]},
        {"id": 7, "text": "[[Lord's]]"},
    ]
    found = list(read_documents(json.dumps(row) + "\n" for row in rows))
    assert found == [
        Text("Croft bowls", [(0, 5)], "a"),
        Text("Moin Khan", [(0, 9)], "2"),
        Text("Lord's", [(0, 6)], "7"),
    ]


def test_text_that_is_not_json_is_one_document() -> None:
    assert list(read_documents(["\n", "[[A]] and\n", "[[B]]\n"])) == [Text("A and\nB\n", [(0, 1), (6, 7)], "1")]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "is empty"),
        (["no mentions here"], "double brackets"),
        (['{"text": "a", "mentions": [[0, 2]]}'], r"line 1.*not inside its text of 1"),
        (['{"text": "abc", "mentions": [[2, 2]]}'], "is empty or not inside"),
        (['{"text": "abc", "mentions": [[-1, 2]]}'], "not inside"),
        (['{"text": "abc", "mentions": [["0", 2]]}'], "line 1: a mention is"),
        (['{"text": "abc", "mentions": 3}'], "is not a list"),
        (['{"text": 3}'], 'needs "text"'),
        (['{"text": "[[a]]"}', "{"], "line 2: is not JSON"),
        (['{"text": "[[a]]"}', "[1]"], 'line 2: needs "text"'),
    ],
)
def test_bad_documents_are_named_by_their_line(lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        list(read_documents(lines, "in.jsonl"))
