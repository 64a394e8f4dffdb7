"""One shard of Algorithm 2, lines 5–13: its documents are sampled with its own copy of the parameters.

An engine forms a shard by its joins; `form_shard` and `alike_by` join from memory-mapped tables. The result depends on
the shard only.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array
from wikilda._core.arrays import Run
from wikilda._core.artifact import Artifact
from wikilda._core.jit import njit
from wikilda._core.random import stream_of
from wikilda.knowledge.graph import Graph
from wikilda.lda.counts import Counts
from wikilda.lda.expected_phi import Dense, smoothing_of
from wikilda.lda.packet import Choices, Packet, form
from wikilda.lda.sampler import PacketSampler
from wikilda.lda.similarity import Likeness, likeness, no_likeness
from wikilda.lda.svi import Copy, Prior, Step, Table
from wikilda.lda.tagme import Guess, tagme
from wikilda.model import Model, Parameters
from wikilda.model.model import MENTIONS, WORDS
from wikilda.training.corpus.corpus import Documents
from wikilda.training.settings import LdaTraining

NO_TOPIC = np.uint32(0xFFFFFFFF)

Alike = Callable[[NDArray[np.uint32]], Likeness]


class Globals(NamedTuple):
    """Values shared by the shards of an iteration: priors, sums λ̂_k· by topic, and smoothing over all topics."""

    alpha: float
    words: Prior
    mentions: Prior
    word_sums: NDArray[np.float64]
    mention_sums: NDArray[np.float64]
    popularity: NDArray[np.float32]  # empty where α is symmetric
    dense: Dense


class Task(NamedTuple):
    """The task of sampling the shards of an iteration."""

    iteration: int
    documents: int  # |D|: all that are trained on
    settings: Any  # of the method


class Shard(NamedTuple):
    """The documents of a shard and the parameters of their symbols."""

    documents: Documents
    words: Table
    mentions: Table


class Found(NamedTuple):
    """The result of sampling a shard: counts by kind, notes for the next iteration, and figures."""

    runs: dict[str, Run]
    notes: NDArray[np.uint32]  # the best topic of each document's mentions, or what the urn needs
    report: dict[str, float]


class Bags(NamedTuple):
    """Documents as distinct rows of a table (sorted), with their counts."""

    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]
    counts: NDArray[np.int64]

    def of(self, document: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """One document."""
        span = slice(self.offsets[document], self.offsets[document + 1])
        return self.rows[span], self.counts[span]


def sample_shard(
    shard: Shard,
    shared: Globals,
    task: Task,
    alike: Alike,
    previous: NDArray[np.uint32] | None = None,
) -> Found:
    """Sample the documents of a shard, updating its copy of the parameters after each minibatch.

    `previous` are the mentions' topics in the iteration before; without them, where sampling started.
    """
    started = time.process_time()
    sampling = _Sampling(shard, shared, task, alike)
    for start in range(0, len(shard.documents.keys), task.settings.minibatch):
        end = min(start + task.settings.minibatch, len(shard.documents.keys))
        sampling.minibatch(start, end)
    chosen, before = np.concatenate(sampling.chosen), np.concatenate(sampling.guessed)
    tokens = np.concatenate(sampling.occurring)
    changed = tokens[chosen != (before if previous is None else previous)].sum()
    return Found(
        {WORDS: run_of(sampling.words), MENTIONS: run_of(sampling.mentions)},
        chosen,
        {
            "documents": len(shard.documents.keys),
            "tokens": shard.documents.tokens,
            "mentions": int(tokens.sum()),
            "changed": int(changed),
            "sampling seconds": time.process_time() - started,
        },
    )


class _Sampling:
    """The state of a shard while it is sampled."""

    def __init__(self, shard: Shard, shared: Globals, task: Task, alike: Alike) -> None:
        documents, self.task, self.alike = shard.documents, task, alike
        settings: LdaTraining = task.settings
        self.keys, self.settings = documents.keys, settings
        shrink = settings.shrink_sums
        popularity = shared.popularity
        self.words, self.mentions = (
            Copy(table, sums, prior, popularity, shrink_sums=shrink, factors=factors)
            for table, sums, prior, factors in (
                (shard.words, shared.word_sums, shared.words, shared.dense.word_factors),
                (shard.mentions, shared.mention_sums, shared.mentions, shared.dense.mention_factors),
            )
        )
        self.word_bags = Bags(*_bags(documents.word_offsets, documents.words, shard.words.symbols))
        self.mention_bags = Bags(*_bags(documents.mention_offsets, documents.mentions, shard.mentions.symbols))
        self.sampler = PacketSampler(shared.alpha, settings, shared.dense)
        self.epsilon, self.tau = settings.epsilon, settings.tau
        self.scale = task.documents if settings.corpus_scale else len(documents.keys)
        self.done = 0
        self.chosen, self.guessed = [np.empty(0, np.uint32)], [np.empty(0, np.uint32)]
        self.occurring = [np.empty(0, np.int64)]

    def minibatch(self, start: int, end: int) -> None:
        """Run lines 6–11 for some documents."""
        word_rows = np.unique(self.word_bags.rows[self.word_bags.offsets[start] : self.word_bags.offsets[end]])
        mention_bags = self.mention_bags
        mention_rows = np.unique(mention_bags.rows[mention_bags.offsets[start] : mention_bags.offsets[end]])
        words, mentions = self.words.weigh(word_rows), self.mentions.weigh(mention_rows)
        step = self._step(end - start)
        self.words.begin(step)
        self.mentions.begin(step)
        for number in range(start, end):
            word, often = self.word_bags.of(number)
            mention, mentioned = mention_bags.of(number)
            here = np.searchsorted(word_rows, word), np.searchsorted(mention_rows, mention)
            packet = form(here[0], often, here[1], mentioned, words.rows, mentions.rows, mentions.parameters, None)
            packet = packet._replace(likeness=self.alike(packet.likeness.topics))
            guess = tagme(packet, self.epsilon, self.tau)
            stream = stream_of(self.settings.seed, self.task.iteration, int(self.keys[number]))
            counts = self.sampler.sample(packet, guess, stream)
            self._note(counts, guess, packet, mentioned)
            self.words.add(counts, 0, word, step)
            self.mentions.add(counts, len(word), mention, step)
        self.words.end(step)
        self.mentions.end(step)
        self.done += 1

    def _step(self, documents: int) -> Step:
        """Return the present ρ, and the weight of a sweep of a token in a minibatch: ρ (|D|/|B|) / (S − B)."""
        rho = self.settings.local_step(self.done)
        kept = self.settings.sweeps - self.settings.burn_in
        return Step(rho, rho * self.scale / documents / kept)

    def _note(self, counts: Counts, guess: Guess, packet: Packet, occurrences: NDArray[np.int64]) -> None:
        """Note the topics of a document's mentions, and where they started."""
        self.chosen.append(_best(counts, packet.bag.first_mention))
        self.guessed.append(_guessed(guess.chosen, packet.choices, packet.likeness.topics))
        self.occurring.append(occurrences)


