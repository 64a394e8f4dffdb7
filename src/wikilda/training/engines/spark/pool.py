"""Tasks that need no joins, such as encoding batches of documents, on the nodes of a cluster.

Nodes must see the files that tasks name, under the same paths.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

from wikilda.training.engines.spark.session import open_session, worded

_TOGETHER = 4  # tasks of a job by core


class SparkWorkers:
    """Runs tasks as `wikilda.training.pool.Workers` does."""

    def __init__(self, master: str | None = None, conf: Mapping[str, str] | None = None) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="wikilda-spark-"))
        self._spark = open_session(master, conf or {}, self._scratch)

    def __enter__(self) -> "SparkWorkers":
        return self

    def __exit__(self, _k: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        self._spark.stop()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def run(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Results in the order of tasks; a task may be run again where the first one to run it was lost."""
        context, left = self._spark.sparkContext, iter(tasks)
        while some := list(islice(left, _TOGETHER * context.defaultParallelism)):
            with worded():
                found = context.parallelize(some, len(some)).map(partial(_call, function)).collect()
            yield from found


def _call(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    return function(*task)
