"""Documents are read exactly from all formats; bad ones get a message that names their place."""

import bz2
import csv
import gzip
import io
import json
import lzma
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wikilda
from tests.commands import run
from tests.wikis import FILLER, page, write_dump
from wikilda._core.errors import InputError, SettingsError
from wikilda.documents.document import marked
from wikilda.documents.reading import batches
from wikilda.documents.reading.tables import separated_rows
from wikilda.linking import Bad, Document, ReadSettings, read_documents

TEXT = '\ufeffDie Straße 😀\r\nin e\u0301 東京 "x"\tשלום\n'


def read(path: Path, **settings: object) -> list[Document | Bad]:
    return list(read_documents([path], None, ReadSettings(**settings)))  # type: ignore[arg-type]


def from_input(data: bytes, **settings: object) -> list[Document | Bad]:
    return list(read_documents([], io.BytesIO(data), ReadSettings(**settings)))  # type: ignore[arg-type]


def test_marked_text_gives_spans_of_the_plain_text() -> None:
    document = marked("[[Croft]] took 5 😀 for [[England]], not [x] or [[a [[b]].")
    assert document.text == "Croft took 5 😀 for England, not [x] or [[a b."
    assert [document.text[a:b] for a, b in document.mentions or []] == ["Croft", "England", "b"]


def test_a_file_is_one_text_without_changes(tmp_path: Path) -> None:
    for name, pack in (("a.txt", bytes), ("b.txt.gz", gzip.compress), ("c.bz2", bz2.compress), ("d.xz", lzma.compress)):
        file = tmp_path / name
        file.write_bytes(pack(TEXT.encode()))
        assert read(file) == [Document(TEXT, None, name)]
    assert from_input(TEXT.encode()) == [Document(TEXT, None, "1")]


def test_brackets_are_marks_only_on_request() -> None:
    assert from_input(b"[[A]] and B") == [Document("[[A]] and B", None, "1")]
    assert from_input(b"[[A]] and B", format="marked") == [Document("A and B", [(0, 1)], "1")]
    assert from_input(b'{"marked": "[[A]] b"}\n{"text": "[[A]] b"}') == [
        Document("A b", [(0, 1)], "1"),
        Document("[[A]] b", None, "2"),
    ]


def test_json_lines(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "text": "Croft bowls", "mentions": [{"start": 0, "end": 5}]},
        {"text": "Moin Khan", "mentions": [[5, 9], [0, 4]]},
        {"id": 7, "text": "none", "mentions": []},
        {"text": "raw"},
    ]
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + b"\r\n\n".join(json.dumps(row).encode() for row in rows))
    assert read(file) == [
        Document("Croft bowls", [(0, 5)], "a"),
        Document("Moin Khan", [(5, 9), (0, 4)], "in.jsonl:3"),
        Document("none", [], "7"),
        Document("raw", None, "in.jsonl:7"),
    ]
    assert [each.id for each in from_input(file.read_bytes()) if isinstance(each, Document)] == ["a", "3", "7", "7"]


def test_given_offsets_are_in_the_given_unit() -> None:
    line = '{"text": "😀 Croft", "mentions": [[%d, %d]]}'
    for unit, start in (("code-points", 2), ("utf-16", 3), ("bytes", 5)):
        assert from_input((line % (start, start + 5)).encode(), offsets=unit) == [Document("😀 Croft", [(2, 7)], "1")]
    [bad] = from_input((line % (1, 3)).encode(), offsets="bytes")
    assert "offset 1 cuts a character (in bytes)" in str(bad)


def test_csv_and_tsv(tmp_path: Path) -> None:
    comma, tab = tmp_path / "a.csv", tmp_path / "b.tsv.gz"
    comma.write_bytes(b'\xef\xbb\xbfno,body\r\n5,"He said ""Hi"",\r\nthen left"\r\n6,\xe6\x9d\xb1\r\n')
    assert read(comma, text_column="body", id_column="no") == [
        Document('He said "Hi",\r\nthen left', None, "5"),
        Document("東", None, "6"),
    ]
    assert read(comma, text_column="body")[1] == Document("東", None, "a.csv:2")
    tab.write_bytes(gzip.compress(b'id\ttext\nx\t"quoted"\ny\t"open\n'))
    assert read(tab) == [Document('"quoted"', None, "x"), Document('"open', None, "y")]
    assert from_input(b"text\na\n", format="csv") == [Document("a", None, "1")]


