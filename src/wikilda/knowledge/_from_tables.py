"""Knowledge from plain tables: topics, their names, and links or texts.

The tables become the same pieces as a dump; `docs/reference/formats.md` has the columns.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from wikilda._core.arrays import StringTable
from wikilda._core.artifact import Writer
from wikilda._core.compression import open_compressed, whole_lines
from wikilda._core.errors import InputError, Report
from wikilda._core.parquet import ParquetError, open_parquet, parquet_batches
from wikilda.knowledge import found_links
from wikilda.knowledge._pieces import Folder
from wikilda.knowledge._text_kernels import Numbers, column_buffer, normalized, title_hashes, word_hashes
from wikilda.knowledge.entities import COMMON, EXPLICIT, USUAL_ODDS, EntityList, type_of
from wikilda.mediawiki.site import Site
from wikilda.text.tokens import FLAGS, WORD, Hashes, Offsets, byte_array, joined

BATCH_ROWS = 1 << 17
_BLOCK_BYTES = 1 << 22
Kinds = dict[str, pa.DataType]


def read_batches(path: Path, needed: Kinds, more: Kinds) -> Iterator[pa.RecordBatch]:
    """Yield the required and optional columns of a table in batches, at least one. Other columns are ignored."""
    row, kinds = 0, needed | more
    with worded(path):
        names = [name for name in _columns(path) if name in kinds]
        check_columns(path, _columns(path), needed, more)
        schema = pa.schema([(name, kinds[name]) for name in names])
        for batch in _parquet(path, names) if path.suffix == ".parquet" else _tsv(path, schema):
            cast = batch.cast(schema)
            for name in needed:
                if cast[name].null_count:
                    first = row + int(np.flatnonzero(pc.is_null(cast[name]))[0]) + 1
                    raise InputError(f"{path}: row {first} has no {name}. Add it, or remove the row.")
            yield cast
            row += len(cast)
        if not row:
            yield empty_batch(schema)


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """A batch without rows."""
    return pa.RecordBatch.from_arrays([pa.array([], kind) for kind in schema.types], schema=schema)


def check_columns(path: Path, found: list[str], needed: Kinds, more: Kinds) -> None:
    """Refuse a table that lacks a column."""
    missing = [name for name in needed if name not in found]
    if missing:
        raise InputError(
            f"{path}: has no column {', '.join(missing)}. Its columns are {', '.join(found)[:200]}. "
            f"Needed are {', '.join(needed)}" + (f", and there may be {', '.join(more)}." if more else ".")
        )


@contextmanager
def worded(path: Path) -> Iterator[None]:
    """Turn a library's error into a message with the file and row."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, ParquetError) as error:
        raise InputError(f"{path}: {error}") from None


def _columns(path: Path) -> list[str]:
    if path.suffix == ".parquet":
        return list(pq.read_schema(path).names)
    with open_compressed(path) as stream:
        return stream.readline(_BLOCK_BYTES).decode("utf-8", "replace").rstrip("\r\n").split("\t")


def _parquet(path: Path, names: list[str]) -> Iterator[pa.RecordBatch]:
    with open_parquet(path) as file:
        yield from parquet_batches(file, BATCH_ROWS, names)


