"""The distributions that the sampler draws from are those of Eq. 4."""

from pathlib import Path

import numpy as np
import pytest

from tests.lda.conditional import conditionals
from tests.lda.conftest import World, judge, make_world, random_document, tokens_of
from wikilda.documents.encoding import EncodedDocument
from wikilda.lda import LdaSettings
from wikilda.model import ModelSettings


def assert_equal_conditionals(
    world: World, document: EncodedDocument, settings: LdaSettings, seed: int = 0, absent: float = 1.0
) -> None:
    sampler = world.sampler(settings)
    sampler.rules = sampler.rules._replace(noncandidate_coherence=absent)
    packet = sampler.packet(document)
    if settings.coherence:
        judge(world, packet, absent)
    tokens, rng = tokens_of(packet), np.random.default_rng(seed)
    assigned: list[int] = [-1] * len(tokens)
    for i in range(len(tokens)):  # topics that tokens can have
        assigned[i] = int(rng.choice(world.reference.topics, p=world.reference.conditional(tokens, assigned, i)))
    expected = [world.reference.conditional(tokens, assigned, i) for i in range(len(tokens))]
    found = conditionals(sampler, packet, np.array(assigned, np.int64))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, np.array(expected).reshape(found.shape), atol=1e-6)


@pytest.mark.parametrize("beta", [1e-7, 1e-4, 1e-2, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("coherence", [False, True])
@pytest.mark.parametrize("asymmetric", [False, True])
def test_random_models(tmp_path: Path, beta: float, coherence: bool, asymmetric: bool) -> None:
    settings = ModelSettings(beta_words=beta, beta_mentions=beta * 1.5, alpha=0.05, asymmetric=asymmetric)
    world = make_world(tmp_path / "model", settings, seed=int(beta * 1000))
    for seed, known_only in ((1, False), (2, True)):
        document = random_document(world, seed, known_only=known_only)
        assert_equal_conditionals(world, document, LdaSettings(coherence=coherence), seed, absent=0.3)


@pytest.mark.parametrize("scale", [1e-4, 0.02, 1.0, 1000.0])
def test_scale_of_parameters(tmp_path: Path, scale: float) -> None:
    settings = ModelSettings(beta_words=1e-5, beta_mentions=1e-7, alpha=1e-3, asymmetric=True)
    world = make_world(tmp_path / "model", settings, seed=3, scale=scale)
    assert_equal_conditionals(world, random_document(world, 3), LdaSettings(coherence=False))
    assert_equal_conditionals(world, random_document(world, 4, known_only=True), LdaSettings(coherence=True))


@pytest.mark.parametrize("alpha", [1e-5, 1.0, 50.0])
def test_alpha(tmp_path: Path, alpha: float) -> None:
    world = make_world(tmp_path / "model", ModelSettings(alpha=alpha, asymmetric=False), seed=5)
    assert_equal_conditionals(world, random_document(world, 5, known_only=True), LdaSettings(coherence=False))
    assert_equal_conditionals(world, random_document(world, 6, known_only=True), LdaSettings(coherence=True))


def test_few_tokens(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings(beta_words=1.0, beta_mentions=1e-6), seed=6)
    settings = LdaSettings(coherence=True)
    for words, mentions in (([], []), ([3], []), ([], [3]), ([], [-1]), ([0], [0]), ([14], [7]), ([], [7, 7, 7])):
        assert_equal_conditionals(world, EncodedDocument(words, mentions), settings)


def test_many_topics(tmp_path: Path) -> None:
    settings = ModelSettings(beta_words=0.5, beta_mentions=0.5, alpha=1.0)
    world = make_world(tmp_path / "model", settings, seed=7, topics=90, words=40, mentions=30, density=0.5)
    document = random_document(world, 7, words=60, mentions=45)
    sampler = world.sampler(LdaSettings(coherence=True))
    packet = sampler.packet(document)
    judge(world, packet)
    tokens = tokens_of(packet)
    assigned = np.arange(len(tokens)) % 90
    found = conditionals(sampler, packet, assigned)
    for i in range(0, len(tokens), 20):
        expected = world.reference.conditional(tokens, assigned.tolist(), i)
        np.testing.assert_allclose(found[i], expected, atol=1e-6)
