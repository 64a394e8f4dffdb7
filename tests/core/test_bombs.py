"""Small files that expand to large ones are refused with a message before memory runs out."""

import bz2
import gzip
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import run
from wikilda._core import compression, parquet
from wikilda._core.errors import InputError, WikildaError
from wikilda.documents.document import Document
from wikilda.documents.reading import batches, read_documents
from wikilda.documents.reading.rows import ReadSettings
from wikilda.knowledge._from_tables import read_batches
from wikilda.knowledge.build import read_page_props
from wikilda.linking.match_files import _batches
from wikilda.mediawiki.dump import cut, read_piece, site_of

PAGE = b"<page><title>A</title><ns>0</ns><id>1</id><revision><text>"
HEAD = b'<mediawiki xml:lang="en"><siteinfo><sitename>T</sitename></siteinfo>'


@pytest.fixture(autouse=True)
def _within_memory() -> Iterator[None]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 700_000  # kilobytes


def packed(start: bytes, megabytes: int = 0) -> bytes:
    """A stream of bz2 that goes on for some megabytes; it is made without holding them."""
    pack = bz2.BZ2Compressor()
    return b"".join([pack.compress(start), *(pack.compress(b"a" * 1_000_000) for _ in range(megabytes)), pack.flush()])


STREAMS = {
    "the only one": [packed(HEAD + PAGE, 400)],
    "the last": [packed(HEAD), packed(PAGE, 400)],
    "the first": [packed(HEAD + PAGE, 400), packed(b"</text></revision></page></mediawiki>")],
    "after a page that has begun": [packed(HEAD + b"a" * 5_000_000 + PAGE), packed(b"", 400), packed(b"</mediawiki>")],
}


@pytest.mark.parametrize("which", STREAMS)
def test_a_dump_that_expands_without_end(tmp_path: Path, which: str) -> None:
    """In one of its streams."""
    dump = tmp_path / "a.xml.bz2"
    dump.write_bytes(b"".join(STREAMS[which]))
    assert dump.stat().st_size < 10_000

    def read() -> None:
        site_of(dump)
        for piece in cut(dump, 1 << 24):
            read_piece(piece)

    with pytest.raises(InputError, match=r"expands to more than|does not end"):
        read()


def test_a_table_that_repeats_one_long_string(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 120, pa.int32()), pa.array(["a" * 10_000_000]))
    pq.write_table(pa.table({"text": text, "title": text}), file, compression="zstd", store_schema=False)
    assert file.stat().st_size < 100_000
    with pytest.raises(InputError, match=r"a\.parquet: .* bytes of text, more than"):
        list(read_batches(file, {"title": pa.string()}, {}))
    documents = read_documents([file], settings=ReadSettings(largest=20_000_000))
    assert len(str(next(documents))) > 0  # 16 rows at a time are not too many


def test_a_table_in_memory_has_values_in_proportion_to_its_file(tmp_path: Path) -> None:
    """A few hundred bytes took gigabytes: all rows have one value, or none."""
    for name, column in (("same", pa.array(["Croft"])), ("none", pa.nulls(1, pa.string()))):
        file = tmp_path / f"{name}.parquet"
        with pq.ParquetWriter(file, pa.schema([("name", pa.string())])) as out:
            for _ in range(3):
                out.write_table(pa.table({"name": pa.concat_arrays([column] * 1_000_000)}))
        assert file.stat().st_size < 20_000
        code, _, said = run("build", "--entities", file, "-o", tmp_path / "new")
        assert code == 1
        assert "expands to" in said or "has no column" in said


def nested(kind: str) -> pa.Table:
    """A column of strings that are the same megabyte, in lists, structures or both, or by extending each other."""
    long, zeros = "x" * 1_000_000, pa.array([0] * 4000, pa.int32())
    if kind == "extended":
        return pa.table({"name": ["Croft"] * 30, "text": ["Croft"] * 30, "more": [f"{long}{at}" for at in range(30)]})
    strings = pa.DictionaryArray.from_arrays(zeros, [long])
    column = {
        "list": lambda: pa.ListArray.from_arrays(pa.array([0, 4000], pa.int32()), strings),
        "structure": lambda: pa.StructArray.from_arrays([strings], ["x"]),
        "mentions": lambda: pa.ListArray.from_arrays(
            pa.array([0, 4000], pa.int32()),
            pa.StructArray.from_arrays([zeros, zeros, strings], ["start", "end", "title"]),
        ),
    }[kind]()
    name = "mentions" if kind == "mentions" else "more"
    return pa.table({"name": ["Croft"] * len(column), "text": ["Croft"] * len(column), name: column})


