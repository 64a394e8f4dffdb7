"""The probability that an author would link a place: logistic regression on the existing links.

The coefficients are the posterior mode given the pages' own links, with a normal prior around those of another wiki
(`POOLED`), so that few notes are judged like it, and many by their own habits.
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


INTERCEPT = -1.183
POOLED = {
    "string": Pooled(-1.685, 2.380, 0.402),
    "target": Pooled(-0.931, 1.776, 0.837),
    "meaning": Pooled(-0.308, 0.437, -0.472),
    "posterior": Pooled(5.977, 3.721, 0.452),
    "nil": Pooled(2.001, 2.048, 1.662),
    "reciprocal": Pooled(0.088, 0.283, 0.103),
    "linkers": Pooled(0.452, 0.621, 0.165),
    "linked": Pooled(0.492, 0.619, 0.075),
    "similarity": Pooled(0.265, 0.214, 0.360),
    "popularity": Pooled(3.383, 1.571, -0.484),
    "occurrences": Pooled(0.277, 0.533, 0.134),
    "position": Pooled(6.892, 1.355, -0.362),
    "title": Pooled(0.389, 0.488, -0.394),
    "tokens": Pooled(1.109, 0.413, -0.034),
    "number": Pooled(0.125, 0.331, -0.039),
    "density": Pooled(-3.420, 0.769, -0.137),
    "page habit": Pooled(-0.714, 0.746, 0.380),
    "neighbours": Pooled(-0.634, 1.184, 0.264),
}
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
    """Return the intercept and the coefficients of scaled features."""
    inputs = np.column_stack([np.ones(len(features)), features])
    weights, precision = prior.copy(), np.full(len(prior), 1 / _SPREAD**2)
    for _ in range(_STEPS):
        chances = probabilities(features, weights)
        gradient = inputs.T @ (linked - chances) - precision * (weights - prior)
        curvature = (inputs * (chances * (1 - chances))[:, None]).T @ inputs + np.diag(precision)
        step = np.linalg.solve(curvature, gradient)
        weights = weights + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-9))
        if np.abs(step).max() < _CONVERGED:
            break
    return weights


def probabilities(features: Vector, weights: Vector) -> Vector:
    """Return the probability of a link at each place."""
    odds = np.clip(weights[0] + features @ weights[1:], -30, 30)
    found: Vector = 1 / (1 + np.exp(-odds))
    return found
