"""Greedy search: of one setting after the other the best value, all others fixed; again until nothing moves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wikilda.errors import SettingsError
from wikilda.evaluation.tuning.record import Record
from wikilda.evaluation.tuning.space import Axis, Space
from wikilda.evaluation.tuning.trial import Point, Task, check, forget, measure
from wikilda.progress import bar
from wikilda.workers import Workers


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

    def _step(self, pool: Workers, axis: Axis) -> Step:
        now = self.point[axis.kind][axis.name]
        values = list(dict.fromkeys([now, *axis.values]))
        points = [self._with(axis, value) for value in values]
        allowed = [point for point in points if point is not None]
        found = iter(self._measure(pool, allowed, axis.name))
        tried = [(value, None if point is None else next(found)) for value, point in zip(values, points, strict=True)]
        for value, objective in tried:  # what is in use goes first, so that a tie changes nothing
            if objective is not None and objective > self.objective:
                self.point, self.objective = self._with(axis, value) or self.point, objective
        forget(self.task, self.point)
        return Step(axis, tried, self.point[axis.kind][axis.name], self.objective)

    def _with(self, axis: Axis, value: Any) -> Point | None:
        """The point with another value, or nothing if the settings do not go together."""
        point = {**self.point, axis.kind: {**self.point[axis.kind], axis.name: value}}
        try:
            check(point)
        except SettingsError:
            return None
        return point

    def _measure(self, pool: Workers, points: list[Point], label: str) -> list[float]:
        """Objectives of points, from the record or measured now; each is recorded as soon as it is known."""
        tasks = [(self.task, each) for each in points if self.record.find(each) is None]
        with bar(label, len(tasks), unit="trials") as progress:
            for point, scores in pool.run(_trial, tasks):
                self.record.add(point, scores)
                progress.advance()
        return [float((self.record.find(point) or {})["objective"]) for point in points]


def _trial(task: Task, point: Point) -> tuple[Point, dict[str, Any]]:
    return point, measure(task, point)
