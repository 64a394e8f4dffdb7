"""Training of methods: the statistics of a shard, the next parameters, the likelihood.

A `Learner` is chosen once, by the name of the method. Engines decide where it runs.
"""

import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from wikilda.knowledge import Knowledge
from wikilda.lda.likelihood import HeldOut
from wikilda.model import Model
from wikilda.model.model import LDA, MENTIONS, URN, WORDS
from wikilda.training import urn_shard
from wikilda.training.corpus import Corpus, Documents
from wikilda.training.engines.base import Engine, Job
from wikilda.training.interpolate import Blend
from wikilda.training.learn import rate_of
from wikilda.training.settings import LdaTraining, TrainingSettings, UrnTraining, sample
from wikilda.training.shard import Found, Task, alike_by, form_shard, open_shared, sample_shard, write_shared
from wikilda.training.urn_shard import sample_urn_shard
from wikilda.urn import Urn
from wikilda.urn.likelihood import HeldOut as UrnHeldOut
from wikilda.urn.prior_shift import TEXTS, estimate

SHARD_DOCUMENTS = 1000  # in a shard, where the number of shards is not given
_LEAST_DOCUMENTS, _SHARDS = 50, 64  # of the urn, so that progress is visible early and all workers are busy
_COPIES = 16  # shards of the urn by joins, which copy rows to each shard

Notes = NDArray[np.uint32]
Sample = Callable[[Documents, Task, Notes | None], Found]
Likelihood = Callable[[Documents, int], tuple[float, int]]
Own = TypeVar("Own", bound=UrnTraining | LdaTraining)


class Inputs(NamedTuple):
    """The inputs of a worker for the shards of an iteration."""

    model: Model
    knowledge: Knowledge | None
    shared: Path  # what `prepare` has written


class Learner(ABC, Generic[Own]):
    """Training of a method. It has no state but its settings, so that any process can make one."""

    texts_once: ClassVar[bool]  # whether texts that the first model has learned from are left out
    judges_trained: ClassVar[bool]  # whether the likelihood of training documents is informative

    def __init__(self, settings: Own) -> None:
        self.settings = settings

    @property
    def needs_knowledge(self) -> bool:
        """Whether it reads the link graph."""
        return True

    def are_new(self, digests: NDArray[np.uint64], first: Model) -> NDArray[np.bool_]:
        """Return which documents are trained on: no text counts twice where `texts_once`."""
        known = first.contexts
        return np.ones(len(digests), np.bool_) if known is None or not self.texts_once else ~known.among(digests)

    def adapted(self, model: Model, knowledge: Path | None, corpus: Corpus) -> "Learner[Own]":
        """Return the learner with the settings that are estimated from the texts."""
        return self

    @abstractmethod
    def shard_documents(self, documents: int, engine: str) -> int:
        """Return the number of documents per shard on a kind of engine, if the number of shards is not given."""

    @abstractmethod
    def kinds(self, model: Model) -> dict[str, int]:
        """Return the kinds of counts, and the number of symbols of each."""

    @abstractmethod
    def prepare(self, model: Model, shared: Path) -> None:
        """Write what all shards of an iteration share."""

    @abstractmethod
    def sampler(self, inputs: Inputs) -> Sample:
        """Return the E-step: what it finds in the documents of a shard, given the notes of the iteration before."""

    @abstractmethod
    def next_model(self, engine: Engine, job: Job, target: Path) -> Model:
        """Write the model that follows, from the counts of all shards."""

    @abstractmethod
    def likelihood(self, model: Model, knowledge: Knowledge | None) -> Likelihood:
        """Return the log likelihood of one of some documents, and how many tokens it has."""

    def rate(self, job: Job) -> float:
        """Return ρ of an iteration."""
        return self.settings.global_step(job.task.iteration - 1)


