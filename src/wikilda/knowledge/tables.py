"""Knowledge from plain tables: any knowledge base that has topics, names for them, and links or texts.

The tables become the same pieces that a dump becomes; `docs/formats.md` has the columns.
"""

import bz2
import gzip
import json
import lzma
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from wikilda.errors import InputError
from wikilda.knowledge.extract import Folder, Report, joined
from wikilda.knowledge.symbols import column_buffer, normalized, title_hashes, word_hashes
from wikilda.text.tokens import Offsets, byte_array
from wikilda.wiki.site import Site

_ENDINGS = (".tsv", ".tsv.gz", ".tsv.bz2", ".tsv.xz", ".parquet")
_ARTICLE_ENDINGS = (".jsonl", ".jsonl.gz", ".jsonl.bz2", ".jsonl.xz", ".parquet")
_BATCH_ROWS = 1 << 17
_SITE_KEYS = ("name", "database", "language", "base")
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

# Columns: what must be there, then what may be.
COLUMNS: dict[str, tuple[dict[str, pa.DataType], dict[str, pa.DataType]]] = {
    "topics": ({"title": pa.string()}, {"id": pa.int64(), "wikidata": pa.string(), "description": pa.string()}),
    "redirects": ({"title": pa.string(), "target": pa.string()}, {}),
    "mentions": ({"mention": pa.string(), "title": pa.string(), "count": pa.int64()}, {}),
    "links": ({"source": pa.string(), "target": pa.string()}, {}),
    "words": ({"word": pa.string(), "title": pa.string(), "count": pa.int64()}, {}),
}


@dataclass(frozen=True)
class Tables:
    """The files of a directory of tables."""

    directory: Path
    files: dict[str, Path]
    articles: Path | None

    def site(self) -> Site:
        """Tables belong to no wiki; `site.json` may say what they are."""
        file = self.directory / "site.json"
        if not file.is_file():
            return Site(name=self.directory.name, language="")
        try:
            known = json.loads(file.read_text("utf-8"))
            return replace(Site(language=""), **{key: known[key] for key in known if key in _SITE_KEYS})
        except (ValueError, TypeError) as error:
            raise InputError(f"{file}: is not a JSON object with name, database, language, base ({error}).") from None


def find_tables(directory: Path) -> Tables:
    """See which tables a directory has; topics are needed, and something to find them by."""
    if not directory.is_dir():
        raise InputError(f"{directory}: no such directory.")
    files = {name: file for name in COLUMNS if (file := _find(directory, name, _ENDINGS))}
    if "topics" not in files:
        raise InputError(
            f"{directory}: has no table of topics (topics{', topics'.join(_ENDINGS)}). See docs/formats.md."
        )
    return Tables(directory, files, _find(directory, "articles", _ARTICLE_ENDINGS))


def _find(directory: Path, name: str, endings: tuple[str, ...]) -> Path | None:
    found = [directory / f"{name}{ending}" for ending in endings if (directory / f"{name}{ending}").is_file()]
    if len(found) > 1:
        raise InputError(f"{found[0]} and {found[1].name}: which one? Keep one table of {name}.")
    return found[0] if found else None


