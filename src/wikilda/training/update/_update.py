"""`wikilda update`: new pages, entities and names in a model, without building it anew.

Old parameters stay as they are. New pairs get λ̂ = mass · P(k|v), as at t = 0. Then the changed texts are sampled a
few times, with the old model as the prior: λ̂ = λ̂_old + Σ_d λ̂^d over them (Eq. 2 for a corpus that has grown); by the
urn, unless the model was trained for the lda.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikilda._core.artifact import check_target
from wikilda._core.atomic import place_directory, work_directory
from wikilda._core.compression import uncompressed_suffix
from wikilda._core.errors import InputError
from wikilda._core.jit import COPIED, tier
from wikilda.knowledge import Knowledge
from wikilda.model import Model, ModelWriter, Parameters
from wikilda.model.build import INSIDE
from wikilda.model.context_counts import topic_types
from wikilda.model.model import BASE, LDA, MENTIONS, PAIRS, WORDS, NilCounts
from wikilda.training.checkpoints import Checkpoint
from wikilda.training.corpus import Corpus, make_corpus
from wikilda.training.engines.base import Job
from wikilda.training.engines.local import LocalEngine
from wikilda.training.interpolate import Blend
from wikilda.training.pipeline import train
from wikilda.training.settings import PRESETS, LdaTraining, UrnTraining
from wikilda.training.shard import Task
from wikilda.training.update._changes import Changes, read_changes
from wikilda.training.update._knowledge import Change, Mapping, update_knowledge
from wikilda.training.update._merge import Rows, delta_of, merge_rows


@dataclass(frozen=True)
class Updated:
    """A model and the knowledge that it now belongs to."""

    model: Model
    knowledge: Knowledge
    changes: Changes


def update(
    model: str | Path,
    files: str | Path | Sequence[str | Path],
    target: str | Path,
    settings: LdaTraining = PRESETS["default"],
    *,
    knowledge: str | Path | None = None,
    steps: int = 2,
    workers: int = 1,
    overwrite: bool = False,
) -> Updated:
    """Add pages, entities and names to a model without a rebuild: `wikilda update`.

    Parameters
    ----------
    model, knowledge
        As in `Linker.open`.
    files
        MediaWiki exports of added or changed pages, or lists of entities, as for `build`.
    target
        The model to write; it has its knowledge inside.
    settings
        How changed texts are sampled.
    steps
        Training steps on the changed texts.
    workers
        Processes.
    overwrite
        Whether to replace a model that exists.

    Returns
    -------
    Updated
        The model, its knowledge, and what was changed.
    """
    old, target = Model.open(model), Path(target)
    tier.expect_files([old.path], COPIED)
    paths = [Path(each) for each in ([files] if isinstance(files, str | Path) else files)]
    known = old.knowledge(knowledge)
    check_target(target, overwrite=overwrite)
    with work_directory(target, "updating", {}, restart=True, keep=False) as work:
        changes = read_changes(paths, known)
        if not changes.entities and not changes.mentions:
            raise InputError(f"{', '.join(map(str, paths))}: nothing in there is new.")
        made, mapping = update_knowledge(known, changes, work / "kb", [file.name for file in paths])
        hint = str((work / "kb").resolve())
        grown = _grow(old, known, made, mapping, work / "model", hint)
        pages = [each for each in paths if uncompressed_suffix(each) == ".xml"]
        if steps and pages and changes.words and grown.method == LDA:
            grown = _sample(grown, made, pages, settings, steps, workers, work)
        elif steps and pages and changes.words:
            grown = _learn(grown, pages, workers, work)
        made.path.rename(grown.path / INSIDE)
        grown.redirect(INSIDE)
        place_directory(grown.path, target)
    return Updated(Model.open(target), Knowledge.open(target), changes)


def _grow(old: Model, before: Knowledge, after: Knowledge, mapping: Mapping, target: Path, hint: str) -> Model:
    """The old parameters under their new numbers, and those of new pairs."""
    topics, settings = mapping.topics, old.settings
    totals = np.asarray(after.word_totals, np.float64)
    rows = np.asarray(after.mentions.offsets)
    mention_totals = {
        row: float(after.mentions.counts[rows[row] : rows[row + 1]].sum()) for row, _ in mapping.mention_changes
    }
    words = {pair: settings.mass_words * n / totals[pair[0]] for pair, n in mapping.word_changes.items()}
    mentions = {
        pair: settings.mass_mentions * n / max(mention_totals[pair[0]], 1.0)
        for pair, n in mapping.mention_changes.items()
    }
    with ModelWriter(target, topics.size) as writer:
        _fill(writer, WORDS, old.words, np.arange(old.words.symbols), mapping, words)
        _fill(writer, MENTIONS, old.mentions, mapping.mentions.old_of_new, mapping, mentions)
        if old.has(f"{BASE}/offsets"):
            _fill(writer, BASE, old.base, mapping.mentions.old_of_new, mapping, mentions)
        if old.pairs is not None:
            _fill(writer, PAIRS, old.pairs, topics.old_of_new, mapping, {})
        if old.nil is not None:
            writer.nil(_renumbered(old.nil, mapping.mentions.new_of_old))
        popularity = np.empty(topics.size, np.float32)
        popularity[topics.new_of_old] = old.popularity
        popularity[topics.places] = _popularity(before, mapping)
        if old.contexts is not None:  # the same type words, of more topics
            writer.contexts(old.contexts._replace(types=topic_types(after, old.contexts.types.hashes)))
        return writer.finish(
            settings, popularity, iteration=old.iteration, method=old.method, knowledge=after.identity,
            knowledge_path=hint,
        )  # fmt: skip


def _learn(grown: Model, files: list[Path], workers: int, work: Path) -> Model:
    """What the changed texts teach; the grown model is the prior."""
    how = UrnTraining(held_out=0.0, evaluated=0)
    try:
        return train(grown.path, files, work / "learned", how, workers=workers)
    except InputError:  # entities without texts, or texts that were known
        return grown


def _renumbered(nil: NilCounts, new_of_old: NDArray[np.int64]) -> NilCounts:
    """What was learned of NIL, under the new numbers of strings."""
    symbols = new_of_old[nil.symbols]
    order = np.argsort(symbols)
    return NilCounts(symbols[order], nil.nil[order], nil.texts[order])


def _fill(
    writer: ModelWriter, kind: str, table: Parameters, rows: NDArray[np.int64], mapping: Mapping, changes: Change
) -> None:
    merged = merge_rows(Rows(*table), rows, mapping.topics.new_of_old, delta_of(changes), np.float32)
    into = writer.table(kind, merged[0])
    merged[1].into(into.topics, into.values)


def _popularity(before: Knowledge, mapping: Mapping) -> NDArray[np.float32]:
    """Of new topics, on the scale that the old ones have."""
    mean = (float(before.mentions.counts.sum(dtype=np.float64)) + len(before.page_ids)) / len(before.page_ids)
    counts = np.ones(mapping.topics.size, np.float64)
    for (_, topic), count in mapping.mention_changes.items():
        counts[topic] += count
    return (counts[mapping.topics.places] / mean).astype(np.float32)


def _sample(
    grown: Model,
    knowledge: Knowledge,
    files: list[Path],
    settings: LdaTraining,
    steps: int,
    workers: int,
    work: Path,
) -> Model:
    """A few steps on the changed texts; counts are added to the old parameters, which do not shrink."""
    try:
        corpus: Corpus = make_corpus(files, knowledge.path, work / "corpus", workers=workers)
    except InputError:  # entities without texts
        return grown
    blend = Blend(1.0, 1.0 / (settings.sweeps - settings.burn_in), 0.0)
    plan = LdaTraining(rho_local=0.0, held_out=0.0, evaluated=0, sweeps=settings.sweeps, burn_in=settings.burn_in)
    engine, current = LocalEngine(workers), grown
    try:
        for step in range(1, steps + 1):
            place = Checkpoint(work / f"step-{step}", max(corpus.documents // 1000, 1))
            task = Task(grown.iteration + step, corpus.documents, plan)
            for _ in engine.sample(Job(current, grown, knowledge.path.resolve(), corpus, task, place, None)):
                pass
            still = Task(grown.iteration, corpus.documents, plan)
            base = Job(grown, grown, knowledge.path.resolve(), corpus, still, place, None)
            current = engine.interpolate(base, blend, place.path / "model")
    finally:
        engine.close()
    return current
