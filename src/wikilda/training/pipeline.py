"""`wikilda train`: Algorithm 2, iteration by iteration. Finished work is not repeated."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wikilda._core.artifact import MANIFEST, check_target, kind_of
from wikilda._core.atomic import place_directory, work_directory, write_text
from wikilda._core.errors import InputError, SettingsError
from wikilda._core.jit import COPIED, tier
from wikilda._core.platform import available_cores
from wikilda._core.progress import bar
from wikilda.documents.detection import Detector, DetectorSettings, choose_detector
from wikilda.documents.reading import ReadSettings
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.model.create import relative_hint
from wikilda.model.model import URN
from wikilda.model.weights import pooled
from wikilda.training.checkpoints import FILE, Checkpoint, Metrics, per_token, read_metrics, write_metrics
from wikilda.training.corpus import Corpus, key_of, make_corpus
from wikilda.training.engines.base import STUB, Engine, Job
from wikilda.training.engines.local import LocalEngine
from wikilda.training.methods import Learner, learner_of
from wikilda.training.report import TrainingReport, make_report
from wikilda.training.settings import TrainingPlan, TrainingSettings, is_held_out, trained_on, training_settings
from wikilda.training.shard import Task

_READ, _DETECTOR = ReadSettings(), DetectorSettings()


def train(
    model: str | Path,
    texts: str | Path | Sequence[Path],
    target: str | Path,
    settings: TrainingSettings | Mapping[str, Any] | None = None,
    plan: TrainingPlan | None = None,
    *,
    method: str | None = None,
    preset: str | None = None,
    engine: Engine | None = None,
    workers: int | None = None,
    reading: ReadSettings = _READ,
    detector: str = "dictionary",
    detection: DetectorSettings = _DETECTOR,
    knowledge: str | Path | None = None,
    overwrite: bool = False,
    restart: bool = False,
) -> Model:
    """Train a model on texts without labels: `wikilda train`.

    The result depends on model, texts, settings and number of shards only. An interrupted training resumes when it is
    called again with the same arguments. `TrainingReport.read(target)` says which answers have changed.

    Parameters
    ----------
    model, knowledge
        As in `Linker.open`.
    texts
        Files and directories as `wikilda link` reads them, or a corpus that `make_corpus` has made.
    target
        The model to write.
    settings, method, preset
        `UrnTraining` or `LdaTraining`, or a mapping of the settings that differ from the defaults of the method (`urn`
        or `lda`) or of its preset.
    plan
        Iterations, shards, and which models of earlier iterations to keep.
    engine
        What runs it: this machine by default.
    workers
        Processes of this machine; all cores by default.
    reading, detector, detection
        How texts are read, and their mentions detected.
    overwrite, restart
        Whether to replace a model that exists, and to discard an unfinished training.

    Examples
    --------
    >>> from wikilda import train
    >>> train(sample, news, scratch / "trained", {"held_out": 0.0}, workers=1).iteration
    1
    """
    settings = training_settings(method, preset, settings)
    if engine is not None and workers is not None:
        raise SettingsError("workers has no effect where an engine is given. Remove it.")
    if plan is not None and plan.round and isinstance(engine, LocalEngine | None):
        raise SettingsError("round is a setting of training with Spark. Remove it.")
    first, target, plan = Model.open(model), Path(target), plan or TrainingPlan()
    tier.expect_files([first.path], COPIED)
    place = first.knowledge(knowledge).path.resolve() if first.knowledge_identity else None
    own = target.with_name(f"{target.name}.corpus")
    detect = partial(choose_detector, detector, settings=detection)
    read = _open_corpus(texts, first, place, own, detect, reading, workers)
    learner = learner_of(settings)
    if place is None and learner.needs_knowledge:
        raise SettingsError(
            f"{model}: has no knowledge, and its link graph is needed. Use a model that was made from knowledge."
        )
    digests = _texts(first, read, learner)
    documents = len(digests)
    kind = engine.kind if engine is not None else LocalEngine.kind
    shards = plan.shards or -(-documents // learner.shard_documents(documents, kind))
    inputs = {"model": first.identity, "corpus": read.identity, "shards": shards, "method": settings.method}
    inputs["settings"] = settings.to_mapping()
    if settings.method == URN and kind != LocalEngine.kind:
        inputs["engine"] = kind  # unfinished work is in tables that another engine does not read
    with work_directory(target, "training", inputs, restart=restart, precious=True) as work:
        if not _was_finished(work, target):
            check_target(target, overwrite=overwrite)
            if engine is not None:
                engine.check()
            learner = learner.adapted(first, place, read)
            runs = engine or LocalEngine(workers or available_cores())
            try:
                training = _Training(runs, first, read, place, learner, replace(plan, shards=shards), digests, work)
                made = _without_misleading_contexts(training.run(), training.metrics[-1], place, work)
                if place is not None:
                    _compare(first, made, place, settings, read, detect).save(made.path)
                _finish(made, work, target, place)
            finally:
                if engine is None:
                    runs.close()
        _keep(work, target)
    shutil.rmtree(own, ignore_errors=True)
    return Model.open(target)


def _open_corpus(
    texts: str | Path | Sequence[Path], model: Model, knowledge: Path | None, target: Path,
    detector: Callable[[Knowledge], Detector], reading: ReadSettings, workers: int | None,
) -> Corpus:  # fmt: skip
    """Open a corpus, or encode texts as one next to the result."""
    given = [Path(texts)] if isinstance(texts, str | Path) else [Path(each) for each in texts]
    if len(given) == 1 and kind_of(given[0]) == Corpus.kind:
        found = Corpus.open(given[0], model.knowledge_identity)
        found.check_symbols(model.sizes)
        return found
    if knowledge is None:
        raise SettingsError(f"{model.path}: has no knowledge to read texts with. Train on a corpus.")
    return make_corpus(
        given, knowledge, target, reading=reading, detector=detector, workers=workers, overwrite=True,
    )  # fmt: skip


class _Training:
    """A training on its way."""

    def __init__(
        self, engine: Engine, model: Model, corpus: Corpus, knowledge: Path | None, learner: Learner[Any],
        plan: TrainingPlan, texts: NDArray[np.uint64], work: Path,
    ) -> None:  # fmt: skip
        self.engine, self.model, self.first, self.corpus, self.knowledge = engine, model, model, corpus, knowledge
        self.learner, self.settings, self.plan, self.texts, self.work = learner, learner.settings, plan, texts, work
        self.documents = len(texts)
        self.start = model.iteration
        self.metrics = read_metrics(work / FILE)

    def run(self) -> Model:
        """Run all iterations after the last finished one."""
        if not self.metrics:
            history = [row for row in read_metrics(self.model.path) if row.iteration < self.start]
            self._record(Metrics(self.start, *self._likelihoods(0, self.model), _parameters(self.model)), history)
        end = self.start + self.plan.iterations
        done = [n for n in range(self.start + 1, end + 1) if (self._checkpoint(n).path / "model" / MANIFEST).is_file()]
        for number in range(max(done, default=self.start + 1), end + 1):
            self.model = self._iterate(number)
            self._clean(number)
        return self.model

    def _job(self, number: int) -> Job:
        previous = self._checkpoint(number - 1) if number - 1 > self.start else None
        task = Task(number, self.documents, self.settings)
        is_kept = number >= self.start + self.plan.iterations - self.plan.keep
        return Job(
            self.model, self.first, self.knowledge, self.corpus, task, self._checkpoint(number), previous, self.texts,
            is_kept,
        )  # fmt: skip

    def _checkpoint(self, number: int) -> Checkpoint:
        return Checkpoint(self.work / f"iteration-{number:04d}", self.plan.shards)

    def _iterate(self, number: int) -> Model:
        job, begun = self._job(number), time.perf_counter()
        made = job.checkpoint.path / "model"
        if (made / MANIFEST).is_file():
            model = Model.open(made)
            model.verify()  # it may have been written by a run that ended long ago
            if job.is_kept and model.manifest.get(STUB):
                raise InputError(
                    f"{self.work}: was begun with more iterations, or keeping fewer models. Repeat that command, "
                    "or begin again with --restart."
                )
        else:
            self._sample(job, number)
            model = self.learner.next_model(self.engine, job, made)
        if all(row.iteration != number for row in self.metrics):
            self._record(self._measured(job, model, time.perf_counter() - begun))
        return model

    def _sample(self, job: Job, number: int) -> None:
        last = self.start + self.plan.iterations
        left = len(self.engine.missing(job)) / job.checkpoint.count
        done = round(self.documents * (1 - left))
        with bar(f"iteration {number} of {last}", self.documents, unit="documents", done=done) as shown:
            for documents in self.engine.sample(job):
                shown.advance(documents)

    def _measured(self, job: Job, model: Model, seconds: float) -> Metrics:
        report = job.checkpoint.report()
        train, held_out = self._likelihoods(job.task.iteration, model)
        return Metrics(
            job.task.iteration,
            train,
            held_out,
            **model.change,
            changed=report["changed"] / report["mentions"] if report["mentions"] else None,
            rho=self.learner.rate(job),
            documents=int(report["documents"]),
            tokens=int(report["tokens"]),
            seconds=round(seconds, 3),
            sampling_seconds=round(report["sampling seconds"], 3),
            joining_seconds=round(report["joining seconds"], 3),
            merging_seconds=round(self.engine.merging_seconds, 3),
        )

    def _likelihoods(self, number: int, model: Model) -> tuple[float | None, float | None]:
        if not self.settings.evaluated:
            return None, None
        job = self._job(max(number, self.start + 1))
        held_out = per_token(*self.engine.likelihoods(model, job, held_out=True))
        if not self.learner.judges_trained:
            return None, held_out
        return per_token(*self.engine.likelihoods(model, job, held_out=False)), held_out

    def _record(self, row: Metrics, history: list[Metrics] | None = None) -> None:
        self.metrics = [*(history or []), *self.metrics, row]
        write_metrics(self.work / FILE, self.metrics)

    def _clean(self, number: int) -> None:
        """Remove counts, and the iteration before unless it is kept."""
        self._checkpoint(number).forget_counts()
        for old in range(self.start + 1, number):
            place = self._checkpoint(old).path
            if old < number - self.plan.keep:
                shutil.rmtree(place, ignore_errors=True)
            else:
                for name in ("notes", "learned"):
                    shutil.rmtree(place / name, ignore_errors=True)


def _texts(first: Model, corpus: Corpus, learner: Learner[Any]) -> NDArray[np.uint64]:
    """Return the digests of the documents to train on; none is an error."""
    texts = trained_on(corpus, learner.settings.held_out)
    if len(texts) == 0:
        raise InputError(f"{corpus.path}: no document is left to train on. Hold out fewer (--set held_out=SHARE).")
    texts = texts[learner.are_new(texts, first)]
    if len(texts) == 0:
        raise InputError(f"{first.path}: has learned from all of these texts before. Give it others.")
    return texts


def _compare(
    first: Model, made: Model, knowledge: Path, settings: TrainingSettings, corpus: Corpus,
    detector: Callable[[Knowledge], Detector],
) -> TrainingReport:  # fmt: skip
    """Report what training has changed, on the documents of the corpus with texts."""
    sample = corpus.sample()[: settings.evaluated]
    keys = np.array([key_of(each.id) for each in sample], np.uint64)
    held_out = int(is_held_out(keys, settings.held_out).sum())
    return make_report(first, made, knowledge, settings.method, detector, sample, held_out)


def _parameters(model: Model) -> int:
    return len(model.words.topics) + len(model.mentions.topics)


def _was_finished(work: Path, target: Path) -> bool:
    """Whether an earlier run has renamed the result."""
    done = work / "finished"
    return done.is_file() and (target / MANIFEST).is_file() and Model.open(target).identity == done.read_text("utf-8")


def _without_misleading_contexts(model: Model, last: Metrics, knowledge: Path | None, work: Path) -> Model:
    """Return the model, without the weight of contexts if those of the texts predict worse than frequency."""
    if model.method != URN or model.contexts is None or last.held_out is None or last.held_out >= 0:
        return model
    if knowledge is None or Knowledge.open(knowledge).context_counts is not None:
        return model
    weights = (model.weights or pooled()).replaced([("context", 0.0), ("repeats", 0.0)])
    with model.derive(work / "judged", overwrite=True) as writer:
        writer.weights(weights)
        return writer.derived()


def _finish(model: Model, work: Path, target: Path, knowledge: Path | None) -> None:
    """Move the last model to its target, with the record of its training."""
    model.redirect(relative_hint(knowledge, target) if knowledge else "")
    shutil.copyfile(work / FILE, model.path / FILE)
    write_text(work / "finished", model.identity)
    place_directory(model.path, target)


def _keep(work: Path, target: Path) -> None:
    """Move the kept models of earlier iterations next to the result."""
    for place in sorted(work.glob("iteration-*/model")):
        if Model.open(place).manifest.get(STUB):
            continue
        kept = target.with_name(f"{target.name}.iterations") / place.parent.name.removeprefix("iteration-")
        kept.parent.mkdir(exist_ok=True)
        shutil.rmtree(kept, ignore_errors=True)
        place.rename(kept)
