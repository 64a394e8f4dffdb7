"""Line 15 of Algorithm 2: the outer join of a model with the sum of updates, by ranges of symbols.

    λ̂^(t) = (1 − ρ) λ̂^(t−1) + ρ · worth · Σ_m counts^m

Pairs that only the updates have are new parameters; those that fall below a threshold are dropped.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import EMPTY_RUN, Run
from wikilda._core.errors import ArtifactError
from wikilda._core.jit import Whole, inner, njit
from wikilda._core.npy import GrowingArray, save_array
from wikilda.model import Model, Parameters
from wikilda.model.model import LDA, MENTIONS, WORDS
from wikilda.model.writer import chunks

_PARTS = ("symbols", "offsets", "topics", "sweeps")


def save_run(directory: Path, kind: str, run: Run) -> None:
    """Write a run as arrays."""
    for part in _PARTS:
        save_array(directory / f"{kind}.{part}.npy", getattr(run, part))


def open_run(directory: Path, kind: str) -> Run:
    """A run, mapped into memory."""
    try:
        return Run(*(np.load(directory / f"{kind}.{part}.npy", mmap_mode="c", allow_pickle=False) for part in _PARTS))
    except (OSError, ValueError, EOFError) as error:
        raise ArtifactError(f"{directory}: is damaged ({error}). Remove it and run the same command again.") from None


def stretches(runs: list[Run], symbols: int, at_once: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of symbols with about this many entries in all runs together."""
    total = sum(len(run.topics) for run in runs)
    if total <= at_once:
        yield 0, symbols
        return
    # The runs are similar: halving the longest halves all of them well enough.
    longest = max(runs, key=lambda run: len(run.topics))
    cuts = np.linspace(0, len(longest.topics), total // at_once + 2)[1:-1]
    places = np.searchsorted(longest.offsets, cuts, "right") - 1
    bounds = np.unique(np.concatenate(([0], longest.symbols[np.minimum(places, len(longest.symbols) - 1)], [symbols])))
    yield from zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)


def add_up(runs: list[Run]) -> Run:
    """Return the sum of runs."""
    runs = [run for run in runs if len(run.symbols)]
    if len(runs) < 2:
        return runs[0] if runs else EMPTY_RUN
    while len(runs) > 1:
        pairs = [Run(*_merge(*runs[at : at + 2])) for at in range(0, len(runs) - 1, 2)]
        runs = pairs + runs[2 * len(pairs) :]
    return runs[0]


