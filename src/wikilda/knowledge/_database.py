"""A build's database: SQL within a memory limit, results streamed into the arrays of an artifact."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.arrays import StringTable
from wikilda._core.artifact import Writer
from wikilda._core.errors import WikildaError, disk_is_full
from wikilda.knowledge._pieces import CATEGORIES, CENSUS, TEMPLATES, folders, write_dead
from wikilda.knowledge.knowledge import Knowledge

if TYPE_CHECKING:
    import duckdb

_BATCH = 1 << 17
_BY_PAGE = ("texts", "marks", "templates", "names", "categories", "parents", "category_pages", "category_marks",
            "accounts")  # fmt: skip
_KEYED = ("category_names", "template_names")


class Database:
    """A database file next to the pieces. It stays within its memory limit and spills to disk."""

    def __init__(self, chunks: Path, *, memory: str, workers: int) -> None:
        self.chunks = chunks
        file = chunks.parent / "assemble.duckdb"
        file.unlink(missing_ok=True)
        import duckdb  # not in worker processes, which import this module: DuckDB warns when they end

        with worded(chunks.parent):
            self._connection = duckdb.connect(str(file), config={
                "memory_limit": memory, "threads": workers, "temp_directory": str(chunks.parent / "spill"),
                "preserve_insertion_order": False, "checkpoint_threshold": "1MB",
            })  # fmt: skip
        for table in _KEYED:
            self.view(table)
        dead = self._find_dead()
        for table in _BY_PAGE:
            self.view(table, living=dead)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def view(self, table: str, *, living: bool = False) -> None:
        """Show the pieces' tables of a name as one, or the rows of living pages; a table that no piece has is empty."""
        files = f"{quoted(self.chunks)}/*/{table}.parquet"
        there = any(self.chunks.glob(f"*/{table}.parquet"))
        where = "WHERE page IS NULL OR page NOT IN (FROM dead)" if living else ""
        rows = f"FROM read_parquet('{files}', union_by_name = true) {where}"
        self.run(f"CREATE VIEW {table} AS {rows}" if there else _EMPTY[table])

    def _view_contents(self) -> None:
        """All articles and redirects of the pieces; those of dumps have their ids in the census."""
        files = f"{quoted(self.chunks)}/*/pages.parquet"
        rows = f"FROM read_parquet('{files}', union_by_name = true)"
        number = "id" if "id" in [name for name, *_ in self.rows(f"DESCRIBE {rows}")] else "NULL::BIGINT AS id"
        self.run(f"CREATE VIEW contents AS SELECT page, title, key, redirect, {number} {rows}")

    def _find_dead(self) -> bool:
        """Choose the pages that count: those of the census and, of pages with one title, the newest.

        Pages of tables and lists always count. Returns whether there are dead pages.
        """
        self.view("owners")
        self._view_contents()
        census = self.chunks / CENSUS
        self.run(
            f"CREATE VIEW census AS FROM read_parquet('{quoted(census)}')" if census.is_file() else _EMPTY["census"]
        )
        self.run("""
            CREATE TABLE living AS SELECT page, id FROM (
                SELECT page, census.id, row_number() OVER (
                    PARTITION BY key ORDER BY stamp DESC, revision DESC, census.id, digest, digest_end) AS place
                FROM census JOIN contents USING (page)) WHERE place = 1""")
        self.run(f"""
            CREATE TABLE dead AS SELECT page FROM owners WHERE page NOT IN (FROM living SELECT page)
            AND page NOT IN (SELECT page FROM census WHERE kind IN ({TEMPLATES}, {CATEGORIES}))""")
        self.run("""
            CREATE VIEW pages AS SELECT page, coalesce(living.id, contents.id, 0) AS id, contents.title, key, redirect
            FROM contents LEFT JOIN living USING (page) WHERE page NOT IN (FROM dead)""")
        dead = self.run("SELECT page FROM dead ORDER BY page").fetchnumpy()["page"].astype(np.uint64)
        for folder in folders(self.chunks):
            write_dead(folder, dead)
        return len(dead) > 0

    def register(self, name: str, table: pa.Table) -> None:
        """Make a table in memory visible to queries."""
        self._connection.register(name, table)

    @contextmanager
    def reading(self, name: str, schema: pa.Schema, read: Callable[[Path], Iterable[pa.RecordBatch]]) -> Iterator[None]:
        """Make the rows of all pieces visible to one query, batch by batch."""
        batches = (batch for folder in folders(self.chunks) for batch in read(folder))
        self._connection.register(name, pa.RecordBatchReader.from_batches(schema, batches))
        yield
        self._connection.unregister(name)

    def run(self, query: str, parameters: Sequence[Any] | None = None) -> "duckdb.DuckDBPyConnection":
        """Execute a query."""
        with worded(self.chunks.parent):
            return self._connection.execute(query, parameters)

    def drop(self, *tables: str) -> None:
        """Drop tables to free their disk."""
        for table in tables:
            self.run(f"DROP TABLE {table}")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.run(query).fetchall()

    def value(self, query: str) -> int:
        """Return the only value of a query."""
        return int(self.rows(query)[0][0])

    def grow(self, table: str, query: str) -> None:
        """Insert the rows of a query repeatedly until there are no new ones."""
        while self.value(f"WITH more AS ({query}) SELECT count(*) FROM more"):
            self.run(f"INSERT INTO {table} {query}")

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query in batches."""
        with worded(self.chunks.parent):
            yield from self._connection.sql(query).to_arrow_reader(_BATCH)

    def stream(self, query: str, *columns: NDArray[Any]) -> None:
        """Fill arrays with the columns of a query."""
        at = 0
        for batch in self.batches(query):
            for column, array in zip(columns, batch.columns, strict=True):
                column[at : at + len(batch)] = array.to_numpy(zero_copy_only=False)
            at += len(batch)

    def strings(self, out: Writer[Knowledge], name: str, query: str) -> StringTable:
        """Write a column of strings in the order of the query."""
        query_bytes = f"SELECT coalesce(sum(strlen(s)), 0), count(*) FROM ({query}) AS t(s)"
        size, count = self.rows(query_bytes)[0]
        data, offsets = (
            out.create(f"{name}.bytes", np.uint8, int(size)),
            out.create(f"{name}.offsets", np.int64, count + 1),
        )
        at = byte = 0
        for batch in self.batches(query):
            strings = batch.column(0).cast(pa.large_string())
            starts = np.frombuffer(strings.buffers()[1], np.int64, len(strings) + 1, strings.offset * 8)
            taken = int(starts[-1] - starts[0])
            if taken:
                data[byte : byte + taken] = np.frombuffer(strings.buffers()[2], np.uint8, taken, int(starts[0]))
            offsets[at + 1 : at + 1 + len(strings)] = starts[1:] - starts[0] + byte
            at, byte = at + len(strings), byte + taken
        return StringTable(data, offsets)

    def lists(
        self, out: Writer[Knowledge], name: str, rows: str, ids: int, length: int, *more: NDArray[Any],
        column: str = "topics",
    ) -> None:  # fmt: skip
        """Write lists of numbers by id: offsets, and the numbers in order."""
        offsets = out.create(f"{name}/offsets", np.int64, ids + 1)
        topics = out.create(f"{name}/{column}", np.uint32, length)
        at = 0
        for batch in self.batches(f"{rows} ORDER BY 1, 2"):
            first, *columns = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            found, counted = np.unique(first, return_counts=True)
            offsets[found.astype(np.int64) + 1] += counted
            for target, values in zip((topics, *more), columns, strict=True):
                target[at : at + len(batch)] = values
            at += len(batch)
        np.cumsum(offsets, out=offsets)


@contextmanager
def worded(place: Path) -> Iterator[None]:
    """Turn the database's errors for lack of disk or memory into messages."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise WikildaError(
            f"{place}: not enough memory or disk for sorting. Raise --memory, or free disk. ({error})"
        ) from None
    except duckdb.Error as error:
        if "No space left" not in str(error):
            raise
        raise disk_is_full(place) from None


def quoted(text: object) -> str:
    """Return text for use within quotes in SQL."""
    return str(text).replace("'", "''")


_EMPTY = {
    "owners": "CREATE TABLE owners (page UBIGINT)",
    "census": "CREATE TABLE census (page UBIGINT, kind UTINYINT, namespace INTEGER, id BIGINT, revision BIGINT, "
    "stamp BIGINT, wikitext BIGINT, xml BIGINT, digest UBIGINT, digest_end UBIGINT, title VARCHAR)",
    "accounts": "CREATE TABLE accounts (page UBIGINT)",
    "given_items": "CREATE TABLE given_items (page UBIGINT, wikidata BIGINT)",
    "categories": "CREATE TABLE categories (page UBIGINT, category UBIGINT)",
    "parents": "CREATE TABLE parents (page UBIGINT, category UBIGINT, parent UBIGINT)",
    "category_names": "CREATE TABLE category_names (category UBIGINT, name VARCHAR)",
    "category_pages": "CREATE TABLE category_pages (page UBIGINT, category UBIGINT)",
    "category_marks": "CREATE TABLE category_marks (page UBIGINT, category UBIGINT, kind UBIGINT, name UBIGINT)",
}
