"""Nodes of knowledge graphs that language models made of texts, from the files that common tools write.

GraphML, the node-link JSON and objects of NetworkX, the output of Microsoft GraphRAG and LightRAG, the CSV of Neo4j,
and any table or list with names.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from wikilda._core.compression import json_objects
from wikilda._core.errors import InputError
from wikilda._core.parquet import ParquetError, read_table

# Names of properties in other tools, most specific first; compared without case, `_` and text after `:`.
_ID = ("id", "nodeid", "entityid", "key", "entityname", "name", "title")
_NAME = ("name", "title", "label", "entityname", "entityid", "humanreadablename")
_TYPE = ("type", "entitytype", "labels", "label", "category", "kind")
_ABOUT = ("description", "summary", "desc", "about")
_SOURCE = (
    "sources", "source", "sentences", "sentence", "texts", "text", "context", "textunitids", "sourceid", "chunks",
)  # fmt: skip
_TEXT_ID, _TEXT = ("id", "sourceid", "chunkid"), ("text", "content")
_SEPARATOR = "<SEP>"
_ENTITY_FILES = ("entities", "create_final_entities", "graph_chunk_entity_relation")
_TEXT_FILES = ("text_units", "create_final_text_units", "kv_store_text_chunks")
_ENDINGS = (".parquet", ".json", ".jsonl", ".graphml", ".csv", ".tsv")
_LABELS = re.compile(r"[;|]")
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Node:
    """A node: its name and other properties.

    Attributes
    ----------
    id
        Its identifier in the graph.
    sources
        Texts that it was found in. Its identity is decided by them.
    """

    id: str
    name: str
    type: str = ""
    description: str = ""
    sources: tuple[str, ...] = ()


def read_nodes(graph: Any) -> list[Node]:
    """Read the nodes of a graph.

    Parameters
    ----------
    graph
        A file (`.graphml`, `.json`, `.jsonl`, `.csv`, `.tsv`, `.parquet`), the output folder of GraphRAG or LightRAG,
        a NetworkX graph, or nodes as `Node` or mappings.

    Examples
    --------
    >>> from wikilda.integrations.graphs import read_nodes
    >>> read_nodes([{"id": 1, "name": "Croft", "type": "person", "source": "Croft bowled for England."}])
    [Node(id='1', name='Croft', type='person', description='', sources=('Croft bowled for England.',))]
    """
    if isinstance(graph, str | Path):
        return _read_path(Path(graph))
    if hasattr(graph, "nodes") and callable(graph.nodes):
        return _made(((f"node {name!r}", {"id": name, **data}) for name, data in graph.nodes(data=True)), {})
    if isinstance(graph, Iterable) and not isinstance(graph, Mapping):
        given = list(graph)
        if all(isinstance(each, Node) for each in given):
            return _checked(given)
        return _made(((f"node {at}", each) for at, each in enumerate(given, 1)), {})
    raise InputError(f"a {type(graph).__name__} is no graph: give a file, a NetworkX graph, or a list of nodes.")


def _read_path(path: Path) -> list[Node]:
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file or directory. Check the path.")
    return _made(_rows(path), _texts_beside(path))


def _read_folder(folder: Path) -> list[Node]:
    """The output of GraphRAG or LightRAG: a file of entities, and one of texts."""
    files = [folder / f"{name}{ending}" for name in _ENTITY_FILES for ending in _ENDINGS]
    found = next((each for each in files if each.is_file()), None)
    if found is None:
        names = ", ".join(f"{name}.*" for name in _ENTITY_FILES)
        raise InputError(f"{folder}: has no entities of GraphRAG or LightRAG ({names}). Give the file of the graph.")
    return _made(_rows(found), _texts_beside(found))


def _texts_beside(path: Path) -> Texts:
    """The texts by id that tools keep in another file of the folder."""
    for name in _TEXT_FILES:
        for ending in (".parquet", ".json", ".jsonl", ".csv"):
            file = path.with_name(f"{name}{ending}")
            if file.is_file() and file != path:
                return _texts(_rows(file))
    return {}


def _texts(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Texts:
    found = {}
    for _, row in rows:
        known = _plain(row)
        name, text = _first(known, _TEXT_ID), _first(known, _TEXT)
        if name and text:
            found[str(name)] = str(text)
    return found


Rows = Iterator[tuple[str, Mapping[str, Any]]]


def _rows(path: Path) -> Rows:
    """The rows of a file, and where each is."""
    kind = path.suffix.lower()
    if kind == ".parquet":
        try:
            rows = read_table(path).to_pylist()
        except ParquetError as error:
            raise InputError(f"{path}: {error}") from None
        yield from ((f"{path}, row {at}", row) for at, row in enumerate(rows, 1))
    elif kind == ".jsonl":
        with path.open("rb") as lines:
            yield from ((f"{path}, line {at}", row) for at, row in json_objects(lines, path))
    elif kind == ".json":
        yield from _json_rows(path)
    elif kind == ".graphml":
        yield from _graphml_rows(path)
    elif kind in (".csv", ".tsv"):
        yield from _csv_rows(path, "\t" if kind == ".tsv" else ",")
    else:
        raise InputError(
            f"{path}: is not a graph by its name. Use a folder, or a file that ends in {', '.join(_ENDINGS)}."
        )


def _json_rows(path: Path) -> Rows:
    try:
        known = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON ({error}). Correct the file.") from None
    if isinstance(known, dict):
        lists = [known[name] for name in ("nodes", "entities", "vertices") if isinstance(known.get(name), list)]
        if lists:
            chunks = _texts(("", each) for each in known.get("chunks", []) if isinstance(each, dict))
            known = [_with_texts(row, chunks) if isinstance(row, dict) else row for row in lists[0]]
        else:  # objects by their ids, as LightRAG's stores are
            known = [{"id": name, **row} if isinstance(row, dict) else row for name, row in known.items()]
    for at, row in enumerate(known if isinstance(known, list) else [known], 1):
        if not isinstance(row, dict):
            raise InputError(f"{path}: node {at} is not an object. Give a list of nodes, or an object with `nodes`.")
        inner = row.get("properties") or row.get("data")
        yield f"{path}, node {at}", {**row, **inner} if isinstance(inner, dict) else row


def _with_texts(row: dict[str, Any], chunks: Texts) -> dict[str, Any]:
    given = _first(_plain(row), _SOURCE)
    if not chunks or given is None:
        return row
    return {**row, "sources": [chunks.get(each, each) for each in _strings(given)]}


def _graphml_rows(path: Path) -> Rows:
    data = path.read_bytes()
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise InputError(f"{path}: has a DOCTYPE, which GraphML does not need. Remove it.")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: is not GraphML ({error}). Correct the file.") from None
    keys = {each.get("id"): each.get("attr.name") or each.get("id") for each in root.iter() if _tag(each) == "key"}
    for node in (each for each in root.iter() if _tag(each) == "node"):
        values = {keys.get(each.get("key"), each.get("key")) or "": each.text or "" for each in node
                  if _tag(each) == "data"}  # fmt: skip
        yield f"{path}, node {node.get('id')!r}", {"id": node.get("id"), **values}


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _csv_rows(path: Path, delimiter: str) -> Rows:
    csv.field_size_limit(1 << 24)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for at, row in enumerate(csv.DictReader(file, delimiter=delimiter), 2):
                yield f"{path}, row {at}", {key: value for key, value in row.items() if key is not None}
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV ({error}). Correct the file.") from None


def _made(rows: Iterable[tuple[str, Any]], texts: Texts) -> list[Node]:
    nodes, wrong = list[Node](), list[str]()
    for place, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{place} is a {type(row).__name__}. Give a mapping with a name.")
        known = _plain(row)
        name = _string(_first(known, _NAME)) or _string(_first(known, _ID))
        if not name:
            wrong.append(f"{place}: has no name; its fields are {', '.join(map(str, row))[:200]}")
            continue
        given = _first(known, _ID)
        sources = tuple(dict.fromkeys(texts.get(each, each) for each in _strings(_first(known, _SOURCE))))
        found = tuple(each for each in sources if " " in each.strip())  # ids of missing texts are no evidence
        about = " ".join(_strings(_first(known, _ABOUT)))
        kind = _LABELS.split(_string(_first(known, _TYPE)).strip(":"))[-1].strip(' :"')
        nodes.append(Node(_string(given) or name, name, kind if kind != name else "", about, found))
    if wrong:
        more = f"\n  … and {len(wrong) - 20} more" if len(wrong) > 20 else ""
        raise InputError(f"{len(wrong)} nodes cannot be used.\n  " + "\n  ".join(wrong[:20]) + more)
    return _checked(nodes)


def _checked(nodes: list[Node]) -> list[Node]:
    """Refuse nodes with the same id."""
    seen = dict[str, Node]()
    for node in nodes:
        if not node.name.strip():
            raise InputError(f"node {node.id!r} has no name. Add one.")
        if node.id in seen:
            raise InputError(f"two nodes have the id {node.id[:60]!r}. Give each its own id.")
        seen[node.id] = node
    if not nodes:
        raise InputError("the graph has no nodes. Give one with at least one node.")
    return nodes


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Properties by their plain names: Neo4j's `name:string` and `personId:ID(Person)`, APOC's `_labels`."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        head, _, kind = str(name).partition(":")
        kind = kind.partition("(")[0].upper()
        plain = {"ID": "id", "LABEL": "labels"}.get(kind, head).lower().replace("_", "").replace(" ", "")
        if value is not None and value == value and plain not in found:
            found[plain] = value
    return found


def _first(known: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((known[name] for name in names if known.get(name) not in (None, "", [])), None)


def _string(value: Any) -> str:
    if isinstance(value, list | tuple):
        value = value[0] if value else ""
    return " ".join(str(value).split()).strip('"') if value is not None else ""


def _strings(value: Any) -> list[str]:
    if value is None:
        return []
    given = value if isinstance(value, list | tuple) else str(value).split(_SEPARATOR)
    return [text for each in given if (text := " ".join(str(each).split()))]