class UrnLearner(Learner[UrnTraining]):
    """Infers with the model of the iteration before, without a document's own counts."""

    texts_once = True
    judges_trained = False  # they would be judged by what they have taught

    def adapted(self, model: Model, knowledge: Path | None, corpus: Corpus) -> "UrnLearner":
        """Estimate how the prior of the texts differs from the wiki's; what the model knew of it is left aside.

        Detected mentions are the wiki's own strings. They do not tell how texts name entities.
        """
        given = [each.mentions is not None for each in corpus.sample()]
        measured = model.learned_weights.get("bias")  # by the build, on the wiki's own links
        if not (self.settings.prior_shift and measured) or knowledge is None or 2 * sum(given) <= len(given):
            return self
        known = Knowledge.open(knowledge)
        urn = Urn(model, known)
        documents = sample(corpus, self.settings, TEXTS, held_out=False)
        texts = [documents.with_contexts(each, known.mention_strings) for each in range(len(documents.keys))]
        found = estimate(urn, texts)
        settings = UrnTraining.from_mapping(self.settings.to_mapping() | {"prior_shift": False} | found.settings())
        return UrnLearner(settings)

    def shard_documents(self, documents: int, engine: str) -> int:
        """Return a number that may be small, because what is learned does not depend on shards; joins copy rows."""
        shards, most = (_SHARDS, SHARD_DOCUMENTS) if engine == Engine.kind else (_COPIES, 2 * SHARD_DOCUMENTS)
        return min(max(documents // shards, _LEAST_DOCUMENTS), most)

    def kinds(self, model: Model) -> dict[str, int]:
        """Return the kinds of counts of the urn, which have no fixed number of symbols."""
        return urn_shard.KINDS

    def prepare(self, model: Model, shared: Path) -> None:
        """Do nothing: workers map the model."""

    def sampler(self, inputs: Inputs) -> Sample:
        """Return the E-step."""
        assert inputs.knowledge is not None
        urn = Urn(inputs.model, inputs.knowledge, self.settings.urn())
        return lambda documents, task, before: sample_urn_shard(documents, urn, before)

    def next_model(self, engine: Engine, job: Job, target: Path) -> Model:
        """Add the counts to the model that training began with."""
        return engine.learn(job, None if self.settings.adaptive else super().rate(job), target)

    def likelihood(self, model: Model, knowledge: Knowledge | None) -> Likelihood:
        """Return the gain over chance in predicting the contexts of mentions."""
        assert knowledge is not None
        held_out = UrnHeldOut(Urn(model, knowledge, self.settings.urn()), self.settings.particles)
        strings = knowledge.mention_strings
        return lambda documents, number: held_out.log_likelihood(documents.with_contexts(number, strings))

    def rate(self, job: Job) -> float:
        """Return ρ of an iteration, which may be adaptive."""
        adaptive = rate_of(job.checkpoint.path / "learned")
        return super().rate(job) if adaptive is None else adaptive


class LdaLearner(Learner[LdaTraining]):
    """The paper's Algorithm 2."""

    texts_once = False
    judges_trained = True

    @property
    def needs_knowledge(self) -> bool:
        """Whether topics are coherent by links."""
        return self.settings.coherence

    def shard_documents(self, documents: int, engine: str) -> int:
        """Return the same for any number of documents."""
        return SHARD_DOCUMENTS

    def kinds(self, model: Model) -> dict[str, int]:
        """Return words and mentions."""
        return {WORDS: model.words.symbols, MENTIONS: model.mentions.symbols}

    def prepare(self, model: Model, shared: Path) -> None:
        """Write the smoothing; again when a run resumes, for what an earlier one has left may be damaged."""
        shutil.rmtree(shared, ignore_errors=True)
        write_shared(model, shared)

    def sampler(self, inputs: Inputs) -> Sample:
        """Return the E-step: joins of a shard's documents with parameters and links, and the sampler."""
        graph = inputs.knowledge.graph if inputs.knowledge else None

        def draw(documents: Documents, task: Task, before: Notes | None) -> Found:
            started = time.process_time()
            shard = form_shard(documents, inputs.model)
            alike = alike_by(graph, np.unique(shard.mentions.topics))
            shared = open_shared(inputs.model, inputs.shared)
            joining = time.process_time() - started
            found = sample_shard(shard, shared, task, alike, before)
            found.report["joining seconds"] = joining
            return found

        return draw

    def next_model(self, engine: Engine, job: Job, target: Path) -> Model:
        """Interpolate, line 15: the paper divides by M; the sum over all shards is the batch update, Eq. 2."""
        settings = self.settings
        rho, kept = self.rate(job), settings.sweeps - settings.burn_in
        scale = 1.0 if settings.corpus_scale else 1.0 / job.checkpoint.count
        return engine.interpolate(job, Blend(1.0 - rho, rho * scale / kept, settings.threshold), target)

    def likelihood(self, model: Model, knowledge: Knowledge | None) -> Likelihood:
        """Return the left-to-right estimate."""
        held_out = HeldOut(model, self.settings.particles, self.settings.seed)
        return lambda documents, number: held_out.log_likelihood(documents.document(number))


_LEARNERS: dict[str, type[Any]] = {URN: UrnLearner, LDA: LdaLearner}


def learner_of(settings: TrainingSettings) -> Learner[Any]:
    """Return the learner that settings belong to."""
    found: Learner[Any] = _LEARNERS[settings.method](settings)
    return found
