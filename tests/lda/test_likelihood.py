"""The left-to-right estimate against the sum over all assignments."""

from itertools import product
from math import lgamma
from pathlib import Path

import numpy as np
import pytest

from tests.lda.conftest import World, make_world
from tests.reference import Token
from wikilda.documents.encoding import EncodedDocument
from wikilda.lda.likelihood import HeldOut
from wikilda.model import ModelSettings


def enumerated(world: World, tokens: list[Token]) -> float:
    """log Σ_z p(w, z), with θ integrated out and φ at its mean."""
    reference, total = world.reference, 0.0
    means = {}
    for kind, values in reference.values.items():
        smooth = values + reference.beta[kind]
        means[kind] = smooth / smooth.sum(0)
    alpha = reference.alpha
    for z in product(range(reference.topics), repeat=len(tokens)):
        counts = np.bincount(z, minlength=reference.topics)
        log = lgamma(alpha.sum()) - lgamma(alpha.sum() + len(tokens))
        log += sum(lgamma(a + n) - lgamma(a) for a, n in zip(alpha, counts, strict=True) if n)
        log += sum(np.log(means[kind][v, k]) for (kind, v), k in zip(tokens, z, strict=True))
        total += np.exp(log)
    return float(np.log(total))


@pytest.mark.parametrize(("beta", "alpha", "asymmetric"), [(0.01, 0.3, False), (0.5, 0.1, True), (5.0, 1.0, True)])
def test_against_enumeration(tmp_path: Path, beta: float, alpha: float, asymmetric: bool) -> None:
    settings = ModelSettings(beta_words=beta, beta_mentions=2 * beta, alpha=alpha, asymmetric=asymmetric)
    world = make_world(tmp_path / "model", settings, topics=4, words=6, mentions=4, density=0.6, seed=2)
    words, mentions = [1, 1, 2, 5], [1, 2]
    expected = enumerated(world, [("words", v) for v in words] + [("mentions", v) for v in mentions])
    estimate, count = HeldOut(world.model, particles=3000).log_likelihood(
        EncodedDocument([*words, -1], [*mentions, -1])
    )
    assert count == 6
    assert estimate == pytest.approx(expected, abs=0.04)


def test_one_token_is_exact(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings(beta_words=0.2), seed=1)
    estimate, _ = HeldOut(world.model, particles=1).log_likelihood(EncodedDocument([3], []))
    assert estimate == pytest.approx(enumerated(world, [("words", 3)]), abs=1e-6)
    assert HeldOut(world.model).log_likelihood(EncodedDocument([-1], [])) == (0.0, 0)


def test_repeatable(tmp_path: Path) -> None:
    world = make_world(tmp_path / "model", ModelSettings(), seed=1)
    held_out = HeldOut(world.model, particles=3)
    assert held_out.log_likelihood(EncodedDocument([1, 2, 3], [1])) == held_out.log_likelihood(
        EncodedDocument([1, 2, 3], [1])
    )
