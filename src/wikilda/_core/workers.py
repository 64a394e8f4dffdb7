"""Worker processes: a bounded number of tasks at a time, and no worker outlives the one it works for.

Workers do not import the script that has started them, as those of multiprocessing do: it needs no
`if __name__ == "__main__":`, without which each worker would begin to do what the script does.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, parent_process, spawn
from multiprocessing.context import SpawnContext, SpawnProcess
from types import TracebackType
from typing import Any, Protocol

from wikilda._core.errors import WikildaError


class Workers:
    """Runs tasks in processes, each of which begins with `start(*arguments)`; with one worker, in this one."""

    def __init__(self, count: int, start: Callable[..., None] | None = None, *arguments: Any) -> None:
        self.count, begin = count, (start, *arguments)
        self._pool = ProcessPoolExecutor(count, _Context(), _begin, begin) if count > 1 else None
        if self._pool is None and start is not None:
            start(*arguments)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None) -> None:
        if self._pool:
            self._pool.shutdown(wait=True, cancel_futures=kind is not None)

    def run(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Results as they come, in whatever order; tasks are taken when there is someone to do them."""
        if self._pool is None:
            for task in tasks:
                yield function(*task)
            return
        running: set[Future[Any]] = set()
        for task in tasks:
            running.add(self._submit(function, task))
            if len(running) > self.count + 1:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from map(_result, done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from map(_result, done)

    def _submit(self, function: Callable[..., Any], task: tuple[Any, ...]) -> "Future[Any]":
        assert self._pool is not None
        try:
            return self._pool.submit(function, *task)
        except BrokenProcessPool:
            raise _killed() from None


class _Process(SpawnProcess):
    """A process that does not import the script."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 - a name of multiprocessing
        mine = threading.get_ident()

        def without_script(name: str) -> dict[str, Any]:
            data = prepare(name)
            if threading.get_ident() == mine:
                data = {key: value for key, value in data.items() if not key.startswith("init_main_")}
            return data

        with _starting:
            prepare = spawn.get_preparation_data
            spawn.get_preparation_data = without_script
            try:
                return SpawnProcess._Popen(process_obj)
            finally:
                spawn.get_preparation_data = prepare


class _Context(SpawnContext):
    Process = _Process


_starting = threading.Lock()


def _result(done: "Future[Any]") -> Any:
    try:
        return done.result()
    except BrokenProcessPool:
        raise _killed() from None


def _killed() -> WikildaError:
    return WikildaError(
        "a worker process was killed, perhaps because memory ran out. "
        "Run the same command again: what is finished is kept. Fewer --workers need less memory."
    )


def _begin(start: Callable[..., None] | None, *arguments: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    threading.Thread(target=_follow_parent, daemon=True).start()
    if start is not None:
        start(*arguments)


def _follow_parent() -> None:
    """End when the parent does, even if it was killed and could not say so."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


class Pool(Protocol):
    """What runs tasks; used as a context."""

    def __enter__(self) -> "Pool": ...

    def __exit__(
        self, kind: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None: ...

    def run(self, function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
        """Results as they come, in whatever order."""