def test_parquet(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    spans = [[{"start": 0, "end": 3}], None]
    pq.write_table(pa.table({"id": [4, 5], "text": ["A😀b", "c"], "mentions": spans, "other": [1, 2]}), file)
    assert read(file) == [Document("A😀b", [(0, 3)], "4"), Document("c", None, "5")]
    assert from_input(file.read_bytes(), format="parquet") == read(file)


def test_directories_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("b/2.txt", "b/1.txt", "a.txt", "c.jsonl", ".hidden", ".git/x"):
        (tmp_path / name).write_text('{"text": "x"}')
    assert [each.id for each in read(tmp_path) if isinstance(each, Document)] == [
        "a.txt",
        "c.jsonl:1",
        "b/1.txt",
        "b/2.txt",
    ]


def test_files_of_the_same_name_have_their_paths_as_ids(tmp_path: Path) -> None:
    files = [tmp_path / folder / "x.txt" for folder in "ab"]
    for file in files:
        file.parent.mkdir()
        file.write_text("x")
    assert [each.id for each in read_documents(files) if isinstance(each, Document)] == [str(file) for file in files]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_of_csv_is_found(tmp_path: Path, delimiter: str) -> None:
    rows = [["id", "text"], ["1", f'"a{delimiter} b"'], ["2", "x, y" if delimiter == ";" else "x; y"]]
    file = tmp_path / "a.csv"
    file.write_text("\n".join(delimiter.join(row) for row in rows))
    assert read(file) == [Document(f"a{delimiter} b", None, "1"), Document(rows[2][1], None, "2")]


def test_other_encodings(tmp_path: Path) -> None:
    for name, text in (("a.txt", "Café"), ("b.csv", "id;text\n1;Café"), ("c.txt", "Straße")):
        encoding = "utf-16" if name == "c.txt" else "latin-1"
        (tmp_path / name).write_bytes(text.encode(encoding))
        [document] = read(tmp_path / name, encoding=encoding)
        assert isinstance(document, Document)
        assert document.text == text.split(";")[-1]
    with pytest.raises(SettingsError, match="encoding 'klingon' is not known"):
        ReadSettings(encoding="klingon")


def test_articles_of_a_dump_have_their_links_as_mentions(tmp_path: Path) -> None:
    pages = [page("One", f"The Übung of [[England cricket team|England]]. {FILLER}"), page("Two", redirect="One")]
    [document] = read(write_dump(tmp_path / "w.xml", pages))
    assert isinstance(document, Document)
    assert document.id == "One"
    assert [document.text[start:end] for start, end in document.mentions or []] == ["England"]


def test_batches_have_the_documents_of_the_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wikilda.documents.reading._batches.BATCH_BYTES", 50)
    monkeypatch.setattr("wikilda.documents.reading._batches._ROWS", 2)
    monkeypatch.setattr("wikilda.documents.reading._batches._FILES", 2)
    for at in range(5):
        (tmp_path / f"{at}.txt").write_text(f"text {at}")
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": f"line {at}"}) + "\n" for at in range(9)) + "no\n")
    (tmp_path / "b.csv").write_text("text\n" + "".join(f"row {at}\n" for at in range(5)) + "x,y\n")
    pq.write_table(pa.table({"text": [f"row {at}" for at in range(7)]}), tmp_path / "c.parquet", row_group_size=3)
    write_dump(tmp_path / "d.xml", [page("One", FILLER), page("Two", FILLER)])
    settings = ReadSettings()
    made = [pickle.loads(pickle.dumps(batch)) for batch in batches([tmp_path], settings)]
    assert len(made) > 12
    assert [each for batch in made for each in batch.read(settings)] == list(read_documents([tmp_path]))


def test_a_directory_of_wikilda_is_no_directory_of_documents(model: Path) -> None:
    with pytest.raises(InputError, match="is an artifact of wikilda"):
        list(read_documents([model]))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_any_text_survives_json_lines(texts: list[str]) -> None:
    data = b"\n".join(json.dumps({"text": each}).encode() for each in texts)
    assert [each.text for each in from_input(data) if isinstance(each, Document)] == texts


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.txt", b"", "a.txt: is empty"),
        ("a.txt", b" \n", "is empty"),
        ("a.txt", b"\x7fELF\x00\x01", "a.txt: has a zero byte at 4: it is a binary file"),
        (
            "a.txt",
            b"abc\xff",
            r"a.txt: is not UTF-8 \(invalid start byte at byte 3\). Use --set encoding=NAME, or --set invalid=replace",
        ),
        ("a.txt", b"x" * 2000, "is larger than 1,000 bytes"),
        ("a.txt.gz", b"not gzip", "cannot be read"),
        ("a.txt.gz", gzip.compress(b"x" * 500, mtime=0)[:-9], "cannot be read"),
        ("a.jsonl", b'{"text": "' + b"x" * 2000 + b'"}', "line 1: is larger than 1,000 bytes"),
        ("a.jsonl", b'{"text": "a", "mentions": [[0, 2]]}', r"line 1.*not inside its text of 1"),
        ("a.jsonl", b'{"text": "abc", "mentions": [[2, 2]]}', "is empty or not inside"),
        ("a.jsonl", b'{"text": "abc", "mentions": [[2, 1]]}', "is empty or not inside"),
        ("a.jsonl", b'{"text": "abc", "mentions": [[-1, 2]]}', "not inside"),
        ("a.jsonl", b'{"text": "abc", "mentions": [["0", 2]]}', "line 1: has a mention that is not"),
        ("a.jsonl", b'{"text": "abc", "mentions": 3}', "that are not a list"),
        ("a.jsonl", b'{"text": 3}', 'needs "text", a string'),
        ("a.jsonl", b"\n{", "line 2: is not JSON"),
        ("a.jsonl", b"[" * 100_000, "larger than|is not JSON"),
        ("a.jsonl", b"[1]", "is not a JSON object"),
        ("a.jsonl", b'{"text": "\xff"}', "line 1: is not UTF-8"),
        ("a.csv", b"text\na,b\n", "row 1: has 2 columns, and the header has 1"),
        ("a.csv", b"text\n\xff\n", "row 1: is not UTF-8"),
    ],
)
def test_bad_documents_come_out_as_such_and_the_next_one_follows(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(data)
    good = tmp_path / "z.txt"
    good.write_text("good")
    bad, after = read(tmp_path, largest=1000)
    assert isinstance(bad, Bad)
    with pytest.raises(InputError, match=words):
        raise InputError(str(bad))
    assert after == Document("good", None, "z.txt")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        (
            "a.csv",
            b"title,body\na,b\n",
            "a.csv: has no column 'text'; it has: title, body. Name one with --text-column",
        ),
        ("a.csv", b"", "a.csv: is empty"),
        ("a.parquet", b"PAR1", "a.parquet: is not a Parquet file"),
    ],
)
def test_tables_that_cannot_be_used_at_all(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=words):
        read(tmp_path / name)


