"""`wikilda update`: a newer dump, or lists of entities, for a model that exists.

With a newer dump the model gets the knowledge that a build from this dump makes; pages that have not changed are taken
from the pieces that the model keeps. What training has learned is carried over (`_carry.py`). Lists of entities add
rows to the tables: old parameters stay as they are, and new pairs get λ̂ = mass · P(k|v), as at t = 0. The lists are
kept, and added again after an update with a dump.
"""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikilda._core.artifact import check_target
from wikilda._core.atomic import place_directory, work_directory
from wikilda._core.compression import uncompressed_suffix
from wikilda._core.errors import InputError, Report
from wikilda._core.jit import COPIED, PARSED, tier
from wikilda.knowledge import Knowledge, Resources, build_from_dump
from wikilda.knowledge.base import PIECES, Base
from wikilda.knowledge.context_counts import topic_types
from wikilda.knowledge.diff import MAP_FILE, Comparison, Diff
from wikilda.knowledge.entities import ENDINGS
from wikilda.model import Model, ModelWriter, Parameters
from wikilda.model.model import BASE, MENTIONS, WORDS, NilCounts
from wikilda.training.build import INSIDE, place_report
from wikilda.training.update._carry import carry
from wikilda.training.update._changes import read_changes
from wikilda.training.update._knowledge import Change, Mapping, update_knowledge
from wikilda.training.update._merge import Rows, delta_of, merge_rows

_NUMBER = re.compile(r"^\d{3}-")
_LISTS = "lists"  # where knowledge keeps the lists of entities that it was updated with


@dataclass(frozen=True)
class Updated:
    """A model and the knowledge that it now belongs to, what was read, and what differs."""

    model: Model
    knowledge: Knowledge
    report: Report
    diff: Diff


def update(
    model: str | Path,
    files: str | Path | Sequence[str | Path],
    target: str | Path,
    *,
    knowledge: str | Path | None = None,
    changes: bool | None = None,
    page_props: str | Path | None = None,
    instances: str | Path | None = None,
    workers: int | None = None,
    memory: str = "1GB",
    overwrite: bool = False,
) -> Updated:
    """Bring a model up to date with a newer dump, or add lists of entities: `wikilda update`.

    The model has the knowledge that `build` makes from the newer dump, and what the old one had learned from texts.
    The old model is not changed.

    Parameters
    ----------
    model, knowledge
        As in `Linker.open`.
    files
        A newer MediaWiki dump or its parts, or lists of entities as for `build`, or both.
    target
        The model to write; it has its knowledge inside.
    changes
        Whether the dump has only pages that were added or changed, so that all others stay. By default a dump with
        fewer than half of the model's pages is one of changes.
    page_props, instances
        As in `build`; by default those of the old model.
    workers, memory
        As in `build`.
    overwrite
        Whether to replace a model that exists.

    Returns
    -------
    Updated
        The model, its knowledge, what was read, and what differs.
    """
    old, target = Model.open(model), Path(target)
    dumps, lists = _sorted([Path(each) for each in ([files] if isinstance(files, str | Path) else files)])
    tier.expect_files(dumps, PARSED)
    tier.expect_files([old.path], COPIED)
    known = old.knowledge(knowledge)
    _check_targets(target, old, known, overwrite=overwrite)
    resources = Resources(workers, memory) if workers else Resources(memory=memory)
    with work_directory(target, "updating", {}, restart=True, keep=False) as work:
        report, made, at = Report(), old, known
        if dumps:
            given = [Path(each) if each is not None else None for each in (page_props, instances)]
            at = _rebuild(known, dumps, work / "dump", changes, given, resources, report)
            made = carry(old, Comparison(known, at), work / "carried")
            lists = [*_kept_lists(known), *lists]
        if lists:
            made, at = _add_lists(made, at, lists, work, report)
        compared = Comparison(known, at)
        diff = compared.diff()
        diff.save(made.path)
        compared.save_map(made.path / MAP_FILE)
        at.path.rename(made.path / INSIDE)
        place_report(made.path)
        made.redirect(INSIDE)
        place_directory(made.path, target)
    return Updated(Model.open(target), Knowledge.open(target), report, diff)


