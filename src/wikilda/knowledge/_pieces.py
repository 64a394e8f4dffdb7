"""A piece of a wiki on disk: a folder of compact tables, and functions to read them.

Hashes do not compress, and most can be computed again: of words and mentions a piece keeps the strings, in an order in
which they share prefixes, and elsewhere their numbers in that order. Words are counted from tokens when they are read,
which takes less time than reading counts.

A build keeps the pieces of its dump (`pieces/`), with a census of all pages. An update writes pieces of the pages that
are new, and a new census. A page that the census does not name is dead, and its rows in pieces do not count.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from wikilda._core.atomic import sealed_directory
from wikilda._core.errors import Report
from wikilda.knowledge._text_kernels import (
    CASES,
    Numbers,
    chained_tokens,
    count_cases,
    mention_hashes,
    normalized,
    numbered,
    pack_tokens,
    text_lengths,
    tokenized,
    tokens_of_pages,
    unpack_tokens,
    word_hashes,
    word_rows,
)
from wikilda.knowledge.first_sentence import first_sentence
from wikilda.text.tokens import FLAGS, WORD, Bytes, Hashes, Offsets, byte_array

PAGES_A_PIECE = 1 << 24

# Kinds of pages in the census. The content of the first four is extracted.
ARTICLE, REDIRECT, TEMPLATES, CATEGORIES, OTHER, NOT_WIKITEXT, BROKEN = range(7)
CENSUS = "census.parquet"
_DEAD = "dead.npy"
_TOKENS, _LEXICON, _MENTIONS, _ANCHORS, _TARGETS = "tokens.zst", "lexicon", "mentions", "anchors", "targets"
_CASES, _SHAPES = "cases", "shapes.zst"
_SENTENCE_BYTES = 1800
_TOKEN_CODEC = pa.Codec("zstd", compression_level=3)
_PARQUET: dict[str, Any] = {"compression": "zstd", "compression_level": 1, "dictionary_pagesize_limit": 1 << 24}
_DELTA: dict[str, Any] = {"compression": "zstd", "compression_level": 3, "use_dictionary": False}
_ROWS = 1 << 17


class Folder:
    """A piece's folder, written atomically."""

    def __init__(self, chunks: Path, number: int) -> None:
        self.number, self.path = number, chunks / f"{number:06d}"
        self._made = sealed_directory(self.path)
        self._growing: dict[str, pq.ParquetWriter] = {}

    def __enter__(self) -> "Folder":
        self._beside = self._made.__enter__()
        return self

    def __exit__(self, t: type[BaseException] | None, e: BaseException | None, b: TracebackType | None) -> None:
        for writer in self._growing.values():
            writer.close()
        self._made.__exit__(t, e, b)

    def write(self, name: str, columns: Mapping[str, Any] | pa.Table, **options: Any) -> None:
        """Write one table."""
        rows = columns if isinstance(columns, pa.Table) else pa.table(columns)
        pq.write_table(rows, self._beside / f"{name}.parquet", **(options or _PARQUET))

    def add(self, name: str, columns: Mapping[str, Any] | pa.Table) -> None:
        """Add rows to one table."""
        rows = columns if isinstance(columns, pa.Table) else pa.table(columns)
        if name not in self._growing:
            file = self._beside / f"{name}.parquet"
            self._growing[name] = pq.ParquetWriter(file, rows.schema, **_PARQUET)
        self._growing[name].write_table(rows)

    def write_texts(
        self, pages: Hashes, text: Bytes, bounds: Offsets, lead: Offsets, *, sentences: bool = True, language: str = ""
    ) -> None:
        """Write the length, first sentence, tokens and spellings of pages."""
        first = _sentences(text, bounds, lead, language) if sentences else [""] * len(pages)
        columns = {"page": pages, "length": text_lengths(text, bounds), "sentence": pa.array(first, pa.string())}
        self.write("texts", columns)
        found = tokenized(text, bounds)
        spelling, _ = normalized(text, *found.spelling)
        # Frequent words get small numbers. Among words of similar frequency, neighbours share prefixes.
        frequency = -np.log2(found.counts).astype(np.int8)
        keys = [("frequency", "ascending"), ("string", "ascending")]
        order = pc.sort_indices(pa.table({"frequency": frequency, "string": spelling}), sort_keys=keys)
        self._write_sorted(_LEXICON, spelling.take(order))
        self.write(_CASES, dict(zip(CASES, found.cases[:, order.to_numpy()], strict=True)))
        for name, values in (
            (_TOKENS, pack_tokens(found.tokens, _inverse(order.to_numpy()))), (_SHAPES, found.shapes)
        ):  # fmt: skip
            size = len(values).to_bytes(8, "little")
            (self._beside / name).write_bytes(size + _TOKEN_CODEC.compress(values, asbytes=True))

    def write_mentions(self, *spelled: tuple[pa.StringArray, Hashes]) -> list[Numbers]:
        """Write the spelling of each mention once, and return the numbers of mentions."""
        first, numbers = numbered(np.concatenate([hashes for _, hashes in spelled]))
        strings = pa.chunked_array([each.cast(pa.string()) for each, _ in spelled], pa.string())
        distinct = strings.take(pa.array(first)).combine_chunks()
        order = pc.sort_indices(distinct)
        self._write_sorted(_MENTIONS, distinct.take(order))
        parts = np.cumsum([len(hashes) for _, hashes in spelled])[:-1]
        return np.split(_inverse(order.to_numpy())[numbers], parts)

    def write_links(self, source: Offsets, mention: Numbers, target: Hashes, aside: NDArray[np.bool_]) -> None:
        """Write links from pages of this piece (by their place), with numbered mentions, to hashed titles."""
        order = np.argsort(mention, kind="stable")
        first, numbers = numbered(target[order])
        self.write(_TARGETS, {"target": target[order][first]}, **_DELTA)
        by_place = np.empty(len(order), np.uint32)
        by_place[order] = numbers
        order = np.lexsort((aside, source, by_place, mention))
        columns = {"mention": mention[order], "target": by_place[order], "source": source[order].astype(np.uint32)}
        encoding = dict.fromkeys(columns, "DELTA_BINARY_PACKED")
        self.write(_ANCHORS, columns | {"aside": aside[order]}, **_DELTA, column_encoding=encoding)

    def write_report(self, report: Report) -> None:
        """Write the report of a piece."""
        report.save(self._beside)

    def _write_sorted(self, name: str, strings: pa.StringArray) -> None:
        self.write(name, {"string": strings}, **_DELTA, column_encoding={"string": "DELTA_BYTE_ARRAY"})