def _tsv(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with open_compressed(path) as stream:
        yield from pa.csv.open_csv(
            pa.PythonFile(stream, "r"),
            read_options=pa.csv.ReadOptions(block_size=_BLOCK_BYTES),
            parse_options=pa.csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=pa.csv.ConvertOptions(
                column_types=schema, include_columns=schema.names, null_values=[""], strings_can_be_null=False
            ),
        )  # fmt: skip


_ENDINGS = (".tsv", ".tsv.gz", ".tsv.bz2", ".tsv.xz", ".parquet")
_ARTICLE_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.bz2", ".jsonl.xz", ".parquet")
_SITE_KEYS = ("name", "database", "language", "base")

# Columns: required, then optional ones.
COLUMNS: dict[str, tuple[dict[str, pa.DataType], dict[str, pa.DataType]]] = {
    "topics": ({"title": pa.string()}, {"id": pa.int64(), "wikidata": pa.string(), "description": pa.string()}),
    "redirects": ({"title": pa.string(), "target": pa.string()}, {}),
    "mentions": ({"mention": pa.string(), "title": pa.string(), "count": pa.int64()}, {}),
    "links": ({"source": pa.string(), "target": pa.string()}, {}),
    "words": ({"word": pa.string(), "title": pa.string(), "count": pa.int64()}, {}),
    "categories": ({"title": pa.string(), "category": pa.string()}, {}),
    "parents": ({"category": pa.string(), "parent": pa.string()}, {}),
}


@dataclass(frozen=True)
class Tables:
    """The files of a directory of tables."""

    directory: Path
    files: dict[str, Path]
    articles: Path | None

    def site(self) -> Site:
        """Return the site of the tables, from `site.json` if there is one."""
        file = self.directory / "site.json"
        if not file.is_file():
            return Site(name=self.directory.name, language="")
        try:
            known = json.loads(file.read_text("utf-8"))
            return replace(Site(language=""), **{key: known[key] for key in known if key in _SITE_KEYS})
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{file}: is not a JSON object with name, database, language, base ({error}). Correct the file."
            ) from None


def find_tables(directory: Path) -> Tables:
    """Find the tables of a directory. A table of topics is required."""
    if not directory.is_dir():
        raise InputError(f"{directory}: no such directory. Check the path.")
    files = {name: file for name in COLUMNS if (file := _find(directory, name, _ENDINGS))}
    if "topics" not in files:
        raise InputError(
            f"{directory}: has no table of topics (topics{', topics'.join(_ENDINGS)}). See docs/reference/formats.md."
        )
    return Tables(directory, files, _find(directory, "articles", _ARTICLE_ENDINGS))


def _find(directory: Path, name: str, endings: tuple[str, ...]) -> Path | None:
    found = [directory / f"{name}{ending}" for ending in endings if (directory / f"{name}{ending}").is_file()]
    if len(found) > 1:
        raise InputError(f"{found[0]} and {found[1].name}: which one? Keep one table of {name}.")
    return found[0] if found else None


