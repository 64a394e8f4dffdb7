"""Nodes of knowledge graphs: the files of tools, identities, clusters, increments."""

import json
from pathlib import Path
from typing import Any

import networkx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import run
from wikilda._core.errors import InputError
from wikilda.integrations.graphs import Identified, Node, identify, read_identities, read_nodes, write_identities
from wikilda.linking import Linker

CRICKET = "Robert Croft took five wickets for England. CROFT bowled from the river end."
GAME = "In Tomb Raider, Lara Croft explores the ruins. Croft is the heroine of the video game."
UNKNOWN = (
    "Zebulon Quux of Acme Widgets spoke to the board. Mr Quux said that Acme would sell lemons, plums and apricots."
)
ELSEWHERE = "Zebulon Quux, who sells lemons and apricots, met the mayor."


def identities(rows: list[Identified]) -> dict[str, str]:
    return {each.node: each.identity for each in rows}


def test_one_entity_of_several_names_has_one_identity(linker: Linker) -> None:
    nodes = [
        {"id": "full", "name": "ROBERT CROFT", "source": CRICKET},
        {"id": "short", "name": "Croft", "source": CRICKET},
    ]
    found = identities(identify(linker, nodes))
    assert found == {"full": "Robert Croft", "short": "Robert Croft"}


def test_two_people_with_one_name_stay_two(linker: Linker) -> None:
    nodes = [Node("player", "Croft", sources=(CRICKET,)), Node("heroine", "Croft", sources=(GAME,))]
    found = identities(identify(linker, nodes))
    assert found == {"player": "Robert Croft", "heroine": "Lara Croft"}


def test_unknown_names_are_clustered(linker: Linker) -> None:
    nodes = [
        Node("1", "Zebulon Quux", sources=(UNKNOWN,)), Node("2", "Quux", sources=(UNKNOWN,)),
        Node("3", "Quux, Zebulon", "person", "", (ELSEWHERE,)), Node("4", "Acme Widgets", sources=(UNKNOWN,)),
        Node("5", "Acme", sources=(UNKNOWN,)), Node("6", "Zebulon Quuz", "company", "", ("Zebulon Quuz makes tyres.",)),
    ]  # fmt: skip
    found = identities(identify(linker, nodes))
    assert found["1"] == found["2"] == found["3"]
    assert found["4"] == found["5"] != found["1"]
    assert found["1"].startswith("new:")


def test_types_keep_unknown_names_apart(linker: Linker) -> None:
    nodes = [
        Node("1", "Quux", "person", "", ("Quux sang.",)),
        Node("2", "Quux", "organisation", "", ("Quux sold shares.",)),
    ]
    found = identities(identify(linker, nodes))
    assert found["1"] != found["2"]


def test_a_part_of_a_longer_name_is_not_the_whole(linker: Linker) -> None:
    text = "England won. The England Lemon Board met."
    nodes = [Node("1", "England", sources=(text,)), Node("2", "England Lemon Board", sources=(text,))]
    found = identify(linker, nodes)
    assert found[0].title is not None
    assert found[1].title is None


def test_new_nodes_join_and_no_identity_changes(linker: Linker, tmp_path: Path) -> None:
    old = [Node("1", "Zebulon Quux", sources=(UNKNOWN,)), Node("2", "Robert Croft", sources=(CRICKET,))]
    new = [*old, Node("3", "Quux", sources=(UNKNOWN,)), Node("4", "Croft", sources=(CRICKET,)), Node("5", "Wile Grue")]
    before = identify(linker, old)
    write_identities(before, tmp_path / "known.jsonl")
    read = read_identities(tmp_path / "known.jsonl")
    assert read == before
    after = identify(linker, new, known=read)
    assert after[:2] == before
    found = identities(after)
    assert found["3"] == found["1"]
    assert found["4"] == found["2"]
    assert found["5"] not in (found["1"], found["2"])


def test_identities_do_not_depend_on_workers(linker: Linker) -> None:
    nodes = [Node(str(at), name, sources=(text,)) for at, (name, text) in enumerate(
        [("Croft", CRICKET), ("Croft", GAME), ("Quux", UNKNOWN), ("Zebulon Quux", ELSEWHERE), ("Tomb Raider", GAME)]
    )]  # fmt: skip
    assert identify(linker, nodes, workers=2) == identify(linker, nodes, workers=1)


