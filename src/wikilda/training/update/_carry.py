"""Carry learned parameters over to newer knowledge.

A parameter that training has raised above its value at t = 0 keeps its gain; one that it has lowered is lowered in
proportion. Parameters of removed topics, strings and words are dropped.
"""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import offsets_of
from wikilda._core.artifact import MANIFEST
from wikilda.knowledge.account import HTML_FILE, JSON_FILE
from wikilda.knowledge.context_counts import topic_types
from wikilda.knowledge.diff import Comparison
from wikilda.knowledge.knowledge import Table
from wikilda.model import Model, ModelWriter, create_model
from wikilda.model.create import initial
from wikilda.model.model import BASE, MENTIONS, WORDS, NilCounts, Parameters

_OF_KNOWLEDGE = ("knowledge", "settings", "summary", "iteration", "method")  # fields that the new model has itself
_NO_TOTALS = np.empty(0, np.int64)


class _Pairs(NamedTuple):
    """A sparse table: symbol · topics + topic of each parameter, sorted, and the values."""

    keys: NDArray[np.int64]
    values: NDArray[np.float64]


def carry(old: Model, compared: Comparison, target: Path) -> Model:
    """Write a model of the newer knowledge with the learned parameters of the old one."""
    after = compared.after
    made = create_model(after, target.with_name(f"{target.name}.init"), old.settings)
    more = {name: value for name, value in old.manifest.items() if name not in (*_OF_KNOWLEDGE, *made.manifest)}
    with made.derive(target) as writer:
        writer.weights(old.weights)
        if old.iteration:
            _carry_tables(old, compared, writer)
        carried = writer.derived(iteration=old.iteration, method=old.method, **more)
    shutil.rmtree(made.path)
    for file in old.path.iterdir():
        if file.is_file() and file.name not in (MANIFEST, JSON_FILE, HTML_FILE) and not (target / file.name).exists():
            shutil.copyfile(file, target / file.name)
    return carried


def _carry_tables(old: Model, compared: Comparison, writer: ModelWriter) -> None:
    before, after, settings = compared.before, compared.after, old.settings
    words = (before.word_totals, after.word_totals, settings.mass_words)
    mentions = (_NO_TOTALS, _NO_TOTALS, settings.mass_mentions)
    topics = compared.topics, len(after.titles)
    for kind, learned, tables, strings, (old_totals, new_totals, mass) in (
        (WORDS, old.words, (before.words, after.words), compared.words, words),
        (MENTIONS, old.mentions, (before.mentions, after.mentions), compared.mentions, mentions),
        (BASE, old.base, (before.mentions, after.mentions), compared.mentions, mentions),
    ):
        if kind == BASE and not old.has(f"{BASE}/offsets"):
            continue
        was, now = _initial(tables[0], old_totals, mass), _initial(tables[1], new_totals, mass)
        merged = _merged(
            _pairs(learned, strings, *topics), _pairs(was, strings, *topics),
            _pairs(now, np.arange(now.symbols), np.arange(topics[1]), topics[1]),
        )  # fmt: skip
        _write(writer, kind, merged, now.symbols, topics[1])
    if old.nil is not None:
        symbols = compared.mentions[old.nil.symbols]
        order = np.argsort(symbols)[(symbols < 0).sum() :]
        writer.nil(NilCounts(symbols[order], old.nil.nil[order], old.nil.texts[order]))
    if old.contexts is not None:  # the same type words, of other topics
        writer.contexts(
            old.contexts._replace(types=topic_types(after.titles, after.sentences, old.contexts.types.hashes))
        )


def _initial(table: Table, totals: NDArray[np.int64], mass: float) -> Parameters:
    """λ̂ at t = 0."""
    values = initial(table, totals, mass)
    return Parameters(np.asarray(table.offsets), np.asarray(table.topics), values)


def _pairs(table: Parameters, symbols: NDArray[np.int64], topics: NDArray[np.int64], count: int) -> _Pairs:
    """The parameters of symbols and topics that still exist, under their new numbers."""
    rows = np.repeat(symbols, np.diff(table.offsets))
    columns = topics[np.asarray(table.topics)]
    kept = (rows >= 0) & (columns >= 0)
    keys = rows[kept] * count + columns[kept]
    order = np.argsort(keys)
    return _Pairs(keys[order], np.asarray(table.values)[kept][order].astype(np.float64))


def _merged(learned: _Pairs, was: _Pairs, now: _Pairs) -> _Pairs:
    """The new values at t = 0 with what training has changed."""
    keys = np.union1d(learned.keys, now.keys)
    is_there = [np.isin(keys, each.keys) for each in (learned, was, now)]
    values = np.zeros((3, len(keys)))
    for at, each in enumerate((learned, was, now)):
        mine = np.isin(each.keys, keys)
        values[at, np.searchsorted(keys, each.keys[mine])] = each.values[mine]
    trained, before, fresh = values
    gained = fresh + np.maximum(trained - before, 0.0)
    lowered = fresh * np.divide(trained, before, out=np.ones(len(keys)), where=before > 0)
    found = np.where(is_there[1] & (trained < before), lowered, np.where(is_there[0], gained, fresh))
    found = np.where(is_there[0] | is_there[2], found, 0.0)
    kept = found > 0
    return _Pairs(keys[kept], found[kept])


def _write(writer: ModelWriter, kind: str, pairs: _Pairs, symbols: int, topics: int) -> Any:
    rows, columns = np.divmod(pairs.keys, topics)
    table = writer.table(kind, offsets_of(np.bincount(rows, minlength=symbols)))
    table.topics[:] = columns
    table.values[:] = pairs.values
