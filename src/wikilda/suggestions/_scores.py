"""The probability that an author would link a place: logistic regression on the existing links.

The coefficients are the posterior mode given the pages' own links, with a normal prior around those of another wiki
(`POOLED`, every fourth page of enwik8), so that few notes are judged like it, and many by their own habits.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.suggestions.candidates import FEATURES

Vector = NDArray[np.float64]


class Pooled(NamedTuple):
    """A feature in another wiki: its mean and standard deviation, and its coefficient in these units."""

    centre: float
    spread: float
    weight: float


INTERCEPT = -3.417
POOLED = {
    "string": Pooled(-4.530, 2.819, 1.400),
    "target": Pooled(-2.840, 1.878, 0.747),
    "meaning": Pooled(-0.537, 0.438, 0.006),
    "reciprocal": Pooled(0.049, 0.216, 0.281),
    "linkers": Pooled(0.304, 0.543, 0.333),
    "linked": Pooled(0.395, 0.572, 0.155),
    "similarity": Pooled(0.209, 0.198, 0.400),
    "popularity": Pooled(1.943, 1.231, -0.548),
    "occurrences": Pooled(0.542, 0.825, 0.326),
    "position": Pooled(8.274, 1.484, -0.446),
    "title": Pooled(0.083, 0.276, 0.129),
    "tokens": Pooled(1.136, 0.450, 0.187),
    "number": Pooled(0.043, 0.202, -0.005),
    "page habit": Pooled(-0.946, 0.592, 0.068),
    "neighbours": Pooled(-1.064, 1.129, 0.511),
}
HABITS = ("string", "target", "page habit", "neighbours")  # how often the like is linked: never against a link
_SPREAD = 0.5  # standard deviation of coefficients between wikis
_STEPS = 50
_CONVERGED = 1e-6


def pooled() -> Vector:
    """Return the intercept and the coefficients of another wiki."""
    return np.array([INTERCEPT, *(POOLED[name].weight for name in FEATURES)])


def scaled(features: Vector) -> Vector:
    """Return features in the units of another wiki."""
    centres, spreads = (np.array([POOLED[name][part] for name in FEATURES]) for part in (0, 1))
    found: Vector = (features - centres) / spreads
    return found


def fit(features: Vector, linked: NDArray[np.bool_], prior: Vector) -> Vector:
    """Return the intercept and the coefficients of scaled features; those of habits are not negative."""
    inputs = np.column_stack([np.ones(len(features)), features])
    weights, precision = prior.copy(), np.full(len(prior), 1 / _SPREAD**2)
    least = np.array([-np.inf, *(0.0 if name in HABITS else -np.inf for name in FEATURES)])
    for _ in range(_STEPS):
        chances = probabilities(features, weights)
        gradient = inputs.T @ (linked - chances) - precision * (weights - prior)
        curvature = (inputs * (chances * (1 - chances))[:, None]).T @ inputs + np.diag(precision)
        free = np.flatnonzero((weights > least) | (gradient > 0))
        step = np.zeros(len(prior))
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        before, size = weights, 1.0
        while size > _CONVERGED:
            weights = np.maximum(before + size * step, least)
            if _loss(inputs, linked, weights, prior) <= _loss(inputs, linked, before, prior):
                break
            size /= 2
        if np.abs(weights - before).max() < _CONVERGED:
            break
    return weights


def _loss(inputs: Vector, linked: NDArray[np.bool_], weights: Vector, prior: Vector) -> float:
    odds = np.where(linked, -1, 1) * (inputs @ weights)
    return float(np.logaddexp(0, odds).sum() + ((weights - prior) ** 2).sum() / (2 * _SPREAD**2))


def probabilities(features: Vector, weights: Vector) -> Vector:
    """Return the probability of a link at each place."""
    odds = np.clip(weights[0] + features @ weights[1:], -30, 30)
    found: Vector = 1 / (1 + np.exp(-odds))
    return found
