"""Types from a table of what Wikidata's items are instances of."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikilda import build, update
from wikilda._core.errors import InputError
from wikilda.knowledge import Knowledge

CITIES, PEOPLE = [f"Stadt {n}" for n in range(12)], [f"Mensch {n}" for n in range(12)]
OTHERS = ["Nirgendwo", "Niemand"]  # of classes that are not in any list: 900 has cities, 901 people


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    titles = [*CITIES, *PEOPLE, *OTHERS, "Ding"]
    rows = [f"{title}\tQ{100 + number}" for number, title in enumerate(titles)]
    (place / "topics.tsv").write_text("\n".join(["title\twikidata", *rows]), "utf-8")
    (place / "site.json").write_text('{"name": "klein", "language": "xx"}')
    return place


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, str]]:
    own = [("Q515", "Q900")] * 12 + [("Q5", "Q901")] * 12 + [("Q900",), ("Q901",)]
    found = [(f"Q{100 + number}", each) for number, classes in enumerate(own) for each in classes]
    return [*found, found[0], ("Q99999", "Q5"), ("", "Q5"), ("Q100", "somevalue")]


@pytest.fixture(scope="module")
def table(rows: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("instances") / "p31.tsv"
    file.write_text("\n".join(["item\tclass", *map("\t".join, rows)]), "utf-8")
    return file


def types(knowledge: Knowledge) -> list[str | None]:
    return [knowledge.types.best(knowledge.titles.find(title)) for title in ("Stadt 3", "Mensch 4", *OTHERS)]


@pytest.fixture(scope="module")
def known(tables: Path, table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("built") / "klein"
    build(tables, target, instances=table, workers=1)
    return target


def test_classes_give_types_in_any_language(known: Path) -> None:
    knowledge = Knowledge.open(known)
    assert types(knowledge) == ["place", "person", "place", "person"]
    assert knowledge.source["instances"] == "p31.tsv"
    assert knowledge.types.topics(["place"]).sum() >= len(CITIES) + 1


def test_csv_and_parquet_and_addresses_are_the_same(
    known: Path, tables: Path, rows: list[tuple[str, str]], tmp_path: Path
) -> None:
    items, classes = zip(*rows, strict=True)
    pq.write_table(pa.table({"item": items, "class": classes}), tmp_path / "p31.parquet")
    lines = [f"http://www.wikidata.org/entity/{item},http://www.wikidata.org/entity/{each}" for item, each in rows]
    (tmp_path / "p31.csv").write_text("\n".join(["item,class", *lines]))
    first = Knowledge.open(known).types.shares
    for name in ("p31.parquet", "p31.csv"):
        made = build(tables, tmp_path / name.replace(".", "-"), instances=tmp_path / name, workers=1).knowledge()
        assert all((one == other).all() for one, other in zip(first, made.types.shares, strict=True))


def test_an_update_keeps_them(known: Path, tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"id": "1", "name": "Aaa"}\n')
    updated = update(known, tmp_path / "new.jsonl", tmp_path / "new")
    assert types(updated.knowledge) == ["place", "person", "place", "person"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("p31.tsv", "item\tclass\nQ1\tQ5\n", "has no item of this wiki"),
        ("p31.tsv", "item\nQ100\n", "needs two columns"),
        ("p31.tsv", "", "cannot be read as a table"),
        ("p31.txt", "Q100 Q5", "Use a .tsv, .csv or .parquet file"),
        ("p31.parquet", "nothing", "is not a Parquet file"),
    ],
)
def test_bad_tables_are_named(tables: Path, tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message) as error:
        build(tables, tmp_path / "model", instances=tmp_path / name, workers=1)
    assert name in str(error.value)
    assert not (tmp_path / "model").exists()


def test_a_table_that_is_not_there(tables: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        build(tables, tmp_path / "model", instances=tmp_path / "gone.tsv")
