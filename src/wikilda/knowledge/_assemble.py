"""Second half of a build: the pieces' tables → knowledge, by joins and sorts that spill to disk.

The paper's rules are the SQL below. DuckDB holds no more than the memory it is given; what it returns is
streamed into the arrays of the artifact.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, StringTable, capacity_for, insert_all
from wikilda._core.artifact import Writer
from wikilda._core.errors import WikildaError, disk_is_full
from wikilda.knowledge.from_dump import TOKENS, read_tokens
from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.mention_trie import count_occurrences, fill_trie, trie_capacity
from wikilda.knowledge.settings import BuildSettings
from wikilda.mediawiki.languages import Language
from wikilda.mediawiki.wikitext import mark_key
from wikilda.mediawiki.wikitext.render import CATEGORY_MARK, MAGIC_MARK, TEMPLATE_MARK

if TYPE_CHECKING:
    import duckdb

_BATCH = 1 << 17
_TABLES = ("pages", "texts", "marks", "templates", "names", "links", "strings", "words", "vocabulary", "categories",
           "parents", "category_names", "category_pages", "category_marks", "template_names")  # fmt: skip
_HIDING = ("hiddencat", "hidden category", "tracking category", "maintenance category", "wikipedia category")

_DISTINCTIVE = 4  # letters, more than which name disambiguation also as part of a template's name
_NOTICES = "need|link|hinweis|redirect|other|hat|see|for |about|clar|requ|vérif"  # templates that only point to it


class Assembler:
    """Runs the steps in order on one database file; `summary` counts what they find."""

    def __init__(self, chunks: Path, settings: BuildSettings, *, memory: str, workers: int) -> None:
        self.chunks, self.settings, self.workers = chunks, settings, workers
        self.summary: dict[str, int] = {}
        # How often each mention is a link in running text, as (mention, n).
        self.linked = "SELECT mention, count(*) AS n FROM edges WHERE NOT aside GROUP BY ALL"
        # Of several spellings of a mention, the one that it gets.
        self.spelled = "min(string)"
        database = chunks.parent / "assemble.duckdb"
        database.unlink(missing_ok=True)
        import duckdb  # not for worker processes, which import this module: it complains when they end

        with worded(chunks.parent):
            self.sql = duckdb.connect(str(database), config={"memory_limit": memory, "threads": workers,
                "temp_directory": str(chunks.parent / "spill"), "preserve_insertion_order": False})  # fmt: skip
        for table in _TABLES:
            self._view(table)

    def close(self) -> None:
        """Let go of the database."""
        self.sql.close()

    # -- topics -------------------------------------------------------------------------------------------

    def choose_topics(self, language: Language, props: pa.Table | None) -> None:
        """Decide which pages are topics, number them by title, and resolve redirects to them."""
        rules = self.settings
        self._register(props)
        self._run("CREATE VIEW items AS SELECT page, wikidata FROM pages JOIN props USING (id)")
        self._find_disambiguation(language)
        lists = _any_of("starts_with(lower(title), {})", rules.list_prefixes or language.list_prefixes)
        self._run("CREATE TABLE firsts AS SELECT min(page) AS page FROM pages GROUP BY key")
        self._run(f"""
            CREATE TABLE articles AS
            SELECT page, title, CASE
                WHEN page NOT IN (FROM firsts) THEN 'duplicate titles'
                WHEN {not rules.keep_disambiguation} AND page IN (FROM disambiguation) THEN 'disambiguation pages'
                WHEN {not rules.keep_lists} AND {lists} THEN 'list pages'
                WHEN length <= {rules.min_text} THEN 'too short'
                ELSE 'topics' END AS verdict
            FROM pages JOIN texts USING (page) WHERE redirect = 0""")
        for verdict, count in self._rows("SELECT verdict, count(*) FROM articles GROUP BY ALL ORDER BY ALL"):
            self.summary[verdict] = count
        self._number_topics("SELECT page, title FROM articles WHERE verdict = 'topics'")
        self._resolve_redirects()

    def take_topics(self) -> None:
        """Take all pages that are not redirects as topics: the maker of the tables has chosen."""
        self._register(None)
        self._view("items")
        self._run("CREATE TABLE firsts AS SELECT DISTINCT page FROM pages")
        self._number_topics("SELECT page, title FROM pages WHERE redirect = 0")
        self._resolve_redirects()

    def _find_disambiguation(self, language: Language) -> None:
        rules = self.settings
        templates = rules.disambiguation_templates or language.disambiguation_templates
        categories = rules.disambiguation_categories or language.disambiguation_categories
        suffixes = _any_of(
            "ends_with(lower(title), {})", rules.disambiguation_suffixes or language.disambiguation_suffixes
        )
        words = ", ".join(str(mark_key(word)) for word in language.disambiguation)
        magic = f"(kind = {MAGIC_MARK} AND name IN ({words}))"
        # A template marks disambiguation if it says __DISAMBIG__ or uses (or redirects to) one that does.
        # Where the dump has no templates, their names tell: {{TLAdisambig}}, {{Homonymie de patronyme}}.
        words = "|".join(re.escape(word.lower()) for word in ("disambig", *templates) if len(word) > _DISTINCTIVE)
        named = f"regexp_matches(lower(string), '{_quoted(words)}') AND NOT regexp_matches(lower(string), '{_NOTICES}')"
        self._spread("marking", magic, templates)
        if not rules.disambiguation_templates:
            self._run(f"INSERT INTO marking SELECT DISTINCT name FROM template_names WHERE {named}")
        self._run(f"""
            CREATE TABLE disambiguation AS
            SELECT page FROM marks WHERE {magic}
                OR (kind = {TEMPLATE_MARK} AND name IN (FROM marking))
                OR (kind = {CATEGORY_MARK} AND name IN (SELECT unnest(?::UBIGINT[])))
            UNION SELECT page FROM pages WHERE {suffixes}
            UNION SELECT page FROM pages JOIN props USING (id) WHERE disambiguation""",
            [[mark_key(name) for name in categories]])  # fmt: skip

    def _spread(self, table: str, magic: str, templates: Sequence[str]) -> None:
        """A table of templates that contain a magic word, or a template that does, or one of those named."""
        self._run(f"CREATE TABLE {table} (name UBIGINT)")
        self._run(f"INSERT INTO {table} SELECT unnest(?::UBIGINT[])", [[mark_key(name) for name in templates]])
        self._grow(table, f"""
            SELECT DISTINCT template FROM templates
            WHERE ({magic} OR (kind = {TEMPLATE_MARK} AND name IN (FROM {table})))
            AND template NOT IN (FROM {table})""")  # fmt: skip

    def _number_topics(self, chosen: str) -> None:
        self._run(f"""
            CREATE TABLE topics AS
            SELECT (row_number() OVER (ORDER BY title, page) - 1)::UINTEGER AS topic, page FROM ({chosen})""")
        if not self._value("SELECT count(*) FROM topics"):
            raise WikildaError(
                "no page is a topic: "
                + ", ".join(f"{count} {what}" for what, count in self.summary.items())
                + ". Is this a dump of a wiki's articles? See --min-text and the other rules."
            )

    def _resolve_redirects(self) -> None:
        self._run("CREATE TABLE resolved AS SELECT key, topic FROM topics JOIN pages USING (page)")
        self._run("""
            CREATE TABLE redirects AS
            SELECT key, min_by(title, page) AS title, min_by(redirect, page) AS target
            FROM pages WHERE redirect <> 0 AND key NOT IN (SELECT key FROM pages WHERE redirect = 0) GROUP BY key""")
        self._grow(
            "resolved",
            """
            SELECT r.key, t.topic FROM redirects r JOIN resolved t ON r.target = t.key
            WHERE r.key NOT IN (SELECT key FROM resolved)""",
        )
        self.summary["redirects to topics"] = self._value(
            "SELECT count(*) FROM redirects WHERE key IN (SELECT key FROM resolved)"
        )
        lost = "SELECT key, target FROM redirects WHERE key NOT IN (SELECT key FROM resolved)"
        self._run(f"CREATE TABLE lost AS {lost} AND target NOT IN (SELECT key FROM redirects)")
        known = "(SELECT key FROM lost)"
        self._grow("lost", f"SELECT key, target FROM ({lost}) WHERE target IN {known} AND key NOT IN {known}")
        self.summary["redirects elsewhere"] = self._value("SELECT count(*) FROM lost")
        self.summary["redirects in circles"] = (
            self._value(f"SELECT count(*) FROM ({lost})") - self.summary["redirects elsewhere"]
        )

    def write_topics(self, out: Writer[Knowledge]) -> None:
        """Titles, page ids, Wikidata ids, first sentences; redirects."""
        count = self._value("SELECT count(*) FROM topics")
        ids, wikidata = out.create("topics/page_ids", np.int64, count), out.create("topics/wikidata", np.int64, count)
        self._stream(
            """
            SELECT id, coalesce(wikidata, 0) AS wikidata FROM topics JOIN pages USING (page)
            LEFT JOIN items USING (page) ORDER BY topic""",
            ids,
            wikidata,
        )
        self._strings(out, "topics/titles", "SELECT title FROM topics JOIN pages USING (page) ORDER BY topic")
        self._strings(
            out,
            "topics/sentences",
            """
            SELECT coalesce(sentence, '') FROM topics LEFT JOIN
            (SELECT page, max(sentence) AS sentence FROM texts GROUP BY page) USING (page) ORDER BY topic""",
        )
        known = "redirects JOIN resolved USING (key)"
        targets = out.create("redirects/topics", np.uint32, self._value(f"SELECT count(*) FROM {known}"))
        self._stream(f"SELECT topic FROM {known} ORDER BY title", targets)
        self._strings(out, "redirects/titles", f"SELECT title FROM {known} ORDER BY title")
        self.summary["topics"] = count

    # -- mentions -----------------------------------------------------------------------------------------

    def count_mentions(self) -> None:
        """Count(v, k) of mentions: titles and redirects once each, and every link."""
        which = "true" if self.settings.aside_links else "NOT aside"
        self._run(f"""
            CREATE TABLE edges AS
            SELECT source.topic AS source, resolved.topic AS target, mention, aside
            FROM links JOIN resolved ON target = key LEFT JOIN topics source ON source.page = links.source
            WHERE {which} AND source.topic IS DISTINCT FROM resolved.topic""")
        self._run("""
            CREATE TABLE counted AS
            SELECT mention, topic, sum(n)::UINTEGER AS count FROM (
                SELECT mention, topic, count AS n FROM names JOIN resolved ON target = key
                WHERE page IS NULL OR page IN (FROM firsts)
                UNION ALL SELECT mention, target, count(*) FROM edges GROUP BY ALL) GROUP BY ALL""")

    def write_mentions(self, out: Writer[Knowledge]) -> None:
        """Mention strings in order, their topics, how often they are links and how often they occur."""
        rules = self.settings
        self._run(f"""
            CREATE TABLE mentions AS
            SELECT (row_number() OVER (ORDER BY string) - 1)::UINTEGER AS id, mention, string FROM (
                SELECT mention, {self.spelled} AS string FROM strings
                WHERE length >= {rules.min_mention} GROUP BY mention)
            WHERE mention IN (SELECT mention FROM counted)""")
        best = _best("mention", rules.topics_per_mention)
        rows = f"SELECT id, topic, count FROM (SELECT * FROM counted {best}) JOIN mentions USING (mention)"
        self._table(out, "mentions", rows, self._value("SELECT count(*) FROM mentions"))
        strings = self._strings(out, "mentions/strings", "SELECT string FROM mentions ORDER BY id")
        trie = _new_table(out, "mentions/trie", trie_capacity(strings))
        fill_trie(strings, trie)
        linked = out.create("mentions/linked", np.uint32, len(strings))
        self._stream(
            f"""
            SELECT coalesce(n, 0) FROM mentions LEFT JOIN ({self.linked}) USING (mention) ORDER BY id""",
            linked,
        )
        chunks = sorted(each.parent for each in self.chunks.glob(f"*/{TOKENS}"))
        occurs = count_occurrences(chunks, read_tokens, trie, len(strings), self.workers)
        out.array("mentions/occurrences", np.maximum(occurs, linked))
        self.summary["mentions"] = len(strings)

    # -- words --------------------------------------------------------------------------------------------

    def write_words(self, out: Writer[Knowledge]) -> None:
        """Words that are neither too common nor too rare, and their best topics."""
        rules = self.settings
        topics = self._value("SELECT count(*) FROM topics")
        # In a small wiki a twentieth of the topics is fewer than a word must have: then words may be in half of them.
        most = rules.max_word_share * topics
        if most < 2 * rules.min_word_topics:
            most = max(most, topics / 2)
        least = min(rules.min_word_topics, max(1, topics // 4))
        self._run(f"""
            CREATE TABLE kept AS
            SELECT (row_number() OVER (ORDER BY string) - 1)::UINTEGER AS id, word, string, frequency, total FROM
                (SELECT word, count(*) AS frequency, sum(count)::BIGINT AS total
                 FROM words JOIN topics USING (page) GROUP BY word
                 HAVING count(*) >= {least} AND count(*) <= {most})
                JOIN (SELECT word, min(string) AS string FROM vocabulary GROUP BY word) USING (word)""")
        count = self._value("SELECT count(*) FROM kept")
        rows = "SELECT id, topic, count FROM words JOIN kept USING (word) JOIN topics USING (page)"
        if rules.topics_per_word:  # most words have few topics, and need no ranking
            many = f"frequency > {rules.topics_per_word}"
            rows = f"{rows} WHERE NOT {many} UNION ALL {rows} WHERE {many} {_best('id', rules.topics_per_word)}"
        self._table(out, "words", rows, count)
        self._strings(out, "words/strings", "SELECT string FROM kept ORDER BY id")
        frequency = out.create("words/frequencies", np.uint32, count)
        totals = out.create("words/totals", np.int64, count)
        keys = np.empty(count, np.uint64)
        self._stream("SELECT frequency, total, word FROM kept ORDER BY id", frequency, totals, keys)
        insert_all(_new_table(out, "words/table", capacity_for(count)), keys)
        self.summary["words"] = count

    # -- links --------------------------------------------------------------------------------------------

    def write_links(self, out: Writer[Knowledge]) -> None:
        """Distinct links between topics, by source and by target."""
        topics = self._value("SELECT count(*) FROM topics")
        self._run("CREATE TABLE graph AS SELECT DISTINCT source, target FROM edges WHERE source IS NOT NULL")
        links = self._value("SELECT count(*) FROM graph")
        self._lists(out, "links/out", "SELECT source AS id, target AS topic FROM graph", topics, links)
        self._lists(out, "links/in", "SELECT target AS id, source AS topic FROM graph", topics, links)
        self.summary["links between topics"] = links

    # -- categories ---------------------------------------------------------------------------------------

    def write_categories(self, out: Writer[Knowledge], language: Language, project: str) -> None:
        """The categories of topics, and all that lie above them; nothing if there are none."""
        self._run("""
            CREATE TABLE filed AS SELECT DISTINCT topic, category FROM categories JOIN topics USING (page)
            WHERE category <> 0""")
        self._run("CREATE TABLE reached AS SELECT DISTINCT category FROM filed")
        self._grow("reached", """
            SELECT DISTINCT parent FROM parents JOIN reached USING (category)
            WHERE parent <> 0 AND parent NOT IN (FROM reached)""")  # fmt: skip
        self._run("""
            CREATE TABLE numbered AS
            SELECT (row_number() OVER (ORDER BY name) - 1)::UINTEGER AS id, category, name FROM
            (SELECT category, min(name) AS name FROM category_names JOIN reached USING (category) GROUP BY ALL)""")
        count = self._value("SELECT count(*) FROM numbered")
        if not count:
            return
        self._strings(out, "categories/names", "SELECT name FROM numbered ORDER BY id")
        hidden = out.create("categories/hidden", np.bool_, count)
        self._hide_categories(language, project)
        self._stream("SELECT category IN (FROM hidden) FROM numbered ORDER BY id", hidden)
        self._run("""
            CREATE TABLE above AS SELECT DISTINCT c.id AS child, p.id AS parent FROM parents
            JOIN numbered c ON c.category = parents.category JOIN numbered p ON p.category = parents.parent""")
        topics = self._value("SELECT count(*) FROM topics")
        filed = "filed JOIN numbered USING (category)"
        for name, rows, length in (
            ("topics", f"SELECT topic AS id, id AS number FROM {filed}", topics),
            ("members", f"SELECT id, topic AS number FROM {filed}", count),
            ("parents", "SELECT child AS id, parent AS number FROM above", count),
            ("children", "SELECT parent AS id, child AS number FROM above", count),
        ):
            entries = self._value(f"SELECT count(*) FROM ({rows})")
            self._lists(out, f"categories/{name}", f"SELECT * FROM ({rows})", length, entries, column="numbers")
        self.summary["categories"] = count
        self.summary["hidden categories"] = int(hidden.sum())

    def _hide_categories(self, language: Language, project: str) -> None:
        """Categories that the wiki hides, or whose names tell that they sort its work."""
        magic = f"(kind = {MAGIC_MARK} AND name = {mark_key('hiddencat')})"
        self._spread("hiding", magic, _HIDING)
        patterns = [
            each for each in (language.maintenance, f"^{re.escape(project.lower())}:" if project else "") if each
        ]
        named = " OR ".join(f"regexp_matches(lower(name), '{_quoted(each)}')" for each in patterns) or "false"
        self._run(f"""
            CREATE TABLE hidden AS
            SELECT category FROM category_marks WHERE {magic} OR (kind = {TEMPLATE_MARK} AND name IN (FROM hiding))
            UNION SELECT category FROM category_pages JOIN props USING (id) WHERE hidden
            UNION SELECT category FROM numbered WHERE {named}""")

    # -- plumbing -----------------------------------------------------------------------------------------

    def _view(self, table: str) -> None:
        """All pieces' tables of a name as one; a table that no piece has is empty."""
        files = f"{_quoted(self.chunks)}/*/{table}.parquet"
        there = any(self.chunks.glob(f"*/{table}.parquet"))
        self._run(f"CREATE VIEW {table} AS FROM read_parquet('{files}')" if there else _EMPTY[table])

    def _register(self, props: pa.Table | None) -> None:
        self.sql.register("props", props if props is not None else _NO_PROPS)

    def _run(self, query: str, parameters: Sequence[Any] | None = None) -> "duckdb.DuckDBPyConnection":
        with worded(self.chunks.parent):
            return self.sql.execute(query, parameters)

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._run(query).fetchall()

    def _value(self, query: str) -> int:
        return int(self._rows(query)[0][0])

    def _grow(self, table: str, query: str) -> None:
        """Insert what a query finds until it finds nothing more."""
        while self._value(f"WITH more AS ({query}) SELECT count(*) FROM more"):
            self._run(f"INSERT INTO {table} {query}")

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        with worded(self.chunks.parent):
            yield from self.sql.sql(query).to_arrow_reader(_BATCH)

    def _stream(self, query: str, *columns: NDArray[Any]) -> None:
        at = 0
        for batch in self._batches(query):
            for column, array in zip(columns, batch.columns, strict=True):
                column[at : at + len(batch)] = array.to_numpy(zero_copy_only=False)
            at += len(batch)

    def _strings(self, out: Writer[Knowledge], name: str, query: str) -> StringTable:
        """A column of strings, in the order of the query."""
        query_bytes = f"SELECT coalesce(sum(strlen(s)), 0), count(*) FROM ({query}) AS t(s)"
        size, count = self._rows(query_bytes)[0]
        data, offsets = (
            out.create(f"{name}.bytes", np.uint8, int(size)),
            out.create(f"{name}.offsets", np.int64, count + 1),
        )
        at = byte = 0
        for batch in self._batches(query):
            strings = batch.column(0).cast(pa.large_string())
            starts = np.frombuffer(strings.buffers()[1], np.int64, len(strings) + 1, strings.offset * 8)
            taken = int(starts[-1] - starts[0])
            if taken:
                data[byte : byte + taken] = np.frombuffer(strings.buffers()[2], np.uint8, taken, int(starts[0]))
            offsets[at + 1 : at + 1 + len(strings)] = starts[1:] - starts[0] + byte
            at, byte = at + len(strings), byte + taken
        return StringTable(data, offsets)

    def _table(self, out: Writer[Knowledge], name: str, rows: str, symbols: int) -> None:
        """A sparse table of (id, topic, count) rows, by id and topic."""
        self._run(f"CREATE TABLE {name}_rows AS {rows}")
        length = self._value(f"SELECT count(*) FROM {name}_rows")
        counts = out.create(f"{name}/counts", np.uint32, length)
        self._lists(out, name, f"SELECT id, topic, count FROM {name}_rows", symbols, length, counts)
        self._run(f"DROP TABLE {name}_rows")
        self.summary[f"{name[:-1]} parameters"] = length

    def _lists(
        self, out: Writer[Knowledge], name: str, rows: str, ids: int, length: int, *more: NDArray[Any],
        column: str = "topics",
    ) -> None:  # fmt: skip
        """Lists of numbers by id: offsets, and the numbers in order."""
        offsets = out.create(f"{name}/offsets", np.int64, ids + 1)
        topics = out.create(f"{name}/{column}", np.uint32, length)
        at = 0
        for batch in self._batches(f"{rows} ORDER BY 1, 2"):
            first, *columns = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            found, counted = np.unique(first, return_counts=True)
            offsets[found.astype(np.int64) + 1] += counted
            for target, values in zip((topics, *more), columns, strict=True):
                target[at : at + len(batch)] = values
            at += len(batch)
        np.cumsum(offsets, out=offsets)


