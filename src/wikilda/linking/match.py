"""Matching the cells of a table's column with entities, and with each other.

A cell is a noisy spelling of a name (`wikilda.linking._channel`): the posterior of a candidate is the likelihood of the
cell given its names, times how common these are; an unknown name is the alternative. Where names leave several
candidates, the context decides: the other columns of the row, or the other rows. It is read by the linker as a text of
names that the cells are most like. Cells that mean the same topic, or the same unknown thing, get the same cluster.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wikilda._core.errors import InputError, SettingsError
from wikilda.documents.document import Document
from wikilda.linking._names import LIGHT, LONGEST, Found, fold, near_pairs
from wikilda.linking.batch import map_ordered
from wikilda.linking.frames import as_table, column_of, like
from wikilda.linking.restriction import Restriction
from wikilda.linking.results import Candidate, LinkedMention

if TYPE_CHECKING:
    from wikilda.linking.linker import Linker

_TOGETHER, _BESIDE = 64, 8  # cells that are read together, and those beside a row that has a context of its own
_CLEAR = 0.95  # share of the best candidate among those that are known, from which context is not asked
_READ = 1024  # rows that a thread takes at a time
_READ_CANDIDATES = 64  # of a name in its context
_SHOWN = 3  # candidates in a table
_OPTIONS = 16  # candidates of a cell, before context is read
_LEAST = 1e-4  # what context leaves of a candidate
_ALL = Restriction()
MATCH, REVIEW, NEW = "match", "review", "new"
COLUMNS = {
    "match_id": pa.string(), "match_title": pa.string(), "match_topic": pa.int64(), "match_wikidata": pa.string(),
    "match_type": pa.string(), "match_decision": pa.string(), "match_confidence": pa.float64(),
    "match_posterior": pa.float64(), "match_nil": pa.float64(), "match_candidates": pa.string(),
    "match_cluster": pa.int64(),
}  # fmt: skip

Words = frozenset[str]


class Row(NamedTuple):
    """A cell and its context."""

    cell: str
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class Thresholds:
    """How probable the best candidate must be: from `match` on a row is a match, below `new` it is new.

    Rows between are for review.
    """

    match: float = 0.9
    new: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.new <= self.match <= 1:
            raise SettingsError(f"thresholds are 0 ≤ new ≤ match ≤ 1, not new {self.new} and match {self.match}.")

    def decide(self, confidence: float) -> str:
        """The decision on a row."""
        return MATCH if confidence >= self.match else REVIEW if confidence >= self.new else NEW


def match_rows(
    linker: "Linker", rows: Sequence[Row], *, wanted: Restriction = _ALL, candidates: int = 5, workers: int = 1
) -> list[LinkedMention]:
    """What the cells of rows mean, in their order; rows that are the same have the same answer."""
    distinct = list(dict.fromkeys(rows))
    allowed = wanted.topics(linker.knowledge) if wanted else None

    def match(part: Sequence[Row]) -> list[LinkedMention]:
        return _matched(linker, part, allowed, candidates)

    parts = (distinct[at : at + _READ] for at in range(0, len(distinct), _READ))
    answers = (each for part in map_ordered(match, parts, workers, chunk=1) for each in part)
    found = dict(zip(distinct, answers, strict=True))
    return [found[row] for row in rows]


def _matched(
    linker: "Linker", rows: Sequence[Row], allowed: NDArray[np.bool_] | None, candidates: int
) -> list[LinkedMention]:
    """Match some rows: by names, then by context where names are ambiguous."""
    found = linker.names.find([row.cell for row in rows], max(candidates, _OPTIONS), allowed)
    posterior, unknown = found.posterior()
    known = posterior.sum(axis=1)
    unclear = (posterior[:, 0] < _CLEAR * known) & (found.topics[:, 0] >= 0)
    priors = posterior / np.maximum(known, 1e-300)[:, None]
    shares = priors.copy()
    for chosen, document in _texts_of(linker, rows, found, unclear):
        gained = _gains(linker, document)
        for at, place in chosen:
            if unclear[at]:
                least = min(gained[place].values(), default=1.0)
                weights = shares[at] * [gained[place].get(int(topic), least) for topic in found.topics[at]]
                shares[at] = weights / max(weights.sum(), 1e-300)
    made = []
    for at, row in enumerate(rows):
        order = [each for each in np.argsort(-shares[at], kind="stable")[:candidates] if found.topics[at, each] >= 0]
        options = [
            Candidate(linker.entity(int(found.topics[at, each])), float(shares[at, each]), float(priors[at, each]))
            for each in order
        ]
        made.append(LinkedMention(0, len(row.cell), row.cell, options, float(unknown[at]) if options else 1.0))
    return made


Places = list[tuple[int, int]]  # a row, and its mention in a text


def _texts_of(
    linker: "Linker", rows: Sequence[Row], found: Found, unclear: NDArray[np.bool_]
) -> Iterator[tuple[Places, Document]]:
    """Texts that show unclear rows in their context: a line per row, of the name that its cell is most like."""
    strings = linker.knowledge.mention_strings
    names = [strings[int(name)] if name >= 0 else row.cell for row, name in zip(rows, found.names, strict=True)]
    alone = [at for at in np.flatnonzero(unclear).tolist() if rows[at].context]
    for at in alone:
        beside = [other for other in range(at // _BESIDE * _BESIDE, min((at // _BESIDE + 1) * _BESIDE, len(rows)))
                  if other != at]  # fmt: skip
        cells = [names[at], *rows[at].context, *(names[other] for other in beside)]
        spans, place = [], 0
        for number, cell in enumerate(cells):
            if number == 0 or linker.knowledge.find_mention(cell) >= 0:
                spans.append((place, place + len(cell)))
            place += len(cell) + 1
        yield [(at, 0)], Document("\n".join(cells), spans, f"row {rows[at].cell}")
    for first in range(0, len(rows), _TOGETHER):
        part = [at for at in range(first, min(first + _TOGETHER, len(rows))) if not rows[at].context]
        asked = [at for at in part if unclear[at]]
        if not asked:
            continue
        clear = [at for at in part if not unclear[at] and found.names[at] >= 0][: max(len(asked), _BESIDE)]
        shown = sorted(asked + clear)
        ends = np.cumsum([len(names[at]) + 1 for at in shown]).tolist()
        spans = [(end - 1 - len(names[at]), end - 1) for at, end in zip(shown, ends, strict=True)]
        text = "\n".join(names[at] for at in shown)
        yield [(at, place) for place, at in enumerate(shown)], Document(text, spans, f"rows {names[shown[0]]}")


def _gains(linker: "Linker", document: Document) -> list[dict[int, float]]:
    """By mention of a text, how much more probable its context makes each topic than its prior is."""
    best = linker.infer(document).ranked(_READ_CANDIDATES)
    gains = np.maximum(best.probabilities, _LEAST) / np.maximum(best.priors, _LEAST)
    return [
        {topic: gain for topic, gain in zip(*row, strict=True) if topic >= 0}
        for row in zip(best.topics.tolist(), gains.tolist(), strict=True)
    ]


def match_frame(linker: "Linker", frame: Any, column: str, **options: Any) -> Any:
    """Match a column of a data frame: see `Linker.match_frame`."""
    table, library = as_table(frame)
    return like(_with_clusters(match_table(linker, table, column, **options)), library)


def match_table(
    linker: "Linker", table: pa.Table, column: str, *, context: Sequence[str] = (), types: Sequence[str] = (),
    thresholds: Thresholds | None = None, workers: int = 1,
) -> pa.Table:  # fmt: skip
    """A table with the columns of `COLUMNS`; `match_cluster` is not filled yet."""
    check_table(table.column_names, [column, *context])
    limits = thresholds or Thresholds()
    cells = _texts(table, column)
    others = [_texts(table, name) for name in context]
    rows = [Row((cell or "").strip(), tuple(filter(None, more))) for cell, *more in zip(cells, *others, strict=True)]
    given, wanted = [row for row in rows if row.cell], Restriction(tuple(types))
    answers = match_rows(linker, given, wanted=wanted, candidates=_SHOWN, workers=workers)
    matched = iter(answers)
    values = [_values(next(matched), limits) if row.cell else (None,) * (len(COLUMNS) - 1) for row in rows]
    columns = list(zip(*values, strict=True)) if values else [()] * (len(COLUMNS) - 1)
    for (name, kind), data in zip(COLUMNS.items(), [*columns, [None] * len(rows)], strict=True):
        table = table.append_column(name, pa.array(data, kind))
    return table.append_column(CELL, pa.array([row.cell for row in rows], pa.string()))


CELL = "match_cell"  # what clusters are made of; it is dropped


def check_table(names: Sequence[str], needed: Iterable[str]) -> None:
    """Refuse a table that lacks a column, has one of ours, or has one twice."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"the table has several columns {twice[0]!r}. Rename all but one.")
    empty = pa.table({name: pa.array([], pa.null()) for name in names})
    for name in needed:
        column_of(empty, name)
    for name in (*COLUMNS, CELL):
        if name in names:
            raise InputError(f"the table has a column {name!r} already. Drop it, or rename it.")


