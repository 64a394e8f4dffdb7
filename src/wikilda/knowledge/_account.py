"""The account of a build, from its database after topics and the targets of links are known."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from wikilda.knowledge._database import Database
from wikilda.knowledge._pieces import ARTICLE, BROKEN, CATEGORIES, NOT_WIKITEXT, OTHER, REDIRECT, TEMPLATES, folders
from wikilda.knowledge._pieces import read_strings as strings_of
from wikilda.knowledge.account import Account, Entry, Part
from wikilda.mediawiki.site import Site

_EXAMPLES = 5
_SAMPLE = f"min_by(title, md5(title), {_EXAMPLES})"  # independent of the order of pages
_VERDICTS = {
    "disambiguation pages": (
        "keep_disambiguation", "disambiguation_templates", "disambiguation_categories", "disambiguation_suffixes",
    ),
    "list pages": ("keep_lists", "list_prefixes"),
    "too short": ("min_text",),
    "without text": ("min_text",),
}  # fmt: skip
_KINDS = {
    ARTICLE: "articles", REDIRECT: "redirects", TEMPLATES: "templates", CATEGORIES: "categories",
    OTHER: "other namespaces", NOT_WIKITEXT: "content that is not wikitext",
}  # fmt: skip


def account_for(sql: Database, site: Site, source: dict[str, Any]) -> Account:
    """Account for all pages of the census, all links of living articles, and all bytes."""
    sql.run("""
        CREATE VIEW judged AS SELECT page, title, CASE
            WHEN verdict = 'too short' AND wikitext = 0 THEN 'without text' ELSE verdict END AS verdict
        FROM articles JOIN accounts USING (page)""")
    parts = (_pages(sql, site), _links(sql), _text(sql), _xml(sql))
    return Account(site.name or site.database or "wiki", source, parts)


def _pages(sql: Database, site: Site) -> Part:
    entries = _grouped(sql, f"SELECT verdict, count(*), {_SAMPLE} FROM judged GROUP BY verdict", ("topics", *_VERDICTS))
    entries += _grouped(sql, f"""
        SELECT CASE WHEN topic IS NOT NULL THEN 'redirects to topics'
            WHEN there THEN 'redirects to pages that are not topics'
            WHEN NOT there THEN 'redirects to missing pages' ELSE 'redirects in circles' END AS verdict,
            count(*), {_SAMPLE}
        FROM redirects LEFT JOIN ends USING (key) GROUP BY verdict""", (
            "redirects to topics", "redirects to pages that are not topics", "redirects to missing pages",
            "redirects in circles"))  # fmt: skip
    twice = f"SELECT contents.title FROM census JOIN contents USING (page) WHERE kind <= {REDIRECT}"
    count = sql.value(f"SELECT count(*) FROM ({twice})") - sql.value("SELECT count(*) FROM pages")
    again = f"SELECT title FROM ({twice}) GROUP BY title HAVING count(*) > 1"
    examples = sql.rows(f"SELECT {_SAMPLE} FROM ({again})")[0][0] if count else ()
    entries.append(Entry("pages that appear twice", count, tuple(examples or ())))
    names = {number: name for name, number in reversed(site.namespaces.items())}
    others = sql.rows(f"""
        SELECT namespace, count(*), {_SAMPLE} FROM census WHERE kind IN ({TEMPLATES}, {CATEGORIES}, {OTHER})
        GROUP BY namespace ORDER BY namespace""")
    for namespace, pages, titles in others:
        entries.append(Entry(f"namespace {namespace} {names.get(namespace, '').title()}".strip(), pages, tuple(titles)))
    entries += _grouped(sql, f"""
        SELECT CASE kind WHEN {NOT_WIKITEXT} THEN 'content that is not wikitext' ELSE 'cannot be read' END AS verdict,
            count(*), {_SAMPLE} FROM census WHERE kind IN ({NOT_WIKITEXT}, {BROKEN}) GROUP BY verdict""",
            ("content that is not wikitext", "cannot be read"))  # fmt: skip
    return Part("pages", sql.value("SELECT count(*) FROM census"), tuple(entries))


def _links(sql: Database) -> Part:
    """Account for every `[[…]]` of the articles."""
    reached = sql.rows("""
        SELECT aside, CASE WHEN target IS NOT NULL AND source IS NOT DISTINCT FROM target THEN 'to the page itself'
            WHEN target IS NOT NULL THEN 'to topics' WHEN there THEN 'to pages that are not topics'
            ELSE 'to missing pages' END AS end, count(*) FROM targets GROUP BY ALL""")
    counts = {(bool(aside), end): count for aside, end, count in reached}
    entries = []
    for aside, where in ((False, ""), (True, ", outside the text")):
        for end in ("to topics", "to the page itself", "to pages that are not topics", "to missing pages"):
            wanted = f"NOT there AND {'' if aside else 'NOT '}aside" if end == "to missing pages" else ""
            if end == "to pages that are not topics":
                wanted = f"there AND target IS NULL AND {'' if aside else 'NOT '}aside"
            settings = ("aside_links",) if aside else ()
            if end == "to pages that are not topics":
                settings = (*settings, "keep_disambiguation", "keep_lists", "min_text")
            examples = _anchors(sql, wanted) if wanted and counts.get((aside, end)) else ()
            entries.append(Entry(end + where, counts.get((aside, end), 0), examples, settings))
    others = {
        "to_section": "to a section of the page itself", "to_file": "files", "to_category": "categories",
        "to_language": "to other languages", "elsewhere": "to other namespaces and wikis",
        "around_link": "around another link", "computed": "with a template for a title", "no_title": "without a title",
        "unshown": "in what is not shown",
    }  # fmt: skip
    sums = sql.rows(
        f"SELECT {', '.join(f'coalesce(sum({name}), 0)::BIGINT' for name in ('links', *others))} FROM accounts"
    )[0]
    for (column, name), count in zip(others.items(), sums[1:], strict=True):
        entries.append(Entry(name, count, _most(sql, column) if count else ()))
    return Part("links", sums[0], tuple(entries))


def _text(sql: Database) -> Part:
    """Account for the wikitext of articles, in bytes."""
    total = sql.value(f"""
        SELECT coalesce(sum(wikitext), 0)::BIGINT FROM census JOIN living USING (page) WHERE kind = {ARTICLE}""")
    kept = dict(
        sql.rows("""
        SELECT judged.verdict = 'topics', sum(text)::BIGINT FROM accounts JOIN judged USING (page) GROUP BY ALL""")
    )
    entries = [
        Entry("text of topics", kept.get(True, 0)),
        Entry("text of other articles", kept.get(False, 0), (), ("keep_disambiguation", "keep_lists", "min_text")),
    ]
    dropped = {
        "in_templates": "templates", "in_tables": "tables", "in_references": "references",
        "in_files": "files and their captions", "in_comments": "comments",
        "in_dropped_tags": "formulas, galleries and code", "markup": "other markup",
    }  # fmt: skip
    sums = sql.rows(f"SELECT {', '.join(f'coalesce(sum({name}), 0)::BIGINT' for name in dropped)} FROM accounts")[0]
    for (column, name), count in zip(dropped.items(), sums, strict=True):
        examples = _templates(sql) if column == "in_templates" else _most(sql, column) if count else ()
        entries.append(Entry(name, count, examples))
    return Part("bytes of wikitext in articles", total, tuple(entries))


def _xml(sql: Database) -> Part:
    """Account for the dump, in bytes of XML."""
    total, unreadable = sql.rows(f"""
        SELECT coalesce(sum(xml), 0)::BIGINT, coalesce(sum(xml) FILTER (kind = {BROKEN}), 0)::BIGINT FROM census""")[0]
    living = f"kind > {REDIRECT} OR page IN (SELECT page FROM living)"
    counted = dict(
        sql.rows(f"""
        SELECT kind, sum(wikitext)::BIGINT FROM census WHERE {living} AND kind <> {BROKEN} GROUP BY kind""")
    )
    twice = sql.value(f"SELECT coalesce(sum(wikitext), 0)::BIGINT FROM census WHERE NOT ({living})")
    entries = [Entry(f"wikitext: {name}", counted.get(kind, 0)) for kind, name in _KINDS.items()]
    entries += [Entry("wikitext: pages that appear twice", twice), Entry("pages that cannot be read", unreadable)]
    rest = total - sum(each.count for each in entries)
    entries.append(Entry("metadata and escapes", rest))
    return Part("bytes of XML in pages", total, tuple(entries))


def _grouped(sql: Database, query: str, names: Iterable[str]) -> list[Entry]:
    found = {name: (count, titles) for name, count, titles in sql.rows(query)}
    return [
        Entry(name, found.get(name, (0, ()))[0], tuple(found.get(name, (0, ()))[1]), _VERDICTS.get(name, ()))
        for name in names
    ]


def _most(sql: Database, column: str) -> tuple[str, ...]:
    """Return the articles with the largest value of a column."""
    found = sql.rows(f"""
        SELECT title FROM accounts JOIN articles USING (page) WHERE {column} > 0
        ORDER BY {column} DESC, title LIMIT {_EXAMPLES}""")
    return tuple(title for (title,) in found)


def _anchors(sql: Database, where: str) -> tuple[str, ...]:
    """The most frequent anchors of some links."""
    found = sql.rows(f"""
        SELECT mention FROM targets WHERE {where} AND mention <> 0
        GROUP BY mention ORDER BY count(*) DESC, mention LIMIT {_EXAMPLES}""")
    wanted = np.array([mention for (mention,) in found], np.uint64)
    strings: dict[int, str] = {}
    for folder in folders(sql.chunks):
        for batch in strings_of(folder):
            hashes = batch["mention"].to_numpy()
            for at in np.flatnonzero(np.isin(hashes, wanted)).tolist():
                strings[int(hashes[at])] = str(batch["string"][at])
    return tuple(strings[int(each)] for each in wanted if int(each) in strings)


def _templates(sql: Database) -> tuple[str, ...]:
    """The most frequent templates."""
    found = sql.rows(f"""
        SELECT min(string) FROM marks JOIN (SELECT name, min(string) AS string FROM template_names GROUP BY name)
        USING (name) WHERE kind = 0 GROUP BY name ORDER BY count(*) DESC, name LIMIT {_EXAMPLES}""")
    return tuple(name for (name,) in found)
