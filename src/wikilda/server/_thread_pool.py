"""Linking is work for the processor: it runs in a few threads, with a queue that has an end."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from wikilda._core.platform import available_cores
from wikilda.server.errors import busy, late

Result = TypeVar("Result")


class Work:
    """A pool of threads. It refuses what it could only begin too late, and gives up waiting after a time.

    A thread cannot be stopped: work that has run out of time is finished for nobody, and counts as running
    until it is.
    """

    def __init__(self, threads: int, queue: int, seconds: float) -> None:
        self.threads, self.seconds = threads, seconds
        self._most = threads + queue
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="wikilda")
        self._lock = threading.Lock()
        self.inside = 0  # waiting or running

    async def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in a thread, and wait for what it returns."""
        with self._lock:
            if self.inside >= self._most:
                raise busy()
            self.inside += 1
        try:
            future = self._pool.submit(function, *arguments)
        except RuntimeError:  # the pool is shut: the server is stopping
            self._done(None)
            raise busy() from None
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except TimeoutError:
            future.cancel()
            raise late(self.seconds) from None

    def stop(self) -> None:
        """Finish what has begun, and take no more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _done(self, _: "Future[Any] | None") -> None:
        with self._lock:
            self.inside -= 1


def threads_for(threads: int, workers: int) -> int:
    """How many threads each of some processes has."""
    cores = available_cores()
    return threads or max(1, cores // workers)