class TableExtractor:
    """Turns tables into folders; made once in each process."""

    def __init__(self, chunks: Path, tables: Tables) -> None:
        self.chunks, self.tables = chunks, tables

    def write_tables(self) -> None:
        """Folder 0: topics, names and links."""
        report = Report()
        with Folder(self.chunks, 0) as folder:
            described = self._write_topics(folder, report)
            self._write_names(folder, report)
            self._write_links(folder)
            self._write_words(folder, report)
            empty = np.empty(0, np.uint64)
            folder.write("marks", {"page": empty, "kind": empty, "name": empty})
            folder.write("templates", {"template": empty, "kind": empty, "name": empty})
            report.count("described", int(described))
            folder.write_report(report)

    def extract(self, number: int, batch: "Articles") -> None:
        """A folder of articles' texts."""
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
            folder.write_report(report)

    def _write_topics(self, folder: Folder, report: Report) -> bool:
        topics = self._whole("topics")
        keys = title_hashes(topics["title"])
        _, first = np.unique(keys, return_index=True)
        first = np.sort(first)
        if len(first) < len(keys):
            twice = topics["title"][int(np.setdiff1d(np.arange(len(keys)), first)[0])]
            report.complain(
                "duplicate titles",
                f"{self.tables.files['topics']}: title {twice.as_py()!r} is there twice; the first row counts",
            )
            report.count("duplicate titles", len(keys) - len(first) - 1)
        topics, keys = topics.take(pa.array(first)), keys[first]
        report.count("topics given", len(keys))
        ids = topics["id"].to_numpy() if "id" in topics.column_names else np.arange(1, len(keys) + 1)
        redirects = self._whole("redirects")
        aliases = title_hashes(redirects["title"])
        folder.write("pages", {
            "page": np.append(keys, aliases),
            "id": np.append(ids, np.zeros(len(aliases), np.int64)).astype(np.int64),
            "title": pa.chunked_array([*topics["title"].chunks, *redirects["title"].chunks], pa.string()),
            "key": np.append(keys, aliases),
            "redirect": np.append(np.zeros(len(keys), np.uint64), title_hashes(redirects["target"])),
        })  # fmt: skip
        described = "description" in topics.column_names
        sentence = topics["description"] if described else pa.array([""] * len(keys), pa.string())
        folder.write("texts", {"page": keys, "length": np.zeros(len(keys), np.uint32), "sentence": sentence})
        items = topics["wikidata"] if "wikidata" in topics.column_names else pa.array([""] * len(keys), pa.string())
        folder.write(
            "props",
            {"id": ids.astype(np.int64), "wikidata": _item_numbers(items), "disambiguation": np.zeros(len(keys), bool)},
        )
        return described

    def _write_names(self, folder: Folder, report: Report) -> None:
        """The mentions table as it is; without one, titles and redirects name their topics."""
        if "mentions" in self.tables.files:
            mentions = self._whole("mentions")
            bad = pc.sum(pc.less(mentions["count"], 1)).as_py() or 0
            if bad:
                report.complain(
                    "mention rows with no count",
                    f"{self.tables.files['mentions']}: {bad} rows have a count below 1; left out",
                )
                mentions = mentions.filter(pc.greater(mentions["count"], 0))
            strings, titles, counts = mentions["mention"], mentions["title"], mentions["count"].to_numpy()
        else:
            topics, redirects = self._whole("topics"), self._whole("redirects")
            titles = pa.chunked_array([*topics["title"].chunks, *redirects["title"].chunks], pa.string())
            strings, counts = titles, np.ones(len(titles), np.int64)
        data, offsets = column_buffer(strings)
        spelled, hashes, lengths = normalized(data, offsets[:-1], offsets[1:])
        target = title_hashes(titles)
        folder.write("names", {"page": pa.nulls(len(target), pa.uint64()), "target": target, "mention": hashes,
                               "count": counts.astype(np.uint32)})  # fmt: skip
        folder.write_strings([spelled], [hashes], [lengths])

    def _write_links(self, folder: Folder) -> None:
        links = self._whole("links")
        source, target = title_hashes(links["source"]), title_hashes(links["target"])
        columns = {"source": source, "target": target, "mention": np.zeros(len(source), np.uint64)}
        folder.write("links", columns | {"aside": np.ones(len(source), bool)})

    def _write_words(self, folder: Folder, report: Report) -> None:
        if "words" not in self.tables.files:
            return
        words = self._whole("words")
        hashes = word_hashes(words["word"])
        good = hashes != 0
        if not good.all():
            example = words["word"][int(np.flatnonzero(~good)[0])].as_py()
            report.complain(
                "words of several tokens",
                f"{self.tables.files['words']}: {example!r} is not one word; such rows are left out",
            )
        keep = pa.array(good)
        page, count = title_hashes(words["title"])[good], words["count"].to_numpy()[good].astype(np.uint32)
        folder.write("words", {"word": hashes[good], "page": page, "count": count})
        folder.write("vocabulary", {"word": hashes[good], "string": pc.utf8_lower(words["word"].filter(keep))})

    def _whole(self, name: str) -> pa.Table:
        needed, more = COLUMNS[name]
        file = self.tables.files.get(name)
        if file is None:
            return pa.table({column: pa.array([], kind) for column, kind in needed.items()})
        return read_table(file, needed, more)


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
            raise InputError(f"{place}: is not JSON ({error}).") from None
        row = (known.get("title"), known.get("text")) if isinstance(known, dict) else (None, None)
    title, text = row
    if not isinstance(title, str) or not isinstance(text, str):
        raise InputError(f'{place}: needs "title" and "text", both strings.')
    return title, text


