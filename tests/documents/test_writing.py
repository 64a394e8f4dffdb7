"""Answers go out whole in every format, and nothing in a text can break out of a page."""

import csv
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikilda._core.errors import InputError
from wikilda.documents.writing import MENTIONS, write_file, write_rows
from wikilda.linking import Document, Linker

TEXT = "😀 Croft zigzag for Glamorgan\r\nagainst Pakistan."
SPANS = [(2, 7), (19, 28), (38, 46), (8, 14)]
CLUB = "Glamorgan County Cricket Club"


@pytest.fixture(scope="module")
def row(linker: Linker) -> dict[str, Any]:
    return linker.link(Document(TEXT, SPANS, "a\tb")).to_dict(with_text=True)


def test_an_answer_says_of_which_wiki_it_speaks(row: dict[str, Any], linker: Linker) -> None:
    assert row["knowledge"] == {
        "wiki": "samplewiki", "language": "en", "files": ["wiki.xml"], "identity": linker.knowledge.identity,
    }  # fmt: skip
    first = row["mentions"][1]
    assert (first["start"], first["end"], first["text"], first["title"]) == (19, 28, "Glamorgan", CLUB)
    assert first["url"] == first["candidates"][0]["url"] == "https://example.org/wiki/Glamorgan_County_Cricket_Club"
    for each in [first, *first["candidates"], *row["topics"]]:
        assert {"title", "page_id", "wikidata", "url"} <= set(each)
    assert row["mentions"][3]["title"] is None


def test_tsv(row: dict[str, Any]) -> None:
    lines = b"".join(write_rows([row], "tsv")).decode().splitlines()
    rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert [each["text"] for each in rows] == ["Croft", "Glamorgan", "Pakistan", "zigzag"]
    assert {each["document"] for each in rows} == {"a\\tb"}
    assert rows[1]["title"] == CLUB
    assert rows[1].keys() == {"document", "knowledge", *row["mentions"][1]}
    assert rows[3]["title"] == rows[3]["probability"] == ""
    assert json.loads(rows[0]["candidates"]) == row["mentions"][0]["candidates"]
    assert rows[0]["knowledge"] == f"samplewiki {row['knowledge']['identity']}"
    topics = b"".join(write_rows([{k: v for k, v in row.items() if k != "mentions"}], "tsv")).decode().splitlines()
    assert len(topics) == 1 + len(row["topics"])
    assert set(topics[0].split("\t")) == {"document", "knowledge", *row["topics"][0]}


def test_ids_of_listed_entities_are_kept(row: dict[str, Any], tmp_path: Path) -> None:
    listed = [each | {"id": "E7"} for each in row["mentions"]]
    lines = b"".join(write_rows([row | {"mentions": listed}], "tsv")).decode().split("\n")[:-1]
    assert {each["id"] for each in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)} == {"E7"}
    for kind in ("parquet", MENTIONS):
        write_file([row | {"mentions": listed}], tmp_path / "a.parquet", kind)
        [first, *_] = pq.read_table(tmp_path / "a.parquet").to_pylist()
        assert (first["mentions"][0] if kind == "parquet" else first)["id"] == "E7"


def test_parquet_and_json_lines_hold_the_same(row: dict[str, Any], tmp_path: Path) -> None:
    odd = row | {"id": "2", "text": "\ud800x", "mentions": []}
    write_file([row] * 1500 + [odd], tmp_path / "a.parquet", "parquet")
    back = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert back == [row] * 1500 + [odd | {"text": "?x"}]
    assert json.loads(pq.read_schema(tmp_path / "a.parquet").metadata[b"wikilda.knowledge"]) == row["knowledge"]
    lines = b"".join(write_rows([row, odd], "jsonl")).splitlines()
    assert [json.loads(line) for line in lines] == [row, odd]
    write_file([], tmp_path / "none.parquet", "parquet")
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0
    with pytest.raises(InputError, match="-o"):
        write_rows([], "parquet")


class _Page(HTMLParser):
    """The visible text of a page's documents, its tags, and where its links go."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.text, self._open = "", [""]
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "meta":
            return
        values = dict(attrs)
        self.tags |= {tag, *values}
        self._open.append(values.get("class") or tag)
        if tag == "a":
            self.links.append(values["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()

    def handle_data(self, data: str) -> None:
        if "text" in self._open and not {"card", "b"} & set(self._open):
            self.text += data


def test_a_page_shows_the_text_with_its_links(row: dict[str, Any]) -> None:
    page = _Page(b"".join(write_rows([row], "html")).decode())
    assert page.text == TEXT
    assert page.links[1] == "https://example.org/wiki/Glamorgan_County_Cricket_Club"
    assert b"no documents" not in b"".join(write_rows([], "html"))


@given(
    st.text(alphabet=st.sampled_from("<>&\"'ab\0/=\n😀"), min_size=3),
    st.sampled_from(["javascript:alert(1)", 'http://x/"><script>', "", None]),
)
def test_nothing_breaks_out_of_a_page(row: dict[str, Any], text: str, url: str | None) -> None:
    nasty = {"title": text, "page_id": 1, "wikidata": text, "url": url, "probability": 0.5, "prior": 0.5, "share": 0.1}
    mention = nasty | {"start": 0, "end": 2, "text": text[:2], "nil": 0.5, "candidates": [nasty, nasty]}
    source = {"wiki": text, "language": text, "files": [text], "identity": text}
    rows = [{"id": text, "text": text, "mentions": [mention], "topics": [nasty], "knowledge": source}]
    page = _Page(b"".join(write_rows(rows, "html")).decode())
    allowed = {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "i",
        "article",
        "div",
        "span",
        "a",
        "b",
        "aside",
        "footer",
    }
    assert page.tags <= allowed | {"lang", "class", "dir", "href", "rel", "tabindex"}
    assert page.text == text
    assert all(link.startswith("http://x/") for link in page.links)


def test_probabilities_of_a_page_are_after_nil(linker: Linker) -> None:
    row = linker.link(Document("Croft bowled for Glamorgan and England.", [(0, 5)])).to_dict(with_text=True)
    (mention,) = row["mentions"]
    page = b"".join(write_rows([row], "html")).decode()
    assert mention["nil"] > 0.01
    for shown in (f"<b>Robert Croft {mention['confidence']:.0%} ", f"<span>NIL {mention['nil']:.0%}</span>"):
        assert shown in page


def test_a_page_says_what_is_probably_nil(linker: Linker) -> None:
    row = linker.link(Document("Croft bowled", [(0, 5)])).to_dict(with_text=True)
    row["mentions"][0] |= {"title": None, "nil": 0.7}
    page = b"".join(write_rows([row], "html")).decode()
    assert "probably not in the knowledge (70%)" in page
    assert "Lara Croft" in page
    assert "<a " not in page
