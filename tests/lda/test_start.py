"""What comes before sampling: similarities, TagMe*, weights."""

from pathlib import Path

import numpy as np
import pytest
from scipy import special

from tests.lda.conftest import make_world, random_document
from tests.processes import elsewhere
from tests.reference import similarity, tagme
from wikilda._core.atomic import lock
from wikilda._core.random import alias_table
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge import graph as graphs
from wikilda.lda import LdaSettings, prepare
from wikilda.lda import tagme as fast_tagme
from wikilda.lda.expected_phi import TINY, digammas, weights_directory
from wikilda.lda.similarity import likeness
from wikilda.model import ModelSettings


def test_digamma() -> None:
    values = np.concatenate((10.0 ** np.linspace(-9, 8, 60), [1.0, 5.999, 6.0]))
    np.testing.assert_allclose(digammas(values, 0.0), special.digamma(values), rtol=1e-12, atol=1e-13)


def test_alias_table() -> None:
    weights = np.random.default_rng(0).gamma(0.1, 1.0, 200)
    shares, others = alias_table(weights)
    found = shares.astype(np.float64).copy()
    np.add.at(found, others, 1.0 - shares)
    np.testing.assert_allclose(found / len(weights), weights / weights.sum(), atol=1e-7)


@pytest.mark.parametrize("topics", [2, 9, 40])
def test_likeness(tmp_path: Path, topics: int) -> None:
    world = make_world(tmp_path / "model", ModelSettings(), topics=topics, seed=topics)
    some = np.flatnonzero(np.random.default_rng(topics).random(topics) < 0.7).astype(np.uint32)
    found = likeness(world.graph, some)
    table = np.zeros((len(some), len(some)))
    rows = np.repeat(np.arange(len(some)), np.diff(found.offsets))
    table[rows, found.neighbours] = found.values
    for i, first in enumerate(some.tolist()):
        for j, second in enumerate(some.tolist()):
            expected = 0.0 if i == j else graphs.similarity(world.graph, first, second)
            assert table[i, j] == pytest.approx(expected, abs=1e-5)
            if i != j:
                assert expected == pytest.approx(similarity(world.in_links, first, second))


def test_likeness_with_hubs() -> None:
    rng = np.random.default_rng(5)
    sizes = [30, 9000, 0, 500, 6000, 40, 4500, 1, 7000, 60]  # four hubs
    links = [np.sort(rng.choice(20_000, size, replace=False)).astype(np.uint32) for size in sizes]
    offsets = np.zeros(20_001, np.int64)
    offsets[1:] = np.cumsum(sizes + [0] * (20_000 - len(sizes)))
    graph = graphs.Graph(np.zeros(20_001, np.int64), np.empty(0, np.uint32), offsets, np.concatenate(links))
    found = likeness(graph, np.arange(len(sizes), dtype=np.uint32))
    table = np.zeros((len(sizes), len(sizes)))
    rows = np.repeat(np.arange(len(sizes)), np.diff(found.offsets))
    table[rows, found.neighbours] = found.values
    expected = [[graphs.similarity(graph, i, j) for j in range(len(sizes))] for i in range(len(sizes))]
    np.testing.assert_allclose(table, np.array(expected) - np.eye(len(sizes)), atol=1e-5)
    assert len(set(zip(rows.tolist(), found.neighbours.tolist(), strict=True))) == len(rows)


@pytest.mark.parametrize("seed", range(6))
def test_tagme(tmp_path: Path, seed: int) -> None:
    world = make_world(tmp_path / "model", ModelSettings(), topics=20, mentions=12, seed=seed)
    sampler = world.sampler(LdaSettings())
    document = random_document(world, seed, mentions=9)
    packet, values = sampler.packet(document), world.reference.values["mentions"]
    mentions = np.asarray(document.mentions).tolist()
    priors = []
    for symbol in mentions:
        row = values[symbol] if symbol >= 0 else np.zeros(20)
        priors.append({int(k): float(row[k] / row.sum()) for k in np.flatnonzero(row)})
    alike = np.array([[similarity(world.in_links, i, j) for j in range(20)] for i in range(20)])
    for epsilon, tau in ((0.25, 0.02), (0.9, 0.3), (0.0, 0.0), (1.0, 1.0)):
        chosen, scores = tagme(priors, alike, epsilon, tau)
        guess = fast_tagme(packet, epsilon, tau)
        for i, symbol in enumerate(mentions):
            row = int(np.searchsorted(packet.bag.symbols[packet.bag.first_mention :], symbol))
            span = slice(packet.choices.offsets[row], packet.choices.offsets[row + 1])
            topics = packet.likeness.topics[packet.choices.candidates[span]]
            assert dict(zip(topics.tolist(), guess.scores[span].tolist(), strict=True)) == pytest.approx(
                scores[i], abs=1e-4
            )
            assert (int(topics[guess.chosen[row]]) if guess.chosen[row] >= 0 else -1) == chosen[i]
    assert [sampler.sample(document).guessed(i) for i in range(9)] == tagme(priors, alike, 0.25, 0.02)[0]