@njit
def _merge(
    first: Run, second: Run
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    most = len(first.symbols) + len(second.symbols)
    symbols, offsets = np.empty(most, np.int64), np.zeros(most + 1, np.int64)
    topics = np.empty(len(first.topics) + len(second.topics), np.uint32)
    sweeps = np.empty(len(topics), np.int64)
    i, j, rows = np.int64(0), np.int64(0), np.int64(0)
    to: Whole = np.int64(0)
    while i < len(first.symbols) or j < len(second.symbols):
        in_first = j == len(second.symbols) or (i < len(first.symbols) and first.symbols[i] <= second.symbols[j])
        in_second = i == len(first.symbols) or (j < len(second.symbols) and second.symbols[j] <= first.symbols[i])
        symbols[rows] = first.symbols[i] if in_first else second.symbols[j]
        a, a_end = (first.offsets[i], first.offsets[i + 1]) if in_first else (np.int64(0), np.int64(0))
        b, b_end = (second.offsets[j], second.offsets[j + 1]) if in_second else (np.int64(0), np.int64(0))
        to = _merge_rows(first, a, a_end, second, b, b_end, topics, sweeps, to)
        i += in_first
        j += in_second
        rows += 1
        offsets[rows] = to
    return symbols[:rows].copy(), offsets[: rows + 1].copy(), topics[:to].copy(), sweeps[:to].copy()


@inner
def _merge_rows(
    first: Run, a: Whole, a_end: Whole, second: Run, b: Whole, b_end: Whole, topics: NDArray[np.uint32],
    sweeps: NDArray[np.int64], to: Whole,
) -> Whole:  # fmt: skip
    while a < a_end or b < b_end:
        from_first = b == b_end or (a < a_end and first.topics[a] <= second.topics[b])
        from_second = a == a_end or (b < b_end and second.topics[b] <= first.topics[a])
        topics[to] = first.topics[a] if from_first else second.topics[b]
        sweeps[to] = (first.sweeps[a] if from_first else 0) + (second.sweeps[b] if from_second else 0)
        a += from_first
        b += from_second
        to += 1
    return to


class Blend(NamedTuple):
    """How old and new parameters are combined."""

    keep: float  # of old parameters: 1 − ρ
    gain: float  # of one counted sweep: ρ/(S − B), and what the updates are scaled by
    threshold: float


class Change(NamedTuple):
    """The number of parameters of a model, and of new and dropped ones."""

    parameters: int
    gained: int
    dropped: int


class Joined(NamedTuple):
    """A table of the next model: offsets, and files of topics and of values λ̂."""

    offsets: NDArray[np.int64]
    topics: Path
    values: Path
    change: Change


def interpolate(
    model: Model,
    updates: dict[str, list[Run]],
    blend: Blend,
    scratch: Path,
    target: Path,
    *,
    knowledge_path: str,
    iteration: int,
) -> Model:
    """Write the next model to `target`; `scratch` is a directory on the same disk."""
    scratch.mkdir(parents=True, exist_ok=True)
    tables = {WORDS: model.words, MENTIONS: model.mentions}
    joined = {kind: join(table, updates[kind], blend, scratch / kind) for kind, table in tables.items()}
    return next_model(model, joined, target, knowledge_path=knowledge_path, iteration=iteration)


def next_model(model: Model, joined: dict[str, Joined], target: Path, *, knowledge_path: str, iteration: int) -> Model:
    """Write the next model."""
    with model.derive(target, overwrite=True) as writer:
        for kind, made in joined.items():
            writer.adopt(kind, made.offsets, made.topics, made.values)
        knowledge = {"identity": model.knowledge_identity, "path": knowledge_path}
        change = Change(*map(sum, zip(*(made.change for made in joined.values()), strict=True)))
        return writer.derived(iteration=iteration, method=LDA, change=change._asdict(), knowledge=knowledge)


def join(table: Parameters, runs: list[Run], blend: Blend, scratch: Path) -> Joined:
    """Write one table of the next model."""
    topics = GrowingArray(scratch.with_suffix(".topics.npy"), np.uint32)
    values = GrowingArray(scratch.with_suffix(".values.npy"), np.float32)
    lengths = np.zeros(table.symbols + 1, np.int64)
    gained = dropped = 0
    for first, last in chunks(table.offsets):
        old = table.between(first, last)
        update = add_up([run.between(first, last) for run in runs])
        made, new_topics, new_values, more, less = blend_rows(old, update, first, blend)
        lengths[first + 1 : last + 1] = made
        topics.append(new_topics)
        values.append(new_values)
        gained, dropped = gained + more, dropped + less
    offsets = np.cumsum(lengths)
    return Joined(offsets, topics.finish(), values.finish(), Change(int(offsets[-1]), int(gained), int(dropped)))


@njit
def blend_rows(
    old: Parameters, update: Run, first: Whole, blend: Blend
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32], Whole, Whole]:
    """Return the new rows of some symbols, the first of which is number `first`."""
    lengths = np.zeros(len(old.offsets) - 1, np.int64)
    topics = np.empty(len(old.topics) + len(update.topics), np.uint32)
    values = np.empty(len(topics), np.float32)
    row, gained, dropped = np.int64(0), np.int64(0), np.int64(0)
    to: Whole = np.int64(0)
    for symbol in range(len(lengths)):
        a, a_end = old.offsets[symbol], old.offsets[symbol + 1]
        b, b_end = np.int64(0), np.int64(0)
        if row < len(update.symbols) and update.symbols[row] == first + symbol:
            b, b_end = update.offsets[row], update.offsets[row + 1]
            row += 1
        end, more, less = _blend_row(old, a, a_end, update, b, b_end, blend, topics, values, to)
        gained, dropped, lengths[symbol] = gained + more, dropped + less, end - to
        to = end
    return lengths, topics[:to].copy(), values[:to].copy(), gained, dropped


@inner
def _blend_row(
    old: Parameters, a: Whole, a_end: Whole, update: Run, b: Whole, b_end: Whole, blend: Blend,
    topics: NDArray[np.uint32], values: NDArray[np.float32], to: Whole,
) -> tuple[Whole, Whole, Whole]:  # fmt: skip
    start: Whole = to
    gained: Whole = np.int64(0)
    dropped: Whole = np.int64(0)
    best, best_at = np.float32(-1), np.int64(-1)  # the largest of those dropped
    best_old: Whole = True
    while a < a_end or b < b_end:
        in_old: Whole = b == b_end or (a < a_end and old.topics[a] <= update.topics[b])
        in_new = a == a_end or (b < b_end and update.topics[b] <= old.topics[a])
        value = 0.0
        if in_old:
            value += blend.keep * np.float64(old.values[a])
        if in_new:
            value += blend.gain * np.float64(update.sweeps[b])
        single = np.float32(value)
        if single >= blend.threshold and single > 0:
            topics[to], values[to] = old.topics[a] if in_old else update.topics[b], single
            to += 1
            gained += not in_old
        else:
            dropped += in_old
            if single > best:
                best, best_at, best_old = single, a if in_old else b, in_old
        a += in_old
        b += in_new
    if to == start and best > 0:  # a symbol keeps its last parameter
        topics[to], values[to] = old.topics[best_at] if best_old else update.topics[best_at], best
        to += 1
        gained += not best_old
        dropped -= best_old
    return to, gained, dropped
