"""The engine of one machine: memory-mapped tables are the join, worker processes take shards."""

import shutil
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.artifact import MANIFEST
from wikilda._core.jit import njit
from wikilda._core.platform import available_cores
from wikilda._core.progress import bar
from wikilda._core.workers import Workers
from wikilda.knowledge import Knowledge
from wikilda.knowledge.graph import Graph
from wikilda.lda.likelihood import HeldOut
from wikilda.lda.similarity import Likeness, likeness, no_likeness
from wikilda.lda.svi import Table
from wikilda.model import Model, Parameters
from wikilda.model.model import MENTIONS, WORDS
from wikilda.training import urn_shard
from wikilda.training.checkpoints import Checkpoint
from wikilda.training.corpus import Corpus, Documents
from wikilda.training.engines.base import Engine, Job
from wikilda.training.interpolate import Blend, Run, interpolate
from wikilda.training.settings import LdaTraining, TrainingSettings, UrnTraining, new_to, of_shard, to_evaluate
from wikilda.training.shard import NO_TOPIC, Alike, Shard, Task, open_shared, sample_shard, write_shared
from wikilda.training.urn_shard import sample_urn_shard
from wikilda.urn import Urn
from wikilda.urn.likelihood import HeldOut as UrnHeldOut


class LocalEngine(Engine):
    """Shards are handed to worker processes; with one worker, this process does the work."""

    def __init__(self, workers: int | None = None) -> None:
        self.pool = Workers(workers or available_cores())

    def sample(self, job: Job) -> Iterator[int]:
        """Sample all shards that are not done yet; gives the number of documents of each as it is."""
        missing, place = job.checkpoint.missing(), job.checkpoint
        started = time.process_time()
        is_lda = isinstance(job.task.settings, LdaTraining)
        if is_lda and missing:  # again when a run resumes: what an earlier one has left may be damaged
            shutil.rmtree(place.path / "shared", ignore_errors=True)
            write_shared(job.model, place.path / "shared")
        self.merging_seconds = time.process_time() - started
        paths = Paths.of(job)
        symbols = {WORDS: job.model.words.symbols, MENTIONS: job.model.mentions.symbols} if is_lda else urn_shard.KINDS
        work = _sample if is_lda else _draw
        for shard, documents in self.pool.run(work, ((paths, place.count, shard, job.task) for shard in missing)):
            started = time.process_time()
            place.add_up_group(shard, symbols)
            self.merging_seconds += time.process_time() - started
            yield documents

    def interpolate(self, job: Job, blend: Blend, target: Path) -> Model:
        """Add the counts of all shards up, and write the next model to `target`."""
        started = time.process_time()
        made = interpolate(
            job.model,
            job.checkpoint.runs((WORDS, MENTIONS)),
            blend,
            job.checkpoint.path / "scratch",
            target,
            knowledge_path=str(job.knowledge) if job.knowledge else "",
            iteration=job.task.iteration,
        )
        self.merging_seconds += time.process_time() - started
        return made

    def counts(self, job: Job) -> dict[str, list[Run]]:
        """The counts of all shards for the urn."""
        return job.checkpoint.runs(urn_shard.KINDS)

    def likelihoods(self, model: Model, job: Job, held_out: bool) -> tuple[float, int]:
        """The log likelihood of some documents under a model, and how many tokens they have."""
        some = to_evaluate(job.corpus, job.task.settings, held_out=held_out)
        settings = job.task.settings
        paths = Paths.of(job)._replace(model=model.path)
        tasks = [(paths, start, settings, held_out) for start in range(0, len(some.keys), _TOGETHER)]
        found = []
        label = f"likelihood of {len(some.keys)} documents {'held out' if held_out else 'trained on'}"
        with bar(label, len(some.keys), unit="documents") as shown:
            for each in self.pool.run(_likelihoods, tasks):
                found.append(each)
                shown.advance(min(_TOGETHER, len(some.keys) - each[0]))
        found.sort()
        return sum(each[1] for each in found), sum(each[2] for each in found)

    def close(self) -> None:
        """Let go of the workers."""
        self.pool.__exit__(None, None, None)


_TOGETHER = 10  # documents that a worker evaluates at a time