def test_one_mention_has_no_votes(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings(), seed=1)
    packet = world.sampler(LdaSettings()).packet(EncodedDocument([], [3]))
    guess = fast_tagme(packet)
    assert not guess.scores.any()
    assert guess.chosen[0] == np.argmax(packet.choices.priors)


@pytest.mark.parametrize("beta", [1e-7, 1e-2, 3.0])
def test_weights(tmp_path: Path, beta: float) -> None:
    settings = ModelSettings(beta_words=beta, beta_mentions=beta, asymmetric=True)
    world = make_world(tmp_path / "model", settings, seed=1)
    weights = prepare(world.model)
    for kind, rows in (("words", weights.words), ("mentions", weights.mentions)):
        assert rows.weights.max() <= 1.0
        assert not ((rows.weights > 0) & (rows.weights < TINY)).any()
        for symbol in range(len(rows.smoothing)):
            span = slice(rows.offsets[symbol], rows.offsets[symbol + 1])
            expected = np.array([world.reference.log_weight((kind, symbol), k) for k in range(world.reference.topics)])
            factors = weights.dense.word_factors if kind == "words" else weights.dense.mention_factors
            found = rows.smoothing[symbol] * factors.astype(np.float64)
            found[rows.topics[span]] += rows.weights[span]
            np.testing.assert_allclose(found, np.exp(expected - expected.max()) * found.max(), atol=1e-6)
            assert found.max() > 0.05


def test_weights_are_kept_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    world = make_world(tmp_path / "model", ModelSettings(), seed=1)
    before = sorted((tmp_path / "model").rglob("*"))
    assert prepare(world.model).words.weights.tolist() == prepare(world.model).words.weights.tolist()
    assert len(list(weights_directory().glob("weights-*"))) == 1
    prepare(world.model.with_settings(ModelSettings(beta_words=0.5)))
    assert len(list(weights_directory().glob("weights-*"))) == 2
    prepare(world.model.with_settings(ModelSettings(alpha=0.5)))
    assert len(list(weights_directory().glob("weights-*"))) == 2
    assert sorted((tmp_path / "model").rglob("*")) == before, "opening writes nothing into a model"


def test_the_weights_of_a_few_models_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    world = make_world(tmp_path / "model", ModelSettings(), seed=1)
    for beta in range(1, 11):
        prepare(world.model.with_settings(ModelSettings(beta_words=beta / 10)))
    assert len(list(weights_directory().glob("weights-*"))) == 8


def test_without_a_cache_weights_are_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))  # no directory can be made there
    world = make_world(tmp_path / "model", ModelSettings(), seed=1)
    assert prepare(world.model).words.weights.max() == 1.0


def test_weights_that_no_one_will_read_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    world = make_world(tmp_path / "model", ModelSettings(), seed=1)
    old, killed, running = (weights_directory() / f"weights-{name}" for name in ("0a", "0b.writing", "0c.writing"))
    for each in (old, killed, running):
        each.mkdir(parents=True)
    (old / "manifest.json").write_text('{"format": 1}')
    with lock(running.with_suffix("")):
        elsewhere(lambda: prepare(world.model))
        elsewhere(lambda: prepare(world.model.with_settings(ModelSettings(beta_words=0.5))))
    assert not old.exists()
    assert not killed.exists()
    assert running.exists(), "someone may be writing it"
    assert len(list(weights_directory().glob("weights-*"))) == 3


def test_words_start_from_topics_of_mentions(tmp_path: Path) -> None:
    """A word of a topic that a mention certainly has starts there, and stays there with a small α."""
    settings = ModelSettings(beta_words=1e-6, beta_mentions=1e-6, alpha=1e-6, asymmetric=False)
    world = make_world(tmp_path / "model", settings, seed=1, density=0.6)
    table = world.reference.values["words"]
    word = next(v for v in range(1, len(table)) if table[v, 1] > 0)
    sampled = world.sampler(LdaSettings(sweeps=2, burn_in=1, coherence=False)).sample(
        EncodedDocument([word], [0, 0, 0])
    )
    assert sampled.counts.topics[0] == 1