class TableExtractor:
    """Turns tables into folders. There is one per process."""

    def __init__(self, chunks: Path, tables: Tables) -> None:
        self.chunks, self.tables = chunks, tables

    def write_tables(self) -> None:
        """Folder 0: topics, names and links, a batch of rows at a time."""
        report = Report()
        with Folder(self.chunks, 0) as folder:
            described = self._write_topics(folder, report)
            self._write_redirects(folder)
            self._write_names(folder, report)
            self._write_links(folder)
            self._write_words(folder, report)
            self._write_categories(folder)
            empty = np.empty(0, np.uint64)
            folder.write("marks", {"page": empty, "kind": empty, "name": empty})
            folder.write("templates", {"page": empty, "template": empty, "kind": empty, "name": empty})
            folder.write("template_names", {"name": empty, "string": pa.array([], pa.string())})
            report.count("described", int(described))
            folder.write_report(report)

    def extract(self, number: int, batch: "Articles") -> None:
        """Write a folder of articles' texts."""
        report = Report()
        titles, texts = [], []
        for line, row in enumerate(batch.rows, batch.first_line):
            title, body = _article(row, f"{self.tables.articles}: line {line}")
            titles.append(title)
            texts.append(body.encode("utf-8", "replace"))
        report.count("articles", len(titles))
        text, bounds = joined(texts)
        with Folder(self.chunks, number) as folder:
            pages = title_hashes(pa.array(titles, pa.string()))
            folder.write_texts(pages, byte_array(text), bounds, bounds[:-1], sentences=batch.sentences)
            if "links" in self.tables.files:
                found_links.write_piece(folder, pages, texts)
            folder.write_report(report)

    def _write_topics(self, folder: Folder, report: Report) -> bool:
        """Write topics. A title's hash is the number of its page. The first row with a title counts."""
        first, described, at, given = self._first_rows(report), False, 0, 0
        for batch in self._batches("topics"):
            topics = batch.filter(pa.array(first[at : at + len(batch)]))
            page = title_hashes(topics["title"])
            described = "description" in topics.schema.names
            nothing = pa.repeat("", len(page))
            sentence = topics["description"] if described else nothing
            item = topics["wikidata"] if "wikidata" in topics.schema.names else nothing
            counted = pa.array(np.arange(given + 1, given + 1 + len(page)))
            number = topics["id"].fill_null(0) if "id" in topics.schema.names else counted
            folder.add("pages", _pages(page, number, topics["title"], page, np.zeros(len(page), np.uint64)))
            folder.add("texts", {"page": page, "length": np.zeros(len(page), np.uint32), "sentence": sentence})
            folder.add("given_items", {"page": page, "wikidata": _item_numbers(item)})
            at, given = at + len(batch), given + len(page)
        report.count("topics given", given)
        return described

    def _first_rows(self, report: Report) -> NDArray[np.bool_]:
        """Which rows of the topics are the first with their title."""
        keys = np.concatenate([title_hashes(batch["title"]) for batch in self._batches("topics", more=False)])
        first = np.zeros(len(keys), bool)
        first[np.unique(keys, return_index=True)[1]] = True
        if not first.all():
            twice = self._title_at(int(np.flatnonzero(~first)[0]))
            place = self.tables.files["topics"]
            report.complain("duplicate titles", f"{place}: title {twice!r} is there twice; the first row counts")
            report.count("duplicate titles", int((~first).sum()) - 1)
        return first

    def _title_at(self, row: int) -> str:
        for batch in self._batches("topics", more=False):
            if row < len(batch):
                return str(batch["title"][row])
            row -= len(batch)
        raise IndexError(row)

    def _write_redirects(self, folder: Folder) -> None:
        at = 1
        for batch in self._batches("redirects"):
            keys, targets = title_hashes(batch["title"]), title_hashes(batch["target"])
            page = np.arange(at, at + len(batch), dtype=np.uint64)  # by row: a topic may have the same title
            folder.add("pages", _pages(page, np.zeros(len(page), np.int64), batch["title"], keys, targets))
            at += len(batch)

    def _write_names(self, folder: Folder, report: Report) -> None:
        """Write the mentions table; without one, titles and redirects name their topics."""
        if "mentions" not in self.tables.files:
            row = 0
            for name in ("topics", "redirects"):
                for batch in self._batches(name, more=False):
                    self._add_names(folder, batch["title"], batch["title"], np.ones(len(batch), np.uint32), row)
                    row += len(batch)
            return
        row = bad = 0
        for batch in self._batches("mentions"):
            good = batch.filter(pc.greater(batch["count"], 0))
            bad += len(batch) - len(good)
            self._add_names(folder, good["mention"], good["title"], good["count"].to_numpy(), row)
            row += len(batch)
        if bad:
            place = self.tables.files["mentions"]
            report.complain("mention rows with no count", f"{place}: {bad} rows have a count below 1; left out")
            report.count("mention rows with no count", bad - 1)

    def _add_names(self, folder: Folder, strings: pa.Array, titles: pa.Array, counts: Numbers, row: int) -> None:
        data, offsets = column_buffer(strings)
        spelled, hashes = normalized(data, offsets[:-1], offsets[1:])
        target = title_hashes(titles)
        nowhere = pa.nulls(len(target), pa.uint64())
        names = {"page": nowhere, "target": target, "mention": hashes, "count": counts.astype(np.uint32)}
        folder.add("names", names)
        _, first = np.unique(hashes, return_index=True)
        columns = {"mention": hashes[first], "string": spelled.cast(pa.string()).take(pa.array(first))}
        folder.add("strings", {**columns, "row": first + row})

    def _write_links(self, folder: Folder) -> None:
        for batch in self._batches("links"):
            source, target = title_hashes(batch["source"]), title_hashes(batch["target"])
            columns = {"source": source, "target": target, "mention": np.zeros(len(source), np.uint64)}
            folder.add("links", columns | {"aside": np.ones(len(source), bool)})

    def _write_words(self, folder: Folder, report: Report) -> None:
        if "words" not in self.tables.files:
            return
        example, bad = "", 0
        for batch in self._batches("words"):
            hashes = word_hashes(batch["word"])
            good = (hashes & WORD) != 0
            hashes &= ~FLAGS
            if not bad and not good.all():
                example = str(batch["word"][int(np.flatnonzero(~good)[0])])
            bad += int((~good).sum())
            kept = batch.filter(pa.array(good))
            page, count = title_hashes(kept["title"]), kept["count"].to_numpy().astype(np.uint32)
            folder.add("words", {"word": hashes[good], "page": page, "count": count})
            spelled = pa.table({"word": hashes[good], "string": pc.utf8_lower(kept["word"])})
            folder.add("vocabulary", spelled.group_by(["word", "string"], use_threads=False).aggregate([]))
        if bad:
            place = self.tables.files["words"]
            report.complain("words of several tokens", f"{place}: {example!r} is not one word; such rows are left out")
            report.count("words of several tokens", bad - 1)

    def _write_categories(self, folder: Folder) -> None:
        for batch in self._batches("categories"):
            keys = self._add_category_names(folder, batch["category"])
            folder.add("categories", {"page": title_hashes(batch["title"]), "category": keys})
        for batch in self._batches("parents"):
            keys, above = (self._add_category_names(folder, batch[name]) for name in ("category", "parent"))
            folder.add("parents", {"page": np.zeros(len(keys), np.uint64), "category": keys, "parent": above})

    def _add_category_names(self, folder: Folder, names: pa.Array) -> Hashes:
        keys = title_hashes(names)
        _, first = np.unique(keys, return_index=True)
        folder.add("category_names", {"category": keys[first], "name": names.take(pa.array(first))})
        return keys

    def _batches(self, name: str, *, more: bool = True) -> Iterator[pa.RecordBatch]:
        needed, optional = COLUMNS[name]
        file = self.tables.files.get(name)
        if file is None:
            return iter([empty_batch(pa.schema(list(needed.items())))])
        return read_batches(file, needed, optional if more else {})


