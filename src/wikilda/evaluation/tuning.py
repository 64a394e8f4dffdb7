"""The paper's greedy search for settings: one at a time, keeping what measures best."""

import hashlib
import json
import shutil
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from wikilda import __version__
from wikilda._core.atomic import lock, new_file
from wikilda._core.errors import InputError, SettingsError
from wikilda._core.progress import bar
from wikilda._core.settings import Settings
from wikilda._core.workers import Workers
from wikilda.evaluation import metrics
from wikilda.evaluation.datasets import Dataset
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import Given, find_method, make_method
from wikilda.evaluation.run import Gold, run
from wikilda.knowledge import Knowledge
from wikilda.model import Model, ModelSettings, create_model

MODEL = "model"


def settings_type(kind: str) -> type[Settings]:
    """The class of a method's settings, or of the model's."""
    return ModelSettings if kind == MODEL else find_method(kind)[0].settings_type


class Axis(NamedTuple):
    """A setting and the values to try."""

    kind: str
    name: str
    values: list[Any]


Space = list[Axis]


def own_space(method: str) -> Space:
    """The values that a method names itself."""
    search = find_method(method)[0].search
    if not search:
        raise SettingsError(f"{method} does not say which values to try: give a file (--search)")
    return [_axis(method, method, name, list(values)) for name, values in search.items()]


def read_space(path: Path, method: str = "urn") -> Space:
    """Read where to search for a method, refusing names and values that the settings would refuse."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: is not valid TOML ({error}).") from None
    space: Space = []
    for kind, settings in tables.items():
        if kind not in (method, MODEL) or not isinstance(settings, dict):
            raise SettingsError(f"{path}: {kind!r} is no table of settings; there are: {method}, {MODEL}")
        space += [_axis(str(path), kind, name, values) for name, values in settings.items()]
    if not space:
        raise SettingsError(f"{path}: has no settings to try. Write, say, [urn] and word_weight = [20.0, 30.0].")
    return space


def _axis(where: str, kind: str, name: str, values: Any) -> Axis:
    known = {each.name: each.default for each in fields(settings_type(kind))}
    if name not in known:
        raise SettingsError(f"{where}: {kind} has no setting {name}; there are: {', '.join(known)}")
    if not isinstance(values, list) or not values:
        raise SettingsError(f"{where}: {kind}.{name} must be a list of values to try")
    wanted = type(known[name])
    values = [float(value) if wanted is float and type(value) is int else value for value in values]
    wrong = [value for value in values if type(value) is not wanted]
    if wrong:  # whether a value is possible depends on the others, and shows when it is tried
        raise SettingsError(f"{where}: {kind}.{name}: {wrong[0]!r} is not of type {wanted.__name__}")
    return Axis(kind, name, values)


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


KIND = "wikilda tune"


class Record:
    """Trials that were made on the same model and data, by their settings."""

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path = path
        self.head = {"kind": KIND, "wikilda": __version__, **about}
        self.scores: dict[str, dict[str, Any]] = {}
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        if not any(lines):
            self._append(self.head)
            return
        self._read(lines)

    def find(self, settings: dict[str, Any]) -> dict[str, Any] | None:
        """The scores of some settings, if they are known."""
        return self.scores.get(_key(settings))

    def add(self, settings: dict[str, Any], scores: dict[str, Any]) -> None:
        """Keep the scores of some settings."""
        self.scores[_key(settings)] = scores
        self._append({"settings": settings, **scores})

    def _read(self, lines: list[bytes]) -> None:
        if lines[-1]:  # a search was stopped while it wrote this: that trial is made again
            lines[-1] = b""
            with new_file(self.path) as file:
                file.write_bytes(b"\n".join(lines))
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line) if line else None
            except ValueError as error:
                raise InputError(f"{self.path}: line {number}: is not JSON ({error}).") from None
            if number == 1 and row != self.head:
                raise InputError(
                    f"{self.path}: is the record of a search with another model, other data or another version. "
                    "Name another file."
                )
            if number > 1 and row is not None:
                settings = row.pop("settings")
                self.scores[_key(settings)] = row

    def _append(self, row: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _key(settings: dict[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


@dataclass(frozen=True)
class Step:
    """What was tried for a setting: values with their objectives (none: refused), and the value that is kept."""

    axis: Axis
    tried: list[tuple[Any, float | None]]
    kept: Any
    objective: float


class Search:
    """A search from some point on. Trials run in processes of their own; those on record are not made again."""

    def __init__(self, task: Task, space: Space, start: Point, record: Record, workers: int) -> None:
        self.task, self.space, self.record, self.workers = task, space, record, workers
        self.point = start
        self.objective = float("-inf")

    def steps(self, rounds: int) -> Iterator[Step]:
        """Search, a step a setting, until a round changes nothing."""
        with Workers(self.workers) as pool:
            self.objective = self._measure(pool, [self.point], "start")[0]
            for _ in range(rounds):
                before = self.point
                for axis in self.space:
                    yield self._step(pool, axis)
                if self.point == before:
                    return

    def grid(self) -> Iterator[Step]:
        """Search all combinations: settings that are good together only are found, too."""
        points = [self.point]
        for axis in self.space:
            points = [each for point in points for value in axis.values if (each := _with(point, axis, value))]
        with Workers(self.workers) as pool:
            self.objective, *found = self._measure(pool, [self.point, *points], "grid")
        for point, objective in zip(points, found, strict=True):
            if objective > self.objective:
                self.point, self.objective = point, objective
        forget(self.task, self.point)
        for axis in self.space:
            reached: dict[Any, float | None] = dict.fromkeys(axis.values)  # of each value the best combination
            for point, objective in zip(points, found, strict=True):
                value = point[axis.kind][axis.name]
                before = reached[value]
                reached[value] = objective if before is None else max(objective, before)
            yield Step(axis, list(reached.items()), self.point[axis.kind][axis.name], self.objective)

    def _step(self, pool: Workers, axis: Axis) -> Step:
        now = self.point[axis.kind][axis.name]
        values = list(dict.fromkeys([now, *axis.values]))
        points = [_with(self.point, axis, value) for value in values]
        allowed = [point for point in points if point is not None]
        found = iter(self._measure(pool, allowed, axis.name))
        tried = [(value, None if point is None else next(found)) for value, point in zip(values, points, strict=True)]
        for value, objective in tried:  # what is in use goes first, so that a tie changes nothing
            if objective is not None and objective > self.objective:
                self.point, self.objective = _with(self.point, axis, value) or self.point, objective
        forget(self.task, self.point)
        return Step(axis, tried, self.point[axis.kind][axis.name], self.objective)

    def _measure(self, pool: Workers, points: list[Point], label: str) -> list[float]:
        """Objectives of points, from the record or measured now; each is recorded as soon as it is known."""
        tasks = [(self.task, each) for each in points if self.record.find(each) is None]
        with bar(label, len(tasks), unit="trials") as progress:
            for point, scores in pool.run(_trial, tasks):
                self.record.add(point, scores)
                progress.advance()
        return [float((self.record.find(point) or {})["objective"]) for point in points]


def _with(point: Point, axis: Axis, value: Any) -> Point | None:
    """The point with another value, or nothing if the settings do not go together."""
    changed = {**point, axis.kind: {**point[axis.kind], axis.name: value}}
    try:
        check(changed)
    except SettingsError:
        return None
    return changed


def _trial(task: Task, point: Point) -> tuple[Point, dict[str, Any]]:
    return point, measure(task, point)


__all__ = ["Point", "Record", "Search", "Space", "Step", "Task", "own_space", "read_space"]
