"""Long runs, edge cases, and what a sampler promises."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from tests.lda.conftest import World, graph_of, judge, make_world, random_document, tokens_of, write_model
from tests.reference import Reference, Token
from wikilda._core.errors import SettingsError
from wikilda.documents.encoding import EncodedDocument
from wikilda.lda import LdaSettings, Sampled, Sampler
from wikilda.model import PRESETS, ModelSettings


def assert_sound(sampled: Sampled) -> None:
    """Counts are whole, positive, of the right rows, and add up."""
    bag, counts = sampled.packet.bag, sampled.counts
    assert counts.sweeps.min(initial=1) > 0
    for row in range(len(bag.symbols)):
        span = slice(counts.offsets[row], counts.offsets[row + 1])
        assert counts.sweeps[span].sum() == sampled.sweeps * bag.occurrences[row]
        assert len(set(counts.topics[span].tolist())) == span.stop - span.start
        topics = bag.word_topics if row < bag.first_mention else bag.mention_topics
        for topic, place in zip(counts.topics[span], counts.places[span], strict=True):
            assert place == -1 or topics[bag.starts[row] + place] == topic
    assert sampled.mixture[1].sum() == pytest.approx(1.0 if len(bag.symbols) else 0.0)


def stationary(world: World, tokens: list[Token]) -> NDArray[np.float64]:
    """Where sweeps from token to token lead, over all assignments: exact, and also for coherence."""
    shape = (world.reference.topics,) * len(tokens)
    chance = np.full(shape, 1.0 / np.prod(shape))
    conditionals = np.zeros((len(tokens), *shape, world.reference.topics))
    for z in product(range(world.reference.topics), repeat=len(tokens)):
        for i in range(len(tokens)):
            if z[i] == 0:
                index = (i, *z[:i], slice(None), *z[i + 1 :])
                conditionals[index] = world.reference.conditional(tokens, list(z), i)
    for _ in range(30):
        for i in range(len(tokens)):
            summed = chance.sum(axis=i, keepdims=True)
            new = np.moveaxis(conditionals[i].take(0, axis=i), -1, i)  # the same for every topic of token i
            chance = summed * new
    return chance


@pytest.mark.parametrize("coherence", [False, True])
@pytest.mark.parametrize("beta", [1e-5, 0.3])
def test_frequencies(tmp_path: Path, coherence: bool, beta: float) -> None:
    settings = ModelSettings(beta_words=beta, beta_mentions=beta, alpha=0.4, asymmetric=True)
    world = make_world(tmp_path / "model", settings, topics=4, words=5, mentions=4, density=0.9, seed=4)
    sampler = world.sampler(LdaSettings(sweeps=9, burn_in=8, coherence=coherence))
    words, mentions = [1, 2], [1, 2]
    packet = sampler.packet(EncodedDocument(words, mentions))
    if coherence:
        judge(world, packet)
    assert_frequencies(world, sampler, words, mentions, 1000)


@pytest.mark.parametrize("beta", [1e-5, 0.3])
@pytest.mark.parametrize(
    ("apart", "links", "mentions"),
    [
        (0.3, [{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0, 2}], [1, 2]),
        (2.0, [{0}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3}, {0, 2}], [1, 2]),
        (0.0, [set()] * 5, [1]),  # for some words no topic is coherent with that of the mention
    ],
)
def test_frequencies_where_coherence_multiplies_the_prior(
    tmp_path: Path, beta: float, apart: float, links: list[set[int]], mentions: list[int]
) -> None:
    settings = ModelSettings(beta_words=beta, beta_mentions=beta, alpha=0.4, asymmetric=True)
    world = make_world(tmp_path / "model", settings, topics=5, words=5, mentions=4, density=0.9, seed=4)
    world = replace(world, in_links=links, graph=graph_of(links))
    sampler, words = world.sampler(LdaSettings(sweeps=9, burn_in=8, coherent_prior=True)), [1, 2]
    sampler.packets.rules = sampler.packets.rules._replace(noncandidate_coherence=apart)
    judge(world, sampler.packet(EncodedDocument(words, mentions)), apart)
    world.reference.coherent_prior = True
    assert_frequencies(world, sampler, words, mentions, 1000, ambiguous=2)


@pytest.mark.parametrize("times", [1, 2])
def test_frequencies_of_private_topics(tmp_path: Path, times: int) -> None:
    """Symbols with topics that others have, too, and topics of their own; also where they occur more than once."""
    values = {"words": np.zeros((3, 6)), "mentions": np.zeros((2, 6))}
    values["words"][0, [0, 1, 2]] = 3.0, 1.0, 2.0
    values["words"][1, [2, 3, 4]] = 1.0, 2.0, 2.0
    values["words"][2, [0, 5]] = 1.0, 1.0
    values["mentions"][0, [2, 5]] = 2.0, 3.0
    settings = ModelSettings(beta_words=1e-5, beta_mentions=1e-5, alpha=0.4, asymmetric=False)
    model = write_model(tmp_path / "model", values, np.ones(6, np.float32), settings)
    reference = Reference(values, {"words": 1e-5, "mentions": 1e-5}, np.full(6, 0.4))
    world = World(model, graph_of([set()] * 6), reference, [set()] * 6)
    sampler = world.sampler(LdaSettings(sweeps=9, burn_in=8, coherence=False))
    assert_frequencies(world, sampler, [0] * times + [1], [0], 1500)


@pytest.mark.parametrize("draws", [1, 4])
def test_long_private_rows(tmp_path: Path, draws: int) -> None:
    """Sweeps on private topics are shared out as they should be, also over rows that are passed in blocks."""
    rng = np.random.default_rng(8)
    values = {"words": np.zeros((2, 60)), "mentions": np.zeros((1, 60))}
    values["words"][0, :55] = rng.gamma(1.0, 3.0, 55) + 0.5
    values["words"][1, [3, 17, 18, 40, 58]] = 3.0, 2.0, 1.0, 2.0, 4.0
    settings = ModelSettings(beta_words=1e-5, beta_mentions=1e-5, alpha=0.4, asymmetric=False)
    model = write_model(tmp_path / "model", values, np.ones(60, np.float32), settings)
    reference = Reference(values, {"words": 1e-5, "mentions": 1e-5}, np.full(60, 0.4))
    world = World(model, graph_of([set()] * 60), reference, [set()] * 60)
    sampler = world.sampler(LdaSettings(sweeps=8 + draws, burn_in=8, coherence=False))
    found = np.zeros(60)
    for run in range(2000):
        counts = sampler.sample(EncodedDocument([0, 1], [], id=run)).counts
        own = slice(0, counts.offsets[1])
        found[counts.topics[own]] += counts.sweeps[own] / draws
    expected = stationary(world, [("words", 0), ("words", 1)]).sum(1) * 2000
    if draws == 1:
        assert chisquare(found[:55], expected[:55]).pvalue > 1e-3
    np.testing.assert_allclose(found / 2000, expected / 2000, atol=0.012)


def assert_frequencies(
    world: World, sampler: Sampler, words: list[int], mentions: list[int], runs: int, ambiguous: int = 3
) -> None:
    """The last states of many runs are distributed as they should be."""
    packet = sampler.packet(EncodedDocument(words, mentions))
    tokens, occurrences = tokens_of(packet), packet.bag.occurrences
    expected = stationary(world, tokens)
    found = np.zeros((len(occurrences), world.reference.topics))
    for run in range(runs):
        counts = sampler.sample(EncodedDocument(words, mentions, id=run)).counts
        rows = np.repeat(np.arange(len(occurrences)), np.diff(counts.offsets))
        np.add.at(found, (rows, counts.topics), counts.sweeps / occurrences[rows])
    tested = 0
    for row, first in enumerate(np.cumsum(occurrences) - occurrences):
        marginal = expected.sum(axis=tuple(i for i in range(len(tokens)) if i != first)) * runs
        likely = marginal > 5
        assert found[row, ~likely].sum() <= 15
        if likely.sum() > 1:
            scaled = marginal[likely] * found[row, likely].sum() / marginal[likely].sum()
            assert chisquare(found[row, likely], scaled).pvalue > 1e-3
            tested += 1
    assert tested >= ambiguous  # most tokens of the document are ambiguous, or this would test nothing


def test_many_sweeps_agree_with_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world(tmp_path / "model", ModelSettings(alpha=0.5, asymmetric=False), topics=6, seed=9)
    monkeypatch.setattr("wikilda.lda.sampler.IDLE_DRAWS", 1500)
    settings = LdaSettings(sweeps=1500, burn_in=20, coherence=False)
    sampled = world.sampler(settings).sample(EncodedDocument([1, 1, 2, 3, 4], [1, 2], id="x"))
    assert_sound(sampled)
    tokens = tokens_of(sampled.packet)
    expected = world.reference.sample(tokens, [1] * len(tokens), 1500, 20, 1) / 1480
    symbols = [tokens.index(token) for token in dict.fromkeys(tokens)]
    for row, first in enumerate(symbols):
        same = [i for i, token in enumerate(tokens) if token == tokens[first]]
        found = np.zeros(6)
        span = slice(sampled.counts.offsets[row], sampled.counts.offsets[row + 1])
        found[sampled.counts.topics[span]] = sampled.counts.sweeps[span] / (1480 * len(same))
        np.testing.assert_allclose(found, expected[same].mean(0), atol=0.07)


def test_recovers_mixtures_and_parameters(tmp_path: Path) -> None:
    """As well as the reference on the same documents: how well at all depends on how much topics overlap."""
    rng = np.random.default_rng(0)
    topics, vocabulary = 4, 24
    truth = rng.dirichlet(np.full(vocabulary, 0.15), topics)
    guess = np.where(truth > 0.02, truth, 0.0) * rng.uniform(0.5, 1.5, truth.shape) * 100
    values = {"words": guess.T.astype(np.float32).astype(np.float64), "mentions": np.eye(topics) * 10.0}
    settings = ModelSettings(beta_words=0.05, beta_mentions=0.05, alpha=0.1, asymmetric=False)
    model = write_model(tmp_path / "model", values, np.ones(topics, np.float32), settings)
    sampler = Sampler(model, LdaSettings(sweeps=16, burn_in=6, coherence=False))
    reference = Reference(values, {"words": 0.05, "mentions": 0.05}, np.full(topics, 0.1))
    learned, true, found, expected = np.zeros((vocabulary, topics)), [], [], []
    for document in range(40):
        z = rng.choice(topics, 50, p=rng.dirichlet(np.full(topics, 0.3)))
        words = [int(rng.choice(vocabulary, p=truth[k])) for k in z]
        sampled = sampler.sample(EncodedDocument(words, [], id=document))
        true.append(np.bincount(z, minlength=topics) / 50)
        found.append(np.zeros(topics))
        found[-1][sampled.mixture[0]] = sampled.mixture[1]
        if document < 15:
            counts = reference.sample(tokens_of(sampled.packet), [1] * 50, 16, 6, document).sum(0)
            expected.append(counts / counts.sum())
        rows = np.repeat(sampled.packet.bag.symbols, np.diff(sampled.counts.offsets))
        np.add.at(learned, (rows, sampled.counts.topics), sampled.counts.sweeps)
    errors = np.abs(np.array(found) - true).sum(1) / 2
    reference_errors = np.abs(np.array(expected) - true[:15]).sum(1) / 2
    assert errors[:15].mean() < reference_errors.mean() + 0.04
    assert errors.mean() < 0.25  # guessing that all topics are as frequent is wrong by 0.49 on average
    before = np.abs(guess / guess.sum(1, keepdims=True) - truth).sum()
    after = np.abs((learned / learned.sum(0)).T - truth).sum()
    assert after < before


@pytest.mark.parametrize("beta", [1e-7, 1e-5, 1e-3, 0.1, 10.0])
@pytest.mark.parametrize("preset", ["paper", "default"])
def test_any_beta(tmp_path: Path, beta: float, preset: str) -> None:
    base = PRESETS[preset]
    settings = ModelSettings(beta_words=beta, beta_mentions=beta, alpha=base.alpha, asymmetric=base.asymmetric)
    world = make_world(tmp_path / "model", settings, seed=1)
    for coherence in (False, True):
        sampler = world.sampler(LdaSettings(sweeps=6, burn_in=2, coherence=coherence))
        for seed in range(3):
            assert_sound(sampler.sample(random_document(world, seed)))


def test_small_documents(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings(beta_words=1e-6, beta_mentions=1e-6), seed=1)
    sampler = world.sampler(LdaSettings(sweeps=5, burn_in=1))
    for words, mentions in (([], []), ([3], []), ([], [2]), ([], [-1]), ([-1], []), ([14], [7]), ([0, 0], [0])):
        sampled = sampler.sample(EncodedDocument(words, mentions))
        assert_sound(sampled)
        for i in range(len(mentions)):
            assert sampled.mention(i)[1].sum() == pytest.approx(1.0)
    assert sampler.sample(EncodedDocument([], [-1, 2])).guessed(0) == -1


def test_a_long_document(tmp_path: Path) -> None:
    world = make_world(
        tmp_path / "model", ModelSettings(alpha=0.5), seed=2, topics=150, words=300, mentions=40, density=0.1
    )
    sampler = world.sampler(LdaSettings(sweeps=2, burn_in=0))
    assert_sound(sampler.sample(random_document(world, 1, words=9500, mentions=500, known_only=True)))


def test_same_stream_same_counts(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings(alpha=0.3), seed=3, topics=90, words=60, mentions=30)
    documents = [random_document(world, seed, words=80, mentions=20, known_only=seed % 2 == 0) for seed in range(8)]
    settings = LdaSettings(sweeps=4, burn_in=1)

    def run(sampler: Sampler, document: EncodedDocument) -> list[list[int]]:
        return [part.tolist() for part in sampler.sample(document).counts]

    alone = [run(world.sampler(settings), document) for document in documents]
    sampler = world.sampler(settings)
    assert [run(sampler, document) for document in reversed(documents)] == alone[::-1]
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(lambda document: run(sampler, document), documents)) == alone
    first = documents[0]
    assert run(world.sampler(LdaSettings(sweeps=4, burn_in=1, seed=2)), first) != alone[0]
    assert sampler.sample(first, iteration=5).counts.sweeps.tolist() != alone[0][3]
    assert run(sampler, EncodedDocument(first.words, first.mentions, id="another")) != alone[0]


def test_order_of_tokens_does_not_matter(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings(), seed=3)
    sampler = world.sampler(LdaSettings(sweeps=4, burn_in=1))
    one, other = sampler.sample(EncodedDocument([1, 2, 3], [3, 1])), sampler.sample(EncodedDocument([3, 2, 1], [1, 3]))
    assert one.counts.sweeps.tolist() == other.counts.sweeps.tolist()
    assert one.mention(0)[0].tolist() == other.mention(1)[0].tolist()


def test_coherence_needs_a_graph(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings())
    with pytest.raises(SettingsError, match="link graph"):
        Sampler(world.model, LdaSettings(coherence=True))


@pytest.mark.parametrize(
    "wrong",
    [
        {"sweeps": 0},
        {"burn_in": 50},
        {"burn_in": -1},
        {"epsilon": 2.0},
    ],
)
def test_impossible_settings(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError):
        LdaSettings(**wrong)  # type: ignore[arg-type]