def test_bytes_that_are_no_text_are_replaced_on_request(tmp_path: Path) -> None:
    for name, data in (("a.txt", b"a\xffb"), ("a.jsonl", b'{"text": "a\xffb"}'), ("a.csv", b"text\na\xffb\n")):
        (tmp_path / name).write_bytes(data)
        [document] = read(tmp_path / name, invalid="replace")
        assert isinstance(document, Document)
        assert document.text == "a\ufffdb"


def test_what_is_not_there() -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read_documents([Path("no-such-file")]))
    with pytest.raises(InputError, match="standard input: is empty"):
        from_input(b"")
    with pytest.raises(SettingsError, match=r"format must be one of auto, .* not 'xml'"):
        ReadSettings(format="xml")


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ('text\n"a\nb\nc\n', 2), ('text\nx\n"a ""b""\nb', 3), ('id,text\n1,"a\n2,b\n3,c\n', 2), ('text\n"', 2), ('"text\na\nb\n', 1),
    ],
)  # fmt: skip
def test_an_unclosed_quote_is_an_error_and_loses_no_documents(tmp_path: Path, data: str, line: int) -> None:
    file = tmp_path / "a.csv"
    file.write_text(data)
    with pytest.raises(InputError, match=rf"a\.csv: (line {line}: unclosed quote|has no column)"):
        list(read_documents([file]))
    with pytest.raises(InputError, match=rf"a\.csv: (line {line}: unclosed quote|has no column)"):
        [list(batch.read(ReadSettings())) for batch in batches([file])]


@pytest.mark.parametrize("column", ["name", "text"])
def test_a_quote_that_a_later_quote_ends_takes_no_documents_along(tmp_path: Path, model: Path, column: str) -> None:
    """Rows between the two were one cell, and missing without a word."""
    file = tmp_path / "a.csv"
    file.write_text(f'{column},n\nEngland won.,1\n"Croft bowled.,2\nPakistan lost.,3\n"More",4\nEnd,5\n')
    command = ["match", model, file, "--column", "name"] if column == "name" else ["link", model, file]
    code, out, said = run(*command)
    assert (code, out.count("End")) == (1, 0)
    assert "a.csv: lines 3 to 5: text after a closing quote. Close quotes" in said


@given(st.lists(st.text(alphabet='ab",\n', max_size=6), min_size=1, max_size=6), st.booleans())
def test_quotes_that_are_closed_are_no_error(cells: list[str], ends: bool) -> None:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["text"], *[[each + "x"] for each in cells]])
    data = out.getvalue() if ends else out.getvalue()[:-1]
    found = list(separated_rows(io.BytesIO(data.encode()), "csv", ReadSettings()))
    assert found == [{"text": each + "x"} for each in cells]


def test_lines_end_with_line_feeds_only() -> None:
    """`str.splitlines` ends lines at ten other characters, which JSON lines and titles may have."""
    for file in sorted(Path(wikilda.__file__).parent.rglob("*.py")):
        assert ".splitlines(" not in file.read_text("utf-8"), file
