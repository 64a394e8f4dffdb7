"""Tasks that need no joins, such as encoding batches of documents, on the nodes of a cluster.

Nodes must see the files that tasks name, under the same paths.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any

from wikilda._core.spark import running, worded

_TOGETHER = 4  # tasks of a job by core


class SparkWorkers:
    """Runs tasks as `wikilda._core.workers.Workers` does."""

    def __init__(self, master: str | None = None, conf: Mapping[str, str] | None = None) -> None:
        self._running = running(master, conf or {})

    def __enter__(self) -> "SparkWorkers":
        self._spark = self._running.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, t: TracebackType | None) -> None:
        self._running.__exit__(kind, e, t)

    def run(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Results in the order of tasks; a task may be run again where the first one to run it was lost."""
        context, left = self._spark.sparkContext, iter(tasks)
        while some := list(islice(left, _TOGETHER * context.defaultParallelism)):
            with worded():
                found = context.parallelize(some, len(some)).map(partial(_call, function)).collect()
            yield from found


def _call(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    return function(*task)
