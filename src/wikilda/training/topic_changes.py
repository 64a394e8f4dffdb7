"""Changes of topics by training: their words and mentions before and after.

Tables are by symbol, so a topic's parameters are found by one pass, with bounded memory.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, inner, njit
from wikilda.knowledge import Knowledge
from wikilda.knowledge.describe import topic_of
from wikilda.knowledge.knowledge import Table
from wikilda.model import Model, Parameters
from wikilda.model.create import shares
from wikilda.model.model import MENTIONS, WORDS
from wikilda.model.writer import chunks

KINDS = (WORDS, MENTIONS)
_STRINGS = 6  # of a topic, where several are described


class Entries(NamedTuple):
    """Parameters of some topics: pairs of symbol and topic, by symbol."""

    symbols: NDArray[np.int64]
    topics: NDArray[np.uint32]
    values: NDArray[np.float32]


class Side:
    """The parameters of a model or, without one, at t = 0."""

    def __init__(self, trained: Model, knowledge: Knowledge, model: Model | None) -> None:
        self.trained, self.knowledge, self.model = trained, knowledge, model

    def rows(self, kind: str, first: int, last: int) -> Parameters:
        """The rows of a range of symbols."""
        if self.model is not None:
            return self.model.table(kind).between(first, last)
        return self._initial(kind, first, last)

    def _initial(self, kind: str, first: int, last: int) -> Parameters:
        words, settings = kind == WORDS, self.trained.settings
        known: Table = self.knowledge.words if words else self.knowledge.mentions
        span = slice(int(known.offsets[first]), int(known.offsets[last]))
        offsets = np.asarray(known.offsets[first : last + 1]) - span.start
        totals = np.asarray(self.knowledge.word_totals[first:last]) if words else np.zeros(last - first, np.int64)
        mass = settings.mass_words if words else settings.mass_mentions
        values = shares(offsets, np.asarray(known.counts[span]), totals, mass)
        return Parameters(offsets, np.asarray(known.topics[span]), values)

    def sums(self, kind: str) -> NDArray[np.float64]:
        """λ̂_k· by topic."""
        if self.model is not None:
            return self.model.sums(kind)
        sums = np.zeros(self.trained.topics, np.float64)
        for first, last in _ranges(self.trained, kind):
            rows = self.rows(kind, first, last)
            np.add.at(sums, rows.topics, rows.values)
        return sums

    def entries(self, kind: str, topics: NDArray[np.int64]) -> Entries:
        """Return all parameters of some topics."""
        wanted = np.zeros(self.trained.topics, np.bool_)
        wanted[topics] = True
        found = []
        for first, last in _ranges(self.trained, kind):
            symbols, which, values = _select(self.rows(kind, first, last), wanted)
            found.append((symbols + first, which, values))
        parts = zip(*found, strict=True)
        return Entries(*(np.concatenate(part) for part in parts))


def sides(trained: Model, before: Model | None = None) -> tuple[Side, Side]:
    """Return the parameters before (t = 0 or another model) and after."""
    knowledge = trained.knowledge()
    return Side(trained, knowledge, before), Side(trained, knowledge, trained)


def topic_changes(
    model: str | Path, title: str | None = None, *, baseline: str | Path | None = None, most: int = 12
) -> list[dict[str, Any]]:
    """Return the topics that training moved most, with their words and mentions before and after: `wikilda topics`.

    Parameters
    ----------
    model
        A trained model.
    title
        Return this topic only.
    baseline
        Compare with this model; by default with the model before any training.
    most
        The number of topics, or of words and mentions of the topic `title`.

    Returns
    -------
    list
        For each topic `title`, and `words`, `mentions`, `words risen` and `mentions risen` with P(v|k) before and
        after; without a title also `moved`, the mass that has moved, and `distance`, its share of the topic's mass.

    Examples
    --------
    >>> from wikilda import topic_changes
    >>> topic_changes(sample)
    []
    >>> [found] = topic_changes(sample, "Robert Croft", most=1)
    >>> found["title"], found["mentions"][0]["string"]
    ('Robert Croft', 'robert croft')
    """
    old, new = sides(Model.open(model), Model.open(baseline) if baseline is not None else None)
    if title is not None:
        return [describe(old, new, topic_of(new.knowledge, title), most)]
    moved = changed(old, new, most)
    about = describe_all(old, new, np.array([topic for topic, _, _ in moved], np.int64), _STRINGS)
    return [{**each, "moved": mass, "distance": far} for each, (_, mass, far) in zip(about, moved, strict=True)]


def describe(before: Side, after: Side, topic: int, most: int) -> dict[str, Any]:
    """Return a topic's most probable words and mentions, with P(v|k) before and after training."""
    return describe_all(before, after, np.array([topic]), most)[0]


