"""Data frames of three libraries, batches, SQL; restricted answers."""

import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import run
from wikilda._core.errors import InputError
from wikilda.integrations.duckdb import register
from wikilda.linking import Document, Linker, frames
from wikilda.linking.frames import COLUMNS, BatchLinker
from wikilda.linking.restriction import Restriction

TEXTS = ["Croft took five wickets for England.", None, "Qwertz yuiop.", "Croft bowled for England.", ""]
polars = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")


def test_batches_change_nothing(linker: Linker, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.concat_tables([pa.table({"name": ["a", "b", "c", "d", "e"], "text": TEXTS})] * 2)
    for rows in ("mentions", "documents"):
        whole = linker.link_frame(table, id="name", rows=rows)
        with monkeypatch.context() as patch:
            patch.setattr(frames, "_BATCH", 3)
            parts = linker.link_frame(table, id="name", rows=rows)
        assert parts.equals(whole)
        assert len(whole) == (10 if rows == "documents" else 8)


@pytest.fixture(params=["pandas", "polars", "arrow", "batch"])
def frame(request: pytest.FixtureRequest) -> Any:
    table = pa.table({"name": ["a", "b", "c", "d", "e"], "text": TEXTS})
    if request.param == "pandas":
        return table.to_pandas()
    if request.param == "batch":
        return table.to_batches()[0]
    return polars.from_arrow(table) if request.param == "polars" else table


def _rows(frame: Any) -> list[dict[str, Any]]:
    if isinstance(frame, pd.DataFrame):
        return [{name: None if pd.isna(value) else value for name, value in row.items()}
                for row in frame.to_dict("records")]  # fmt: skip
    return frame.to_dicts() if isinstance(frame, polars.DataFrame) else frame.to_pylist()


def test_every_library_gets_its_own_back_with_the_answers_of_link(linker: Linker, frame: Any) -> None:
    found = linker.link_frame(frame, id="name", workers=2)
    expected_type = pa.Table if isinstance(frame, pa.RecordBatch) else type(frame)
    assert isinstance(found, expected_type)
    rows = _rows(found)
    assert list(rows[0]) == ["document", *COLUMNS]
    expected = [
        (name, each.start, each.text, each.entity and each.entity.title, each.entity and each.entity.type)
        for name, text in zip("abcde", TEXTS, strict=True)
        for each in linker.link(Document(text or "", id=name), topics=0).mentions
    ]
    assert [(row["document"], row["start"], row["mention"], row["title"], row["type"]) for row in rows] == expected
    assert rows[0]["confidence"] == pytest.approx(rows[0]["posterior"] * (1 - rows[0]["nil"]))


def test_documents_keep_their_rows_and_columns(linker: Linker, frame: Any) -> None:
    found = linker.link_frame(frame, rows="documents")
    rows = found.to_dict("records") if isinstance(found, pd.DataFrame) else _rows(found)
    assert [row["name"] for row in rows] == ["a", "b", "c", "d", "e"]
    assert [len(row["mentions"]) > 0 for row in rows] == [True, False, False, True, False]
    assert rows[0]["mentions"][0]["title"] == "Robert Croft"


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (pa.table({"txt": ["a"]}), {}, "no column 'text'.*txt"),
        (pa.table({"text": [1, 2]}), {}, "type int64. Give strings"),
        (pd.DataFrame({"text": ["a", 3]}), {}, "several types"),
        (pa.table({"text": ["a"]}), {"rows": "both"}, "rows must be mentions or documents"),
        (object(), {}, "not a data frame"),
    ],
)  # fmt: skip
def test_unsuitable_frames_are_errors(linker: Linker, given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        linker.link_frame(given, **options)


@pytest.mark.parametrize("texts", [[], [None, None]])
def test_frames_without_texts_have_all_columns(linker: Linker, texts: list[None]) -> None:
    found = linker.link_frame(pa.table({"text": pa.array(texts, pa.string())}))
    assert (found.num_rows, found.column_names) == (0, ["document", *COLUMNS])


def test_batches_travel_to_other_processes(model: Path, linker: Linker) -> None:
    link = pickle.loads(pickle.dumps(BatchLinker(model, rows="documents")))
    table = pa.table({"text": TEXTS})
    assert link(table).equals(linker.link_frame(table, rows="documents"))


def test_datasets_map(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    given = datasets.Dataset.from_dict({"text": TEXTS[:1] * 3}).with_format("arrow")
    mapped = given.map(BatchLinker(model, rows="documents"), batched=True, batch_size=2)
    titles = [[each["title"] for each in row] for row in mapped.with_format(None)["mentions"]]
    assert titles == [["Robert Croft", "England cricket team"]] * 3


def test_sql(linker: Linker) -> None:
    connection = duckdb.connect()
    register(connection, linker)
    connection.register("documents", pa.table({"name": ["a", "b", "c"], "text": TEXTS[:3]}))
    found = connection.sql("SELECT name, m.title, m.type FROM (SELECT name, unnest(link(text)) AS m FROM documents)")
    titles = [(name, title) for name, title, _ in found.fetchall() if title]
    assert titles == [("a", "Robert Croft"), ("a", "England cricket team")]
    assert connection.sql("SELECT link(NULL)").fetchall() == [([],)]


def test_parquet_with_a_row_a_mention(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(TEXTS[0] or "")
    arguments = ("link", model, tmp_path / "in.txt", "--output-format", "mentions")
    code, _, said = run(*arguments, "-o", tmp_path / "out.parquet")
    assert code == 0, said
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [(row["mention"], row["title"], row["type"]) for row in rows] == [
        ("Croft", "Robert Croft", "person"), ("England", "England cricket team", "organisation"),
    ]  # fmt: skip
    code, _, said = run(*arguments)
    assert (code, "cannot be written to standard output" in said) == (1, True)


def test_answers_of_some_types(model: Path, linker: Linker, tmp_path: Path) -> None:
    text = TEXTS[0] or ""
    (tmp_path / "in.txt").write_text(text)
    found = linker.link(text, candidates=64, restriction=Restriction(types=("person",)))
    assert [each.entity and each.entity.title for each in found.mentions] == ["Robert Croft"]
    assert sum(each.probability for each in found.mentions[0].candidates) == pytest.approx(1)
    assert {each.entity.type for each in found.mentions[0].candidates} == {"person"}
    code, out, _ = run("link", model, tmp_path / "in.txt", "--type", "person, place", "--topics", 0)
    assert code == 0
    assert '"Robert Croft"' in out
    assert '"England cricket team"' not in out
    assert run("link", model, tmp_path / "in.txt", "--type", "persn")[0] == 1


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Restriction(types=("persn",)), "no type 'persn'.*person"),
        (Restriction(category="Nothing of the kind"), "no category"),
        (Restriction(only=("Robert Crof",)), "no title 'Robert Crof'; there are: Robert Croft"),
        (Restriction(types=("place",), only=("Robert Croft",)), "no topic is of these types"),
    ],
)
def test_restrictions_that_leave_nothing_are_errors(linker: Linker, wanted: Restriction, message: str) -> None:
    with pytest.raises(InputError, match=message):
        wanted.check(linker.knowledge)


def test_results_draw_themselves(linker: Linker) -> None:
    linked = linker.link("Croft bowled to <b>Lara</b> for England.")
    page = linked._repr_html_()
    assert "&lt;b&gt;" in page
    assert "· person" in page
    assert "data-jp-theme-light=false" in page
    assert 'style="--p:' in page.split("<aside>")[1]
    assert "person" in linker.entity("Robert Croft")._repr_html_()
    assert "249" in linker.knowledge._repr_html_()
