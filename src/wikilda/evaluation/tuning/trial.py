"""One trial: a model with some settings, sampled with some settings, measured on all data sets."""

import hashlib
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wikilda.errors import SettingsError
from wikilda.evaluation import metrics
from wikilda.evaluation.datasets import Dataset
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods.wikilda import WikiLDA
from wikilda.evaluation.run import Gold, run
from wikilda.evaluation.tuning.space import KINDS
from wikilda.knowledge import Knowledge
from wikilda.model import Model, ModelSettings, create_model
from wikilda.settings import from_mapping, to_mapping
from wikilda.store import MANIFEST

Point = dict[str, dict[str, Any]]  # settings by kind


@dataclass(frozen=True)
class Task:
    """What all trials of a search have in common; it travels to the processes that make them."""

    model: Path
    knowledge: Path
    datasets: list[Dataset]
    scratch: Path  # models with other settings live here while the search runs


def check(point: Point) -> None:
    """Refuse settings that do not go together."""
    for kind, settings in point.items():
        from_mapping(KINDS[kind], settings)


def measure(task: Task, point: Point, threads: int = 1) -> dict[str, Any]:
    """Micro and macro accuracy by data set, and their sum, which is what the paper maximises."""
    began = time.perf_counter()
    knowledge = Knowledge.open(task.knowledge)
    model = _model(task, knowledge, from_mapping(ModelSettings, point["model"]))
    method = WikiLDA("wikilda", model, knowledge, from_mapping(KINDS["urn"], point["urn"]))
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
    if not (target / MANIFEST).is_file():
        own = task.scratch / f"{target.name}.{os.getpid()}.{os.urandom(3).hex()}"
        if opened.iteration == 0:
            create_model(knowledge, own, settings)
        else:
            _imitate(opened, own, settings)
        try:
            own.rename(target)
        except OSError:  # another process was faster
            shutil.rmtree(own)
    return Model.open(target).with_settings(settings)


def _imitate(model: Model, target: Path, settings: ModelSettings) -> None:
    """A trained model has its masses in its parameters; its priors may change, and its files may be shared."""
    changed = {name for name, value in to_mapping(settings).items() if value != getattr(model.settings, name)}
    baked = sorted(name for name in changed if name.startswith("mass_"))
    if baked:
        raise SettingsError(f"{model.path}: is trained, and {', '.join(baked)} can only be set in a model that is not.")
    target.mkdir()
    for name in {Path(file).parts[0] for file in model.artifact.manifest["files"]} | {MANIFEST}:
        (target / name).symlink_to((model.path / name).resolve())


def _digest(settings: ModelSettings) -> str:
    text = json.dumps(to_mapping(settings), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def forget(task: Task, keep: Point) -> None:
    """Remove the models of a search but the one in use."""
    kept = _digest(from_mapping(ModelSettings, keep["model"]))
    for place in task.scratch.iterdir():
        if place.name != kept:
            shutil.rmtree(place, ignore_errors=True)