class Paths(NamedTuple):
    """Where a worker finds what it needs for a job, and leaves what it has found."""

    model: Path
    first: Path
    knowledge: Path | None
    corpus: Path
    checkpoint: Path
    previous: Path | None

    @classmethod
    def of(cls, job: Job) -> "Paths":
        """Those of a job."""
        previous = job.previous.path if job.previous else None
        return cls(job.model.path, job.first.path, job.knowledge, job.corpus.path, job.checkpoint.path, previous)


@lru_cache(maxsize=1)
def _model(path: Path, stamp: int) -> Model:
    return Model.open(path)


@lru_cache(maxsize=1)
def _held_out(path: Path, stamp: int, particles: int, seed: int) -> HeldOut:
    return HeldOut(_model(path, stamp), particles, seed)


@lru_cache(maxsize=1)
def _corpus(path: Path) -> Corpus:
    return Corpus.open(path)


@lru_cache(maxsize=1)
def _graph(path: Path | None) -> Graph | None:
    return Knowledge.open(path).graph if path else None


def _stamp(path: Path) -> int:
    """Paths may be used again for other models; manifests are not."""
    return (path / MANIFEST).stat().st_mtime_ns


def _sample(paths: Paths, shards: int, number: int, task: Task) -> tuple[int, int]:
    """What a worker does: form a shard, sample it, and keep what was found."""
    started = time.process_time()
    model, checkpoint = _model(paths.model, _stamp(paths.model)), Checkpoint(paths.checkpoint, shards)
    documents = of_shard(_corpus(paths.corpus), number, shards, task.settings.held_out)
    shard = form_shard(documents, model)
    alike = alike_by(_graph(paths.knowledge), np.unique(shard.mentions.topics))
    shared = open_shared(model, paths.checkpoint / "shared")
    joining = time.process_time() - started
    before = Checkpoint(paths.previous, shards).notes(number) if paths.previous else None
    found = sample_shard(shard, shared, task, alike, before)
    found.report["joining seconds"] = joining
    checkpoint.save(number, found)
    return number, len(documents.keys)


@lru_cache(maxsize=1)
def _urn(path: Path, stamp: int, knowledge: Path, settings: UrnTraining) -> Urn:
    return Urn(_model(path, stamp), Knowledge.open(knowledge), settings.urn())


def _draw(paths: Paths, shards: int, number: int, task: Task) -> tuple[int, int]:
    """What a worker does with the urn: draw the documents of a shard, and keep what they teach."""
    started = time.process_time()
    assert isinstance(task.settings, UrnTraining)
    assert paths.knowledge is not None
    urn = _urn(paths.model, _stamp(paths.model), paths.knowledge, task.settings)
    first = _first(paths.first)
    documents = new_to(first, of_shard(_corpus(paths.corpus), number, shards, task.settings.held_out))
    joining = time.process_time() - started
    before = Checkpoint(paths.previous, shards).notes(number) if paths.previous else None
    found = sample_urn_shard(documents, urn, first.mentions, before)
    found.report["joining seconds"] = joining
    Checkpoint(paths.checkpoint, shards).save(number, found)
    return number, len(documents.keys)


@lru_cache(maxsize=1)
def _first(path: Path) -> Model:
    return Model.open(path)


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
    links, ended = graph, np.append(known, NO_TOPIC)  # whatever is looked for, there is one that is no less

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


def _likelihoods(paths: Paths, start: int, settings: TrainingSettings, held_out: bool) -> tuple[int, float, int]:
    some = to_evaluate(_corpus(paths.corpus), settings, held_out=held_out)
    numbers = range(start, min(start + _TOGETHER, len(some.keys)))
    stamp = _stamp(paths.model)
    if isinstance(settings, UrnTraining):
        assert paths.knowledge is not None
        urn = _urn_held_out(paths.model, stamp, paths.knowledge, settings)
        strings = urn.urn.knowledge.mention_strings
        found = [urn.log_likelihood(some.with_contexts(number, strings)) for number in numbers]
    else:
        lda = _held_out(paths.model, stamp, settings.particles, settings.seed)
        found = [lda.log_likelihood(some.document(number)) for number in numbers]
    return start, sum(each[0] for each in found), sum(each[1] for each in found)


@lru_cache(maxsize=1)
def _urn_held_out(path: Path, stamp: int, knowledge: Path, settings: UrnTraining) -> UrnHeldOut:
    return UrnHeldOut(_model(path, stamp), Knowledge.open(knowledge), settings.urn(), settings.particles)