def _lines(path: Path) -> Iterator[bytes]:
    with open_any(path) as lines:
        try:
            yield from (line for line in lines if line.strip())
        except (EOFError, OSError, lzma.LZMAError) as error:
            raise InputError(f"{path}: cannot be read to its end ({error}). Is it whole?") from None


def _parquet_rows(path: Path) -> Iterator[tuple[Any, Any]]:
    with _worded(path):
        file = pq.ParquetFile(path)
        _check_columns(path, file.schema_arrow.names, {"title": pa.string(), "text": pa.string()}, {})
        for batch in file.iter_batches(_BATCH_ROWS // 32, columns=["title", "text"]):
            yield from zip(batch["title"].to_pylist(), batch["text"].to_pylist(), strict=True)


def open_any(path: Path) -> IO[bytes]:
    """Open a file that may be compressed."""
    opened: IO[bytes] = _OPENERS.get(path.suffix, open)(path, "rb")
    return opened


def read_table(path: Path, needed: dict[str, pa.DataType], more: dict[str, pa.DataType]) -> pa.Table:
    """Read a table with the columns it must and may have; others are left alone."""
    with _worded(path):
        if path.suffix == ".parquet":
            _check_columns(path, pq.read_schema(path).names, needed, more)
            kinds = needed | more
            table = pq.read_table(path, columns=[name for name in pq.read_schema(path).names if name in kinds])
        else:
            table, kinds = _read_tsv(path, needed, more), needed | more
        table = table.cast(pa.schema([(name, kinds[name]) for name in table.column_names]))
    for name in needed:
        if table[name].null_count:
            row = int(np.flatnonzero(pc.is_null(table[name]).to_numpy())[0]) + 1
            raise InputError(f"{path}: row {row} has no {name}.")
    return table


def _read_tsv(path: Path, needed: dict[str, pa.DataType], more: dict[str, pa.DataType]) -> pa.Table:
    with open_any(path) as stream:
        header = stream.readline().decode("utf-8", "replace").rstrip("\r\n").split("\t")
    _check_columns(path, header, needed, more)
    kinds = needed | more
    with open_any(path) as stream:
        return pa.csv.read_csv(
            pa.PythonFile(stream, "r"),
            parse_options=pa.csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=pa.csv.ConvertOptions(
                column_types={name: kinds[name] for name in header if name in kinds},
                include_columns=[name for name in header if name in kinds],
                null_values=[""], strings_can_be_null=False,
            ),
        )  # fmt: skip


def _check_columns(path: Path, found: list[str], needed: dict[str, pa.DataType], more: dict[str, pa.DataType]) -> None:
    missing = [name for name in needed if name not in found]
    if missing:
        raise InputError(
            f"{path}: has no column {', '.join(missing)}. Its columns are {', '.join(found)[:200]}; "
            f"needed are {', '.join(needed)}" + (f", and there may be {', '.join(more)}." if more else ".")
        )


class _worded:  # noqa: N801
    """Say in words which file and row a library stumbled over."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> None:
        if isinstance(error, pa.ArrowException | EOFError | lzma.LZMAError | UnicodeDecodeError):
            raise InputError(f"{self.path}: {error}") from None


def _item_numbers(items: pa.ChunkedArray) -> Offsets:
    digits = pc.replace_substring_regex(pc.fill_null(items, ""), r"^.*?Q?(\d*)$", r"\1")
    filled = pc.if_else(pc.equal(digits, ""), "0", digits)
    numbers: Offsets = pc.cast(filled, pa.int64()).to_numpy(zero_copy_only=False)
    return numbers
