"""Rows as a Parquet file: one row per document, with lists of mentions and topics."""

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

_ROWS = 1000  # bytes of a row group, which are held in memory


def schema_of(names: Collection[str]) -> Any:
    """Return the Arrow schema of rows with some of the columns of `Linked.to_dict`."""
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("wikidata", "url", "type")]
    entity = [("id", pa.string()), ("title", pa.string()), ("page_id", pa.int64()), *texts]
    candidate = pa.struct([*entity, ("probability", pa.float64()), ("prior", pa.float64())])
    span = [("start", pa.int64()), ("end", pa.int64()), ("text", pa.string())]
    numbers = [(name, pa.float64()) for name in ("probability", "confidence", "nil")]
    mention = pa.struct([*span, *entity, *numbers, ("candidates", pa.list_(candidate))])
    topic = pa.struct([*entity, ("share", pa.float64())])
    source = [("wiki", pa.string()), ("language", pa.string()), ("files", pa.list_(pa.string()))]
    columns = {
        "id": pa.string(), "text": pa.string(), "mentions": pa.list_(mention), "topics": pa.list_(topic),
        "knowledge": pa.struct([*source, ("identity", pa.string())]),
    }  # fmt: skip
    return pa.schema([(name, kind) for name, kind in columns.items() if name in names])


def mention_rows(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one row per mention, with flat columns, from rows of documents."""
    for each in row["mentions"]:
        best = each["candidates"][0] if each["candidates"] else {}
        known = {name: each[name] for name in ("id", "title", "page_id", "wikidata", "url", "type")}
        yield {
            "document": row["id"], "start": each["start"], "end": each["end"], "mention": each["text"], **known,
            "confidence": each["confidence"], "posterior": best.get("probability"), "nil": each["nil"],
            "prior": best.get("prior"),
        }  # fmt: skip


def _mention_schema() -> Any:
    import pyarrow as pa

    texts, wholes = ("document", "mention", "id", "title", "wikidata", "url", "type"), ("start", "end", "page_id")
    kinds = dict.fromkeys(texts, pa.string()) | dict.fromkeys(wholes, pa.int64())
    names = ("document", "start", "end", "mention", "id", "title", "page_id", "wikidata", "url", "type", "confidence",
             "posterior", "nil", "prior")  # fmt: skip
    return pa.schema([(name, kinds.get(name, pa.float64())) for name in names])


def write_parquet(rows: Iterable[dict[str, Any]], path: Path, *, mentions: bool = False) -> None:
    """Write rows in groups: one row per document, or one per mention."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rest: Iterator[dict[str, Any]] = iter(rows)
    group = list(islice(rest, _ROWS))
    first = group[0] if group else {"id": "", "mentions": [], "topics": [], "knowledge": None}
    about = {"wikilda.knowledge": json.dumps(first.get("knowledge"), ensure_ascii=False)}
    schema = (_mention_schema() if mentions else schema_of(first)).with_metadata(about)
    with pq.ParquetWriter(path, schema, compression="zstd") as out:
        while group:
            kept = [storable(row) for row in group]
            flat = [each for row in kept for each in mention_rows(row)] if mentions else kept
            out.write_table(pa.Table.from_pylist(flat, schema))
            group = list(islice(rest, _ROWS))


def storable(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without lone surrogates, which UTF-8 and Parquet cannot encode."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        plain = json.dumps(row, ensure_ascii=False).encode("utf-8", "replace")
        return dict(json.loads(plain))
    return row