def _with_clusters(table: pa.Table) -> pa.Table:
    pairs = list(zip(table.column(CELL).to_pylist(), table.column("match_topic").to_pylist(), strict=True))
    place = table.column_names.index("match_cluster")
    numbers = Clusters(pairs)
    table = table.set_column(place, "match_cluster", pa.array(map(numbers, pairs), pa.int64()))
    return table.drop_columns([CELL])


class Clusters:
    """Numbers of clusters, in the order in which they are first met.

    Cells of one topic are one; so are unknown cells whose words are the same, in any order and whatever their accents,
    points, legal forms and honorifics, or differ by one letter. An unknown name of two words or more also belongs to
    the one other name that has all of them.
    """

    def __init__(self, pairs: Iterable[tuple[str, int | None]]) -> None:
        cells = list(dict.fromkeys(cell for cell, topic in pairs if cell and topic is None))
        self._words = dict(zip(cells, map(frozenset, name_words(cells)), strict=True))
        having: dict[str, list[Words]] = defaultdict(list)
        for each in dict.fromkeys(self._words.values()):
            for word in each:
                having[word].append(each)
        whole = {each: _fullest(each, having) for each in set(self._words.values())}
        self._whole = _joined(whole)
        self._numbers: dict[Any, int] = {}

    def __call__(self, pair: tuple[str, int | None]) -> int | None:
        """The number of a cell that means a topic, or nothing known."""
        cell, topic = pair
        if not cell:
            return None
        key: Any = topic
        if topic is None:
            words = self._words[cell]
            key = self._whole.get(words) or cell
        return self._numbers.setdefault(key, len(self._numbers))


