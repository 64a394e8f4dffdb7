"""Held-out likelihood of the default method: the gain in predicting contexts of mentions over chance.

Left to right (Wallach et al. 2009): a mention's parent is the base or an earlier mention, so that there is a joint
distribution. Given its string v and the topics of earlier mentions, a mention has a topic by the conditional of the
urn, and each of its context symbols comes from a type word of the topic:

    log P(C_i | v_i, z_<i) = log Σ_k P(z_i = k | v_i, z_<i) Π_{c ∈ C_i} 1/|D_k| Σ_{d ∈ D_k} ψ_d(c)

    ψ_d(c) = (n_cd + t_d · n_c/n) / (n_d + t_d)

with t_d the number of distinct symbols that were counted with d (Witten and Bell's smoothing: a type that new symbols
keep turning up with leaves room for more). It is averaged over particles, which then draw z_i given C_i. The result is
relative to n_c/n, what a symbol has anywhere, in nats a context symbol: 0 where nothing was learned.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import find, lookup, offsets_of
from wikilda._core.jit import Real, Whole, bare, njit
from wikilda._core.random import Stream, stream_of, uniform
from wikilda.documents.encoding import EncodedDocument
from wikilda.knowledge.context_counts import ContextCounts
from wikilda.text.contexts import Contexts
from wikilda.urn._mean_field import FAR, Mentions, Rules
from wikilda.urn._relatedness import Matrix
from wikilda.urn.urn import Part, Urn

_MOST = 500  # mentions of a document that are used, to bound the time


class HeldOut:
    """Estimates the likelihood of documents that the model has not learned from."""

    def __init__(
        self, urn: Urn, particles: int, seed: int = 1, distinct: NDArray[np.float64] | None = None
    ) -> None:  # fmt: skip
        """`distinct` is, by type word, with how many context symbols it was counted, if the urn has not all of them."""
        self.urn, self.particles, self.seed = urn, particles, seed
        known = urn.view.contexts
        if distinct is None:
            distinct = np.zeros(0) if known is None else distinct_contexts(known.words, known.counts, len(known.totals))
        self._distinct = np.maximum(distinct, 1.0)

    def log_likelihood(self, document: EncodedDocument) -> tuple[float, int]:
        """Return the gain over chance in nats, and the number of context symbols."""
        known = self.urn.view.contexts
        if document.contexts is None or known is None:
            return 0.0, len(document.contexts.symbols) if document.contexts else 0
        gain, tokens = 0.0, 0
        for number, part in enumerate(self.urn.draw_without(replace(document, contexts=None), None).parts):
            stream = stream_of(self.seed, 0, f"{document.id}/{number}/likelihood")
            more, seen = self._part(part, document.contexts, known, np.array([stream], np.uint64))
            gain, tokens = gain + more, tokens + seen
        return gain, tokens

    def _part(self, part: Part, contexts: Contexts, known: ContextCounts, stream: Stream) -> tuple[float, int]:
        lengths = np.diff(part.mentions.offsets)
        known_ones = np.flatnonzero(lengths > 0)[:_MOST]  # mentions without candidates predict nothing
        offsets = offsets_of(lengths[known_ones])
        some = part.mentions._replace(offsets=offsets, places=part.mentions.places[known_ones])
        topics = part.topics[part.mentions.numbers[: offsets[-1]]]
        logs, seen = context_logs(
            contexts, part.chosen[known_ones], offsets, topics, known, self.urn.view.counted, self._distinct
        )
        gain = left_to_right(some, part.related, self.urn.rules, logs, self.particles, stream)
        return float(gain), int(seen)


@njit
def context_logs(
    contexts: Contexts, chosen: NDArray[np.int64], offsets: NDArray[np.int64], topics: NDArray[np.uint32],
    known: ContextCounts, total: Real, distinct: NDArray[np.float64],
) -> tuple[NDArray[np.float64], Whole]:  # fmt: skip
    """log P(C_i | k) relative to chance, of every candidate; and how many context symbols are known."""
    logs = np.zeros(len(topics), np.float64)
    seen = np.int64(0)
    for token in range(len(chosen)):
        for at in range(contexts.offsets[chosen[token]], contexts.offsets[chosen[token] + 1]):
            row = lookup(known.symbols, contexts.symbols[at])
            if row < 0:
                continue
            seen += 1
            for candidate in range(offsets[token], offsets[token + 1]):
                logs[candidate] += _log_ratio(row, topics[candidate], known, total, distinct)
    return logs, seen


def distinct_contexts(
    words: NDArray[np.uint32], counts: NDArray[np.float32], types: int
) -> NDArray[np.float64]:  # fmt: skip
    """Return the number of context symbols of each type word, in rows of context symbols."""
    return np.bincount(words[counts > 0], minlength=types).astype(np.float64)


@bare
def _log_ratio(row: Whole, topic: np.uint32, known: ContextCounts, total: Real, distinct: NDArray[np.float64]) -> Real:
    start, end = known.types.offsets[topic], known.types.offsets[topic + 1]
    if start == end:
        return 0.0
    chance = known.sums[row] / total
    ratio = 0.0
    for word in known.types.words[start:end]:
        at = find(known.words, known.offsets[row], known.offsets[row + 1], word)
        count = np.float64(known.counts[at]) if at >= 0 else 0.0
        ratio += (count / chance + distinct[word]) / (known.totals[word] + distinct[word])
    return np.log(ratio / np.float64(end - start))


@njit
def left_to_right(
    mentions: Mentions, related: Matrix, rules: Rules, logs: NDArray[np.float64], particles: Whole, stream: Stream
) -> Real:
    """Σ_i log of the mean over particles of Σ_k P(k | v_i, z_<i) exp(logs)."""
    offsets, numbers = mentions.offsets, mentions.numbers
    means = np.zeros(len(offsets) - 1, np.float64)
    drawn, weights = np.empty(len(offsets) - 1, np.int32), np.empty(len(numbers), np.float64)
    tops = np.empty(len(offsets) - 1, np.float64)
    for token in range(len(offsets) - 1):  # logarithms may be large: the largest of a mention is taken out
        tops[token] = -np.inf
        for at in range(offsets[token], offsets[token + 1]):
            tops[token] = max(tops[token], logs[at])
    for _ in range(particles):
        for token in range(len(offsets) - 1):
            start, end = offsets[token], offsets[token + 1]
            total, likely = 0.0, 0.0
            best: Real = -np.inf
            for at in range(start, end):
                best = max(best, mentions.scores[at])
            for at in range(start, end):
                held = rules.alone + _from_earlier(mentions, related, rules, drawn, token, numbers[at])
                weight = np.exp(mentions.scores[at] - best) * held**rules.graph
                total += weight
                weights[at] = weight * np.exp(logs[at] - tops[token])
                likely += weights[at]
            means[token] += likely / total
            x = uniform(stream) * likely
            at = start
            while at < end - 1 and x >= weights[at]:
                x -= weights[at]
                at += 1
            drawn[token] = numbers[at]
    gain = 0.0
    for token in range(len(means)):
        gain += np.log(max(means[token] / particles, 1e-300)) + tops[token]
    return gain


@bare
def _from_earlier(
    mentions: Mentions, related: Matrix, rules: Rules, drawn: NDArray[np.int32], token: Whole, topic: Whole
) -> Real:
    """Return the contribution of earlier mentions to the urn's content for a topic."""
    held = 0.0
    for other in range(token):
        distance = np.float64(abs(mentions.places[other] - mentions.places[token]))
        near = 1.0 + (rules.near * np.exp(-distance / rules.reach) if distance <= FAR * rules.reach else 0.0)
        held += near * np.float64(related[drawn[other], topic])
        held += rules.repeats if drawn[other] == topic else 0.0
    return held
