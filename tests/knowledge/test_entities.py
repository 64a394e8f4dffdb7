"""Lists of entities: what is read, what is refused, and that every listed name is found in text."""

import json
from pathlib import Path
from random import Random

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.entities.lists import entities, text
from click.testing import CliRunner

import wikilda
from wikilda import InputError, Linker
from wikilda.cli import cli
from wikilda.knowledge.entities import read_entities, type_of
from wikilda.knowledge.types import TYPES

ROWS = [
    {"id": "P1", "name": "Acme Corporation", "aliases": ["Acme", "ACME Corp"], "type": "company", "related": ["P2"],
     "description": "A maker of anvils and rockets in Arizona.", "url": "https://example.com/acme", "wikidata": "Q8"},
    {"id": "P2", "name": "Wile Coyote", "aliases": ["Coyote"], "type": "person", "related": ["P1"],
     "description": "Engineer who buys rockets."},
    {"id": "p1", "name": "Target", "description": "A retail chain of department stores.", "type": "company"},
    {"id": "ä/ü 5", "name": "John Smith", "description": "A baker in Leeds who sells bread and cake."},
    {"id": "6", "name": "John Smith", "description": "A sailor from Plymouth with a boat and a sail."},
    {"id": "7", "name": "paracetamol", "aliases": ["The"], "description": "A drug against pain."},
]  # fmt: skip


def as_lines(path: Path) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in ROWS))
    return path


def as_csv(path: Path, separator: str = ",") -> Path:
    flat = [{**each, "aliases": "|".join(each.get("aliases", [])), "related": ";".join(each.get("related", []))}  # type: ignore[arg-type]
            for each in ROWS]  # fmt: skip
    pd.DataFrame(flat).to_csv(path, sep=separator, index=False)
    return path


def ids(linker: Linker, given: str) -> list[tuple[str, str | None]]:
    return [(each.text, each.entity and each.entity.id) for each in linker.link(given).mentions]


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    place = tmp_path_factory.mktemp("list")
    wikilda.build(as_lines(place / "own.jsonl"), place / "model", workers=1)
    return Linker.open(place / "model")