@pytest.mark.parametrize("kind", ["list", "structure", "mentions", "extended"])
def test_strings_within_lists_and_structures(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """50 kB took more than 6 GB."""
    if kind == "extended":
        monkeypatch.setattr(parquet, "MAX_BATCH_BYTES", 20_000_000)
    file, delta = tmp_path / "a.parquet", kind == "extended"
    encoding = {"column_encoding": {"more": "DELTA_BYTE_ARRAY", "name": "PLAIN", "text": "PLAIN"}} if delta else {}
    pq.write_table(nested(kind), file, compression="zstd", use_dictionary=not delta, store_schema=False, **encoding)
    assert file.stat().st_size < 100_000
    code, _, said = run("match", model, file, "--column", "name")
    assert (code, "bytes of text, more than" in said) == (1, True)
    if kind == "mentions":
        with pytest.raises(InputError, match=r"a\.parquet: .* bytes of text, more than"):
            list(read_documents([file]))


def test_all_encodings_of_strings_give_the_same_rows(tmp_path: Path) -> None:
    columns = {
        "a": pa.array(["x", None, "ü"]), "l": pa.array([["a", None], None, []]),
        "s": pa.array([{"a": "q", "b": 1}, None, {"a": None, "b": 2}]),
        "m": pa.array([[("k", "v")], None, []], pa.map_(pa.string(), pa.string())),
        "f": pa.array([["a", "b"], ["c", "d"], ["e", None]], pa.list_(pa.string(), 2)),  # pyarrow 16 reads no null here
        "ll": pa.array([["a"], [], None], pa.large_list(pa.large_string())), "n": pa.array([1, 2, None]),
        "d": pa.array(["a", "b", None]).dictionary_encode(), "deep": pa.array([[{"a": ["x"]}], [], None]),
    }  # fmt: skip
    table, file = pa.table(columns), tmp_path / "a.parquet"
    for options in (
        {}, {"use_dictionary": False}, {"store_schema": False}, {"data_page_version": "2.0"},
        {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY", "l.list.element": "DELTA_BYTE_ARRAY"}},
        {"use_dictionary": False, "column_encoding": {"a": "DELTA_LENGTH_BYTE_ARRAY"}},
    ):  # fmt: skip
        pq.write_table(table, file, row_group_size=2, **options)  # type: ignore[arg-type]
        found = [
            row
            for each in parquet.parquet_batches(parquet.open_parquet(file), 2, list(columns))
            for row in each.to_pylist()
        ]
        assert found == pq.read_table(file).to_pylist() == table.to_pylist()


@pytest.mark.parametrize("value", ["Croft", None])
def test_a_table_is_matched_in_batches(tmp_path: Path, model: Path, value: str | None) -> None:
    """Matching holds some rows at a time, so a file may expand to any number of rows."""
    file, few = tmp_path / "many.parquet", tmp_path / "few.parquet"
    names = pa.array([value] * 3_000_000, pa.string())
    pq.write_table(pa.table({"name": names}), file)
    assert file.stat().st_size < 20_000
    sizes = [len(each) for each in _batches(file)]
    assert sum(sizes) == len(names)
    assert max(sizes) < 10_000
    pq.write_table(pa.table({"name": names[: 2 * max(sizes) + 1]}), few)
    code, _, said = run("match", model, few, "--column", "name", "-o", tmp_path / "matched.parquet")
    assert code == 0
    assert f"{2 * max(sizes) + 1:,} rows" in said
    clusters = pq.read_table(tmp_path / "matched.parquet").column("match_cluster").to_pylist()
    assert set(clusters) == {None if value is None else 0}


def test_lists_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.parquet"
    spans = pa.array([[{"start": 0, "end": 1}] * 1000])
    pq.write_table(pa.table({"text": ["a"], "mentions": spans}), file)
    assert len(list(read_documents([file]))) == 1
    monkeypatch.setattr(parquet, "MAX_LIST_VALUES", 999)
    with pytest.raises(InputError, match="lists of 1,000 values"):
        list(read_documents([file]))


def test_parquet_is_not_compressed_twice(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["Croft"]}), file)
    (tmp_path / "b.parquet.gz").write_bytes(gzip.compress(file.read_bytes()))
    with pytest.raises(InputError, match=r"b\.parquet\.gz: is compressed, which Parquet is already"):
        list(read_documents([tmp_path / "b.parquet.gz"]))
    with subprocess.Popen(["cat", str(file)], stdout=subprocess.PIPE) as pipe:
        [document] = read_documents((), pipe.stdout, ReadSettings(format="parquet"))
    assert document == Document("Croft", None, "1")


def test_row_groups_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["a" * 1000]}), file)
    monkeypatch.setattr(parquet, "MAX_GROUP_BYTES", 500)
    with pytest.raises(InputError, match="row group 0 has"):
        list(read_documents([file]))
    with pytest.raises(InputError, match="row group 0 has"):
        list(batches([file]))


def test_lines_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "MAX_LINE", 10_000)
    long = b"(1,'wikibase_item','Q1')," * 1000
    (tmp_path / "page_props.sql.gz").write_bytes(gzip.compress(b"x\nINSERT INTO " + long))
    with pytest.raises(WikildaError, match="line 2 is longer than"):
        read_page_props(tmp_path / "page_props.sql.gz")


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_rows_of_tables_have_a_limit(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"a.{kind}"
    file.write_bytes(b"text\nshort\n" + b"long " * 10_000)
    with pytest.raises(InputError, match="line 3 is longer than 4,000 characters"):
        list(read_documents([file], settings=ReadSettings(largest=1000)))
