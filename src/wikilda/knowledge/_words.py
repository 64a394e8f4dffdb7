"""The words of topics: counted from the pieces' tokens in two passes, keeping the best topics of each.

The first pass counts the topics of each word, which decides the words that are kept and the lengths of their rows. The
second fills the rows, heaps in which a word's worst topic comes first and is replaced by a better one. Only what is
kept is written, and the order of topics does not matter.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, capacity_for, insert_all, lookup, offsets_of
from wikilda._core.artifact import Writer
from wikilda._core.jit import inner, int64, njit
from wikilda.knowledge._database import Database
from wikilda.knowledge._pieces import CASE_COUNTS, VOCABULARY, folders, read_cases, read_vocabulary, read_words
from wikilda.knowledge._text_kernels import Numbers
from wikilda.knowledge.knowledge import Knowledge
from wikilda.knowledge.settings import BuildSettings
from wikilda.text.tokens import Hashes, Offsets

_ENTRIES = 1 << 26  # entries of rows that are filled in one pass: half a gigabyte
_LEAST_CASED = 4  # occurrences within sentences of a word whose case is known
_FOUND = pa.schema({"word": pa.uint64(), "frequency": pa.int64(), "total": pa.int64()})


def write_words(sql: Database, out: Writer[Knowledge], rules: BuildSettings, workers: int) -> None:
    """Write words that are neither too common nor too rare, and their best topics."""
    counter = _Counter(sql, workers)
    _choose_words(sql, counter, rules)
    count = sql.value("SELECT count(*) FROM kept")
    sql.strings(out, "words/strings", "SELECT string FROM kept ORDER BY id")
    frequency, total = out.create("words/frequencies", np.uint32, count), out.create("words/totals", np.int64, count)
    keys = np.empty(count, np.uint64)
    sql.stream("SELECT frequency, total, word FROM kept ORDER BY id", frequency, total, keys)
    size = capacity_for(count)
    table = HashTable(out.create("words/table_keys", np.uint64, size), out.create("words/table_values", np.int32, size))
    insert_all(table, keys)
    most = rules.topics_per_word or np.iinfo(np.int64).max
    offsets = offsets_of(np.minimum(frequency.astype(np.int64), most))
    out.array("words/offsets", offsets)
    topics, counts = (out.create(f"words/{name}", np.uint32, int(offsets[-1])) for name in ("topics", "counts"))
    for first, last in _spans(offsets):
        filled = np.zeros(last - first, np.int64)
        for rows in counter.numbered(table, first, last):
            _keep_best(rows, offsets, first, filled, topics, counts)
        _sort_rows(offsets, first, last, topics, counts)


def write_cases(sql: Database, out: Writer[Knowledge]) -> None:
    """Write the capitals of frequent words within sentences, as shares in 255ths."""
    with sql.reading("cases", CASE_COUNTS, read_cases):
        sql.run(f"""
            CREATE TABLE cased AS
            SELECT word, sum(lower)::BIGINT AS lower, sum(capital)::BIGINT AS capital, sum(before)::BIGINT AS before,
            sum(after)::BIGINT AS after FROM cases GROUP BY word HAVING sum(lower) + sum(capital) >= {_LEAST_CASED}""")
    count = sql.value("SELECT count(*) FROM cased")
    keys = np.empty(count, np.uint64)
    shares = [out.create(f"case/{name}", np.uint8, count) for name in ("capital", "before", "after")]
    sql.stream("""
        SELECT word, round(255 * capital / (lower + capital))::UTINYINT,
        round(255 * before / greatest(capital, 1))::UTINYINT, round(255 * after / greatest(capital, 1))::UTINYINT
        FROM cased ORDER BY word""", keys, *shares)  # fmt: skip
    size = capacity_for(count)
    table = HashTable(out.create("case/keys", np.uint64, size), out.create("case/values", np.int32, size))
    insert_all(table, keys)
    sql.drop("cased")


def _choose_words(sql: Database, counter: "_Counter", rules: BuildSettings) -> None:
    topics = sql.value("SELECT count(*) FROM topics")
    # In a small wiki, `max_word_share` of the topics is below `min_word_topics`: words may be in half of them.
    most = rules.max_word_share * topics
    if most < 2 * rules.min_word_topics:
        most = max(most, topics / 2)
    least = min(rules.min_word_topics, max(1, topics // 4))
    with sql.reading("found", _FOUND, counter.frequencies):
        sql.run(f"""
            CREATE TABLE frequencies AS
            SELECT word, sum(frequency)::BIGINT AS frequency, sum(total)::BIGINT AS total FROM found GROUP BY word
            HAVING sum(frequency) >= {least} AND sum(frequency) <= {most}""")
    with sql.reading("vocabulary", VOCABULARY, read_vocabulary):
        sql.run("""
            CREATE TABLE kept AS
            SELECT (row_number() OVER (ORDER BY string) - 1)::UINTEGER AS id, word, string, frequency, total FROM
            (SELECT word, min(string) AS string FROM vocabulary SEMI JOIN frequencies USING (word) GROUP BY word)
            JOIN frequencies USING (word)""")
    sql.drop("frequencies")


def _spans(offsets: Offsets) -> Iterator[tuple[int, int]]:
    """Yield ranges of words whose rows fit into memory."""
    first = 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(offsets, offsets[first] + _ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), len(offsets) - 1)
        yield first, last
        first = last


class _Counter:
    """Counts the words of the pages that are topics."""

    def __init__(self, sql: Database, workers: int) -> None:
        self._folders, self._workers = folders(sql.chunks), workers
        count = sql.value("SELECT count(*) FROM topics")
        self._pages, self._topics = np.empty(count, np.uint64), np.empty(count, np.int32)
        sql.stream("SELECT page, topic FROM topics ORDER BY page", self._pages, self._topics)

    def topic_of(self, pages: Hashes) -> NDArray[np.int32]:
        """The topics of pages; -1 where a page is none."""
        at = np.minimum(np.searchsorted(self._pages, pages), len(self._pages) - 1)
        return np.where(self._pages[at] == pages, self._topics[at], np.int32(-1))

    def frequencies(self, folder: Path) -> Iterator[pa.RecordBatch]:
        """Return the number of topics of each word in a piece, and its total count."""
        for words, rows in read_words(folder, self.topic_of):
            frequency = np.bincount(rows[0], minlength=len(words))
            total = np.bincount(rows[0], rows[2], len(words)).astype(np.int64)
            met = frequency > 0
            yield pa.record_batch([words[met], frequency[met], total[met]], schema=_FOUND)

    def numbered(self, table: HashTable, first: int, last: int) -> Iterator[Numbers]:
        """Rows of (word, topic, count) of all pieces, of words from `first` to below `last`."""

        def read(folder: Path) -> list[Numbers]:
            return [_renumbered(words, rows, table, first, last) for words, rows in read_words(folder, self.topic_of)]

        with ThreadPoolExecutor(self._workers) as pool:
            for at in range(0, len(self._folders), self._workers):
                for found in pool.map(read, self._folders[at : at + self._workers]):
                    yield from found


@njit
def _renumbered(words: Hashes, rows: Numbers, table: HashTable, first: int, last: int) -> Numbers:
    numbers = np.empty(len(words), np.int64)
    for word in range(len(words)):
        numbers[word] = lookup(table, words[word])
    kept = np.empty(rows.shape, np.uint32)
    count = 0
    for row in range(rows.shape[1]):
        number = numbers[rows[0, row]]
        if first <= number < last:
            kept[0, count], kept[1, count], kept[2, count] = number, rows[1, row], rows[2, row]
            count += 1
    return kept[:, :count].copy()


@njit
def _keep_best(rows: Numbers, offsets: Offsets, first: int, filled: Offsets, topics: Any, counts: Any) -> None:
    """Add topics to the rows of their words. In a full row they replace the worst."""
    for row in range(rows.shape[1]):
        word, topic, count = int64(rows[0, row]), rows[1, row], rows[2, row]
        start, size = offsets[word], filled[word - first]
        if size < offsets[word + 1] - start:
            _rise(topics, counts, start, size, topic, count)
            filled[word - first] += 1
        elif _is_worse(counts[start], topics[start], count, topic):
            _sink(topics, counts, start, size, topic, count)


@inner
def _is_worse(count: int, topic: int, other_count: int, other_topic: int) -> bool:
    return count < other_count or (count == other_count and topic > other_topic)


@inner
def _rise(topics: Any, counts: Any, start: int, at: int, topic: int, count: int) -> None:
    """Add an entry to a heap with its worst on top."""
    while at > 0:
        above = (at - 1) // 2
        if not _is_worse(count, topic, counts[start + above], topics[start + above]):
            break
        topics[start + at], counts[start + at] = topics[start + above], counts[start + above]
        at = above
    topics[start + at], counts[start + at] = topic, count


@inner
def _sink(topics: Any, counts: Any, start: int, size: int, topic: int, count: int) -> None:
    """Replace the worst entry of a heap."""
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _is_worse(
            counts[start + below + 1], topics[start + below + 1], counts[start + below], topics[start + below]
        ):
            below += 1
        if not _is_worse(counts[start + below], topics[start + below], count, topic):
            break
        topics[start + at], counts[start + at] = topics[start + below], counts[start + below]
        at = below
    topics[start + at], counts[start + at] = topic, count


@njit
def _sort_rows(offsets: Offsets, first: int, last: int, topics: Any, counts: Any) -> None:
    """Sort each row by topic."""
    for word in range(first, last):
        start, end = offsets[word], offsets[word + 1]
        order = np.argsort(topics[start:end])
        topics[start:end], counts[start:end] = topics[start:end][order], counts[start:end][order]