@njit
def _best(counts: Counts, first: int) -> NDArray[np.uint32]:
    """The topic that each mention symbol had in most sweeps, the lowest if there are several."""
    best = np.full(len(counts.offsets) - 1 - first, NO_TOPIC, np.uint32)
    for number in range(len(best)):
        most = np.int64(0)
        for at in range(counts.offsets[first + number], counts.offsets[first + number + 1]):
            more, topic = counts.sweeps[at], counts.topics[at]
            if more > most or (more == most and topic < best[number]):
                best[number], most = topic, more
    return best


@njit
def _guessed(places: NDArray[np.int64], choices: Choices, topics: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The topics that TagMe* chose."""
    guessed = np.full(len(places), NO_TOPIC, np.uint32)
    for number in range(len(places)):
        if places[number] >= 0:
            guessed[number] = topics[choices.candidates[choices.offsets[number] + places[number]]]
    return guessed


@njit
def _bags(
    offsets: NDArray[np.int64], symbols: NDArray[np.uint32], known: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows of each document, by its symbols, and how often they occur."""
    bounds = np.zeros(len(offsets), np.int64)
    rows, counts = np.empty(len(symbols), np.int64), np.empty(len(symbols), np.int64)
    to = np.int64(0)
    for document in range(len(offsets) - 1):
        own = np.sort(symbols[offsets[document] : offsets[document + 1]])
        for at in range(len(own)):
            if at > 0 and own[at] == own[at - 1]:
                counts[to - 1] += 1
                continue
            rows[to], counts[to] = np.searchsorted(known, np.int64(own[at])), 1
            to += 1
        bounds[document + 1] = to
    return bounds, rows[:to].copy(), counts[:to].copy()


def form_shard(documents: Documents, model: Model) -> Shard:
    """Documents joined with the parameters of their symbols."""
    return Shard(documents, _rows(documents.words, model.words), _rows(documents.mentions, model.mentions))


def alike_by(graph: Graph | None, known: NDArray[np.uint32]) -> Alike:
    """Similarities of topics by a link graph, as far as they are known (sorted) when a shard is formed.

    A topic that a mention gains in its shard is like no other until the next iteration: packets are self-contained, and
    engines that join links do not have those of just any topic.
    """
    if graph is None:
        return no_likeness
    links, ended = graph, np.append(known, NO_TOPIC)  # sentinel: no searched value is larger

    def alike(topics: NDArray[np.uint32]) -> Likeness:
        places = np.flatnonzero(ended[np.searchsorted(ended, topics)] == topics)
        found = likeness(links, topics[places])
        if len(places) == len(topics):
            return found
        lengths = np.zeros(len(topics) + 1, np.int64)
        lengths[places + 1] = np.diff(found.offsets)
        return Likeness(topics, np.cumsum(lengths), places[found.neighbours].astype(np.int32), found.values)

    return alike


def _rows(symbols: NDArray[np.uint32], parameters: Parameters) -> Table:
    distinct = np.unique(symbols).astype(np.int64)
    return Table(distinct, *_gather(distinct, *parameters))


@njit
def _gather(
    symbols: NDArray[np.int64], offsets: NDArray[np.int64], topics: NDArray[np.uint32], values: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32]]:
    bounds = np.zeros(len(symbols) + 1, np.int64)
    for row in range(len(symbols)):
        bounds[row + 1] = bounds[row] + offsets[symbols[row] + 1] - offsets[symbols[row]]
    to_topics, to_values = np.empty(bounds[-1], np.uint32), np.empty(bounds[-1], np.float32)
    for row in range(len(symbols)):
        source = offsets[symbols[row]] - bounds[row]
        for to in range(bounds[row], bounds[row + 1]):
            to_topics[to], to_values[to] = topics[source + to], values[source + to]
    return bounds, to_topics, to_values


