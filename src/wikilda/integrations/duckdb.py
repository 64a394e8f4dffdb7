"""Linking in SQL: `register(connection, linker)`, then `SELECT link(text) FROM documents`."""

from typing import TYPE_CHECKING

import pyarrow as pa

from wikilda.linking import Linker
from wikilda.linking.frames import DOCUMENTS, link_table

if TYPE_CHECKING:
    import duckdb

_TYPE = """STRUCT("start" BIGINT, "end" BIGINT, mention VARCHAR, title VARCHAR, topic BIGINT, wikidata VARCHAR,
    confidence DOUBLE, posterior DOUBLE, nil DOUBLE, prior DOUBLE, "type" VARCHAR)[]"""


def register(connection: "duckdb.DuckDBPyConnection", linker: Linker, name: str = "link", *, workers: int = 1) -> None:
    """Register a function that links a text and returns its mentions with the columns of `link_frame`.

    Examples
    --------
    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> register(connection, linker)
    >>> connection.sql("SELECT unnest(link('Croft bowled for England.')).title").fetchall()
    [('Robert Croft',), ('England cricket team',)]
    """

    def link(texts: pa.ChunkedArray) -> pa.ChunkedArray:
        return link_table(linker, pa.table({"text": texts}), rows=DOCUMENTS, workers=workers).column("mentions")

    from duckdb.func import ARROW, SPECIAL

    connection.create_function(name, link, ["varchar"], _TYPE, type=ARROW, null_handling=SPECIAL)