def _sentences(text: Bytes, bounds: Offsets, lead: Offsets, language: str) -> list[str]:
    ends = np.minimum(bounds[1:], lead + _SENTENCE_BYTES)
    parts = (text[start:end].tobytes() for start, end in zip(lead.tolist(), ends.tolist(), strict=True))
    return [first_sentence(part.decode("utf-8", "ignore"), language) for part in parts]


def _inverse(order: NDArray[Any]) -> Numbers:
    rank = np.empty(len(order), np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    return rank


# -- reading: what a folder holds, with hashes again ------------------------------------------------------------

STRINGS = pa.schema({"mention": pa.uint64(), "string": pa.string(), "row": pa.int64()})
LINKS = pa.schema({"source": pa.uint64(), "target": pa.uint64(), "mention": pa.uint64(), "aside": pa.bool_()})
WORDS = pa.schema({"word": pa.uint64(), "page": pa.uint64(), "count": pa.uint32()})
VOCABULARY = pa.schema({"word": pa.uint64(), "string": pa.string()})
CASE_COUNTS = pa.schema({"word": pa.uint64(), **dict.fromkeys(CASES, pa.uint32())})


def folders(chunks: Path) -> list[Path]:
    """The folders of all pieces, in order."""
    return sorted(chunks.glob("[0-9]" * 6))


def is_own(folder: Path) -> bool:
    """Whether a piece comes from tables or a list of entities, whose pages are in no census and always count."""
    return not (folder / "owners.parquet").is_file()


def write_dead(folder: Path, pages: Hashes) -> None:
    """Note the pages of a piece, by number, that no longer count; `pages` are sorted."""
    base = int(folder.name) * PAGES_A_PIECE
    bounds = np.searchsorted(pages, np.array([base, base + PAGES_A_PIECE], np.uint64))
    file = folder / _DEAD
    file.unlink(missing_ok=True)  # it may be a link to another build's file
    if bounds[0] < bounds[1]:
        np.save(file, (pages[bounds[0] : bounds[1]] - np.uint64(base)).astype(np.int64))


def _living(folder: Path) -> NDArray[np.bool_] | None:
    """Return by place whether a page counts, up to the last dead page; None if all count."""
    file = folder / _DEAD
    if not file.is_file():
        return None
    dead = np.load(file)
    pages = int(max(dead[-1] + 1, pq.read_metadata(folder / "pages.parquet").num_rows))
    living = np.ones(pages, np.bool_)
    living[dead] = False
    return living


def read_strings(folder: Path) -> Iterator[pa.RecordBatch]:
    """Return the spellings of mentions."""
    yield from _batches(folder / "strings.parquet", STRINGS)
    if (strings := _column(folder, _MENTIONS)) is not None:
        row = np.zeros(len(strings), np.int64)
        yield from pa.table([mention_hashes(strings), strings, row], schema=STRINGS).to_batches(_ROWS)


def read_links(folder: Path) -> Iterator[pa.RecordBatch]:
    """Return links: their pages, target titles, and the mentions that are their anchors."""
    yield from _batches(folder / "links.parquet", LINKS)
    if (targets := _column(folder, _TARGETS)) is not None:
        target = targets.to_numpy()
        mention = mention_hashes(_column(folder, _MENTIONS))
        base, living = np.uint64(int(folder.name) * PAGES_A_PIECE), _living(folder)
        for batch in pq.ParquetFile(folder / f"{_ANCHORS}.parquet").iter_batches(_ROWS):
            if living is not None:
                batch = batch.filter(pa.array(living[batch["source"].to_numpy()]))
            yield pa.record_batch([
                batch["source"].to_numpy() + base, target[batch["target"]], mention[batch["mention"]], batch["aside"],
            ], schema=LINKS)  # fmt: skip


def read_vocabulary(folder: Path) -> Iterator[pa.RecordBatch]:
    """Return the spellings of words."""
    yield from _batches(folder / "vocabulary.parquet", VOCABULARY)
    if (strings := _column(folder, _LEXICON)) is not None:
        yield from pa.table([word_hashes(strings) & ~FLAGS, strings], schema=VOCABULARY).to_batches(_ROWS)


def read_cases(folder: Path) -> Iterator[pa.RecordBatch]:
    """Return the counts of words' capitals within sentences."""
    file = folder / f"{_CASES}.parquet"
    strings = _column(folder, _LEXICON) if file.is_file() else None
    if strings is not None:
        words, living = word_hashes(strings), _living(folder)
        if living is None:
            table = pq.read_table(file)
            counts = {name: table[name].to_numpy() for name in CASES}
        else:
            tokens = _tokens(folder)
            kept = tokens_of_pages(tokens, living)
            found = count_cases(tokens[kept], _unpacked(folder, _SHAPES)[kept], len(words))
            counts = dict(zip(CASES, found, strict=True))
        columns = {"word": pa.array(words & ~FLAGS), **{name: counts[name] for name in CASES}}
        is_word = pa.array(((words & WORD) > 0) & (counts["lower"] + counts["capital"] > 0))
        yield from pa.table(columns, schema=CASE_COUNTS).filter(is_word).to_batches(_ROWS)


def read_tokens(folder: Path) -> Hashes:
    """Return the tokens of a piece in the form of mentions' hashes; none if it has no texts."""
    strings = _column(folder, _LEXICON)
    if strings is None:
        return np.empty(0, np.uint64)
    tokens, living = _tokens(folder), _living(folder)
    if living is not None:
        tokens = tokens[tokens_of_pages(tokens, living)]
    return chained_tokens(tokens, word_hashes(strings) & ~FLAGS)


def read_words(folder: Path, topic_of: Callable[[Hashes], NDArray[np.int32]]) -> Iterator[tuple[Hashes, Numbers]]:
    """Return the hashes of words, and rows of (index of the word, topic, count) for pages with a topic."""
    for batch in _batches(folder / "words.parquet", WORDS):
        words, place = np.unique(batch["word"], return_inverse=True)
        rows = np.stack([place, topic_of(batch["page"].to_numpy()), batch["count"]])
        yield words, rows[:, rows[1] >= 0].astype(np.uint32)
    strings = _column(folder, _LEXICON)
    if strings is not None:
        words = word_hashes(strings)
        numbers = np.where(words & WORD, np.arange(len(words)), -1).astype(np.int32)
        pages = pq.read_table(folder / "texts.parquet", columns=["page"])["page"].to_numpy()
        yield words & ~FLAGS, word_rows(_tokens(folder), numbers, topic_of(pages))


def _tokens(folder: Path) -> Numbers:
    return unpack_tokens(_unpacked(folder, _TOKENS))


def _unpacked(folder: Path, name: str) -> Bytes:
    packed = (folder / name).read_bytes()
    size = int.from_bytes(packed[:8], "little")
    return byte_array(_TOKEN_CODEC.decompress(packed[8:], size, asbytes=True))


def _column(folder: Path, table: str) -> pa.ChunkedArray | None:
    """Return the only column of a table; None if there is no such table."""
    file = folder / f"{table}.parquet"
    return pq.read_table(file).column(0) if file.is_file() else None


def _batches(file: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table with hashes, if there is one."""
    if file.is_file():
        with pq.ParquetFile(file) as table:
            for batch in table.iter_batches(_ROWS, columns=schema.names):
                yield batch.cast(schema)
