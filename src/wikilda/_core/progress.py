"""Progress bars: drawn on a terminal, silent everywhere else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """A progress bar: `advance` it, and `label` the current step."""

    def __init__(self, progress: "Progress | None", task: "TaskID | None") -> None:
        self._progress, self._task = progress, task

    def advance(self, amount: float = 1) -> None:
        """Advance the bar."""
        if self._progress is not None and self._task is not None:
            self._progress.advance(self._task, amount)

    def label(self, text: str) -> None:
        """Set the label of the current step."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=text)


@contextmanager
def bar(label: str, total: float | None, *, unit: str = "steps", done: float = 0) -> Iterator[Bar]:
    """Show a bar on standard error while the block runs; `unit` is "bytes" or the name of a step."""
    if not sys.stderr.isatty():
        yield Bar(None, None)
        return
    with _draw(unit) as progress:
        yield Bar(progress, progress.add_task(label, total=total, completed=int(done)))


def _draw(unit: str) -> "Progress":
    """Draw a bar with Rich, which is imported only on a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.text import Text

    class RateColumn(ProgressColumn):
        """Steps per second."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")

    middle: list[ProgressColumn] = (
        [DownloadColumn(), TransferSpeedColumn()] if unit == "bytes" else [MofNCompleteColumn(), RateColumn()]
    )
    columns = [TextColumn("{task.description}"), BarColumn(), *middle, TimeRemainingColumn()]
    return Progress(*columns, console=Console(stderr=True), transient=True)
