"""Cells of tables: matched with topics, with each other, from Python and from the command line."""

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import run
from wikilda._core.errors import InputError
from wikilda.linking import Linker, match_files
from wikilda.linking.match import Row, clusters, match_rows

NAMES = [
    "Brian Lara",
    "Croft",
    "B. C. Lara",
    None,
    "England",
    "Zyx Holdings Ltd",
    "ZYX Holdings, Ltd.",
    "",
    "Brian Lara",
]


def test_rows_are_each_others_context(linker: Linker) -> None:
    found = linker.match_frame(pa.table({"name": NAMES, "n": range(9)}), "name")
    assert found.column("n").to_pylist() == list(range(9))
    titles = found.column("match_title").to_pylist()
    assert titles[0] == titles[8] == "Brian Lara"
    assert titles[1] == "Robert Croft"
    assert titles[3] is titles[7] is None
    numbers = found.column("match_cluster").to_pylist()
    assert numbers[0] == numbers[8]
    assert numbers[5] == numbers[6] != numbers[0]
    assert numbers[3] is numbers[7] is None


def test_other_columns_are_context(linker: Linker) -> None:
    frame = pd.DataFrame({"name": ["Croft", "Croft"], "about": ["took wickets for England", "shoots in a video game"]})
    found = linker.match_frame(frame, "name", context=["about"], types=["person"])
    assert isinstance(found, pd.DataFrame)
    assert found["match_title"][0] == "Robert Croft"
    assert found["match_posterior"][0] > found["match_posterior"][1] or found["match_title"][1] != "Robert Croft"


def test_the_same_row_has_the_same_answer(linker: Linker) -> None:
    rows = [Row("Croft"), Row("England"), Row("Croft")] * 40
    found = match_rows(linker, rows, workers=2)
    assert len(found) == 120
    assert found[0] == found[2] == found[-1]


def test_clusters() -> None:
    cells = [("a b", None), ("B, A", None), ("Émile Zola", 7), ("E. Zola", 7), ("Big Corp", None),
             ("Big Corp Trust", None), ("Big Corp Trust Now", None), ("", None), ("Big", None)]  # fmt: skip
    assert clusters(cells) == [0, 0, 1, 1, 2, 3, 3, None, 2]
    ambiguous = [("Jan Smith", None), ("Jan Smith Senior", None), ("Jan Smith Junior", None)]
    assert clusters(ambiguous) == [0, 1, 2]


@pytest.mark.parametrize(
    ("frame", "column", "options", "message"),
    [
        (pa.table({"name": ["a"]}), "nme", {}, "no column 'nme'.*name"),
        (pa.table({"name": ["a"]}), "name", {"context": ["b"]}, "no column 'b'"),
        (pa.table({"name": ["a"]}), "name", {"types": ["persn"]}, "no type 'persn'"),
        (pa.table({"name": ["a"], "match_title": ["b"]}), "name", {}, "has a column 'match_title'"),
    ],
)
def test_errors_are_reported(
    linker: Linker, frame: pa.Table, column: str, options: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        linker.match_frame(frame, column, **options)


def test_numbers_and_empty_tables(linker: Linker) -> None:
    assert linker.match_frame(pa.table({"name": [12, None]}), "name").num_rows == 2
    assert linker.match_frame(pa.table({"name": pa.array([], pa.string())}), "name").num_rows == 0


def test_the_command(model: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text('number,name\n007,"Brian Lara"\n008,Croft\n009,\n', "utf-8")
    code, out, said = run("match", model, source, "--column", "name")
    assert code == 0, said
    rows = list(csv.DictReader(out.splitlines()))
    assert [(row["number"], row["match_title"]) for row in rows] == [
        ("007", "Brian Lara"),
        ("008", "Robert Croft"),
        ("009", ""),
    ]
    for name in ("out.parquet", "out.jsonl", "out.tsv"):
        assert run("match", model, source, "--column", "name", "-o", tmp_path / name)[0] == 0
    assert pq.read_table(tmp_path / "out.parquet").column("match_title").to_pylist()[1] == "Robert Croft"
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["number"] == "007"
    assert run("match", model, tmp_path / "out.jsonl", "--column", "number")[0] == 1  # it has our columns already
    assert run("match", model, source, "--column", "name", "-o", tmp_path / "out.tsv")[0] == 1
    assert run("match", model, source, "--column", "nme")[0] == 1
    assert run("match", model, tmp_path / "none.csv", "--column", "name")[0] == 1


def test_cells_that_a_spreadsheet_would_run(model: Path, tmp_path: Path) -> None:
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("name,x\n=cmd|'/c calc'!A0,+1\nCroft,a=b\n")
    pq.write_table(pa.table({"name": pa.array(["=x"], pa.large_string()), "=y": ["a"]}), tmp_path / "in.parquet")
    code, written, _ = run("match", model, tmp_path / "in.parquet", "--column", "name", "--escape-formulas")
    assert (code, [line.split(",")[:2] for line in written.split("\n")[:2]]) == (
        0,
        [['"name"', '"\'=y"'], ['"\'=x"', '"a"']],
    )
    for options, cells in (((), ("=cmd|'/c calc'!A0", "+1")), (("--escape-formulas",), ("'=cmd|'/c calc'!A0", "'+1"))):
        assert run("match", model, table, "--column", "name", "-o", out, "--overwrite", *options)[0] == 0
        rows = list(csv.DictReader(io.StringIO(out.read_text("utf-8"))))
        assert (rows[0]["name"], rows[0]["x"], rows[1]["x"]) == (*cells, "a=b")


def test_tables_that_lose_rows_and_outputs_that_are_inputs(model: Path, tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    table.write_text('name\nCroft\n"Lara\nEngland\n')
    code, _, said = run("match", model, table, "--column", "name")
    assert (code, "in.csv: line 3: unclosed quote" in said) == (1, True)
    table.write_text("name\nCroft\n")
    code, _, said = run("match", model, table, "--column", "name", "-o", table, "--overwrite")
    assert (code, "is also an input" in said) == (1, True)
    (tmp_path / "d.csv").mkdir()
    code, _, said = run("match", model, table, "--column", "name", "-o", tmp_path / "d.csv", "--overwrite")
    assert (code, "is a directory" in said) == (1, True)


def test_a_part_that_is_damaged_is_made_again(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_files, "_BATCH", 2)
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("name\n" + "Brian Lara\nCroft\n" * 3)
    assert run("match", model, source, "--column", "name", "-o", tmp_path / "whole.csv")[0] == 0
    write = match_files._write

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(match_files, "_write", interrupted)
    assert run("match", model, source, "--column", "name", "-o", out)[0] == 130
    parts = sorted((tmp_path / "out.csv.partial").glob("0*.parquet"))
    assert len(parts) == 3
    data = parts[1].read_bytes()
    parts[0].write_bytes(data)  # another part, and whole
    parts[1].write_bytes(data[:200] + b"\0" * 8 + data[208:])
    monkeypatch.setattr(match_files, "_write", write)
    assert run("match", model, source, "--column", "name", "-o", out)[0] == 0
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_columns_with_one_name(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("name,name\nEngland,1\n")
    code, _, said = run("match", model, tmp_path / "in.csv", "--column", "name")
    assert code == 1
    assert "several columns 'name'" in said