def _pages(page: Hashes, number: Any, title: pa.Array, key: Hashes, redirect: Hashes) -> dict[str, Any]:
    return {"page": page, "id": number, "title": title, "key": key, "redirect": redirect}


@dataclass(frozen=True)
class Articles:
    """Some rows of the articles, as JSON lines or as pairs."""

    rows: list[Any]
    first_line: int
    sentences: bool


def article_batches(path: Path, size: int, *, sentences: bool) -> Iterator[Articles]:
    """The articles in batches of about `size` bytes."""
    rows, first, total = [], 1, 0
    for row in _parquet_rows(path) if path.suffix == ".parquet" else _lines(path):
        rows.append(row)
        total += len(row) if isinstance(row, bytes) else len(row[1] or "")
        if total >= size:
            yield Articles(rows, first, sentences)
            rows, first, total = [], first + len(rows), 0
    if rows:
        yield Articles(rows, first, sentences)


def _article(row: Any, place: str) -> tuple[str, str]:
    if isinstance(row, bytes):
        try:
            known = json.loads(row)
        except ValueError as error:
            raise InputError(f"{place}: is not JSON ({error}). Correct the row.") from None
        row = (known.get("title"), known.get("text")) if isinstance(known, dict) else (None, None)
    title, text = row
    if not isinstance(title, str) or not isinstance(text, str):
        raise InputError(f'{place}: needs "title" and "text", both strings. Correct the row.')
    return title, text


def _lines(path: Path) -> Iterator[bytes]:
    with open_compressed(path) as lines:
        yield from (line for line in whole_lines(lines, path) if line.strip())


