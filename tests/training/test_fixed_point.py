"""Where training leads: the preset `default` to the batch update of Eq. 2, `paper` to an M-th of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.training.toys import batch_update, dense, write_corpus, write_toy
from wikilda.model import ModelSettings
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import train
from wikilda.training.settings import PRESETS, LdaTraining, TrainingPlan

ALPHA, BETA = 0.4, 0.5
PRIORS = ModelSettings(1, 1, BETA, BETA, ALPHA, asymmetric=False)
BATCH = LdaTraining(
    rho_local=0.0, rho_global=1.0, sweeps=400, burn_in=5, coherence=False, held_out=0.0, evaluated=0, threshold=0.0
)


def toy() -> tuple[NDArray[np.float64], list[list[int]]]:
    rng = np.random.default_rng(5)
    start = rng.gamma(1.0, 3.0, (4, 2)).astype(np.float32).astype(np.float64)
    half = [[0, 0, 1], [0, 1, 1, 2]] * 15
    return start, half + [[3, 3, 2], [2, 3]] * 15


def trained(path: Path, settings: LdaTraining, shards: int, iterations: int) -> NDArray[np.float64]:
    start, documents = toy()
    write_toy(path / "model", start, PRIORS)
    write_corpus(path / "corpus", [(words, []) for words in documents])
    engine = LocalEngine(1)
    plan = TrainingPlan(iterations, shards)
    return dense(train(path / "model", path / "corpus", path / "trained", settings, plan, engine=engine))


def fixed_point(scale: float = 1.0) -> NDArray[np.float64]:
    lambdas, documents = toy()
    for _ in range(60):
        lambdas = scale * batch_update(lambdas, documents, ALPHA, BETA)
    return lambdas


def test_one_step_is_the_batch_update(tmp_path: Path) -> None:
    start, documents = toy()
    found = trained(tmp_path, BATCH, 3, 1)
    np.testing.assert_allclose(found, batch_update(start, documents, ALPHA, BETA), atol=0.6)
    assert found.sum() == pytest.approx(sum(map(len, documents)), rel=1e-6)


def test_the_fixed_point_does_not_depend_on_the_shards(tmp_path: Path) -> None:
    expected = fixed_point()
    for shards in (1, 4):
        place = tmp_path / str(shards)
        place.mkdir()
        np.testing.assert_allclose(trained(place, BATCH, shards, 8), expected, atol=1.5)


def test_the_inner_loop_leaves_the_fixed_point_where_it_is(tmp_path: Path) -> None:
    inner = replace(BATCH, rho_local=0.01, minibatch=2, rho_global=0.5)
    found = trained(tmp_path, inner, 2, 12)
    np.testing.assert_allclose(found, fixed_point(), atol=3.0)


def test_the_paper_counts_as_if_the_corpus_were_a_shard(tmp_path: Path) -> None:
    letter = replace(
        PRESETS["paper"],
        rho_local=0.0,
        rho_global=1.0,
        sweeps=400,
        burn_in=5,
        coherence=False,
        held_out=0.0,
        evaluated=0,
    )
    documents = toy()[1]
    found = trained(tmp_path, letter, 4, 6)
    assert found.sum() == pytest.approx(sum(map(len, documents)) / 4, rel=1e-5)
    np.testing.assert_allclose(found, fixed_point(1 / 4), atol=1.0)


def test_a_symbol_without_parameters_gains_some(tmp_path: Path) -> None:
    start, documents = toy()
    start[1] = 0.0
    write_toy(tmp_path / "model", start, PRIORS)
    write_corpus(tmp_path / "corpus", [(words, []) for words in documents])
    made = train(
        tmp_path / "model", tmp_path / "corpus", tmp_path / "trained", BATCH, TrainingPlan(1, 2), engine=LocalEngine(1)
    )
    found = dense(made)
    occurring = sum(words.count(1) for words in documents)
    assert found[1].sum() == pytest.approx(occurring, rel=1e-5)
    assert made.manifest["change"]["gained"] == 2