def test_every_format_gives_the_same_list(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(ROWS)
    pq.write_table(table, tmp_path / "own.parquet")
    expected = read_entities(as_lines(tmp_path / "own.jsonl"))
    for source in (
        as_csv(tmp_path / "own.csv"), as_csv(tmp_path / "semicolon.csv", "\t"), as_csv(tmp_path / "own.tsv", "\t"),
        tmp_path / "own.parquet", table, pd.DataFrame(ROWS), pl.DataFrame(ROWS),
    ):  # fmt: skip
        found = read_entities(source)
        values = [[getattr(each, name) for name in ("id", "name", "aliases", "type", "related", "wikidata", "url")]
                  for each in found.rows]  # fmt: skip
        assert values == [[getattr(each, name) for name in ("id", "name", "aliases", "type", "related", "wikidata", "url")]
                          for each in expected.rows]  # fmt: skip


def test_listed_names_are_found_and_ids_come_back(linker: Linker) -> None:
    given = "On Monday Acme met Wile Coyote. Target opened a store; ACME Corp sold paracetamol to John Smith."
    assert ids(linker, given)[:5] == [
        ("Acme", "P1"), ("Wile Coyote", "P2"), ("Target", "p1"), ("ACME Corp", "P1"), ("paracetamol", "7"),
    ]  # fmt: skip
    entity = linker.link("Acme wins.").mentions[0].entity
    assert entity is not None
    assert (entity.url, entity.wikidata, entity.type) == ("https://example.com/acme", "Q8", "organisation")
    assert json.loads(linker.link("Acme wins.").to_json())["mentions"][0]["id"] == "P1"


def test_ordinary_words_and_function_words_are_no_mentions(linker: Linker) -> None:
    assert ids(linker, "They missed the target, and the aim of all this was the pain.") == []


def test_two_of_one_name_are_told_apart_by_their_descriptions(linker: Linker) -> None:
    assert ids(linker, "John Smith has bread and cake on sale.") == [("John Smith", "ä/ü 5")]
    assert ids(linker, "The boat had a sail, and John Smith left Plymouth.")[0] == ("John Smith", "6")


def test_questionable_rows_are_reported_with_their_numbers(linker: Linker) -> None:
    told = "\n".join(linker.knowledge.complaints)
    assert "'john smith' is a name of ä/ü 5 (row 4), 6 (row 5)" in told
    assert "row 6: 'The' is a common word" in told


def test_the_model_is_the_same_for_any_source(linker: Linker, tmp_path: Path) -> None:
    made = wikilda.build(pl.DataFrame(ROWS), tmp_path / "model", workers=2)
    for name in ("topics/ids.bytes", "mentions/counts", "words/counts", "types/person", "links/in/topics"):
        assert made.knowledge().array(name).tolist() == linker.knowledge.array(name).tolist(), name


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([{"id": "1", "name": None}, {"id": "2", "name": "x" * 100_000}, {"id": "1", "name": "B"}],
         "row 1: has no name\n.*row 2: a name has 100,000 characters"),
        ([{"id": "1", "name": "A b"}, {"id": "1", "name": "B c"}], "row 2: id '1' is also the id of row 1"),
        ([{"id": None, "name": "A b"}], "row 1: has no id"),
        ([{"id": "1", "name": "?!"}], "no letters"),
        ([{"id": "1", "name": "A b", "aliases": ["x", "…"]}], "no letters"),
        ([{"key": "1", "name": "A b"}], "no column 'id'"),
        ([{"id": "1", "name": "A b", "wikidata": "yes"}], "not like Q42"),
        ([], "has no (rows|column)"),
    ],
)  # fmt: skip
def test_bad_rows_are_named(rows: list[dict[str, object]], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_entities(pa.Table.from_pylist(rows))


def test_bad_files_are_named(tmp_path: Path) -> None:
    for name, data, complaint in (
        ("a.csv", b'id,name\n1,"open\n', "Close the quote"), ("b.csv", b"id,name\n1,2,3\n", "row 2 has 3 fields"),
        ("c.csv", "id,name\n1,Zürich\n".encode("latin-1"), "not UTF-8"), ("d.jsonl", b"{", "line 1 is not JSON"),
        ("e.parquet", b"PAR1", "is not a Parquet file"), ("f.txt", b"", "ends in"), ("g.csv", b"", "no column"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match=complaint):
            read_entities(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        read_entities(tmp_path / "none.csv")


def test_relations_may_be_cyclic_or_dangling() -> None:
    found = read_entities(pa.table({"id": ["a", "b"], "name": ["Aa", "Bb"], "related": ["b|a|nowhere", "a"]}))
    assert found.report.examples == ["row 1: related id 'nowhere' is unknown"]


def test_types_are_coarse_or_nouns() -> None:
    assert [TYPES[type_of(each)] for each in ("place", "Company", "software company", "city")] == [
        "place", "organisation", "organisation", "place",
    ]  # fmt: skip
    assert type_of("customer segment 4") == -1


def test_titles_are_unique_and_stay_when_names_are() -> None:
    found = read_entities(pa.table({"id": ["1", "2", "3"], "name": ["Ann Lee", "Ann Lee", "Ann Lee (1)"]}))
    assert found.titles() == {"1": "Ann Lee (1)*", "2": "Ann Lee (2)", "3": "Ann Lee (1)"}


def test_recall_and_precision_on_generated_texts(tmp_path: Path) -> None:
    """Every tenth name is an ordinary word."""
    random = Random(5)
    rows = entities(400, random)
    made = wikilda.build(pa.Table.from_pylist([{k: v for k, v in each.items() if k != "field"} for each in rows]),
                         tmp_path / "model", workers=1)  # fmt: skip
    linker = Linker.open(made.path)
    gold = right = found = 0
    for _ in range(60):
        given, spans, _ = text(rows, random)
        answers = {(each.start, each.end, each.entity.id) for each in linker.link(given).mentions if each.entity}
        gold, found, right = gold + len(spans), found + len(answers), right + len(answers & set(spans))
    assert right / gold > 0.97
    assert right / found > 0.97


def test_the_command_reports_and_refuses(tmp_path: Path) -> None:
    ran = CliRunner().invoke(cli, ["build", "--entities", str(as_csv(tmp_path / "own.csv")), "-o", str(tmp_path / "m")])
    assert ran.exit_code == 0, ran.output
    assert "shared names" in ran.output
    (tmp_path / "bad.csv").write_text("id,name\n1,\n2,Two Things\n")
    bad = CliRunner().invoke(cli, ["build", "--entities", str(tmp_path / "bad.csv"), "-o", str(tmp_path / "n")])
    assert bad.exit_code == 1
    assert "row 2: has no name" in str(bad.exception)
    assert not (tmp_path / "n").exists()
    unclear = CliRunner().invoke(cli, ["build", str(tmp_path / "own.csv"), "-o", str(tmp_path / "n")])
    assert "--entities" in str(unclear.exception)
