"""Matching the cells of a table's column with topics, and with each other.

Cells are read together, some at a time, as a text of one line a cell: each is a mention, and the others are its
context. If other columns are given, each row is a text of its own, with their cells beside its own. Cells that mean the
same topic, or the same unknown thing, get the same cluster: a knowledge graph has one node for ten spellings.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from wikilda._core.errors import InputError
from wikilda.documents.document import Document
from wikilda.linking.batch import map_ordered
from wikilda.linking.frames import as_table, column_of, like
from wikilda.linking.restriction import Restriction
from wikilda.linking.results import Linked, LinkedMention
from wikilda.text.characters import characters
from wikilda.text.folding import fold_words, folds
from wikilda.text.tokens import as_bytes

if TYPE_CHECKING:
    from wikilda.linking.linker import Linker

_TOGETHER, _BESIDE = 64, 8  # cells that are read together, and those beside a row that has a context of its own
_ALL = Restriction()
COLUMNS = {
    "match_title": pa.string(), "match_topic": pa.int64(), "match_wikidata": pa.string(), "match_type": pa.string(),
    "match_confidence": pa.float64(), "match_posterior": pa.float64(), "match_nil": pa.float64(),
    "match_cluster": pa.int64(),
}  # fmt: skip

Words = frozenset[int]


class Row(NamedTuple):
    """A cell and its context."""

    cell: str
    context: tuple[str, ...] = ()


def match_rows(
    linker: "Linker", rows: Sequence[Row], *, wanted: Restriction = _ALL, candidates: int = 5, workers: int = 1
) -> list[LinkedMention]:
    """What the cells of rows mean, in their order; rows that are the same have the same answer."""
    texts = list(_texts_of(list(dict.fromkeys(rows))))
    wanted.check(linker.knowledge)
    documents = (_document(linker, *text, str(number)) for number, text in enumerate(texts))

    def link(document: Document) -> Linked:
        return linker.infer(document, restriction=wanted).linked(candidates, 0, all_mentions=True)

    results = map_ordered(link, documents, workers)
    found: dict[Row, LinkedMention] = {}
    for (asked, _), linked in zip(texts, results, strict=True):
        spans = {(each.start, each.end): each for each in linked.mentions}
        for row, span in zip(asked, _spans(asked), strict=True):
            found[row] = spans[span]
    return [found[row] for row in rows]


def match_frame(
    linker: "Linker", frame: Any, column: str, *, context: Sequence[str] = (), types: Sequence[str] = (),
    workers: int = 1,
) -> Any:  # fmt: skip
    """Match a column of a data frame: see `Linker.match_frame`."""
    table, library = as_table(frame)
    cells = _texts(table, column)
    others = [_texts(table, name) for name in context]
    rows = [Row((cell or "").strip(), tuple(filter(None, more))) for cell, *more in zip(cells, *others, strict=True)]
    answers = match_rows(linker, [row for row in rows if row.cell], wanted=Restriction(tuple(types)), workers=workers)
    matched = iter(answers)
    values = [_values(next(matched)) if row.cell else (None,) * (len(COLUMNS) - 1) for row in rows]
    numbers = clusters([(row.cell, value[1]) for row, value in zip(rows, values, strict=True)])
    for name, kind in COLUMNS.items():
        if name in table.column_names:
            raise InputError(f"the table has a column {name!r} already. Drop it, or rename it.")
        place = list(COLUMNS).index(name)
        data = numbers if name == "match_cluster" else [value[place] for value in values]
        table = table.append_column(name, pa.array(data, kind))
    return like(table, library)


def clusters(cells: Sequence[tuple[str, int | None]]) -> list[int | None]:
    """The numbers of clusters: cells of one topic are one, and so are unknown ones whose words are the same.

    An unknown name that has two words or more also belongs to the one other name that has all of them.
    """
    words = {cell: _folded(cell) for cell, topic in cells if cell and topic is None}
    having: dict[int, list[Words]] = {}  # by word
    for each in set(words.values()):
        for word in each:
            having.setdefault(word, []).append(each)
    whole = {cell: _fullest(own, having) for cell, own in words.items()}
    numbers: dict[Any, int] = {}
    return [
        numbers.setdefault(topic if topic is not None else whole[cell] or cell, len(numbers)) if cell else None
        for cell, topic in cells
    ]


def _folded(cell: str) -> Words:
    """The words of a string, in any order, without accents, points and endings."""
    data = as_bytes(cell)
    words = np.empty(len(data) + 1, np.uint64)
    return frozenset(words[: fold_words(data, 0, len(data), characters(), folds(), words)].tolist())


def _fullest(words: Words, having: dict[int, list[Words]]) -> Words:
    """The one longest name that has all of the words of a name, or the name itself."""
    if len(words) < 2:
        return words
    longer = [each for each in min((having[word] for word in words), key=len) if words < each]
    longest = [each for each in longer if not any(each < other for other in longer)]
    return longest[0] if len(longest) == 1 else words


def _texts_of(rows: Sequence[Row]) -> Iterator[tuple[Sequence[Row], Sequence[Row]]]:
    """The texts that rows are read as: those that are asked for, and cells that are context alone."""
    if not any(row.context for row in rows):
        yield from ((rows[at : at + _TOGETHER], ()) for at in range(0, len(rows), _TOGETHER))
        return
    for at in range(0, len(rows), _BESIDE):
        part = rows[at : at + _BESIDE]
        yield from (([row], [Row(each.cell) for each in part if each != row]) for row in part)


def _document(linker: "Linker", asked: Sequence[Row], beside: Sequence[Row], name: str) -> Document:
    """Rows as lines: the cell, then its context, of which cells that are known strings are mentions, too."""
    spans, at = [], 0
    for row in (*asked, *beside):
        for place, cell in enumerate((row.cell, *row.context)):
            if place == 0 or linker.knowledge.find_mention(cell) >= 0:
                spans.append((at, at + len(cell)))
            at += len(cell) + 1
    return Document("".join(map(_line, (*asked, *beside))), spans, name)


def _line(row: Row) -> str:
    return "\t".join((row.cell, *row.context)) + "\n"


def _spans(rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
    at = 0
    for row in rows:
        yield at, at + len(row.cell)
        at += len(_line(row))


def _values(mention: LinkedMention) -> tuple[Any, ...]:
    entity, best = mention.entity, mention.candidates[0] if mention.candidates else None
    known = (entity.title, entity.topic, entity.wikidata, entity.type) if entity else (None,) * 4
    return (*known, mention.confidence, best.probability if best else None, mention.nil)


def _texts(table: pa.Table, name: str) -> list[str | None]:
    """The cells of a column as strings, whatever they are; line breaks and tabs become spaces."""
    values = table.column(column_of(table, name)).to_pylist()
    return [None if value is None else " ".join(str(value).split()) for value in values]