def clusters(cells: Sequence[tuple[str, int | None]]) -> list[int | None]:
    """The numbers of clusters of cells and their topics: see `Clusters`."""
    numbers = Clusters(cells)
    return [numbers(each) for each in cells]


def name_words(names: list[str]) -> list[tuple[str, ...]]:
    """The words of names, folded, without legal forms, honorifics and the like, unless there is nothing else."""
    given = fold(pa.array([each[:LONGEST] for each in names], pa.large_string())).to_pylist()
    words = [tuple(each.split()) for each in given]
    return [tuple(word for word in each if word not in LIGHT) or each for each in words]


def _joined(whole: dict[Words, Words]) -> dict[Words, Words]:
    """The same with names joined that differ by one letter: the first by spelling stands for all."""
    names = sorted({each for each in whole.values() if each}, key=sorted)
    first = list(range(len(names)))

    def root(at: int) -> int:
        while first[at] != at:
            at = first[at]
        return at

    for one, other in near_pairs([" ".join(sorted(each)) for each in names]):
        low, high = sorted((root(one), root(other)))
        first[high] = low
    stands = {name: names[root(at)] for at, name in enumerate(names)}
    return {each: stands.get(full, full) for each, full in whole.items()}


def _fullest(words: Words, having: dict[str, list[Words]]) -> Words:
    """The one longest name that has all of the words of a name, or the name itself."""
    if len(words) < 2:
        return words
    longer = [each for each in min((having[word] for word in words), key=len) if words < each]
    longest = [each for each in longer if not any(each < other for other in longer)]
    return longest[0] if len(longest) == 1 else words


def _values(mention: LinkedMention, limits: Thresholds) -> tuple[Any, ...]:
    entity, best = mention.entity, mention.candidates[0] if mention.candidates else None
    known = (entity.id, entity.title, entity.topic, entity.wikidata, entity.type) if entity else (None,) * 5
    shown = [
        {"id": each.entity.id, "title": each.entity.title, "score": round(each.probability * (1 - mention.nil), 4)}
        for each in mention.candidates[:_SHOWN]
    ]
    decision, listed = limits.decide(mention.confidence), json.dumps(shown, ensure_ascii=False)
    return (*known, decision, mention.confidence, best.probability if best else None, mention.nil, listed)


def _texts(table: pa.Table, name: str) -> list[str | None]:
    """The cells of a column as strings; line breaks and tabs become spaces."""
    values = table.column(column_of(table, name)).to_pylist()
    return [None if value is None else " ".join(str(value).split()) for value in values]
