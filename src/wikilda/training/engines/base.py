"""The protocol of engines, which form the shards of an iteration, sample them, and write the next model.

With any joins, shards are sampled by `sample_shard` and counts are whole numbers, so that every engine gives the same
model, bit by bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikilda.model import Model
from wikilda.training.checkpoints import Checkpoint
from wikilda.training.corpus import Corpus
from wikilda.training.interpolate import Blend
from wikilda.training.shard import Task

STUB = "is_table"  # in the manifest of a model whose parameters are in tables of the engine, not in its files


@dataclass(frozen=True)
class Job:
    """One iteration: its model, corpus and settings, and the directory of its finished parts."""

    model: Model
    first: Model  # that training began with
    knowledge: Path | None
    corpus: Corpus
    task: Task
    checkpoint: Checkpoint
    previous: Checkpoint | None  # of the iteration before, if it is known
    texts: NDArray[np.uint64]  # digests of the documents that are trained on
    is_kept: bool = True  # whether the next model is wanted in files


class Engine(ABC):
    """Runs iterations."""

    merging_seconds = 0.0  # of the iteration: processor time outside of workers
    kind = "local"  # of those that cannot go on with each other's unfinished trainings for the urn

    @abstractmethod
    def check(self) -> None:
        """Raise an error before any work if the engine cannot do it."""

    def missing(self, job: Job) -> list[int]:
        """The shards that are not done."""
        return job.checkpoint.missing()

    @abstractmethod
    def sample(self, job: Job) -> Iterator[int]:
        """Sample all shards that are not done yet, and yield the number of documents of each."""

    @abstractmethod
    def interpolate(self, job: Job, blend: Blend, target: Path) -> Model:
        """Add the counts of all shards up, and write the next model of the lda to `target`."""

    @abstractmethod
    def learn(self, job: Job, rho: float | None, target: Path) -> Model:
        """Add the counts of all shards up, and write the next model of the urn; without ρ it is adaptive."""

    @abstractmethod
    def likelihoods(self, model: Model, job: Job, held_out: bool) -> tuple[float, int]:
        """Return the log likelihood of documents under a model, and their number of tokens."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources of the engine."""