def _sorted(files: list[Path]) -> tuple[list[Path], list[Path]]:
    """Divide files into dumps and lists of entities."""
    if not files:
        raise InputError("there is nothing to update with. Give a dump or a list of entities.")
    for path in files:
        if not path.is_file():
            raise InputError(f"{path}: no such file. Check the path.")
        if uncompressed_suffix(path) not in (".xml", *ENDINGS) and ".xml-" not in path.name:
            raise InputError(
                f"{path}: is neither a dump nor a list of entities. "
                f"Use a file that ends in .xml or {', '.join(ENDINGS)}."
            )
    lists = [path for path in files if uncompressed_suffix(path) in ENDINGS]
    return [path for path in files if path not in lists], lists


def _check_targets(target: Path, old: Model, known: Knowledge, *, overwrite: bool) -> None:
    check_target(target, overwrite=overwrite)
    if target.exists() and target.resolve() in (old.path.resolve(), known.path.resolve()):
        raise InputError(f"{target}: is the model that is updated. Write the new one to another directory.")


def _rebuild(
    known: Knowledge, dumps: list[Path], target: Path, changes: bool | None, given: list[Path | None],
    resources: Resources, report: Report,
) -> Knowledge:  # fmt: skip
    """The knowledge of a newer dump, from the old pieces where pages have not changed."""
    base = Base(known, changes)
    props, instances = given
    made = build_from_dump(
        dumps, target, known.settings, page_props=props, instances=instances, resources=resources, base=base
    )
    report.counts |= base.counts
    report.examples += made.complaints
    return made


def _kept_lists(known: Knowledge) -> list[Path]:
    return sorted((known.path / _LISTS).glob("*"))


def _add_lists(made: Model, at: Knowledge, lists: list[Path], work: Path, report: Report) -> tuple[Model, Knowledge]:
    """Add entities and names. The lists and the pieces are kept with the knowledge."""
    changes = read_changes(lists, at)
    report.add(changes.report)
    after, mapping = update_knowledge(at, changes, work / "listed", [file.name for file in lists])
    grown = _grow(made, at, after, mapping, work / "grown", str((work / "listed").resolve()))
    _take_along(at.path / PIECES, after.path / PIECES)
    earlier = _kept_lists(at)
    (after.path / _LISTS).mkdir()
    for number, file in enumerate([*earlier, *lists]):
        shutil.copyfile(file, after.path / _LISTS / f"{number:03d}-{_NUMBER.sub('', file.name)}")
    return grown, after


def _take_along(folder: Path, target: Path) -> None:
    """Link the files of a folder, or copy them where links are not possible."""
    if folder.is_dir():
        shutil.copytree(folder, target, copy_function=_share)


def _share(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _grow(old: Model, before: Knowledge, after: Knowledge, mapping: Mapping, target: Path, hint: str) -> Model:
    """Write the old parameters under their new numbers, and those of new pairs."""
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
        if old.nil is not None:
            writer.nil(_renumbered(old.nil, mapping.mentions.new_of_old))
        popularity = np.empty(topics.size, np.float32)
        popularity[topics.new_of_old] = old.popularity
        popularity[topics.places] = _popularity(before, mapping)
        writer.weights(old.weights)
        if old.contexts is not None:  # the same type words, of more topics
            writer.contexts(
                old.contexts._replace(types=topic_types(after.titles, after.sentences, old.contexts.types.hashes))
            )
        return writer.finish(
            settings, popularity, iteration=old.iteration, method=old.method, knowledge=after.identity,
            knowledge_path=hint, more={"learned": old.learned_weights},
        )  # fmt: skip


def _renumbered(nil: NilCounts, new_of_old: NDArray[np.int64]) -> NilCounts:
    """Return the counts of NIL under the new numbers of strings."""
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
    """Return the popularity of topics, new ones on the scale of the old ones."""
    mean = (float(before.mentions.counts.sum(dtype=np.float64)) + len(before.page_ids)) / len(before.page_ids)
    counts = np.ones(mapping.topics.size, np.float64)
    for (_, topic), count in mapping.mention_changes.items():
        counts[topic] += count
    return (counts[mapping.topics.places] / mean).astype(np.float32)
