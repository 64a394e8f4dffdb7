"""The engine of one machine: memory-mapped tables are the join, and worker processes take shards."""

import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from wikilda._core.artifact import MANIFEST
from wikilda._core.platform import available_cores
from wikilda._core.progress import bar
from wikilda._core.workers import Workers
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.model.model import MENTIONS, WORDS
from wikilda.training.checkpoints import Checkpoint
from wikilda.training.corpus import Corpus
from wikilda.training.engines.base import Engine, Job
from wikilda.training.interpolate import Blend, interpolate
from wikilda.training.learn import learned, next_model
from wikilda.training.methods import Inputs, Likelihood, Sample, learner_of
from wikilda.training.settings import TrainingSettings, of_shard, to_evaluate
from wikilda.training.shard import Task


class LocalEngine(Engine):
    """Passes shards to worker processes; with one worker, this process does the work."""

    def __init__(self, workers: int | None = None) -> None:
        self.pool = Workers(workers or available_cores())

    def check(self) -> None:
        """There is nothing that this machine could lack."""

    def sample(self, job: Job) -> Iterator[int]:
        """Sample all shards that are not done yet, and yield the number of documents of each."""
        missing, place = job.checkpoint.missing(), job.checkpoint
        learner, started = learner_of(job.task.settings), time.process_time()
        if missing:
            learner.prepare(job.model, _shared(place.path))
        self.merging_seconds = time.process_time() - started
        paths, symbols = Paths.of(job), learner.kinds(job.model)
        for shard, documents in self.pool.run(_sample, ((paths, place.count, shard, job.task) for shard in missing)):
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

    def learn(self, job: Job, rho: float | None, target: Path) -> Model:
        """Add the counts to the model that training began with."""
        settings, place, started = job.task.settings, job.checkpoint, time.process_time()
        before = job.previous.path / "learned" if job.previous else None
        counts = place.runs(learner_of(settings).kinds(job.model))
        whole = learned(place.path / "learned", before, counts, rho)
        assert job.knowledge is not None
        made = next_model(
            job.first, Knowledge.open(job.knowledge), whole, job.texts, target, iteration=job.task.iteration,
            prior_weight=settings.prior_weight, shift=settings.shift(),
        )  # fmt: skip
        self.merging_seconds += time.process_time() - started
        return made

    def likelihoods(self, model: Model, job: Job, held_out: bool) -> tuple[float, int]:
        """Return the log likelihood of documents under a model, and their number of tokens."""
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
        """Stop the workers."""
        self.pool.__exit__(None, None, None)


_TOGETHER = 10  # documents that a worker evaluates at a time


class Paths(NamedTuple):
    """The inputs and outputs of a worker."""

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
def _corpus(path: Path, stamp: int) -> Corpus:
    return Corpus.open(path)


@lru_cache(maxsize=1)
def _knowledge(path: Path | None) -> Knowledge | None:
    return Knowledge.open(path) if path else None


@lru_cache(maxsize=1)
def _sampler(paths: Paths, stamp: int, settings: TrainingSettings) -> tuple[Model, Sample]:
    model, first = _model(paths.model, stamp), Model.open(paths.first)
    inputs = Inputs(model, _knowledge(paths.knowledge), _shared(paths.checkpoint))
    return first, learner_of(settings).sampler(inputs)


@lru_cache(maxsize=1)
def _likelihood(path: Path, stamp: int, knowledge: Path | None, settings: TrainingSettings) -> Likelihood:
    return learner_of(settings).likelihood(_model(path, stamp), _knowledge(knowledge))


def _shared(checkpoint: Path) -> Path:
    return checkpoint / "shared"


def _stamp(path: Path) -> int:
    """Paths may be used again for other models; manifests are not."""
    return (path / MANIFEST).stat().st_mtime_ns


def _sample(paths: Paths, shards: int, number: int, task: Task) -> tuple[int, int]:
    """Form a shard, sample it, and save the results."""
    started = time.process_time()
    first, sample = _sampler(paths, _stamp(paths.model), task.settings)
    documents = of_shard(_corpus(paths.corpus, _stamp(paths.corpus)), number, shards, task.settings.held_out)
    documents = documents.chosen(learner_of(task.settings).are_new(documents.digests, first))
    joining = time.process_time() - started
    before = Checkpoint(paths.previous, shards).notes(number) if paths.previous else None
    found = sample(documents, task, before)
    found.report["joining seconds"] = found.report.get("joining seconds", 0.0) + joining
    Checkpoint(paths.checkpoint, shards).save(number, found)
    return number, len(documents.keys)


def _likelihoods(paths: Paths, start: int, settings: TrainingSettings, held_out: bool) -> tuple[int, float, int]:
    some = to_evaluate(_corpus(paths.corpus, _stamp(paths.corpus)), settings, held_out=held_out)
    numbers = range(start, min(start + _TOGETHER, len(some.keys)))
    likelihood = _likelihood(paths.model, _stamp(paths.model), paths.knowledge, settings)
    found = [likelihood(some, number) for number in numbers]
    return start, sum(each[0] for each in found), sum(each[1] for each in found)
