"""The model at t = 0: λ̂ = mass · P(k|v), from the counts in the knowledge."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import COPIED, njit, tier
from wikilda.knowledge import Knowledge
from wikilda.knowledge.knowledge import Table
from wikilda.model.model import MENTIONS, WORDS, Model, Parameters
from wikilda.model.settings import PRESETS, ModelSettings
from wikilda.model.writer import ModelWriter, chunks


def create_model(
    knowledge: Knowledge,
    target: str | Path,
    settings: ModelSettings = PRESETS["default"],
    *,
    overwrite: bool = False,
) -> Model:
    """Make an untrained model from knowledge: `wikilda init`.

    Parameters
    ----------
    knowledge
        The knowledge, as `Knowledge.open` gives it.
    target
        The directory to write.
    settings
        The masses of λ̂ and the priors α and β.
    overwrite
        Whether to replace a model that exists.
    """
    tier.expect_files([knowledge.path], COPIED)
    topics = len(knowledge.page_ids)
    with ModelWriter(target, topics, overwrite=overwrite) as writer:
        words = writer.table(WORDS, knowledge.words.offsets)
        _fill(words, knowledge.words, knowledge.word_totals, settings.mass_words)
        mentions = writer.table(MENTIONS, knowledge.mentions.offsets)
        _fill(mentions, knowledge.mentions, np.empty(0, np.int64), settings.mass_mentions)
        writer.share_contexts(knowledge)
        return writer.finish(
            settings,
            popularity_of(knowledge.mentions, topics),
            knowledge=knowledge.identity,
            knowledge_path=relative_hint(knowledge.path, Path(target)),
        )


def popularity_of(mentions: Table, topics: int) -> NDArray[np.float32]:
    """How often topics are mentioned, plus one, with a mean of 1."""
    counts = np.ones(topics, np.float64)
    step = max(1 << 20, topics)  # otherwise time grows with topics times mentions
    for start in range(0, len(mentions.topics), step):
        span = slice(start, start + step)
        counts += np.bincount(mentions.topics[span], mentions.counts[span], minlength=topics)
    return (counts / counts.mean()).astype(np.float32) if topics else counts.astype(np.float32)


def initial(table: Table, totals: NDArray[np.int64], mass: float) -> NDArray[np.float32]:
    """λ̂ at t = 0 of a whole table."""
    values = np.empty(len(table.topics), np.float32)
    _fill(Parameters(table.offsets, np.empty(len(table.topics), np.uint32), values), table, totals, mass)
    return values


def _fill(into: Parameters, table: Table, totals: NDArray[np.int64], mass: float) -> None:
    for first, last in chunks(table.offsets):
        start, end = int(table.offsets[first]), int(table.offsets[last])
        if start == end:
            continue
        into.topics[start:end] = table.topics[start:end]
        offsets = np.asarray(table.offsets[first : last + 1]) - start
        whole = np.asarray(totals[first:last], np.int64) if len(totals) else np.zeros(last - first, np.int64)
        into.values[start:end] = shares(offsets, np.asarray(table.counts[start:end]), whole, mass)


@njit
def shares(
    offsets: NDArray[np.int64], counts: NDArray[np.uint32], totals: NDArray[np.int64], mass: float
) -> NDArray[np.float32]:
    """Mass · count(v, k) / count(v); where count(v) is not given, it is the sum of the row."""
    shares = np.empty(len(counts), np.float32)
    for symbol in range(len(totals)):
        total = totals[symbol]
        if total == 0:
            for at in range(offsets[symbol], offsets[symbol + 1]):
                total += np.int64(counts[at])
        for at in range(offsets[symbol], offsets[symbol + 1]):
            shares[at] = np.float32(mass * np.float64(counts[at]) / np.float64(max(total, 1)))
    return shares


def relative_hint(knowledge: Path, model: Path) -> str:
    """Return the path from the model's directory to the knowledge, so that both can move together."""
    try:
        return os.path.relpath(knowledge.resolve(), model.resolve())
    except ValueError:  # on another drive
        return str(knowledge.resolve())