def describe_all(before: Side, after: Side, topics: NDArray[np.int64], most: int) -> list[dict[str, Any]]:
    """The same for several topics, in one pass."""
    knowledge = after.knowledge
    found: list[dict[str, Any]] = [{"title": knowledge.titles[int(topic)]} for topic in topics]
    for kind in KINDS:
        strings = knowledge.word_strings if kind == WORDS else knowledge.mention_strings
        old, new = before.entries(kind, topics), after.entries(kind, topics)
        for number, topic in enumerate(topics):
            rows = _compared(old, new, int(topic))
            best = sorted(rows, key=lambda row: (-row[2], -row[1], row[0]))[:most]
            risen = sorted(rows, key=lambda row: (row[1] - row[2], row[0]))[:most]
            found[number][kind] = [_row(strings[symbol], a, b) for symbol, a, b in best]
            found[number][f"{kind} risen"] = [_row(strings[symbol], a, b) for symbol, a, b in risen if b > a]
    return found


def changed(before: Side, after: Side, most: int) -> list[tuple[int, float, float]]:
    """Return the topics that training moved most: topic, moved mass, and its share of the topic's mass.

    The share is the distance ½ Σ_v |P(v|k) after − before|; times λ̂_k·, it is how much of the corpus has moved.
    """
    moved, distances = np.zeros(after.trained.topics), np.zeros(after.trained.topics)
    for kind in KINDS:
        distance, sums = np.zeros(after.trained.topics), (before.sums(kind), after.sums(kind))
        for first, last in _ranges(after.trained, kind):
            _distances(before.rows(kind, first, last), after.rows(kind, first, last), *sums, distance)
        moved += distance * sums[1]
        distances += distance / len(KINDS)
    order = np.argsort(-moved, kind="stable")[:most]
    return [(int(topic), float(moved[topic]), float(distances[topic])) for topic in order if moved[topic] > 0]


def _ranges(model: Model, kind: str) -> Iterator[tuple[int, int]]:
    return chunks(model.table(kind).offsets)


def _row(string: str, before: float, after: float) -> dict[str, Any]:
    return {"string": string, "before": before, "after": after}


def _compared(old: Entries, new: Entries, topic: int) -> list[tuple[int, float, float]]:
    """Symbols of a topic with P(v|k) before and after."""
    sides = []
    for each in (old, new):
        own = each.topics == topic
        total = float(each.values[own].sum(dtype=np.float64))
        shared = (each.values[own].astype(np.float64) / max(total, 1e-300)).tolist()
        sides.append(dict(zip(each.symbols[own].tolist(), shared, strict=True)))
    return [(v, sides[0].get(v, 0.0), sides[1].get(v, 0.0)) for v in sorted(sides[0].keys() | sides[1].keys())]


@njit
def _select(
    rows: Parameters, wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32]]:
    count = 0
    for at in range(len(rows.topics)):
        count += wanted[rows.topics[at]]
    symbols, topics = np.empty(count, np.int64), np.empty(count, np.uint32)
    values, to = np.empty(count, np.float32), 0
    for symbol in range(len(rows.offsets) - 1):
        for at in range(rows.offsets[symbol], rows.offsets[symbol + 1]):
            if wanted[rows.topics[at]]:
                symbols[to], topics[to], values[to] = symbol, rows.topics[at], rows.values[at]
                to += 1
    return symbols, topics, values


@njit
def _distances(
    old: Parameters,
    new: Parameters,
    old_sums: NDArray[np.float64],
    new_sums: NDArray[np.float64],
    distances: NDArray[np.float64],
) -> None:
    """Add ½ |P(v|k) after − before| of some symbols to their topics' distances."""
    for symbol in range(len(old.offsets) - 1):
        a, a_end = old.offsets[symbol], old.offsets[symbol + 1]
        b, b_end = new.offsets[symbol], new.offsets[symbol + 1]
        while a < a_end or b < b_end:
            in_old = b == b_end or (a < a_end and old.topics[a] <= new.topics[b])
            in_new = a == a_end or (b < b_end and new.topics[b] <= old.topics[a])
            topic = np.int64(old.topics[a]) if in_old else np.int64(new.topics[b])
            first = _share(old.values[a], old_sums[topic]) if in_old else 0.0
            second = _share(new.values[b], new_sums[topic]) if in_new else 0.0
            distances[topic] += abs(second - first) / 2
            a += in_old
            b += in_new


@inner
def _share(value: Real, total: Real) -> Real:
    return np.float64(value) / total if total > 0 else 0.0