def run_of(copy: Copy) -> Run:
    """Return the counts of a shard by symbol and topic."""
    symbols, topics, sweeps = copy.counted()
    distinct, first = np.unique(symbols, return_index=True)
    return Run(distinct, np.append(first, len(symbols)).astype(np.int64), topics, sweeps)


_PARTS = ("factors", "shares", "others")
_SHARES = Array(np.float32, "topics")


class _Smoothing(Artifact):
    """The smoothing over all topics, for words and mentions."""

    kind = "smoothing"
    format = 1
    fields = {"kinds": dict}
    arrays = {
        f"{kind}/{part}": Array(np.uint32, "topics", below="topics") if part == "others" else _SHARES
        for kind in (WORDS, MENTIONS)
        for part in _PARTS
    }


def write_shared(model: Model, target: Path) -> None:
    """Compute the smoothing over all topics (the dense bucket of Eq. 5) for a model."""
    with _Smoothing.writer(target, overwrite=True) as writer:
        about = {}
        for kind in (WORDS, MENTIONS):
            smooth = smoothing_of(model, kind)
            for part in _PARTS:
                writer.array(f"{kind}/{part}", getattr(smooth, part))
            about[kind] = {"least": smooth.least, "total": smooth.total}
        writer.finish({"model": model.identity, "kinds": about})


def open_shared(model: Model, path: Path) -> Globals:
    """Open what `write_shared` has left."""
    artifact = _Smoothing.open(path)
    artifact.check_fits(model, "topics")
    about = artifact.field("kinds", dict)
    dense: list[list[Any]] = [
        [*(artifact.array(f"{kind}/{part}") for part in _PARTS), float(about[kind]["total"])]
        for kind in (WORDS, MENTIONS)
    ]
    words, mentions = (
        Prior(model.beta(kind), model.beta_sum(kind), about[kind]["least"]) for kind in (WORDS, MENTIONS)
    )
    popularity = model.popularity if model.settings.asymmetric else np.empty(0, np.float32)
    return Globals(
        alpha=model.settings.alpha,
        words=words,
        mentions=mentions,
        word_sums=model.word_sums,
        mention_sums=model.mention_sums,
        popularity=popularity,
        dense=Dense(*dense[0], *dense[1]),
    )
