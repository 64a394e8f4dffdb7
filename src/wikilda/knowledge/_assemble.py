"""Second half of a build: the pieces' tables to knowledge, by joins and sorts that spill to disk.

The paper's rules are the SQL below. DuckDB stays within its memory limit. Its results are streamed into the arrays of
the artifact.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from wikilda._core.arrays import HashTable
from wikilda._core.artifact import Writer
from wikilda._core.errors import WikildaError
from wikilda.knowledge._account import account_for
from wikilda.knowledge._database import Database, quoted
from wikilda.knowledge._pieces import (
    ARTICLE,
    LINKS,
    NOT_WIKITEXT,
    REDIRECT,
    STRINGS,
    folders,
    read_links,
    read_strings,
    read_tokens,
)
from wikilda.knowledge._words import write_cases, write_words
from wikilda.knowledge.account import Account
from wikilda.knowledge.found_links import FoundLinks, find_links
from wikilda.knowledge.held_out import sampled_links, write_sample
from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.link_contexts import write_counts
from wikilda.knowledge.mention_trie import count_occurrences, fill_trie, trie_capacity
from wikilda.knowledge.settings import BuildSettings
from wikilda.mediawiki.languages import Language
from wikilda.mediawiki.site import Site
from wikilda.mediawiki.wikitext import CATEGORY_MARK, MAGIC_MARK, TEMPLATE_MARK, mark_key

_HIDING = ("hiddencat", "hidden category", "tracking category", "maintenance category", "wikipedia category")

MIN_MENTION = 2  # least characters of a mention string
_DISTINCTIVE = 4  # letters from which on a word marks disambiguation also as part of a template's name
_NOTICES = (
    "need|link|hinweis|redirect|other|hat|see|for |about|clar|requ|vérif"  # templates that only refer to disambiguation
)


class Assembler:
    """Runs the steps in order on one database file; `summary` counts what they find."""

    def __init__(self, chunks: Path, settings: BuildSettings, *, memory: str, workers: int) -> None:
        self.chunks, self.settings, self.workers = chunks, settings, workers
        self.summary: dict[str, int] = {}
        self.account: Account | None = None
        self.found: FoundLinks | None = None
        # The number of links in running text by mention, as (mention, n).
        self.linked = "SELECT mention, count(*) AS n FROM edges WHERE NOT aside GROUP BY ALL"
        # The spelling of a mention that is kept.
        self.spelled = "min(string)"
        self.sql = Database(chunks, memory=memory, workers=workers)

    # -- topics -------------------------------------------------------------------------------------------

    def choose_topics(self, language: Language, props: pa.Table | None) -> None:
        """Decide which pages are topics, number them by title, and resolve redirects to them."""
        rules = self.settings
        self.sql.register("props", props if props is not None else _NO_PROPS)
        self.sql.view("given_items")
        self.sql.run("""
            CREATE VIEW items AS SELECT page, wikidata FROM living JOIN props USING (id)
            UNION ALL FROM given_items""")
        self._count_pages()
        self._find_disambiguation(language)
        lists = _any_of("starts_with(lower(title), {})", rules.list_prefixes or language.list_prefixes)
        self.sql.run(f"""
            CREATE TABLE articles AS
            SELECT page, title, CASE
                WHEN page NOT IN (FROM owners) THEN 'topics'
                WHEN {not rules.keep_disambiguation} AND page IN (FROM disambiguation) THEN 'disambiguation pages'
                WHEN {not rules.keep_lists} AND {lists} THEN 'list pages'
                WHEN length <= {rules.min_text} THEN 'too short'
                ELSE 'topics' END AS verdict
            FROM pages JOIN texts USING (page) WHERE redirect = 0""")
        for verdict, count in self.sql.rows("SELECT verdict, count(*) FROM articles GROUP BY ALL ORDER BY ALL"):
            self.summary[verdict] = count
        self._number_topics("SELECT page, title FROM articles WHERE verdict = 'topics'")
        self._resolve_redirects()

    def take_topics(self) -> None:
        """Take all pages that are not redirects as topics, as tables list topics only."""
        self.sql.register("props", _NO_PROPS)
        self.sql.view("given_items")
        self.sql.run("CREATE VIEW items AS FROM given_items")
        self._number_topics("SELECT page, title FROM pages WHERE redirect = 0")
        self._resolve_redirects()

    def _count_pages(self) -> None:
        """Count the pages of the dump by kind."""
        kinds = dict(self.sql.rows("SELECT kind, count(*) FROM census GROUP BY kind"))
        empty = self.sql.value(f"SELECT count(*) FROM census WHERE kind = {ARTICLE} AND wikitext = 0")
        twice = kinds.get(ARTICLE, 0) + kinds.get(REDIRECT, 0) - self.sql.value("SELECT count(*) FROM living")
        self.summary |= {
            "pages": sum(kinds.values()),
            "articles": kinds.get(ARTICLE, 0) + kinds.get(NOT_WIKITEXT, 0),
            "redirects": kinds.get(REDIRECT, 0),
            **({"duplicate titles": twice} if twice else {}),
            **({"pages without text": empty} if empty else {}),
        }

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
        # Without templates in the dump, names decide: {{TLAdisambig}}, {{Homonymie de patronyme}}.
        words = "|".join(re.escape(word.lower()) for word in ("disambig", *templates) if len(word) > _DISTINCTIVE)
        named = f"regexp_matches(lower(string), '{quoted(words)}') AND NOT regexp_matches(lower(string), '{_NOTICES}')"
        self._spread("marking", magic, templates)
        if not rules.disambiguation_templates:
            self.sql.run(f"INSERT INTO marking SELECT DISTINCT name FROM template_names WHERE {named}")
        self.sql.run(f"""
            CREATE TABLE disambiguation AS
            SELECT page FROM marks WHERE {magic}
                OR (kind = {TEMPLATE_MARK} AND name IN (FROM marking))
                OR (kind = {CATEGORY_MARK} AND name IN (SELECT unnest(?::UBIGINT[])))
            UNION SELECT page FROM pages WHERE {suffixes}
            UNION SELECT page FROM pages JOIN props USING (id) WHERE disambiguation""",
            [[mark_key(name) for name in categories]])  # fmt: skip

    def _spread(self, table: str, magic: str, templates: Sequence[str]) -> None:
        """Make a table of templates that contain a magic word, or such a template, or one of those named."""
        self.sql.run(f"CREATE TABLE {table} (name UBIGINT)")
        self.sql.run(f"INSERT INTO {table} SELECT unnest(?::UBIGINT[])", [[mark_key(name) for name in templates]])
        self.sql.grow(table, f"""
            SELECT DISTINCT template FROM templates
            WHERE ({magic} OR (kind = {TEMPLATE_MARK} AND name IN (FROM {table})))
            AND template NOT IN (FROM {table})""")  # fmt: skip

    def _number_topics(self, chosen: str) -> None:
        self.sql.run(f"""
            CREATE TABLE topics AS
            SELECT (row_number() OVER (ORDER BY title, page) - 1)::UINTEGER AS topic, page FROM ({chosen})""")
        if not self.sql.value("SELECT count(*) FROM topics"):
            raise WikildaError(
                "no page is a topic: "
                + ", ".join(f"{count} {what}" for what, count in self.summary.items())
                + ". Is this a dump of a wiki's articles? See --min-text and the other rules."
            )

    def _resolve_redirects(self) -> None:
        """Resolve titles to a topic, to a page that is not one (topic is null), or to a missing page."""
        self.sql.run("""
            CREATE TABLE redirects AS
            SELECT key, min_by(title, page) AS title, min_by(redirect, page) AS target
            FROM pages WHERE redirect <> 0 AND key NOT IN (SELECT key FROM pages WHERE redirect = 0) GROUP BY key""")
        self.sql.run("""
            CREATE TABLE ends AS SELECT key, min(topic) AS topic, true AS there FROM pages LEFT JOIN topics USING (page)
            WHERE redirect = 0 GROUP BY key
            UNION ALL SELECT DISTINCT target, NULL, false FROM redirects WHERE target NOT IN (SELECT key FROM pages)""")
        self.sql.grow(
            "ends",
            """
            SELECT r.key, e.topic, e.there FROM redirects r JOIN ends e ON r.target = e.key
            WHERE r.key NOT IN (SELECT key FROM ends)""",
        )
        self.sql.run("CREATE VIEW resolved AS SELECT key, topic FROM ends WHERE topic IS NOT NULL")
        found, lost = self.sql.rows("""
            SELECT count(topic), count(*) - count(topic) FROM redirects JOIN ends USING (key)""")[0]
        self.summary["redirects to topics"] = found
        self.summary["redirects elsewhere"] = lost
        self.summary["redirects in circles"] = self.sql.value("SELECT count(*) FROM redirects") - found - lost

    def write_topics(self, out: Writer[Knowledge]) -> None:
        """Write titles, page ids, Wikidata ids, first sentences, and redirects."""
        count = self.sql.value("SELECT count(*) FROM topics")
        ids, wikidata = out.create("topics/page_ids", np.int64, count), out.create("topics/wikidata", np.int64, count)
        self.sql.stream(
            """
            SELECT id, coalesce(wikidata, 0) AS wikidata FROM topics JOIN pages USING (page)
            LEFT JOIN items USING (page) ORDER BY topic""",
            ids,
            wikidata,
        )
        self.sql.strings(out, "topics/titles", "SELECT title FROM topics JOIN pages USING (page) ORDER BY topic")
        self.sql.strings(
            out,
            "topics/sentences",
            """
            SELECT coalesce(sentence, '') FROM topics LEFT JOIN
            (SELECT page, max(sentence) AS sentence FROM texts GROUP BY page) USING (page) ORDER BY topic""",
        )
        known = "redirects JOIN resolved USING (key)"
        targets = out.create("redirects/topics", np.uint32, self.sql.value(f"SELECT count(*) FROM {known}"))
        self.sql.stream(f"SELECT topic FROM {known} ORDER BY title", targets)
        self.sql.strings(out, "redirects/titles", f"SELECT title FROM {known} ORDER BY title")
        self.summary["topics"] = count

    # -- mentions -----------------------------------------------------------------------------------------

    def count_mentions(self) -> None:
        """Count(v, k) of mentions: titles and redirects once each, and every link."""
        which = "true" if self.settings.aside_links else "NOT aside"
        with self.sql.reading("links", LINKS, read_links):
            self.sql.run("""
                CREATE TABLE targets AS
                SELECT source.topic AS source, ends.topic AS target, mention, aside, coalesce(there, false) AS there
                FROM links LEFT JOIN ends ON target = key LEFT JOIN topics source ON source.page = links.source""")
        self.sql.run(f"""
            CREATE VIEW edges AS SELECT source, target, mention, aside FROM targets
            WHERE target IS NOT NULL AND {which} AND source IS DISTINCT FROM target""")
        if "pages" in self.summary:
            self.summary["links read"] = self.sql.value("SELECT count(*) FROM targets")
        self.sql.run("""
            CREATE TABLE counted AS
            SELECT mention, topic, sum(n)::UINTEGER AS count FROM (
                SELECT mention, topic, count AS n FROM names JOIN resolved ON target = key
                UNION ALL SELECT mention, target, count(*) FROM edges GROUP BY ALL) GROUP BY ALL""")

    def account_for(self, site: Site, source: dict[str, Any]) -> None:
        """Account for every page, link and byte of a dump. Tables have no account."""
        if "pages" in self.summary:
            self.account = account_for(self.sql, site, source)

    def write_mentions(self, out: Writer[Knowledge]) -> None:
        """Write mention strings in order, their topics, and their counts of links and occurrences."""
        with self.sql.reading("strings", STRINGS, read_strings):
            self.sql.run(f"""
                CREATE TABLE mentions AS
                SELECT (row_number() OVER (ORDER BY string) - 1)::UINTEGER AS id, mention, string FROM (
                    SELECT mention, {self.spelled} AS string FROM strings
                    WHERE length(string) >= {MIN_MENTION} AND mention IN (SELECT mention FROM counted)
                    GROUP BY mention)""")
        self.sql.run("CREATE TABLE meanings AS SELECT id, topic, count FROM counted JOIN mentions USING (mention)")
        length, ids = (self.sql.value(f"SELECT count(*) FROM {table}") for table in ("meanings", "mentions"))
        self.sql.lists(out, "mentions", "FROM meanings", ids, length, out.create("mentions/counts", np.uint32, length))
        self.summary["mention parameters"] = length
        strings = self.sql.strings(out, "mentions/strings", "SELECT string FROM mentions ORDER BY id")
        trie = _new_table(out, "mentions/trie", trie_capacity(strings))
        fill_trie(strings, trie)
        linked = out.create("mentions/linked", np.uint32, len(strings))
        self.sql.stream(
            f"""
            SELECT coalesce(n, 0) FROM mentions LEFT JOIN ({self.linked}) USING (mention) ORDER BY id""",
            linked,
        )
        occurs = count_occurrences(folders(self.chunks), read_tokens, trie, len(strings), self.workers)
        out.array("mentions/occurrences", np.maximum(occurs, linked))
        self.summary["mentions"] = len(strings)
        self.sql.drop("mentions", "meanings", "counted")

    def write_words(self, out: Writer[Knowledge]) -> None:
        """Write words that are neither too common nor too rare, and their best topics."""
        write_words(self.sql, out, self.settings, self.workers)
        write_cases(self.sql, out)
        self.summary["words"] = len(out.read("words/frequencies"))
        self.summary["word parameters"] = len(out.read("words/topics"))

    # -- links --------------------------------------------------------------------------------------------

    def write_links(self, out: Writer[Knowledge]) -> None:
        """Write distinct links between topics, by source and by target."""
        topics = self.sql.value("SELECT count(*) FROM topics")
        self.sql.run("CREATE TABLE graph AS SELECT DISTINCT source, target FROM edges WHERE source IS NOT NULL")
        links = self.sql.value("SELECT count(*) FROM graph")
        self.sql.lists(out, "links/out", "SELECT source AS id, target AS topic FROM graph", topics, links)
        self.sql.lists(out, "links/in", "SELECT target AS id, source AS topic FROM graph", topics, links)
        self.summary["links between topics"] = links
        self.sql.run("DROP VIEW edges")
        self.sql.drop("targets", "graph")

    def find_links(self, out: Writer[Knowledge]) -> None:
        """Find the links in the texts of tables, which do not mark them."""
        self.found = find_links(self.chunks, out)

    def write_sample(self, out: Writer[Knowledge]) -> None:
        """Write a sample of articles with their links, if there are texts with links."""
        table = self.found.sample if self.found else sampled_links(self.chunks)
        if table is None or not len(table):
            return
        self.sql.register("sampled", table.select(["page", "targets"]))
        pages = dict(self.sql.rows("SELECT page, topic FROM topics JOIN sampled USING (page)"))
        keys = dict(
            self.sql.rows("""
            SELECT DISTINCT key, topic FROM resolved JOIN (SELECT unnest(targets) AS key FROM sampled) USING (key)""")
        )
        write_sample(out, table, pages, keys)

    def write_contexts(self, out: Writer[Knowledge]) -> None:
        """Write what is next to links, by types of their topics."""
        write_counts(self.sql, out, self.found.contexts if self.found else None)

    # -- categories ---------------------------------------------------------------------------------------

    def write_categories(self, out: Writer[Knowledge], language: Language, project: str) -> None:
        """Write the categories of topics and their ancestors, if there are any."""
        self.sql.run("""
            CREATE TABLE filed AS SELECT DISTINCT topic, category FROM categories JOIN topics USING (page)
            WHERE category <> 0""")
        self.sql.run("CREATE TABLE reached AS SELECT DISTINCT category FROM filed")
        self.sql.grow("reached", """
            SELECT DISTINCT parent FROM parents JOIN reached USING (category)
            WHERE parent <> 0 AND parent NOT IN (FROM reached)""")  # fmt: skip
        self.sql.run("""
            CREATE TABLE numbered AS
            SELECT (row_number() OVER (ORDER BY name) - 1)::UINTEGER AS id, category, name FROM
            (SELECT category, min(name) AS name FROM category_names JOIN reached USING (category) GROUP BY ALL)""")
        count = self.sql.value("SELECT count(*) FROM numbered")
        if not count:
            return
        self.sql.strings(out, "categories/names", "SELECT name FROM numbered ORDER BY id")
        hidden = out.create("categories/hidden", np.bool_, count)
        self._hide_categories(language, project)
        self.sql.stream("SELECT category IN (FROM hidden) FROM numbered ORDER BY id", hidden)
        self.sql.run("""
            CREATE TABLE above AS SELECT DISTINCT c.id AS child, p.id AS parent FROM parents
            JOIN numbered c ON c.category = parents.category JOIN numbered p ON p.category = parents.parent""")
        topics = self.sql.value("SELECT count(*) FROM topics")
        filed = "filed JOIN numbered USING (category)"
        for name, rows, length in (
            ("topics", f"SELECT topic AS id, id AS number FROM {filed}", topics),
            ("members", f"SELECT id, topic AS number FROM {filed}", count),
            ("parents", "SELECT child AS id, parent AS number FROM above", count),
            ("children", "SELECT parent AS id, child AS number FROM above", count),
        ):
            entries = self.sql.value(f"SELECT count(*) FROM ({rows})")
            self.sql.lists(out, f"categories/{name}", f"SELECT * FROM ({rows})", length, entries, column="numbers")
        self.summary["categories"] = count
        self.summary["hidden categories"] = int(hidden.sum())

    def _hide_categories(self, language: Language, project: str) -> None:
        """Find hidden categories: those that the wiki hides, or whose names mark maintenance."""
        magic = f"(kind = {MAGIC_MARK} AND name = {mark_key('hiddencat')})"
        self._spread("hiding", magic, _HIDING)
        patterns = [
            each for each in (language.maintenance, f"^{re.escape(project.lower())}:" if project else "") if each
        ]
        named = " OR ".join(f"regexp_matches(lower(name), '{quoted(each)}')" for each in patterns) or "false"
        self.sql.run(f"""
            CREATE TABLE hidden AS
            SELECT category FROM category_marks WHERE {magic} OR (kind = {TEMPLATE_MARK} AND name IN (FROM hiding))
            UNION SELECT category FROM category_pages JOIN census USING (page) JOIN props ON props.id = census.id
                WHERE hidden
            UNION SELECT category FROM numbered WHERE {named}""")


def _new_table(out: Writer[Knowledge], name: str, capacity: int) -> HashTable:
    return HashTable(out.create(f"{name}_keys", np.uint64, capacity), out.create(f"{name}_values", np.int32, capacity))


def _any_of(test: str, words: Sequence[str]) -> str:
    return "(" + (" OR ".join(test.format(f"'{quoted(word.lower())}'") for word in words) or "false") + ")"


_NO_PROPS = pa.table(
    {
        "id": pa.array([], pa.int64()),
        "wikidata": pa.array([], pa.int64()),
        "disambiguation": pa.array([], pa.bool_()),
        "hidden": pa.array([], pa.bool_()),
    }
)
