"""One trial: a method with some settings, on a model with some settings, measured on all data sets."""

import hashlib
import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wikilda._core.atomic import lock
from wikilda._core.errors import SettingsError
from wikilda.evaluation import metrics
from wikilda.evaluation.datasets import Dataset
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import Given, make_method
from wikilda.evaluation.run import Gold, run
from wikilda.evaluation.tuning._space import MODEL, settings_type
from wikilda.knowledge import Knowledge
from wikilda.model import Model, ModelSettings, create_model

Point = dict[str, dict[str, Any]]  # settings by kind


@dataclass(frozen=True)
class Task:
    """What all trials of a search have in common; it travels to the processes that make them."""

    model: Path
    knowledge: Path
    datasets: list[Dataset]
    scratch: Path  # models with other settings live here while the search runs
    method: str = "urn"


def check(point: Point) -> None:
    """Refuse settings that do not go together."""
    for kind, settings in point.items():
        settings_type(kind).from_mapping(settings)


def measure(task: Task, point: Point, threads: int = 1) -> dict[str, Any]:
    """Micro and macro accuracy by data set, and their sum, which is what the paper maximises."""
    began = time.perf_counter()
    knowledge = Knowledge.open(task.knowledge)
    model = _model(task, knowledge, ModelSettings.from_mapping(point[MODEL]))
    settings = settings_type(task.method).from_mapping(point[task.method])
    texts = [document for dataset in task.datasets for document in dataset.documents]
    method = make_method(task.method, Given(model, knowledge, texts), {task.method: settings})
    resolver = Resolver(knowledge)
    scores: list[dict[str, Any]] = []
    for dataset in task.datasets:
        found = metrics.accuracy(run(method, Gold(dataset, resolver), threads), samples=1)
        scores.append({"name": dataset.name, "micro": found.micro, "macro": found.macro})
    total = sum(each["micro"] + each["macro"] for each in scores)
    return {"objective": total, "scores": scores, "seconds": round(time.perf_counter() - began, 3)}


def _model(task: Task, knowledge: Knowledge, settings: ModelSettings) -> Model:
    """The model itself, or one like it with other settings."""
    opened = Model.open(task.model)
    if settings == opened.settings:
        return opened
    target = task.scratch / _digest(settings)
    if not target.exists():
        with lock(target, wait=True):  # other trials may need the same
            if not target.exists():
                _make(opened, knowledge, target, settings)
    return Model.open(target)


def _make(model: Model, knowledge: Knowledge, target: Path, settings: ModelSettings) -> None:
    """A trained model has its masses in its parameters; its priors may change, and its files may be shared."""
    if model.iteration == 0:
        create_model(knowledge, target, settings)
        return
    changed = {name for name, value in settings.to_mapping().items() if value != getattr(model.settings, name)}
    baked = sorted(name for name in changed if name.startswith("mass_"))
    if baked:
        raise SettingsError(f"{model.path}: is trained, and {', '.join(baked)} can only be set in a model that is not.")
    with Model.writer(target, base=model) as writer:
        writer.finish({"settings": settings.to_mapping()})


def _digest(settings: ModelSettings) -> str:
    text = json.dumps(settings.to_mapping(), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def forget(task: Task, keep: Point) -> None:
    """Remove the models of a search but the one in use."""
    kept = _digest(ModelSettings.from_mapping(keep[MODEL]))
    for place in task.scratch.iterdir():
        if place.name != kept:
            shutil.rmtree(place, ignore_errors=True)
