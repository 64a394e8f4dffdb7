"""Rows as a Parquet file: a row a document, with lists of its mentions and topics."""

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

_ROWS = 1000  # of a row group, which is what is held


def schema_of(names: Collection[str]) -> Any:
    """The Arrow schema of rows that have some of the columns that `Linked.to_dict` gives."""
    import pyarrow as pa

    entity = [("title", pa.string()), ("page_id", pa.int64()), ("wikidata", pa.string()), ("url", pa.string())]
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


def write_parquet(rows: Iterable[dict[str, Any]], path: Path) -> None:
    """Write rows, some at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rest: Iterator[dict[str, Any]] = iter(rows)
    group = list(islice(rest, _ROWS))
    first = group[0] if group else {"id": "", "mentions": [], "topics": [], "knowledge": None}
    about = {"wikilda.knowledge": json.dumps(first.get("knowledge"), ensure_ascii=False)}
    schema = schema_of(first).with_metadata(about)
    with pq.ParquetWriter(path, schema, compression="zstd") as out:
        while group:
            out.write_table(pa.Table.from_pylist([storable(row) for row in group], schema))
            group = list(islice(rest, _ROWS))


def storable(row: dict[str, Any]) -> dict[str, Any]:
    """A row without lone surrogates, which UTF-8 and so Parquet does not have."""
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        plain = json.dumps(row, ensure_ascii=False).encode("utf-8", "replace")
        return dict(json.loads(plain))
    return row