@contextmanager
def worded(place: Path) -> Iterator[None]:
    """Say in words what the database cannot do for want of disk or memory."""
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


def _best(key: str, most: int) -> str:
    """The best topics by P(k|v), which among one symbol's topics is the order of their counts."""
    return f"QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY count DESC, topic) <= {most}" if most else ""


def _new_table(out: Writer[Knowledge], name: str, capacity: int) -> HashTable:
    return HashTable(out.create(f"{name}_keys", np.uint64, capacity), out.create(f"{name}_values", np.int32, capacity))


def _any_of(test: str, words: Sequence[str]) -> str:
    return "(" + (" OR ".join(test.format(f"'{_quoted(word.lower())}'") for word in words) or "false") + ")"


def _quoted(text: object) -> str:
    return str(text).replace("'", "''")


_EMPTY = {
    "words": "CREATE TABLE words (word UBIGINT, page UBIGINT, count UINTEGER)",
    "vocabulary": "CREATE TABLE vocabulary (word UBIGINT, string VARCHAR)",
    "categories": "CREATE TABLE categories (page UBIGINT, category UBIGINT)",
    "parents": "CREATE TABLE parents (category UBIGINT, parent UBIGINT)",
    "category_names": "CREATE TABLE category_names (category UBIGINT, name VARCHAR)",
    "category_pages": "CREATE TABLE category_pages (category UBIGINT, id BIGINT)",
    "category_marks": "CREATE TABLE category_marks (category UBIGINT, kind UBIGINT, name UBIGINT)",
}
_NO_PROPS = pa.table(
    {
        "id": pa.array([], pa.int64()),
        "wikidata": pa.array([], pa.int64()),
        "disambiguation": pa.array([], pa.bool_()),
        "hidden": pa.array([], pa.bool_()),
    }
)
