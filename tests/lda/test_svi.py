"""A shard's copy of the parameters: held to dense arrays, updated the slow way."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import digamma

from tests.lda.conftest import make_world
from wikilda._core.jit import njit
from wikilda.lda.counts import Counts
from wikilda.lda.expected_phi import prepare
from wikilda.lda.svi import Copy, Prior, Step, Table, exp_digamma
from wikilda.model import Model, ModelSettings
from wikilda.training.corpus import Documents
from wikilda.training.shard import form_shard


@njit
def exp_digammas(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([exp_digamma(value) for value in values])


def test_exp_digamma_is_what_it_says() -> None:
    x = np.geomspace(2e-3, 1e6, 20_000)
    np.testing.assert_allclose(exp_digammas(x), np.exp(digamma(x)), rtol=4e-7)
    assert exp_digammas(np.array([1e-7]))[0] == 0.0


def copies(model: Model, *, shrink_sums: bool = True) -> tuple[Copy, Copy]:
    """Copies of all rows of a model."""
    words, mentions = np.arange(model.words.symbols), np.arange(model.mentions.symbols)
    bounds = np.array([0, len(words)]), np.array([0, len(mentions)])
    of_the_urn = np.zeros(1, np.uint64), np.zeros(len(mentions), np.uint32), np.zeros(0, np.uint64)
    documents = Documents(
        np.zeros(1, np.uint64), bounds[0], words.astype(np.uint32), bounds[1], mentions.astype(np.uint32), *of_the_urn
    )
    shard = form_shard(documents, model)
    settings, made = model.settings, []
    popularity = model.popularity if settings.asymmetric else np.empty(0, np.float32)
    for table, sums, beta in (
        (shard.words, model.word_sums, settings.beta_words),
        (shard.mentions, model.mention_sums, settings.beta_mentions),
    ):
        mass = beta * len(table.symbols)
        prior = Prior(beta, mass, float(digamma(mass + sums).min()))
        made.append(Copy(table, sums, prior, popularity, shrink_sums=shrink_sums))
    return made[0], made[1]


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize(("beta", "scale"), [(0.3, 5.0), (1e-3, 1.0), (1e-4, 1e-3), (1e-7, 1e-3)])
def test_at_first_the_weights_are_those_of_the_model(
    tmp_path: Path, beta: float, scale: float, asymmetric: bool
) -> None:
    settings = ModelSettings(1, 1, beta, beta, 0.1, asymmetric)
    world = make_world(tmp_path / "model", settings, scale=scale)
    weights = prepare(world.model)
    for copy, rows in zip(copies(world.model), (weights.words, weights.mentions), strict=True):
        mine = copy.weigh(np.arange(len(copy.table.symbols))).rows
        np.testing.assert_array_equal(mine.topics, rows.topics)
        np.testing.assert_array_equal(mine.offsets, rows.offsets)
        np.testing.assert_allclose(mine.weights, rows.weights, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(mine.priors, rows.priors, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(mine.smoothing, rows.smoothing, rtol=1e-5)


def counts_of(dense: NDArray[np.int64]) -> Counts:
    """Counts of all symbols, by symbol."""
    rows, topics = np.nonzero(dense)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(dense))))).astype(np.int64)
    return Counts(offsets, topics.astype(np.uint32), np.full(len(rows), -1, np.int32), dense[rows, topics])


def dense_of(copy: Copy, topics: int, scale: float | None = None) -> NDArray[np.float64]:
    """λ̂ as the copy has it now."""
    weighed = copy.weigh(np.arange(len(copy.table.symbols))).parameters
    table = np.zeros((weighed.symbols, topics))
    rows = np.repeat(np.arange(weighed.symbols), np.diff(weighed.offsets))
    table[rows, weighed.topics] = weighed.values * (copy.scale if scale is None else scale)
    return table


@pytest.mark.parametrize("shrink_sums", [True, False])
def test_updates_are_those_of_line_10(tmp_path: Path, shrink_sums: bool) -> None:
    world = make_world(tmp_path / "model", ModelSettings(1, 1, 0.1, 0.1, 0.1, asymmetric=False))
    copy = copies(world.model, shrink_sums=shrink_sums)[0]
    lambdas = world.reference.values["words"].copy()
    sums, rng = lambdas.sum(0), np.random.default_rng(3)
    tally = np.zeros(lambdas.shape, np.int64)
    for turn in range(60):
        step = Step(0.3, 0.3 * 1.7)
        copy.begin(step)
        found = np.zeros(lambdas.shape, np.int64)
        for _ in range(1 + turn % 3):
            one = rng.integers(0, 5, lambdas.shape) * (rng.random(lambdas.shape) < 0.1)
            copy.add(counts_of(one), 0, np.arange(len(one)), step)
            found += one
        copy.end(step)
        tally += found
        lambdas = (1 - step.rho) * lambdas + step.worth * found
        seen = found.sum(0) > 0
        sums = np.where(seen | shrink_sums, (1 - step.rho) * sums + step.worth * found.sum(0), sums)
        np.testing.assert_allclose(dense_of(copy, world.reference.topics), lambdas, rtol=1e-5, atol=1e-9)
        np.testing.assert_allclose(copy.sums * (copy.scale if shrink_sums else 1.0), sums, rtol=1e-9)
    symbols, topics, sweeps = copy.counted()
    counted = np.zeros_like(tally)
    counted[symbols, topics] = sweeps
    assert len(copy.beside.rows) > 0
    np.testing.assert_array_equal(counted, tally)
    assert copy.scale > 1e-5, "the scale is taken into the numbers before it underflows"


def test_weights_after_updates_are_those_of_the_parameters(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings(1, 1, 0.2, 0.2, 0.1, asymmetric=False))
    copy = copies(world.model)[0]
    step = Step(0.2, 0.5)
    one = np.random.default_rng(1).integers(0, 3, world.reference.values["words"].shape)
    copy.begin(step)
    copy.add(counts_of(one), 0, np.arange(len(one)), step)
    copy.end(step)
    lambdas, rows = dense_of(copy, 12), copy.weigh(np.arange(len(one))).rows
    norms = digamma(0.2 * len(one) + lambdas.sum(0))
    for symbol in range(len(one)):
        topics = rows.topics[rows.offsets[symbol] : rows.offsets[symbol + 1]]
        mine = rows.weights[rows.offsets[symbol] : rows.offsets[symbol + 1]].astype(np.float64)
        expected = (np.exp(digamma(0.2 + lambdas[symbol, topics])) - np.exp(digamma(0.2))) / np.exp(norms[topics])
        if len(topics):
            np.testing.assert_allclose(mine / mine.max(), expected / expected.max(), rtol=1e-4, atol=1e-6)


def test_a_table_is_not_changed_by_weighing(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings())
    table: Table = copies(world.model)[0].table
    before = table.values.copy()
    copies(world.model)[0].weigh(np.arange(3))
    np.testing.assert_array_equal(before, table.values)
