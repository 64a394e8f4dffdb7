"""Held-out log likelihood by the left-to-right estimator of Wallach et al. (2009), Algorithm 3.

The document is read from left to right by a number of particles: the probability of each token given those before
it is Σ_k E[φ_kv] (α_k + N_k) / (Σα + n − 1), and the topics of those before it are drawn again each time. The mean
over particles estimates the probability of the token. Unlike there, particles are resampled after each token
in proportion to how well they predicted it. Without this the estimate is biased for any number of particles; with it,
the estimate of the document's probability is unbiased.

E[φ_kv] = (β + λ̂_kv) / (Vβ + λ̂_k·), so here, unlike in Eq. 4, probabilities add up to 1. Symbols that are not in the
vocabulary have no probability, and are left out.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import Real, Whole, inner, njit
from wikilda._core.random import Stream, alias_table, draw_alias, stream_of, uniform
from wikilda.documents.encoding import EncodedDocument
from wikilda.lda.packet import number_of, numbers
from wikilda.model import Model
from wikilda.model.model import MENTIONS, WORDS, Parameters


class _Kind(NamedTuple):
    """Smoothing of words or mentions: β/(Vβ + λ̂_k·) of all topics, and an alias table of it times α_k."""

    smooth: NDArray[np.float64]
    shares: NDArray[np.float32]
    others: NDArray[np.uint32]
    total: float


class _Tokens(NamedTuple):
    """A document: of each token its kind (0 or 1) and the rows (local topic, λ̂/(Vβ + λ̂_k·)) of its symbol."""

    kinds: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    locals: NDArray[np.int64]
    weights: NDArray[np.float64]
    topics: NDArray[np.uint32]  # by local number, sorted; topics that are in no row come after them
    alphas: NDArray[np.float64]


class _Reading(NamedTuple):
    """A particle: topics of the tokens so far (local numbers), N_k, and Σ_k N_k smooth_k of either kind."""

    assigned: NDArray[np.int64]
    counts: NDArray[np.int64]
    present: NDArray[np.int64]  # local topics that have counts, and by local topic where they are in this list
    where: NDArray[np.int64]
    size: NDArray[np.int64]
    outside: NDArray[np.int64]  # topics of the local numbers beyond those of the rows
    smooth: NDArray[np.float64]  # kind × local topic
    mass: NDArray[np.float64]


class HeldOut:
    """Estimates the probability of held-out documents."""

    def __init__(self, model: Model, particles: int = 20, seed: int = 1) -> None:
        self.model, self.particles, self.seed = model, particles, seed
        settings = model.settings
        prior = model.popularity.astype(np.float64) if settings.asymmetric else np.ones(model.topics)
        self._alphas = settings.alpha * prior
        self._norms = tuple(model.beta_sum(kind) + model.sums(kind) for kind in (WORDS, MENTIONS))
        self._words = _kind(settings.beta_words / self._norms[0], self._alphas)
        self._mentions = _kind(settings.beta_mentions / self._norms[1], self._alphas)

    def log_likelihood(self, document: EncodedDocument) -> tuple[float, int]:
        """Return the log probability of a document, and its number of tokens."""
        tokens = self._tokens(document)
        if len(tokens.kinds) == 0:
            return 0.0, 0
        stream = np.array([stream_of(self.seed, self.model.iteration, document.id)], np.uint64)
        total = float(self._alphas.sum())
        probabilities = _left_to_right(tokens, self._words, self._mentions, total, self.particles, stream)
        return float(np.log(probabilities).sum()), len(tokens.kinds)

    def _tokens(self, document: EncodedDocument) -> _Tokens:
        rows: list[tuple[NDArray[np.uint32], NDArray[np.float64], int]] = []
        for kind, (symbols, table) in enumerate(
            ((document.words, self.model.words), (document.mentions, self.model.mentions))
        ):
            rows += [_row(table, int(v), self._norms[kind], kind) for v in numbers(symbols) if v >= 0]
        ends = np.cumsum([len(topics) for topics, _, _ in rows], dtype=np.int64)
        every = np.concatenate([topics for topics, _, _ in rows]) if rows else np.empty(0, np.uint32)
        distinct, locals_ = np.unique(every, return_inverse=True)
        return _Tokens(
            kinds=np.array([kind for _, _, kind in rows], np.int64),
            starts=np.concatenate((np.zeros(1, np.int64), ends))[:-1],
            ends=ends,
            locals=locals_.astype(np.int64),
            weights=np.concatenate([weights for _, weights, _ in rows]) if rows else np.empty(0, np.float64),
            topics=distinct,
            alphas=self._alphas[distinct],
        )


def _kind(smooth: NDArray[np.float64], alphas: NDArray[np.float64]) -> _Kind:
    return _Kind(smooth, *alias_table(smooth * alphas), float((smooth * alphas).sum()))


def _row(
    table: Parameters, symbol: int, norms: NDArray[np.float64], kind: int
) -> tuple[NDArray[np.uint32], NDArray[np.float64], int]:
    topics, values = table.row(symbol)
    return topics, values / norms[topics], kind


@njit
def _left_to_right(
    tokens: _Tokens, words: _Kind, mentions: _Kind, total: Real, particles: Whole, stream: Stream
) -> NDArray[np.float64]:
    """The mean over particles of the probability of each token given those before it."""
    means = np.zeros(len(tokens.kinds), np.float64)
    read = np.empty((particles, len(means)), np.int64)  # topics that each particle has given to the tokens so far
    foreseen = np.empty(particles, np.float64)
    reading = _begin(tokens, words, mentions)
    for n in range(len(means)):
        for particle in range(particles):
            _load(tokens, words, mentions, reading, read[particle], n)
            for before in range(n):
                _change(tokens, reading, reading.assigned[before], np.int64(-1))
                reading.assigned[before] = _draw(tokens, words, mentions, reading, before, stream)
                _change(tokens, reading, reading.assigned[before], np.int64(1))
            foreseen[particle] = _mass(tokens, words, mentions, reading, n) / (total + n)
            reading.assigned[n] = _draw(tokens, words, mentions, reading, n, stream)
            _change(tokens, reading, reading.assigned[n], np.int64(1))
            _unload(tokens, reading, read[particle], n + 1)
        means[n] = foreseen.sum() / particles
        read = _select(read, foreseen, n + 1, uniform(stream))
    return means


@inner
def _select(
    read: NDArray[np.int64], foreseen: NDArray[np.float64], tokens: Whole, uniform_number: Real
) -> NDArray[np.int64]:
    """Draw particles in proportion to their weights, evenly spaced."""
    chosen = np.empty_like(read)
    step = foreseen.sum() / len(foreseen)
    x, reached, source = uniform_number * step, foreseen[0], np.int64(0)
    for particle in range(len(foreseen)):
        while x >= reached and source < len(foreseen) - 1:
            source += 1
            reached += foreseen[source]
        for n in range(tokens):
            chosen[particle, n] = read[source, n]
        x += step
    return chosen


@inner
def _load(
    tokens: _Tokens, words: _Kind, mentions: _Kind, reading: _Reading, topics: NDArray[np.int64], count: Whole
) -> None:
    for n in range(count):
        reading.assigned[n] = _local(tokens, words, mentions, reading, topics[n])
        _change(tokens, reading, reading.assigned[n], np.int64(1))


@inner
def _unload(tokens: _Tokens, reading: _Reading, topics: NDArray[np.int64], count: Whole) -> None:
    for n in range(count):
        local, inside = reading.assigned[n], len(tokens.topics)
        topics[n] = np.int64(tokens.topics[local]) if local < inside else reading.outside[local - inside]
    for n in range(count):
        _change(tokens, reading, reading.assigned[n], np.int64(-1))


@inner
def _begin(tokens: _Tokens, words: _Kind, mentions: _Kind) -> _Reading:
    inside, most = len(tokens.topics), len(tokens.topics) + len(tokens.kinds) + 1
    smooth = np.zeros((2, most), np.float64)
    for local in range(inside):
        topic = tokens.topics[local]
        smooth[0, local], smooth[1, local] = words.smooth[topic], mentions.smooth[topic]
    return _Reading(
        assigned=np.empty(len(tokens.kinds), np.int64),
        counts=np.zeros(most, np.int64),
        present=np.empty(most, np.int64),
        where=np.empty(most, np.int64),
        size=np.zeros(1, np.int64),
        outside=np.full(most - inside, -1, np.int64),
        smooth=smooth,
        mass=np.zeros(2, np.float64),
    )


@inner
def _change(tokens: _Tokens, reading: _Reading, local: Whole, by: Whole) -> None:
    """Add a token to a topic, or remove one."""
    if by > 0 and reading.counts[local] == 0:
        reading.present[reading.size[0]], reading.where[local] = local, reading.size[0]
        reading.size[0] += 1
    reading.counts[local] += by
    for kind in range(2):
        reading.mass[kind] += by * reading.smooth[kind, local]
    if reading.counts[local] == 0:
        reading.size[0] -= 1
        last = reading.present[reading.size[0]]
        reading.present[reading.where[local]], reading.where[last] = last, reading.where[local]
        if local >= len(tokens.topics):
            reading.outside[local - len(tokens.topics)] = -1
    if reading.size[0] == 0:
        reading.mass[0] = reading.mass[1] = 0.0


@inner
def _mass(tokens: _Tokens, words: _Kind, mentions: _Kind, reading: _Reading, token: Whole) -> Real:
    """The sum over topics of (α_k + N_k) E[φ_kv]."""
    kind = tokens.kinds[token]
    mass = reading.mass[kind] + (mentions.total if kind else words.total)
    for at in range(tokens.starts[token], tokens.ends[token]):
        local = tokens.locals[at]
        mass += (tokens.alphas[local] + reading.counts[local]) * tokens.weights[at]
    return mass


@inner
def _draw(tokens: _Tokens, words: _Kind, mentions: _Kind, reading: _Reading, token: Whole, stream: Stream) -> Whole:
    """Draw a topic for a token: from its row, from the document, or from all topics."""
    kind = tokens.kinds[token]
    x = uniform(stream) * _mass(tokens, words, mentions, reading, token)
    for at in range(tokens.starts[token], tokens.ends[token]):
        local = tokens.locals[at]
        x -= (tokens.alphas[local] + reading.counts[local]) * tokens.weights[at]
        if x < 0.0:
            return local
    if x < reading.mass[kind]:
        for at in range(reading.size[0]):
            local = reading.present[at]
            x -= reading.counts[local] * reading.smooth[kind, local]
            if x < 0.0:
                return local
    dense = mentions if kind else words
    return _local(tokens, words, mentions, reading, draw_alias(dense.shares, dense.others, uniform(stream)))


@inner
def _local(tokens: _Tokens, words: _Kind, mentions: _Kind, reading: _Reading, topic: Whole) -> Whole:
    """The local number of any topic."""
    local = number_of(tokens.topics, topic)
    if local >= 0:
        return local
    free = np.int64(-1)
    for at in range(len(reading.outside)):
        if reading.outside[at] == topic:
            return len(tokens.topics) + at
        if free < 0 and reading.outside[at] < 0:
            free = np.int64(at)
    reading.outside[free] = topic
    local = len(tokens.topics) + free
    reading.smooth[0, local], reading.smooth[1, local] = words.smooth[topic], mentions.smooth[topic]
    return local
