"""Progress bars as Rich draws them: imported only where there is a terminal to draw on."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text


class _RateColumn(ProgressColumn):
    """Steps a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", style="progress.data.speed")


@contextmanager
def drawn(label: str, total: float | None, unit: str, done: float) -> Iterator[tuple[Progress, TaskID]]:
    """A bar on standard error while the block runs."""
    middle: list[ProgressColumn] = (
        [DownloadColumn(), TransferSpeedColumn()] if unit == "bytes" else [MofNCompleteColumn(), _RateColumn()]
    )
    columns = [TextColumn("{task.description}"), BarColumn(), *middle, TimeRemainingColumn()]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield progress, progress.add_task(label, total=total, completed=int(done))
