"""Sums of runs and the outer join with a model: held to plain dictionaries."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lda.conftest import write_model
from wikilda._core.arrays import EMPTY_RUN, Run
from wikilda._core.errors import ArtifactError
from wikilda.model import ModelSettings
from wikilda.training.checkpoints import write_sum
from wikilda.training.interpolate import Blend, add_up, interpolate, open_run, save_run

SYMBOLS, TOPICS = 9, 6
Plain = dict[tuple[int, int], int]
plain = st.dictionaries(
    st.tuples(st.integers(0, SYMBOLS - 1), st.integers(0, TOPICS - 1)), st.integers(1, 2**40), max_size=30
)


def run_of(counts: Plain) -> Run:
    pairs = sorted(counts)
    symbols = sorted({symbol for symbol, _ in pairs})
    lengths = [sum(each == symbol for each, _ in pairs) for symbol in symbols]
    return Run(
        np.array(symbols, np.int64),
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        np.array([topic for _, topic in pairs], np.uint32),
        np.array([counts[pair] for pair in pairs], np.int64),
    )


def plain_of(run: Run) -> Plain:
    symbols = np.repeat(run.symbols, np.diff(run.offsets))
    return {(int(v), int(k)): int(n) for v, k, n in zip(symbols, run.topics, run.sweeps, strict=True)}


def total(many: list[Plain]) -> Plain:
    return dict(sum((Counter(each) for each in many), Counter()))


@given(st.lists(plain, max_size=6))
def test_runs_add_up(many: list[Plain]) -> None:
    assert plain_of(add_up([run_of(each) for each in many])) == total(many)


@given(plain, st.integers(0, SYMBOLS), st.integers(0, SYMBOLS))
def test_a_stretch_of_a_run(counts: Plain, first: int, last: int) -> None:
    part = run_of(counts).between(first, max(first, last))
    assert plain_of(part) == {pair: n for pair, n in counts.items() if first <= pair[0] < last}


def test_sums_on_disk_are_the_same_in_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    many = [
        {(int(v), int(k)): int(n) for v, k, n in rng.integers(1, 500, (400, 3))} for _ in range(5)
    ]  # fmt: skip
    real = __import__("wikilda.training.interpolate", fromlist=["stretches"]).stretches
    monkeypatch.setattr("wikilda.training.checkpoints.stretches", lambda runs, symbols, _: real(runs, symbols, 100))
    write_sum([run_of(each) for each in many], 500, tmp_path, "words")
    assert plain_of(open_run(tmp_path, "words")) == total(many)


def test_a_run_comes_back_from_disk(tmp_path: Path) -> None:
    save_run(tmp_path, "words", run_of({(3, 1): 7}))
    assert plain_of(open_run(tmp_path, "words")) == {(3, 1): 7}
    (tmp_path / "words.topics.npy").write_bytes(b"")
    with pytest.raises(ArtifactError, match="damaged"):
        open_run(tmp_path, "words")


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_the_outer_join(tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    old = rng.gamma(1.0, 2.0, (SYMBOLS, TOPICS)) * (rng.random((SYMBOLS, TOPICS)) < 0.4)
    old[4], old[7] = 0.0, 0.0
    old[5] = 0.0
    old[5, 2] = 1e-3  # too little to stay, but the symbol's last
    old = old.astype(np.float32).astype(np.float64)
    model = write_model(
        tmp_path / "old", {"words": old, "mentions": old[:2]}, np.ones(TOPICS, np.float32), ModelSettings()
    )
    many = [{(0, 0): 5, (4, 3): 80, (8, 5): 2}, {(4, 3): 20, (6, 1): 9}]
    monkeypatch.setattr("wikilda.training.interpolate.chunks.__defaults__", (chunk,))
    blend = Blend(0.75, 0.25 * 0.1, 0.3)
    updates = {"words": [run_of(each) for each in many], "mentions": [EMPTY_RUN]}
    made = interpolate(model, updates, blend, tmp_path / "scratch", tmp_path / "new", knowledge_path="", iteration=3)
    new = np.zeros_like(old)
    rows = np.repeat(np.arange(SYMBOLS), np.diff(made.words.offsets))
    new[rows, made.words.topics] = made.words.values
    expected = 0.75 * old
    for (v, k), n in total(many).items():
        expected[v, k] += 0.25 * 0.1 * n
    kept = np.where(expected >= 0.3, expected, 0.0)
    for symbol in range(SYMBOLS):
        if not kept[symbol].any() and expected[symbol].any():
            kept[symbol, expected[symbol].argmax()] = expected[symbol].max()
    np.testing.assert_allclose(new, kept, rtol=1e-6)
    assert new[5, 2] > 0
    assert not new[7].any()
    assert made.iteration == 3
    np.testing.assert_allclose(made.word_sums, kept.sum(0), rtol=1e-6)
    change = made.manifest["change"]
    assert change["gained"] == ((kept > 0) & (old == 0)).sum()
    both = [(old, kept), (old[:2], np.where(0.75 * old[:2] >= 0.3, 0.75 * old[:2], 0.0))]
    assert change["dropped"] == sum(((b == 0) & (a > 0)).sum() for a, b in both)
