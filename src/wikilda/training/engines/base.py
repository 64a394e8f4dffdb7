"""What an engine is: it forms the shards of an iteration, has them sampled, and puts the next model together.

Whatever joins it uses, the shards are sampled by `sample_shard`, and counts are whole numbers: every engine
gives the same model, bit by bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wikilda.model import Model
from wikilda.training.checkpoints import Checkpoint
from wikilda.training.corpus import Corpus
from wikilda.training.interpolate import Blend, Run
from wikilda.training.shard import Task


@dataclass(frozen=True)
class Job:
    """One iteration: from which model and corpus, how, and where what is finished of it is kept."""

    model: Model
    first: Model  # that training began with
    knowledge: Path | None
    corpus: Corpus
    task: Task
    checkpoint: Checkpoint
    previous: Checkpoint | None  # of the iteration before, if it is known


class Engine(ABC):
    """Runs iterations."""

    merging_seconds = 0.0  # of the iteration: processor time for whatever is not done by workers

    def missing(self, job: Job) -> list[int]:
        """The shards that are not done."""
        return job.checkpoint.missing()

    @abstractmethod
    def sample(self, job: Job) -> Iterator[int]:
        """Sample all shards that are not done yet; gives the number of documents of each as it is."""

    @abstractmethod
    def interpolate(self, job: Job, blend: Blend, target: Path) -> Model:
        """Add the counts of all shards up, and write the next model of the lda to `target`."""

    @abstractmethod
    def counts(self, job: Job) -> dict[str, list[Run]]:
        """The counts of all shards for the urn, by kind, in runs that are still to be added up."""

    @abstractmethod
    def likelihoods(self, model: Model, job: Job, held_out: bool) -> tuple[float, int]:
        """The log likelihood of some documents under a model, and how many tokens they have."""

    @abstractmethod
    def close(self) -> None:
        """Let go of whatever the engine holds."""