def _parquet_rows(path: Path) -> Iterator[tuple[Any, Any]]:
    with worded(path):
        file = open_parquet(path)
        check_columns(path, file.schema_arrow.names, {"title": pa.string(), "text": pa.string()}, {})
        for batch in parquet_batches(file, BATCH_ROWS // 32, ["title", "text"]):
            yield from zip(batch["title"].to_pylist(), batch["text"].to_pylist(), strict=True)


def _item_numbers(items: pa.ChunkedArray) -> Offsets:
    digits = pc.replace_substring_regex(pc.fill_null(items, ""), r"^.*?Q?(\d*)$", r"\1")
    filled = pc.if_else(pc.equal(digits, ""), "0", digits)
    numbers: Offsets = pc.cast(filled, pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def write_tables(listed: EntityList, directory: Path) -> dict[str, str]:
    """Write a list of entities as tables, and return the titles by id."""
    directory.mkdir(parents=True, exist_ok=True)
    titles = listed.titles()
    rows = [(titles[each.id], each) for each in listed.rows]
    tables: dict[str, dict[str, list[Any]]] = {
        "topics": {
            "title": [title for title, _ in rows],
            "wikidata": [f"Q{each.wikidata}" if each.wikidata else "" for _, each in rows],
            "description": [each.description for _, each in rows],
        },
        "mentions": _columns_of(("mention", "title"), ((name, title) for title, each in rows for name in each.names)),
        "links": _columns_of(("source", "target"), (  # a relation is a link in both directions
            pair for title, each in rows for other in each.related if other in titles and other != each.id
            for pair in ((title, titles[other]), (titles[other], title))
        )),
        "categories": _columns_of(("title", "category"), (
            (title, kind) for title, each in rows for kind in (*each.categories, each.type) if kind
        )),
        "articles": _columns_of(("title", "text"), (
            (title, f"{each.description}\n{each.text}") for title, each in rows if each.description or each.text
        )),
    }  # fmt: skip
    tables["mentions"]["count"] = [EXPLICIT] * len(tables["mentions"]["mention"])
    for name, columns in tables.items():
        needed = {**COLUMNS.get(name, ({}, {}))[0], **COLUMNS.get(name, ({}, {}))[1]}
        typed = {key: pa.array(values, needed.get(key, pa.string())) for key, values in columns.items()}
        if name in ("topics", "mentions") or len(next(iter(typed.values()))):
            pq.write_table(pa.table(typed), directory / f"{name}.parquet")
    return titles


def _columns_of(names: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> dict[str, list[Any]]:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}


def write_given(out: Writer[Any], listed: EntityList, titles: Mapping[str, str]) -> None:
    """Write the columns of a list that tables do not have: ids, addresses, and names in lower case."""
    known = out.read_strings("topics/titles")
    ids, urls = [""] * len(known), [""] * len(known)
    described = out.create("topics/described", np.uint32, len(known))
    for each in listed.rows:
        topic = known.find(titles[each.id])
        ids[topic], urls[topic] = each.id, each.url
        described[topic] = len(each.description.split()) + len(each.text.split())
    out.array("mentions/odds", np.array([USUAL_ODDS]))
    out.strings("topics/ids", StringTable.of(ids))
    out.strings("topics/urls", StringTable.of(urls))
    strings = out.read_strings("mentions/strings")
    lower = out.create("mentions/lower", np.bool_, len(strings))
    for string in listed.lower_case():
        place = strings.find(string)
        if place >= 0:
            lower[place] = True
    occurrences = np.array(out.read("mentions/occurrences"))
    for string in listed.common_words():
        place = strings.find(string)
        if place >= 0:
            occurrences[place] *= COMMON
    out.array("mentions/occurrences", occurrences)


def given_types(listed: EntityList, titles: Mapping[str, str], known: StringTable) -> NDArray[np.int64]:
    """Return the number of the listed type by topic; −1 where it is missing or unknown."""
    found = np.full(len(known), -1, np.int64)
    for each in listed.rows:
        found[known.find(titles[each.id])] = type_of(each.type) if each.type else -1
    return found