GRAPH = networkx.Graph()
GRAPH.add_node("n1", name="Robert Croft", entity_type="PERSON", description="A cricketer", source=CRICKET)
GRAPH.add_node("n2", name="Zebulon Quux", source=UNKNOWN)
WANTED = [
    Node("n1", "Robert Croft", "PERSON", "A cricketer", (CRICKET,)), Node("n2", "Zebulon Quux", sources=(UNKNOWN,)),
]  # fmt: skip


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def test_networkx(tmp_path: Path) -> None:
    assert read_nodes(GRAPH) == WANTED
    networkx.write_graphml(GRAPH, tmp_path / "graph.graphml")
    assert read_nodes(tmp_path / "graph.graphml") == WANTED
    assert read_nodes(write(tmp_path / "graph.json", networkx.node_link_data(GRAPH, edges="links"))) == WANTED


def test_graphrag(tmp_path: Path) -> None:
    units = {"id": ["t1", "t2"], "text": [CRICKET, UNKNOWN]}
    rows = {
        "id": ["n1", "n2"], "human_readable_id": [0, 1], "title": ["Robert Croft", "Zebulon Quux"],
        "type": ["PERSON", ""], "description": ["A cricketer", None], "text_unit_ids": [["t1"], ["t2"]],
    }  # fmt: skip
    pq.write_table(pa.table(units), tmp_path / "text_units.parquet")
    pq.write_table(pa.table(rows), tmp_path / "entities.parquet")
    assert read_nodes(tmp_path) == read_nodes(tmp_path / "entities.parquet") == WANTED


def test_lightrag(tmp_path: Path) -> None:
    chunks = {"c1": {"content": CRICKET, "tokens": 9}, "c2": {"content": GAME}}
    write(tmp_path / "kv_store_text_chunks.json", chunks)
    graph = networkx.Graph()
    graph.add_node("Croft", entity_id="Croft", entity_type="person", description="A<SEP>B", source_id="c1<SEP>c2")
    networkx.write_graphml(graph, tmp_path / "graph_chunk_entity_relation.graphml")
    assert read_nodes(tmp_path) == [Node("Croft", "Croft", "person", "A B", (CRICKET, GAME))]
    custom = {
        "chunks": [{"content": CRICKET, "source_id": "doc-1"}],
        "entities": [{"entity_name": "Croft", "entity_type": "person", "description": "A", "source_id": "doc-1"}],
    }
    assert read_nodes(write(tmp_path / "custom.json", custom)) == [Node("Croft", "Croft", "person", "A", (CRICKET,))]


def test_neo4j(tmp_path: Path) -> None:
    text = f'personId:ID(Person),name:string,:LABEL,description,source\nn1,Robert Croft,Node;Person,A,"{CRICKET}"\n'
    assert read_nodes(write(tmp_path / "nodes.csv", text)) == [Node("n1", "Robert Croft", "Person", "A", (CRICKET,))]
    text = "_id,_labels,name\n7,:Person,Robert Croft\n"
    assert read_nodes(write(tmp_path / "apoc.csv", text)) == [Node("7", "Robert Croft", "Person")]


@pytest.mark.parametrize(("name", "content", "message"), [
    ("a.json", "{", "is not JSON"), ("a.json", [1], "node 1 is not an object"), ("a.txt", "", "a graph is a file that"),
    ("a.graphml", "<!DOCTYPE x><graphml/>", "DOCTYPE"), ("a.graphml", "<graphml>", "is not GraphML"),
    ("a.csv", "a,b\n1,2\n", "row 2: has no name; its fields are a, b"), ("a.json", [], "the graph has no nodes"),
    ("a.json", [{"id": 1, "name": "A"}, {"id": 1, "name": "B"}], "two nodes have the id '1'"),
])  # fmt: skip
def test_bad_graphs(tmp_path: Path, name: str, content: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_nodes(write(tmp_path / name, content))


def test_a_folder_without_a_graph(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no entities of GraphRAG or LightRAG"):
        read_nodes(tmp_path)


def test_command(model: Path, tmp_path: Path) -> None:
    graph = write(tmp_path / "graph.json", [{"id": "1", "name": "Robert Croft", "source": CRICKET}])
    assert run("identify", str(model), str(graph), "-o", str(tmp_path / "a.jsonl"))[0] == 0
    more = write(tmp_path / "more.json", [{"id": "2", "name": "Croft", "source": CRICKET}])
    code, _, err = run(
        "identify", str(model), str(more), "--known", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "b.jsonl")
    )
    assert code == 0
    assert "2 nodes: 1 things, 1 of the wiki" in err
    assert {each.identity for each in read_identities(tmp_path / "b.jsonl")} == {"Robert Croft"}
    code, _, err = run("identify", str(model), str(graph), "-o", str(tmp_path / "b.jsonl"))
    assert code == 1
    assert "exists" in err
